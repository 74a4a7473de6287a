"""The user's tables: what their columns hold, and the sources and names that follow of it."""
