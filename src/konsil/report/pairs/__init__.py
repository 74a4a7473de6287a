"""Comparisons: matrices and rankings."""
