"""A study's folder as one object: open, import, analyse, report, export, freeze."""
