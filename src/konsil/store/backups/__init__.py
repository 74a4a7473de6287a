"""Copies of the database, and archives of a whole study."""
