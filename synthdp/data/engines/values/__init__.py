"""The values of single columns in an engine, for the kernel to learn a domain from: they stay there
until they pass.
"""
