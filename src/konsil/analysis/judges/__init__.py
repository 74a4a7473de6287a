"""Judges: ensembles, own-answer preference, abstention, confidence, blinding, injections."""
