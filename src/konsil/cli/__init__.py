"""The command line: one verb a stage.

Commands load when they are called, so that --help answers at once.
"""

from konsil.cli.main import main

__all__ = ["main"]
