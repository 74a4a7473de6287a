"""Roles of the columns of a table: which column is what, and how the table is laid out."""
