"""Models: how they were called and asked, what it cost and how long it took."""
