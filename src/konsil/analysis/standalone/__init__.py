"""Agreement and preference of any table, as one result."""
