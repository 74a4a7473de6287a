"""Candidate readings of a table, each with the evidence for and against it."""
