"""Many requests at once by the vendors' batch interfaces, from intention to results."""
