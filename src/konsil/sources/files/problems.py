"""Problems of a file, row by row, and the one sentence that reports them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from konsil.errors import SourceError, in_short
from konsil.errors.message import message

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
        n = self.line
        match self.place:
            case "line":
                place = message("line {n:,}", message_id="problems.line", n=n)
            case "row":
                place = message("row {n:,}", message_id="problems.row", n=n)
            case "task":
                place = message("task {n}", message_id="problems.task", n=n)
        column = f"{self.column}: " if self.column else ""
        return message(
            "{place}: {column}{sentence}",
            message_id="problems.problem",
            place=place,
            column=column,
            sentence=self.sentence,
        )


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
    sentence = message(
        "{name}: {count} cannot be read; nothing was imported: {problems}",
        message_id="problems.of_file",
        name=name,
        count=_counted(bad, rows, is_task=sorted_problems[0].place == "task"),
        problems=in_short(sentences),
    )
    raise SourceError(sentence, sentences)


def _counted(bad: int, rows: int, *, is_task: bool) -> str:
    """How many rows or tasks; who does not know how many there are says 0."""
    if rows < bad and is_task:
        return message("{n:,} {n|task|tasks}", message_id="problems.tasks", n=bad)
    if rows < bad:
        return message("{n:,} {n|row|rows}", message_id="problems.rows", n=bad)
    if is_task:
        return message(
            "{n:,} of {total:,} {total|task|tasks}",
            message_id="problems.of_tasks",
            n=bad,
            total=rows,
        )
    return message(
        "{n:,} of {total:,} {total|row|rows}", message_id="problems.of_rows", n=bad, total=rows
    )
