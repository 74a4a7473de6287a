"""Endpoints of those who run the study."""
