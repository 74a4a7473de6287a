"""Comparisons with ties: win differences, rankings, judges against experts."""
