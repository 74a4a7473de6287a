"""Judges: ensembles, self and family preference, caution, confidence, blinding, injected instructions."""
