"""The language and the meaning of texts."""
