"""Readings in which rows compare two systems."""
