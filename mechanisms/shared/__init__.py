"""Which marginals to measure and how well: the interface of recipes, workload, allocation,
planning.
"""
