"""Proportions and their differences: score and clustered intervals, uneven clusters; durations."""
