"""The user's tables, read for guesses: their settings, columns with their first rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from konsil.design.columns import Column
from konsil.design.tables import UserTable
from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.files.table import ENDINGS, read_table

ROWS = 2_000
"""Rows that guesses look at."""


def read_user_table(path: Path, sheet: str = "") -> UserTable:
    """Read a table by the settings that fit it."""
    table = read_table(path, FileSettings(sheet=sheet), as_is=True)
    first = table.frame.head(ROWS)
    columns = tuple(Column(name, first.get_column(name).to_list()) for name in first.columns)
    settings = replace(table.settings, sheet=sheet)
    return UserTable(path.name, columns, table.frame.height, settings)


def check_name(name: str) -> str:
    """A file's name as it may stand in a study's folder; a path or another ending is refused."""
    plain = name.replace("\\", "/").rpartition("/")[2].strip()
    if plain != name.strip() or plain in ("", ".", "..") or plain.startswith("."):
        raise SourceError(f"{name!r}: is not the plain name of a file; rename the file")
    if any(ord(letter) < 32 for letter in plain) or len(plain.encode()) > 200:
        raise SourceError(f"{plain[:40]!r}: the name has unusual characters; rename the file")
    ending = Path(plain).suffix.lower()
    if ending not in ENDINGS:
        raise SourceError(
            f"{plain}: unsupported ending {ending!r}; expected one of {', '.join(ENDINGS)}"
        )
    return plain
