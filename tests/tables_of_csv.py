"""Tables as the tests write and read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path


def write_rows(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    """Write rows, the first of them the head."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table, by their columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
