"""Proportions, means and medians of the systems or groups of any table, as a study in memory."""
