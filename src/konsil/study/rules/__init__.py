"""Rules between sections."""
