"""Studies as they are served: one, or several under one address."""
