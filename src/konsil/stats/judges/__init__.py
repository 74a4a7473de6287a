"""Judges beside people.

Ensembles, self preference, strictness, confidence, blinding, injected instructions.
"""
