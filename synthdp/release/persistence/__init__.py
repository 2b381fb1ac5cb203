"""What is kept of runs beyond one process: journals of released answers, and the budget of a
population.
"""
