"""Protocols as data: folders to start a study from. No Python."""
