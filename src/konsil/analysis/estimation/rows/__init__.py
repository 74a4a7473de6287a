"""From groups and their estimates to the rows of a result."""
