"""Cells to records: items, answers, ratings, tasks, and the checks of their columns."""
