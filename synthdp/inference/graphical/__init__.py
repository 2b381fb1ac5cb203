"""Graphical models: belief propagation, marginals, completion and sampling on a junction tree."""
