"""Judges beside people: ensembles, self preference, strictness, confidence, blinding, injected instructions."""
