"""The files of Real-POCQi's public tables: which there are, and their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.errors import SourceError, nearest
from konsil.records import Source
from konsil.sources.problems import Problem
from konsil.sources.table import Table, read_table

CHOICES = ("strongly_a", "slightly_a", "tie", "slightly_b", "strongly_b")
"""The choices, from A's side to B's."""
ENDINGS = (".csv", ".parquet", ".jsonl", ".tsv")
"""What the tables may be, tried in this order."""
NEEDED = {
    "qa_questions": ("id", "specialty"),
    "qa_assignments": ("id", "user_id", "question_id", "slot_a_provider", "slot_b_provider"),
    "ratings": ("qa_assignment_id", "axis", "choice", "submission_time_seconds"),
    "users": ("id", "subversion"),
    "qa_answers": ("id", "question_id", "provider_key"),
    "answer_lengths": ("answer_id", "answer_len"),
    "machineRatings": ("assignmentId", "grader", "choices"),
}
"""Table -> the columns that it must have."""
OPTIONAL = ("answer_lengths", "machineRatings")
"""Tables without which the others can be read."""


class Row(dict[str, str]):
    """A row: column -> text, empty where there is none."""

    line = 0
    """Its line in the file."""


@dataclass(frozen=True)
class Rows:
    """One table's rows."""

    name: str
    """The file's name."""
    rows: Sequence[Row] = ()
    """In the file's order."""
    table: Table | None = None
    """The table; None where there is none."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def problem(self, row: Row, column: str, sentence: str) -> Problem:
        """What is wrong with a row, with its place."""
        return Problem(row.line, column, sentence, self.table.place if self.table is not None else "line")


@dataclass(frozen=True)
class Tables:
    """All tables of a folder."""

    questions: Rows
    """qa_questions."""
    assignments: Rows
    """qa_assignments."""
    ratings: Rows
    """ratings."""
    users: Rows
    """users."""
    answers: Rows
    """qa_answers."""
    lengths: Rows
    """answer_lengths; none where the file is absent."""
    machine: Rows
    """machineRatings; likewise."""

    def by_name(self) -> dict[str, Rows]:
        """The tables by what they are called in the schema."""
        mine = (self.questions, self.assignments, self.ratings, self.users, self.answers, self.lengths, self.machine)
        return dict(zip(NEEDED, mine, strict=True))


def read_tables(folder: Path, source: Source) -> Tables:
    """Read the tables of a folder; one that is missing, or lacks a column or an identifier, is one SourceError."""
    if not folder.is_dir():
        raise SourceError(
            f"{folder.name}: is no folder; 'real-pocqi' reads a folder with the tables {', '.join(NEEDED)}"
        )
    return Tables(*(_rows(folder, name, columns, source.encoding) for name, columns in NEEDED.items()))


def arm_of(subversion: str) -> str:
    """The arm that the tables call a subversion or a variant.

    >>> arm_of("qa_text_only"), arm_of("text_with_citations"), arm_of("pilot")
    ('text', 'citations', 'pilot')
    """
    if "cit" in subversion.casefold():
        return "citations"
    return "text" if "text" in subversion.casefold() else subversion


def _rows(folder: Path, name: str, columns: Sequence[str], encoding: str) -> Rows:
    path = next((p for ending in ENDINGS if (p := folder / f"{name}{ending}").is_file()), None)
    if path is None:
        if name in OPTIONAL:
            return Rows(name)
        here = [p.name for p in folder.iterdir() if p.is_file()]
        wanted = f"{name}.csv"
        hint = nearest(wanted, here) if here else "the folder is empty"
        raise SourceError(f"{folder.name}: there is no table {wanted} (or .parquet); {hint}")
    table = read_table(path, encoding=encoding)
    for column in columns:
        if column not in table.frame.columns:
            raise SourceError(f"{path.name}: there is no column {column!r}; {nearest(column, table.frame.columns)}")
    rows = []
    seen: set[str] = set()
    for n, cells in enumerate(table.frame.iter_rows(named=True)):
        row = Row({c: (v or "").strip() for c, v in cells.items()})
        row.line = table.line(n)
        rows.append(row)
        if "id" in columns:
            if row["id"] in seen or not row["id"]:
                what = f"the id {row['id']!r} occurs twice" if row["id"] else "the id is empty"
                raise SourceError(f"{path.name}: {table.place} {row.line:,}: {what}; expected an id for each row")
            seen.add(row["id"])
    return Rows(path.name, rows, table)
