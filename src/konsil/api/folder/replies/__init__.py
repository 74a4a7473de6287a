"""Replies of judges in the cells of a table: their values as columns, and what gives no rating."""
