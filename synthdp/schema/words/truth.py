"""What is read as true and as false where a field does not say it."""

TRUE_WORDS = ("true", "t", "yes", "y", "on", "1")
"""What means true when a field names no texts, in small and large letters; so does every way of
writing 1.
"""

FALSE_WORDS = ("false", "f", "no", "n", "off", "0")
"""What means false when a field names no texts, in small and large letters; so does every way of
writing 0.
"""
