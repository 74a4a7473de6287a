"""The protocol beside data: what may come in, freezes, letters, planned tasks."""
