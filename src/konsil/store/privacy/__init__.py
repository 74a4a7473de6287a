"""Erasure, and everything that is stored about one person."""
