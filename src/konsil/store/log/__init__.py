"""The audit log and everything that is written under an entry of it."""
