"""Sentences of the methods on what was done to a study besides rating: curation, the audit log."""
