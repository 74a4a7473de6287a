"""Requests and responses: headers, languages, static files, texts as HTML, numbers as people type them."""
