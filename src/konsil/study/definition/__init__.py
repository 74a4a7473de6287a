"""The protocol as one frozen value."""
