"""Designs of a rating study: generalizability, subsets of raters and items."""
