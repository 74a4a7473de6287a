"""Trials of a whole study on a copy."""
