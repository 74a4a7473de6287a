"""The methods of a run in sentences."""
