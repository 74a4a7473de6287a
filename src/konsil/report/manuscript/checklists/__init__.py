"""Reporting checklists, filled in as far as the study knows and marked where authors must write."""
