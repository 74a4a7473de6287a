"""How a database came to have its tables: one script a schema, run by konsil itself."""
