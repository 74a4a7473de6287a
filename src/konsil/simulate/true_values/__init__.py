"""True values of analyses, from large samples of new items that the model simulates."""
