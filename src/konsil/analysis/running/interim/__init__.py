"""Interim analyses: pooled data quality without systems, and group sequential comparisons."""
