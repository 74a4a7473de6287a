"""Problems of a file, row by row, and the one sentence that reports them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from konsil.errors import SourceError, in_short

MOST = 100_000
"""Rows that cannot be read after which a file is not read on."""

Place = Literal["line", "row", "task"]
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a row from being read."""

    line: int
    """Where it is, as an editor or a spreadsheet counts."""
    column: str
    """The column or field it is about; empty: the whole row."""
    sentence: str
    """The value that was read and the value expected, without the place."""
    place: Place = "line"
    """Text files have lines, spreadsheets and Parquet files have rows, Label Studio's exports have
    tasks."""

    def __str__(self) -> str:
        """The whole sentence, with its place.

        >>> str(Problem(5, "seconds", "'soon' is not a number"))
        "line 5: seconds: 'soon' is not a number"
        """
        column = f"{self.column}: " if self.column else ""
        number = str(self.line) if self.place == "task" else f"{self.line:,}"
        return f"{self.place} {number}: {column}{self.sentence}"


@dataclass(frozen=True, slots=True)
class Parsed(Generic[R]):
    """Records read from a table; there are none while there are problems."""

    records: tuple[R, ...]
    """In the order of their first rows."""
    lines: tuple[int, ...]
    """The line of each record, parallel to `records`."""
    problems: tuple[Problem, ...] = ()
    """The problems, in the order of the file."""
    place: Place = "line"
    """The unit that `lines` count."""
    rows: int = 0
    """How many rows (of a table) or tasks (of Label Studio) the file has, for `raise_if`."""


def raise_if(problems: Iterable[Problem], name: str, rows: int) -> None:
    """Raise one SourceError for all problems of a file with so many rows.

    Say nothing when there are none.
    """
    sorted_problems = sorted(problems, key=lambda p: p.line)
    if not sorted_problems:
        return
    sentences = [str(p) for p in sorted_problems]
    bad = len({p.line for p in sorted_problems})
    unit = "task" if sorted_problems[0].place == "task" else "row"
    # Who does not know how many rows there are says 0.
    count = f"{bad:,} of {rows:,}" if rows >= bad else f"{bad:,}"
    raise SourceError(
        f"{name}: {count} {unit}{'' if max(rows, bad) == 1 else 's'} cannot be read; nothing was"
        " imported: " + in_short(sentences),
        sentences,
    )
