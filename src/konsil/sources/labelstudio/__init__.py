"""Annotations of Label Studio."""
