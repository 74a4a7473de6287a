"""Interim analyses: looks in the log, the last analysis, results between them, blinded quality."""
