"""The page: its sections in order, its files, written whole or not at all."""
