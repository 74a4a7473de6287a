"""Texts: sentences, abbreviations, clozes, spelling, negation, drug names."""
