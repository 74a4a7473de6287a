"""A rater's batch as one file without a server, and what comes back."""
