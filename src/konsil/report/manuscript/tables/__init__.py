"""The tables that only a manuscript has: its Table 1 and its main results."""
