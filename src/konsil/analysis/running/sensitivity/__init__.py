"""Estimates again under other ratings: worst-case bounds, and without each value in turn."""
