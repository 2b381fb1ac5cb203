"""The published recipes: which marginals to select, measure and fit; one idea, one file."""
