"""Endpoints of raters and volunteers."""
