"""Whole answers against sentences: reliability, hours, how much annotation is enough."""
