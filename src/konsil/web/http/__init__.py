"""Requests and responses.

Headers, languages, static files, texts as HTML, numbers as people type them.
"""
