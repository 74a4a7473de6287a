"""The draw: who rates what, in which order, seats, pairs, overlaps, control tasks."""
