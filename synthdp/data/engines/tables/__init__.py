"""Tables wherever their rows are, as a release takes them."""
