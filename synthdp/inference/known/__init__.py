"""Known marginals: what they imply, whether they contradict each other, fits and rows that meet them."""
