"""Tables at several sites: a public plan, what each site measures by it, and what they give
together.
"""
