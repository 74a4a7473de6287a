"""Estimates: the figure that fits, the overview, tables, the main numbers."""
