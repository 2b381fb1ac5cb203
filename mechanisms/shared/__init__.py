"""Which marginals to measure and how well: the interface of mechanisms, workload, allocation,
planning.
"""
