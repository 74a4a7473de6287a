"""Decisions before the study: screening, duplicates, rewriting, themes, masking."""
