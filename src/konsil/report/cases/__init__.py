"""Cases: curves over the levels, and one case in full."""
