"""Requests and responses: headers, static files, limits of attempts, logs without addresses."""
