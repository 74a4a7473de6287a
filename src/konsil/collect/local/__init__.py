"""Small models on this machine."""
