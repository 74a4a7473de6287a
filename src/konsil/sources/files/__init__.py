"""Bytes to cells: encodings, delimiters, spreadsheets, Parquet, JSON; hostile files in a child process."""
