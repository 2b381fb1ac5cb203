"""Known marginals: what they imply, contradictions, and fits and rows that meet them."""
