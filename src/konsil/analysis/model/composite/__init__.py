"""Composite scores: one number of several criteria, as analyses name it."""
