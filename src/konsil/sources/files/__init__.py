"""Bytes to cells: encodings, delimiters, spreadsheets, Parquet, JSON.

Hostile files in a child process.
"""
