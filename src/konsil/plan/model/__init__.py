"""Allocations, places, references and streams of random numbers."""
