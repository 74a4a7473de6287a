"""The user's tables, read for guesses: encoding, separator, columns with their first rows."""

from __future__ import annotations

import csv
from pathlib import Path

from konsil.design.columns import Column
from konsil.design.tables import UserTable
from konsil.errors import SourceError
from konsil.sources.files.encoding import looks_like
from konsil.sources.files.table import ENDINGS, read_table

ROWS = 2_000
"""Rows that guesses look at."""
_TEXTS = (".csv", ".tsv", ".tab", ".txt")
_COMMAS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}


def read_user_table(path: Path, sheet: str = "") -> UserTable:
    """Read a table; the encoding and the separator of a text are those that fit."""
    encoding, separator = ("utf-8", "")
    if path.suffix.lower() in _TEXTS and path.is_file():
        encoding, separator = _reading(path)
    table = read_table(path, sheet=sheet, encoding=encoding, separator=separator)
    first = table.frame.head(ROWS)
    columns = tuple(Column(name, first.get_column(name).to_list()) for name in first.columns)
    return UserTable(path.name, columns, table.frame.height, sheet, encoding, separator)


def _reading(path: Path) -> tuple[str, str]:
    data = path.read_bytes()
    encoding = "utf-8"
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding = looks_like(data) or "utf-8"
        text = data.decode(encoding, errors="replace")
    return encoding, _separator(text, path.suffix.lower())


def _separator(text: str, ending: str) -> str:
    """The separator that divides the header into most columns; empty where it is the usual one."""
    header = text.partition("\n")[0].strip("\r")
    usual = _COMMAS[ending]

    def width(separator: str) -> int:
        return len(next(csv.reader([header], delimiter=separator), []))

    best = max((usual, ";", ",", "\t", "|"), key=width)
    return "" if best == usual else best


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
