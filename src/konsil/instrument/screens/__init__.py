"""A task as a rater or a judge sees it, and the one reader of what comes back."""
