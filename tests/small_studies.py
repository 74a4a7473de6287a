"""A study folder of a few ratings for the tests: its table of ratings, and the command line's exit
code."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from konsil.api import Folder, open_folder
from konsil.cli.main import main


def import_ratings(folder: Path, rows: Iterable[Sequence[str]]) -> Folder:
    """Write the table r.csv, its header first, and import what study.toml names."""
    with (folder / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    study = open_folder(folder)
    study.import_sources()
    return study


def exit_code(*arguments: object) -> int:
    """What konsil's command line exits with."""
    try:
        main([str(a) for a in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0
