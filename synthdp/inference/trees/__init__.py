"""Junction trees: sets of attributes, triangulation, growth."""
