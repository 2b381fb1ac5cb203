"""Packages: several tables that are linked by keys, and what each is asked for together with the
others.
"""
