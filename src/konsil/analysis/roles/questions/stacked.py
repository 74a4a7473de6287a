"""What the sheets of a workbook are, or the files of one table: raters, criteria, or one of them.

A number of one sheet is not printed where the same reading holds for another one and none is
stated.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from konsil.analysis.roles.candidates.leftover import has_people
from konsil.analysis.roles.names import kinds
from konsil.analysis.roles.proposal import LEAST, propose
from konsil.analysis.roles.reading import Purpose, StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import NAMED
from konsil.errors import option
from konsil.errors.message import TranslatableMessage, listed, message
from konsil.records.request import quoted


def roles_of_stacked(frame: pl.DataFrame, by: str) -> tuple[StatedRoles, TranslatableMessage]:
    """The likely roles of the columns of stacked tables, and the question whether they are.

    Where each table has a column for each rater by their names, the tables are criteria; else each
    is of one rater. `by`: the column with the names of the tables.
    """
    names = frame.get_column(by).unique(maintain_order=True).to_list()
    first = frame.filter(pl.col(by) == names[0]).drop(by)
    reading = None if _are_raters(names) else propose(first, StatedRoles(), "ratings").reading
    if reading is None or not _has_named_raters(reading):
        question = message(
            "Is each {table} that of one rater?", message_id="roles.table_of_rater", table=by
        )
        return StatedRoles(layout="long", raters=(by,)), question
    question = message(
        "Is each {table} that of one criterion?", message_id="roles.table_of_criterion", table=by
    )
    units, raters = reading.units, reading.rated
    return StatedRoles(layout="wide", units=units, raters=raters, criterion=by), question


def _are_raters(names: list[str]) -> bool:
    return has_people(names) or all(kinds(name)["rater"] >= NAMED for name in names)


def _has_named_raters(reading: TableReading) -> bool:
    """Whether a table has a column for each rater, and the names say so."""
    is_likely = reading.shape == "wide" and reading.points >= LEAST
    return is_likely and all(kinds(name)["rater"] >= NAMED for name in reading.rated)


def leaves_tables_open(table: pl.DataFrame, stated: StatedRoles, file_roles: StatedRoles) -> bool:
    """Whether stacked tables are criteria with the same units, and nothing is stated of them.

    Tables of different units may be parts of one.
    """
    if file_roles.criterion in (None, *stated.columns):
        return False
    units = stated.units or file_roles.units
    return bool(units) and bool(table.select(units).is_duplicated().any())


def open_sheets(reading: TableReading, purpose: Purpose) -> Iterator[TranslatableMessage]:
    """Which sheets a reading is about, where none is stated and it holds for others, too."""
    used = {*reading.columns}
    sheets = [name for name, columns in purpose.sheets.items() if used <= {*columns}]
    if len(sheets) < 2:
        return
    sheet = option("sheet")
    first = next(iter(purpose.sheets))
    alike = [n for n in sheets if {*purpose.sheets[n]} == {*purpose.sheets[first]}]
    names = listed([repr(name) for name in sheets], end="{some} and {last}")
    if len(alike) < 2:
        yield message(
            "The sheets {sheets} have these columns: state one of them, such as {example}.",
            message_id="roles.one_of_sheets",
            sheets=names,
            example=f"{sheet} {quoted(first)}",
        )
        return
    everything = "*" if len(alike) == len(purpose.sheets) else "/".join(alike)
    yield message(
        "The sheets {sheets} have these columns: state one of them, such as {example}, or read all"
        " with {all}.",
        message_id="roles.one_or_all_sheets",
        sheets=names,
        example=f"{sheet} {quoted(first)}",
        all=f"{sheet} {quoted(everything)}",
    )
