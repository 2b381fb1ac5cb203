"""The words that all floors speak: domains, cliques, factors, measurements, workloads, errors."""
