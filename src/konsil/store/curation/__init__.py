"""Decisions about items before they are rated."""
