"""Specifications of analyses, results, the catalogue of statistics, sentences, verdicts."""
