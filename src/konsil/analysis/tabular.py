"""Any table of ratings, wide or long, as a sample: for people without a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from konsil.analysis.asked import Asked, Layout
from konsil.analysis.coding import Labels, Sample, matrix
from konsil.analysis.scale import decide
from konsil.errors import SourceError, nearest

_UNIT_NAMES = ("unit", "item", "id", "subject", "item_id", "unit_id", "column 1", "")
_WHOLE = 1e15
"""Whole numbers below it are exact and written without a point."""
_LONG_NAMES = {
    "unit": ("unit", "item", "subject", "item_id", "unit_id", "id"),
    "rater": ("rater", "annotator", "coder", "judge", "rater_id"),
    "label": ("label", "rating", "score", "code", "value"),
}
_ROW, _UNIT, _CLUSTER, _RATER, _LABEL = "\x1frow", "\x1funit", "\x1fcluster", "\x1frater", "\x1flabel"


@dataclass(frozen=True)
class Table:
    """A table read: the sample, its labels, and what a reader must know."""

    sample: Sample
    """Units x raters."""
    labels: Labels
    """The scale."""
    n_abstained: int
    """Abstentions, which are not labels."""
    warnings: tuple[str, ...]
    """Decisions taken for the user."""
    constant: str | None = None
    """The only label in the table, where no scale was declared and there is just one."""


def read(frame: pl.DataFrame, asked: Asked) -> Table:
    """Read a table of ratings; raises SourceError with one sentence for what cannot be read."""
    if frame.height == 0:
        raise SourceError(f"{asked.name}: has no rows; expected one row a unit (wide) or one row a rating (long)")
    frame = as_text(frame, asked.name)
    layout = asked.layout or _guess_layout(frame, asked)
    warnings: list[str] = []
    melted = _melt(frame, asked, warnings) if layout == "wide" else _long(frame, asked)
    melted = _drop_missing(melted, asked, warnings)
    if melted.height == 0:
        raise SourceError(f"{asked.name}: no cell holds a rating; every cell is empty")
    abstained = melted.filter(pl.col("label") == asked.abstain) if asked.abstain is not None else melted.clear()
    rated = melted.filter(pl.col("label") != asked.abstain) if asked.abstain is not None else melted
    if rated.height == 0:
        raise SourceError(
            f"{asked.name}: every rating is the abstention {asked.abstain!r}; there is no label to compare"
        )
    rated, labels, constant = decide(rated, asked, warnings)
    _one_label_each(rated, asked)
    raters = melted.get_column("rater").unique().sort().to_list()
    if len(raters) < 2:
        raise SourceError(f"{asked.name}: only one rater ({raters[0]!r}) gave labels; agreement needs at least two")
    # Units without any label (all abstained) stay out; their number is n_abstained's business.
    rated = rated.unique(["unit", "rater"], maintain_order=True)
    codes = rated.get_column("label").replace_strict(labels.codes(), return_dtype=pl.Int64).to_numpy()
    sample = matrix(
        rated.get_column("unit"), rated.get_column("rater"), rated.get_column("cluster"), codes, labels, raters
    )
    return Table(sample, labels, abstained.height, tuple(warnings), constant)


def as_text(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """All cells as words, so that 3 and '3' are one label; whole numbers lose their '.0', NaN becomes empty."""

    def text(name: str, kind: pl.DataType) -> pl.Expr:
        column = pl.col(name)
        if kind.is_float():
            whole = column.cast(pl.Int64, strict=False).cast(pl.String)
            is_whole = (column == column.floor()) & (column.abs() < _WHOLE)
            words = pl.when(is_whole).then(whole).otherwise(column.cast(pl.String))
            return pl.when(column.is_nan()).then(None).otherwise(words).alias(name)
        if kind.is_nested() or kind == pl.Object or kind == pl.Binary:
            raise SourceError(f"{source}: column {name!r} holds {kind}; expected one label a cell")
        return column.cast(pl.String)

    return frame.select([text(name, kind) for name, kind in frame.schema.items()])


def is_role(name: str) -> bool:
    """Whether a column of this name is taken for the raters or the labels of a long table."""
    return name.casefold() in {*_LONG_NAMES["rater"], *_LONG_NAMES["label"]}


def _guess_layout(frame: pl.DataFrame, asked: Asked) -> Layout:
    if asked.label is not None:
        return "long"
    folded = {c.casefold() for c in frame.columns}
    return "long" if all(folded & set(names) for names in _LONG_NAMES.values()) else "wide"


def _column(frame: pl.DataFrame, asked: Asked, name: str, flag: str) -> str:
    if name not in frame.columns:
        raise SourceError(f"{asked.name}: {flag} {name!r}: there is no such column; {nearest(name, frame.columns)}")
    return name


def _named(frame: pl.DataFrame, names: Sequence[str]) -> str | None:
    by_folded = {c.strip().casefold(): c for c in reversed(frame.columns)}
    return next((by_folded[n] for n in names if n in by_folded), None)


def _long(frame: pl.DataFrame, asked: Asked) -> pl.DataFrame:
    if len(asked.rater) > 1:
        raise SourceError(f"{asked.name}: --rater names {len(asked.rater)} columns; a long table has one rater column")
    chosen: dict[str, str] = {}
    given = {"unit": asked.unit, "rater": asked.rater[0] if asked.rater else None, "label": asked.label}
    for role, name in given.items():
        found = _column(frame, asked, name, f"--{role}") if name is not None else _named(frame, _LONG_NAMES[role])
        if found is None:
            columns = ", ".join(frame.columns)
            raise SourceError(f"{asked.name}: no column for the {role}; name it with --{role} (columns: {columns})")
        if found in chosen.values():
            raise SourceError(f"{asked.name}: --{role} {found!r}: this column has another role already; name each once")
        chosen[role] = found
    cluster = _column(frame, asked, asked.cluster, "--cluster") if asked.cluster else chosen["unit"]
    rows = frame.with_row_index(_ROW).select(
        pl.col(_ROW).cast(pl.Int64).alias("row"),
        pl.col(chosen["unit"]).alias("unit"),
        pl.col(chosen["rater"]).alias("rater"),
        pl.col(cluster).alias("cluster"),
        pl.col(chosen["label"]).alias("label"),
    )
    for role, flag in (("unit", "unit"), ("rater", "rater"), ("cluster", "cluster")):
        empty = rows.filter(pl.col(role).is_null() | (pl.col(role) == ""))
        if empty.height:
            line = asked.line(int(empty.item(0, "row")))
            raise SourceError(f"{asked.name}: line {line}: the {flag} is empty; every rating names its {flag}")
    if cluster != chosen["unit"]:
        _one_cluster_each(rows, asked)
    return rows


def _one_cluster_each(rows: pl.DataFrame, asked: Asked) -> None:
    two = rows.group_by("unit").agg(pl.col("cluster").n_unique().alias("n")).filter(pl.col("n") > 1).sort("unit")
    if two.height:
        raise SourceError(f"{asked.name}: unit {two.item(0, 'unit')!r} is in {two.item(0, 'n')} clusters; expected one")


def _melt(frame: pl.DataFrame, asked: Asked, warnings: list[str]) -> pl.DataFrame:
    unit = _column(frame, asked, asked.unit, "--unit") if asked.unit is not None else None
    cluster = _column(frame, asked, asked.cluster, "--cluster") if asked.cluster is not None else None
    if unit is None and not asked.rater:
        unit = _named(frame, _UNIT_NAMES)
        if unit is not None:
            warnings.append(f"column {unit!r} was taken as the unit's identifier, not as a rater; say --unit to choose")
    if asked.rater:
        columns = [_column(frame, asked, name, "--rater") for name in asked.rater]
    else:
        columns = [c for c in frame.columns if c not in {unit, cluster}]
    twice = [name for n, name in enumerate(columns) if name in columns[:n]]
    if twice or unit in columns:
        which = twice[0] if twice else unit
        raise SourceError(f"{asked.name}: column {which!r} is named twice; a column is one rater, or the units")
    if len(columns) < 2:
        raise SourceError(
            f"{asked.name}: {len(columns)} rater column{'s'[: len(columns) != 1]} ({', '.join(columns)});"
            " agreement needs at least two raters (for one row a rating, use --long)"
        )
    # Names of our own begin with a character that no file's column has, so that a rater may be called 'row'.
    rows = frame.with_row_index(_ROW).with_columns(pl.col(_ROW).cast(pl.Int64))
    if unit is not None:
        repeated = rows.filter(pl.col(unit).is_duplicated())
        if repeated.height and cluster is None:
            warnings.append(f"column {unit!r} repeats; rows of one {unit!r} are taken as one cluster")
            cluster = unit
    number = pl.col(_ROW).cast(pl.String).str.zfill(len(str(frame.height)))
    group = pl.col(cluster).fill_null("") if cluster else number
    rows = rows.with_columns(number.alias(_UNIT), group.alias(_CLUSTER))
    _suspicious(frame, columns, warnings)
    return rows.unpivot(on=columns, index=[_ROW, _UNIT, _CLUSTER], variable_name=_RATER, value_name=_LABEL).rename(
        {_ROW: "row", _UNIT: "unit", _CLUSTER: "cluster", _RATER: "rater", _LABEL: "label"}
    )


def _suspicious(frame: pl.DataFrame, columns: Sequence[str], warnings: list[str]) -> None:
    """A column with another value in every row is more likely an identifier than a rater."""
    if frame.height < 10:
        return
    warnings.extend(
        f"column {column!r} has another value in every row; if it is an identifier, say --unit {column}"
        for column in columns
        if frame.get_column(column).drop_nulls().n_unique() == frame.height
    )


def _drop_missing(rows: pl.DataFrame, asked: Asked, warnings: list[str]) -> pl.DataFrame:
    rows = rows.with_columns(pl.col("label").str.strip_chars())
    rows = rows.filter(pl.col("label").is_not_null() & ~pl.col("label").is_in(list({*asked.missing, ""})))
    if "NA" not in {*asked.labels, asked.abstain}:
        n = int((rows.get_column("label") == "NA").sum())
        if n:
            warnings.append(
                f"{n:,} cells say 'NA' and were taken as not rated; declare it in --labels or --abstain if not"
            )
            rows = rows.filter(pl.col("label") != "NA")
    return rows


def _one_label_each(rows: pl.DataFrame, asked: Asked) -> None:
    """Two labels of one rater for one unit that agree are one; that differ are an error."""
    if rows.select("unit", "rater").n_unique() == rows.height:
        return
    twice = (
        rows.group_by("unit", "rater")
        .agg(
            pl.col("label").n_unique().alias("n"), pl.col("label").unique().sort().alias("found"), pl.col("row").sort()
        )
        .filter(pl.col("n") > 1)
        .sort("unit", "rater")
    )
    if twice.height:
        row = twice.row(0, named=True)
        lines = " and ".join(str(asked.line(int(r))) for r in row["row"][:2])
        found = " and ".join(repr(v) for v in row["found"][:2])
        raise SourceError(
            f"{asked.name}: lines {lines}: rater {row['rater']!r} labelled unit {row['unit']!r} both {found};"
            " expected one label"
        )
