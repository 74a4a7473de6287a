"""Calls of models, durable, by one run at a time."""
