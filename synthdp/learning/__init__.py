"""Learning the domain under the budget: levels, bounds, bins and missing values that nobody
declared.
"""
