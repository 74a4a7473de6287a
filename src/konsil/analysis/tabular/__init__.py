"""Any table of ratings or comparisons, read without a study."""
