"""What noisy cells say: whether they hold records, how far a tail reaches, and how densely records
lie.
"""
