"""Texts as HTML, numbers as people type them, and the languages of pages and texts."""
