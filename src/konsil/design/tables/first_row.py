"""The first row of a table, read by the roles of its columns, to be asked back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from konsil.design.tables.columns import Role
from konsil.design.tables.loaded import Loaded
from konsil.design.tables.naming import headings, systems_in_headings
from konsil.design.tables.sources import RATED

MOST = 6
"""Answers and ratings that are read out."""


@dataclass(frozen=True)
class ReadRating:
    """One rating as it is read out; what the table does not say is empty."""

    rater: str
    label: str
    criterion: str = ""


@dataclass(frozen=True)
class FirstRow:
    """The first question of a table with its answers, or with its ratings."""

    question: str
    """Its text; without one its number."""
    reference: str = ""
    system: str = ""
    """The system whose answer is rated; both of a comparison."""
    answers: tuple[tuple[str, str], ...] = ()
    """System, text."""
    ratings: tuple[ReadRating, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    """Label -> how many raters chose it; in a cross table, how often beside `row_label`."""
    row_label: str = ""
    """Of a cross table: the label of the rater in the rows."""


def first_row(loaded: Loaded) -> FirstRow | None:
    """The first row with ratings, answers or a question; None where no row has any."""
    cells = _Cells(loaded)
    for roles in (RATED, ("count",), ("answer", "answer_of"), ("text", "item")):
        named = [name for name, role in loaded.roles.items() if role in roles]
        at = next((n for n in range(cells.n_rows) if any(cells.of(c, n) for c in named)), None)
        if at is not None:
            return _read(cells, at)
    return None


class _Cells:
    """The cells of a table, by its roles."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self._columns = {column.name: column.values for column in loaded.table.columns}
        self.n_rows = max(map(len, self._columns.values()), default=0)

    def columns(self, role: Role) -> list[str]:
        """The columns of a role."""
        return [name for name, other in self.loaded.roles.items() if other == role]

    def of(self, column: str, at: int) -> str:
        """A cell; empty where the column or the cell is not there."""
        values = self._columns.get(column, ())
        return (values[at] or "").strip() if at < len(values) else ""

    def by_role(self, role: Role, at: int) -> str:
        """The cell of the first column of a role, or what is the same in all rows."""
        columns = self.columns(role)
        return self.of(columns[0], at) if columns else self.loaded.fixed.get(role, "")


def _read(cells: _Cells, at: int) -> FirstRow:
    ratings = tuple(_ratings(cells, at))[:MOST]
    item = cells.by_role("item", at)
    in_columns = next((c for c in cells.columns("label_of_item") if cells.of(c, at)), "")
    systems = [cells.by_role(role, at) for role in ("system", "system_a", "system_b")]
    return FirstRow(
        cells.by_role("text", at) or item or in_columns,
        cells.by_role("reference", at),
        " – ".join(filter(None, systems)) if ratings else "",
        tuple(_answers(cells, at, item))[:MOST],
        ratings,
        tuple(_counts(cells, at))[:MOST],
        cells.by_role("row_label", at),
    )


def _counts(cells: _Cells, at: int) -> Iterator[tuple[str, int]]:
    for column in cells.columns("count"):
        number = cells.of(column, at)
        yield column, int(number) if number.isdecimal() else 0


def _answers(cells: _Cells, at: int, item: str) -> Iterator[tuple[str, str]]:
    for column, system in systems_in_headings(cells.loaded).items():
        yield system, cells.of(column, at)
    if cells.columns("answer"):
        rows = (n for n in range(at, cells.n_rows) if cells.by_role("item", n) == item)
        yield from ((cells.by_role("system", n), cells.by_role("answer", n)) for n in rows)


def _ratings(cells: _Cells, at: int) -> Iterator[ReadRating]:
    parts = headings(cells.loaded)
    for column, role in cells.loaded.roles.items():
        label = cells.of(column, at) if role in RATED else ""
        if not label:
            continue
        rater, criterion = cells.by_role("rater", at), cells.by_role("criterion", at)
        match role:
            case "label_of_rater":
                rater = parts["rater"].get(column, column)
            case "label_of_both":
                rater, criterion = (parts[gap].get(column, column) for gap in parts)
            case "label_of_criterion":
                criterion = parts["criterion"].get(column, column)
        yield ReadRating(rater, label, criterion)
