"""Ratings rewritten by stated rules."""
