"""The calls behind judges' ratings: their outcomes, the models and their settings."""
