"""Any table of ratings, wide or long, as a sample: for people without a study."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from konsil.analysis.model.message import message
from konsil.analysis.table.encoding import Labels, Sample, matrix
from konsil.analysis.tabular.agreement_options import TableOptions, composed
from konsil.analysis.tabular.scale import decide
from konsil.analysis.tabular.table_layout import LONG_NAMES, UNIT_NAMES, guess_layout, named
from konsil.analysis.tabular.unnamed import CLUSTER, ROW, UNIT, of_counts, of_lists, refuse_counts
from konsil.errors import SourceError, choice, nearest, option

_WHOLE = 1e15
"""Whole numbers below it are exact and written without a point."""
_RATER, _LABEL = "\x1frater", "\x1flabel"


@dataclass(frozen=True)
class Table:
    """A table read: the sample, its labels, and what a reader must know."""

    sample: Sample
    """Units x raters; where raters are not known, units x places without meaning."""
    labels: Labels
    """The scale."""
    abstained: Mapping[str, int]
    """Abstentions of each rater, which are not labels."""
    warnings: tuple[str, ...]
    """Decisions taken for the user."""
    constant: str | None = None
    """The only label in the table, where no scale was declared and there is just one."""
    has_raters: bool = True
    """Whether it is known who gave which label."""

    @property
    def n_abstained(self) -> int:
        """All abstentions."""
        return sum(self.abstained.values())


def read(frame: pl.DataFrame, asked: TableOptions) -> Table:
    """Read a table of ratings; raises SourceError with one sentence for what cannot be read."""
    if frame.height == 0:
        raise SourceError(
            f"{asked.name}: has no rows; expected one row a unit (wide) or one row a rating (long)"
        )
    frame = as_text(frame, asked.name, lists=() if asked.label is None else (asked.label,))
    layout = asked.layout or guess_layout(frame, asked)
    warnings: list[str] = []
    if layout == "counts":
        rows, columns = _units(frame, asked, warnings)
        melted, asked = of_counts(rows, columns, asked, warnings)
    elif layout == "lists":
        melted = of_lists(_units(frame, asked, warnings)[0], _label_column(frame, asked), asked)
    else:
        melted = _melt(frame, asked, warnings) if layout == "wide" else _long(frame, asked)
    melted = _drop_missing(melted, asked, warnings)
    if melted.height == 0:
        raise SourceError(f"{asked.name}: no cell holds a rating; every cell is empty")
    abstained = (
        melted.filter(pl.col("label") == asked.abstain)
        if asked.abstain is not None
        else melted.clear()
    )
    rated = melted.filter(pl.col("label") != asked.abstain) if asked.abstain is not None else melted
    if rated.height == 0:
        raise SourceError(
            f"{asked.name}: every rating is the abstention {asked.abstain!r}; there is no label to"
            " compare"
        )
    rated, labels, constant = decide(rated, asked, warnings)
    _one_label_each(rated, asked, warnings)
    raters = melted.get_column("rater").unique().sort().to_list()
    has_raters = layout in {"wide", "long"}
    if len(raters) < 2 and has_raters:
        raise SourceError(
            f"{asked.name}: only one rater ({raters[0]!r}) gave labels; agreement needs at"
            " least two"
        )
    if len(raters) < 2:
        raise SourceError(
            f"{asked.name}: no unit has two labels; agreement needs at least two raters"
        )
    # Units without any label (all abstained) stay out; their number is n_abstained's business.
    rated = rated.unique(["unit", "rater"], maintain_order=True)
    codes = (
        rated.get_column("label").replace_strict(labels.codes(), return_dtype=pl.Int64).to_numpy()
    )
    sample = matrix(
        rated.get_column("unit"),
        rated.get_column("rater"),
        rated.get_column("cluster"),
        codes,
        labels,
        raters,
    )
    counted = (
        dict(abstained.group_by("rater").len().sort("rater").iter_rows())
        if abstained.height
        else {}
    )
    return Table(sample, labels, counted, tuple(warnings), constant, has_raters)


def as_text(frame: pl.DataFrame, source: str, lists: Collection[str] = ()) -> pl.DataFrame:
    """All cells as words, so that 3 and '3' are one label.

    Whole numbers lose their '.0', NaN becomes empty.

    Letters are composed (NFC), so that an accent is one letter however a file spells it; so are the
    names of the columns. In the columns `lists`, lists become JSON.
    """

    def text(name: str, kind: pl.DataType) -> pl.Expr | pl.Series:
        column = pl.col(name)
        if composed(name) in lists and isinstance(kind, pl.List | pl.Array):
            cells: list[str | None] = [
                None if cell is None else json.dumps(cell)
                for cell in frame.get_column(name).to_list()
            ]
            return pl.Series(name, cells, dtype=pl.String)
        if kind.is_float():
            whole = column.cast(pl.Int64, strict=False).cast(pl.String)
            is_whole = (column == column.floor()) & (column.abs() < _WHOLE)
            words = pl.when(is_whole).then(whole).otherwise(column.cast(pl.String))
            return pl.when(column.is_nan()).then(None).otherwise(words).alias(name)
        if kind.is_nested() or kind == pl.Object or kind == pl.Binary:
            raise SourceError(f"{source}: column {name!r} holds {kind}; expected one label a cell")
        return column.cast(pl.String)

    words = frame.select([text(name, kind) for name, kind in frame.schema.items()])
    words = words.with_columns(pl.all().str.normalize("NFC"))
    columns = [composed(name) for name in words.columns]
    return (
        words.rename(dict(zip(words.columns, columns, strict=True)))
        if len({*columns}) == len(columns)
        else words
    )


def _column(frame: pl.DataFrame, asked: TableOptions, name: str, flag: str) -> str:
    if name not in frame.columns:
        raise SourceError(
            f"{asked.name}: {flag} {name!r}: there is no such column;"
            f" {nearest(name, frame.columns)}"
        )
    return name


def _long(frame: pl.DataFrame, asked: TableOptions) -> pl.DataFrame:
    if len(asked.rater) > 1:
        raise SourceError(
            f"{asked.name}: {option('rater')} names {len(asked.rater)} columns; a long table has"
            " one rater column"
        )
    chosen: dict[str, str] = {}
    given = {
        "unit": asked.unit,
        "rater": asked.rater[0] if asked.rater else None,
        "label": asked.label,
    }
    for role, name in given.items():
        found = (
            _column(frame, asked, name, option(role))
            if name is not None
            else named(frame, LONG_NAMES[role])
        )
        if found is None:
            columns = ", ".join(frame.columns)
            wide = (
                ""
                if asked.layout is not None or asked.rater
                else f", or say {choice('layout', 'wide')} if each column is a rater"
            )
            raise SourceError(
                f"{asked.name}: no column for the {role}; name it with {option(role)}{wide}"
                f" (columns: {columns})"
            )
        if found in chosen.values():
            raise SourceError(
                f"{asked.name}: {option(role)} {found!r}: this column has another role already;"
                " name each once"
            )
        chosen[role] = found
    cluster = (
        _column(frame, asked, asked.cluster, option("cluster")) if asked.cluster else chosen["unit"]
    )
    rows = _numbered(frame, asked).select(
        pl.col(ROW).alias("row"),
        pl.col(chosen["unit"]).alias("unit"),
        pl.col(chosen["rater"]).alias("rater"),
        pl.col(cluster).alias("cluster"),
        pl.col(chosen["label"]).alias("label"),
    )
    for role, flag in (("unit", "unit"), ("rater", "rater"), ("cluster", "cluster")):
        empty = rows.filter(pl.col(role).is_null() | (pl.col(role) == ""))
        if empty.height:
            line = asked.line(int(empty.item(0, "row")))
            raise SourceError(
                f"{asked.name}: line {line}: the {flag} is empty; every rating names its {flag}"
            )
    if cluster != chosen["unit"]:
        _one_cluster_each(rows, asked)
    return rows


def _one_cluster_each(rows: pl.DataFrame, asked: TableOptions) -> None:
    two = (
        rows.group_by("unit")
        .agg(pl.col("cluster").n_unique().alias("n"))
        .filter(pl.col("n") > 1)
        .sort("unit")
    )
    if two.height:
        raise SourceError(
            f"{asked.name}: unit {two.item(0, 'unit')!r} is in {two.item(0, 'n')} clusters;"
            " expected one"
        )


def _label_column(frame: pl.DataFrame, asked: TableOptions) -> str:
    if asked.label is None:
        columns = ", ".join(frame.columns)
        raise SourceError(
            f"{asked.name}: name the column of the lists of labels with {option('label')} (columns:"
            f" {columns})"
        )
    return _column(frame, asked, asked.label, option("label"))


def _numbered(frame: pl.DataFrame, asked: TableOptions) -> pl.DataFrame:
    """The rows with their numbers in the whole table."""
    if asked.rows is None:
        return frame.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64))
    return frame.with_columns(asked.rows.cast(pl.Int64).alias(ROW))


def _units(
    frame: pl.DataFrame, asked: TableOptions, warnings: list[str]
) -> tuple[pl.DataFrame, list[str]]:
    """The rows as units, named `row`, `unit` and `cluster` beside the columns that are neither, and those columns.

    A unit is called by its identifier, so that the order of the rows changes nothing; without one
    by its row's number.
    """
    unit = _column(frame, asked, asked.unit, option("unit")) if asked.unit is not None else None
    cluster = (
        _column(frame, asked, asked.cluster, option("cluster"))
        if asked.cluster is not None
        else None
    )
    if unit is None and not asked.rater:
        unit = named(frame, UNIT_NAMES)
        if unit is not None:
            warnings.append(
                f"column {unit!r} was taken as the unit's identifier, not as a rater; say"
                f" {option('unit', example='...')} to"
                " choose"
            )
    columns = [c for c in frame.columns if c not in {unit, cluster}]
    rows = _numbered(frame, asked)
    number = pl.col(ROW).cast(pl.String).str.zfill(len(str(rows.get_column(ROW).max())))
    name = number
    if unit is not None:
        # Rows of one name are told apart by what they hold, and where that is the same it does not
        # matter.
        rows = rows.sort(unit, *columns)
        again = pl.int_range(pl.len()).over(unit).cast(pl.String).str.zfill(9)
        name = pl.concat_str(pl.col(unit).fill_null(""), again, separator=UNIT)
        if rows.get_column(unit).is_duplicated().any() and cluster is None:
            warnings.append(
                f"column {unit!r} repeats; rows of one {unit!r} are taken as one cluster"
            )
            cluster = unit
    group = pl.col(cluster).fill_null("") if cluster else name
    return rows.with_columns(name.alias(UNIT), group.alias(CLUSTER)), columns


def _melt(frame: pl.DataFrame, asked: TableOptions, warnings: list[str]) -> pl.DataFrame:
    rows, others = _units(frame, asked, warnings)
    columns = [_column(frame, asked, name, option("rater")) for name in asked.rater] or others
    twice = [name for n, name in enumerate(columns) if name in columns[:n]]
    if twice or asked.unit in columns:
        which = twice[0] if twice else asked.unit
        raise SourceError(
            f"{asked.name}: column {which!r} is named twice; a column is one rater, or the units"
        )
    if len(columns) < 2:
        raise SourceError(
            f"{asked.name}: {len(columns)} rater column{'s'[: len(columns) != 1]}"
            f" ({', '.join(columns)}); agreement needs at least two raters (for one row a rating,"
            f" use {choice('layout', 'long')})"
        )
    if asked.layout is None and not asked.rater:
        refuse_counts(frame, columns, asked)
    _suspicious(frame, columns, warnings)
    return rows.unpivot(
        on=columns, index=[ROW, UNIT, CLUSTER], variable_name=_RATER, value_name=_LABEL
    ).rename({ROW: "row", UNIT: "unit", CLUSTER: "cluster", _RATER: "rater", _LABEL: "label"})


def _suspicious(frame: pl.DataFrame, columns: Sequence[str], warnings: list[str]) -> None:
    """A column with another value in every row is more likely an identifier than a rater.

    In few rows that is so by chance as well, and only a column with more values than the others
    have labels is told.
    """
    for column in columns:
        n_values = frame.get_column(column).drop_nulls().n_unique()
        others = {
            v for c in columns if c != column for v in frame.get_column(c).drop_nulls().unique()
        }
        if n_values == frame.height and (
            frame.height >= 10 or (frame.height >= 4 and n_values > len(others))
        ):
            warnings.append(
                f"column {column!r} has another value in every row; if it is an identifier, say"
                f" {option('unit', column)}"
            )


def _drop_missing(rows: pl.DataFrame, asked: TableOptions, warnings: list[str]) -> pl.DataFrame:
    rows = rows.with_columns(pl.col("label").str.strip_chars())
    rows = rows.filter(
        pl.col("label").is_not_null() & ~pl.col("label").is_in(list({*asked.missing, ""}))
    )
    if "NA" not in {*asked.labels, asked.abstain}:
        n = int((rows.get_column("label") == "NA").sum())
        if n:
            warnings.append(
                f"{n:,} {'cell says' if n == 1 else 'cells say'} 'NA' and"
                f" {'was' if n == 1 else 'were'} taken as not rated; declare it in"
                f" {option('labels')} or {option('abstain')} if not"
            )
            rows = rows.filter(pl.col("label") != "NA")
    return rows


def _one_label_each(rows: pl.DataFrame, asked: TableOptions, warnings: list[str]) -> None:
    """Two labels of one rater for one unit that agree are one, which is told; that differ are an error."""
    again = rows.height - rows.select("unit", "rater").n_unique()
    if not again:
        return
    twice = (
        rows.group_by("unit", "rater")
        .agg(
            pl.col("label").n_unique().alias("n"),
            pl.col("label").unique().sort().alias("found"),
            pl.col("row").sort(),
        )
        .filter(pl.col("n") > 1)
        .sort("unit", "rater")
    )
    if twice.height:
        row = twice.row(0, named=True)
        lines = " and ".join(str(asked.line(int(r))) for r in row["row"][:2])
        found = " and ".join(repr(v) for v in row["found"][:2])
        raise SourceError(
            f"{asked.name}: lines {lines}: rater {row['rater']!r} labelled unit {row['unit']!r}"
            f" both {found}; expected one label"
        )
    warnings.append(
        message(
            "{n:,} {n|row repeats a rating|rows repeat ratings} of the same rater, unit and label"
            " and {n|is|are} not counted again",
            message_id="table.rows_again",
            n=again,
        )
    )
