"""Ratings as a table of codes: what is read, derived, left out, and how common labels are."""
