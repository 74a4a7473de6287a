"""Designs of a rating study: what was compared, and what is recommended."""
