"""A model that is played, for trials without a network."""
