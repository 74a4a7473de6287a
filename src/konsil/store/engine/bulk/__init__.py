"""Many rows at once: read, hashed and written without an object for each record."""
