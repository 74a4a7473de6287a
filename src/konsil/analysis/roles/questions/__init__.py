"""What is asked of a table, and the options that answer it."""
