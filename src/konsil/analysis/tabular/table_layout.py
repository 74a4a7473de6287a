"""Layout of a table of ratings, and its columns that are no raters, where undeclared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from konsil.analysis.model.message import listed, message
from konsil.analysis.tabular.agreement_options import Layout, TableOptions
from konsil.analysis.tabular.unnamed import is_list, refuse_counts
from konsil.errors import SourceError, choice, nearest, option

LONG_NAMES = {
    "unit": ("unit", "item", "subject", "item_id", "unit_id", "id"),
    "rater": ("rater", "annotator", "coder", "judge", "rater_id"),
    "label": ("label", "rating", "score", "code", "value"),
}
"""What the columns of a long table are usually called."""

UNIT_NAMES = ("unit", "item", "id", "subject", "item_id", "unit_id", "column 1", "")
"""What the column of the units is called in a wide table."""


ROLES = ("unit", "rater", "cluster")
"""What every rating has."""


def named(frame: pl.DataFrame, names: Sequence[str]) -> str | None:
    """The column with the first of these names, in any case."""
    by_folded = {c.strip().casefold(): c for c in reversed(frame.columns)}
    return next((by_folded[n] for n in names if n in by_folded), None)


def is_role(name: str) -> bool:
    """Whether a column of this name is taken for the raters or the labels of a long table."""
    return name.casefold() in {*LONG_NAMES["rater"], *LONG_NAMES["label"]}


def is_long(frame: pl.DataFrame, options: TableOptions) -> bool:
    """Whether a table is read as long."""
    return (options.layout or guess_layout(frame, options)) == "long"


def guess_layout(frame: pl.DataFrame, options: TableOptions) -> Layout:
    """The layout by names of columns: long where raters and labels have their usual names."""
    if options.split:
        return "lists"
    if options.label is not None:
        cells = (
            frame.get_column(options.label).drop_nulls().unique().to_list()
            if options.label in frame.columns
            else []
        )
        return (
            "lists"
            if cells and not options.rater and all(is_list(cell) for cell in cells)
            else "long"
        )
    has_rater = len(options.rater) == 1 or (
        not options.rater and named(frame, LONG_NAMES["rater"]) is not None
    )
    has_unit = options.unit is not None or named(frame, LONG_NAMES["unit"]) is not None
    has_label = named(frame, LONG_NAMES["label"]) is not None
    # Raters and labels are enough: without a known name of the units the reader of long tables asks
    # for it.
    return "long" if has_rater and has_label and (has_unit or not options.rater) else "wide"


def with_recognised_columns(
    frame: pl.DataFrame, options: TableOptions, others: Sequence[str], warnings: list[str]
) -> TableOptions:
    """How a table is to be read, with a wide table's unit column where its values identify it.

    Decided once for all rows: groups of them must not be read in different ways. `others` are
    columns that choose rows and are no raters. Only a table that is taken as wide without being
    declared so is checked.
    """
    if (
        options.layout is not None
        or options.rater
        or frame.height == 0
        or guess_layout(frame, options) != "wide"
    ):
        return options
    named_unit = options.unit if options.unit is not None else named(frame, UNIT_NAMES)
    columns = [c for c in frame.columns if c not in {named_unit, options.cluster, *others}]
    _refuse_long(frame, columns, options)
    refuse_counts(frame, columns, options)
    if named_unit is not None or len(columns) < 3 or not _is_identifier(frame, columns, options):
        return options
    warnings.append(
        message(
            (
                "column {column} has a different value in every row and was taken as the"
                " unit's identifier, not as a rater; choose with {unit}, or use {wide} if it"
                " is a rater"
            ),
            message_id="table.first_column_identifies",
            column=repr(columns[0]),
            unit=option("unit", example="..."),
            wide=choice("layout", "wide"),
        )
    )
    return replace(options, unit=columns[0])


def _refuse_long(frame: pl.DataFrame, columns: Sequence[str], options: TableOptions) -> None:
    """Refuse to take the columns of a long table for raters.

    The column of labels is recognised by its name, that of raters by its name if it contains no
    label. A wide table may have a rater called 'judge', whose cells are labels like those of the
    other raters.
    """
    for column in columns:
        folded = column.strip().casefold()
        is_rater = folded in LONG_NAMES["rater"] and not _values(frame, [column]) & _values(
            frame, [c for c in columns if c != column]
        )
        if is_rater or folded in LONG_NAMES["label"]:
            raise SourceError(
                message(
                    "{table}: the column {column} has a name typical of tables with one row per"
                    " rating; name the columns with {unit}, {rater} and {label}, or use {wide}"
                    " if each column is a rater (columns: {columns})",
                    message_id="error.called_like_long",
                    unit=option("unit"),
                    rater=option("rater"),
                    label=option("label"),
                    wide=choice("layout", "wide"),
                    table=options.name,
                    column=repr(column),
                    columns=listed(frame.columns, end="{some}, {last}"),
                )
            )


def _is_identifier(frame: pl.DataFrame, columns: Sequence[str], options: TableOptions) -> bool:
    """Whether the first column numbers or names the rows.

    It has a value in every row, another one in each, more of them than the other columns have
    labels; and they are the rows' numbers, or none of them is a label of another column.
    """
    first = frame.get_column(columns[0]).str.strip_chars()
    first_values, labels = _values(frame, columns[:1]), _values(frame, columns[1:])
    if (
        first.null_count()
        or len(first_values) < frame.height
        or len(first_values) <= len(labels)
        or first_values <= set(options.labels)
    ):
        return False
    numbers = first.cast(pl.Int64, strict=False)
    is_count = numbers.null_count() == 0 and (numbers.diff().drop_nulls() == 1).all()
    return is_count or not first_values & labels


def _values(frame: pl.DataFrame, columns: Sequence[str]) -> set[str]:
    """The different texts of some columns."""
    cells = {
        cell.strip()
        for c in columns
        for cell in frame.get_column(c).drop_nulls().unique().to_list()
    }
    return cells - {""}


def column_of(frame: pl.DataFrame, options: TableOptions, name: str, flag: str) -> str:
    """A column by its name; another is refused with the option `flag` that names it."""
    if name not in frame.columns:
        raise SourceError(
            f"{options.name}: {flag} {name!r}: there is no such column;"
            f" {nearest(name, frame.columns)}"
        )
    return name


def long_columns(frame: pl.DataFrame, options: TableOptions) -> dict[str, str]:
    """The columns of a long table by role: unit, rater, label and cluster, which may be the unit's.

    A role without a column is refused.
    """
    if len(options.rater) > 1:
        raise SourceError(
            f"{options.name}: {option('rater')} names {len(options.rater)} columns; a long table"
            " has one rater column"
        )
    chosen: dict[str, str] = {}
    column_by_role = {
        "unit": options.unit,
        "rater": options.rater[0] if options.rater else None,
        "label": options.label,
    }
    for role, name in column_by_role.items():
        column = (
            column_of(frame, options, name, option(role))
            if name is not None
            else named(frame, LONG_NAMES[role])
        )
        if column is None:
            columns = ", ".join(frame.columns)
            wide = (
                ""
                if options.layout is not None or options.rater
                else f", or use {choice('layout', 'wide')} if each column is a rater"
            )
            raise SourceError(
                f"{options.name}: no column for the {role}; name it with {option(role)}{wide}"
                f" (columns: {columns})"
            )
        if column in chosen.values():
            raise SourceError(
                f"{options.name}: {option(role)} {column!r}: this column has another role already;"
                " name each once"
            )
        chosen[role] = column
    cluster = options.cluster
    chosen["cluster"] = (
        column_of(frame, options, cluster, option("cluster")) if cluster else chosen["unit"]
    )
    return chosen
