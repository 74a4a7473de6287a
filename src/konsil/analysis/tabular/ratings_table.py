"""Any table of ratings, wide or long, as a sample: for people without a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import polars as pl

from konsil.analysis.model.sample import Sample
from konsil.analysis.recoding.rewritten import rating_key, recoded
from konsil.analysis.table.encoding import matrix
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.label_sets import members_of, set_rows
from konsil.analysis.tabular.scale import on_scale
from konsil.analysis.tabular.unnamed import CLUSTER, ROW, UNIT, of_counts, of_lists
from konsil.errors import SourceError, choice, option
from konsil.errors.message import message
from konsil.records.numerals import own_numbers
from konsil.stats.agreement.label_sets import Members

NA = "NA"
"""What R writes in an empty cell."""
_PLACES = 4
"""Repeated ratings whose places an error names."""
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
    members: Members | None = None
    """Where ratings are sets of labels: which labels each code of the sample contains."""

    @property
    def n_abstained(self) -> int:
        """All abstentions."""
        return sum(self.abstained.values())


def read(frame: pl.DataFrame, options: TableOptions) -> Table:
    """Read a table of words whose columns have their roles, with a column ROW of the rows' numbers.

    Raises SourceError with one sentence for what cannot be read.
    """
    if frame.height == 0:
        raise SourceError(
            f"{options.name}: has no rows; expected one row per unit (wide) or per rating (long)"
        )
    layout = options.layout
    warnings: list[str] = []
    if layout == "counts":
        melted, options = of_counts(_units(frame, options, warnings), options)
    elif layout == "lists":
        melted = of_lists(_units(frame, options, warnings), str(options.label), options)
    else:
        melted = _melt(frame, options, warnings) if layout == "wide" else _long(frame, options)
    melted = without_missing(melted, options, warnings)
    if melted.height == 0:
        refuse_unrated(options)
    if options.repeat and layout != "long":
        raise SourceError(
            f"{options.name}: {option('repeat', options.repeat)}: has no effect, as every row is a"
            " unit of its own and no rater has several ratings of it"
        )
    if options.has_sets:
        ratings = set_rows(melted, options, warnings)
    else:
        ratings = on_scale(recoded(melted, options.recode), options, warnings)
    rated, labels = ratings.rated, ratings.labels
    scale, members = members_of(rated, labels) if options.has_sets else (labels, None)
    raters = melted.get_column("rater").unique().sort().to_list()
    # Clusters of units alone need no second look at their names.
    is_by_unit = layout == "long" and options.cluster in (None, options.unit)
    code = pl.col("label").replace_strict(scale.codes(), return_dtype=pl.Int32)
    coded = rated.select("unit", "rater", "cluster", code=code)
    if ratings.abstained.height:
        # A unit from which all abstained was in the sample, too, and is drawn as in a study.
        absent = ratings.abstained.select("unit", "rater", "cluster", code=pl.lit(-1, pl.Int32))
        coded = pl.concat([absent, coded])
    sample = matrix(
        coded.get_column("unit"),
        coded.get_column("rater"),
        None if is_by_unit else coded.get_column("cluster"),
        coded.get_column("code").to_numpy(),
        scale,
        raters,
    )
    if rated.height > sample.n_ratings:
        check_repeats(rated, options, warnings)
    has_raters = layout in {"wide", "long"}
    _check_raters(raters, options, has_raters=has_raters)
    abstained = ratings.abstained.group_by("rater").len().sort("rater")
    counted = {str(name): int(n) for name, n in abstained.iter_rows()}
    return Table(sample, labels, counted, tuple(warnings), ratings.constant, has_raters, members)


def refuse_unrated(options: TableOptions) -> NoReturn:
    """Refuse a table without a rating."""
    raise SourceError(f"{options.name}: no cell contains a rating; every cell is empty")


def _check_raters(raters: Sequence[str], options: TableOptions, *, has_raters: bool) -> None:
    """Refuse a single rater."""
    if len(raters) >= 2:
        return
    if not has_raters:
        raise SourceError(
            f"{options.name}: no unit has two labels; agreement needs at least two raters"
        )
    raise SourceError(
        f"{options.name}: only one rater ({raters[0]!r}) gave labels; agreement needs at least two"
    )


def _long(frame: pl.DataFrame, options: TableOptions) -> pl.DataFrame:
    if options.unit is None or options.label is None or len(options.rater) != 1:
        raise ValueError(f"the columns of a long table need their roles, got {options}")
    rows = frame.select(
        row=pl.col(ROW),
        unit=pl.col(options.unit),
        rater=pl.col(options.rater[0]),
        cluster=pl.col(options.cluster or options.unit),
        label=pl.col(options.label),
    )
    refuse_empty(rows, options)
    if options.cluster not in (None, options.unit):
        refuse_two_clusters(rows, options)
    return rows


def refuse_empty(rows: pl.DataFrame, options: TableOptions) -> None:
    """Refuse rows without a unit, rater or cluster, but those of which no rating is stated."""
    missing = [word for word in options.missing if word]
    ratings = rows
    if missing and rows.schema["label"] == pl.String:
        is_stated = pl.col("label").str.strip_chars().is_in(missing).fill_null(value=False)
        ratings = rows.filter(~is_stated)
    for role in ("unit", "rater", "cluster"):
        empty = ratings.filter(pl.col(role).is_null() | (pl.col(role) == ""))
        if empty.height:
            raise SourceError(
                f"{options.name}: {options.place} {options.line(int(empty.item(0, 'row')))}: the"
                f" {role} is empty; every rating needs its {role}"
            )


def refuse_two_clusters(rows: pl.DataFrame, options: TableOptions) -> None:
    """Refuse a unit in several clusters."""
    two = (
        rows.group_by("unit")
        .agg(pl.col("cluster").n_unique().alias("n"))
        .filter(pl.col("n") > 1)
        .sort("unit")
    )
    if two.height:
        raise SourceError(
            f"{options.name}: unit {two.item(0, 'unit')!r} is in {two.item(0, 'n')} clusters;"
            " expected one"
        )


def _units(frame: pl.DataFrame, options: TableOptions, warnings: list[str]) -> pl.DataFrame:
    """The rows as units, with `row`, `unit` and `cluster`.

    A unit is named by its identifier, so that the order of the rows changes nothing; without an
    identifier by its row's number.
    """
    unit, cluster = options.unit, options.cluster
    rows = frame
    # Filled with zeros, so that row 10 comes after row 9 where units are sorted as text.
    number = pl.col(ROW).cast(pl.String).str.zfill(len(str(rows.get_column(ROW).max())))
    name = number
    if unit is not None:
        # Rows of one name are told apart by what they hold, and where that is the same it does not
        # matter.
        rows = rows.sort(unit, *(c for c in frame.columns if c not in {ROW, unit, cluster}))
        again = pl.int_range(pl.len()).over(unit).cast(pl.String).str.zfill(9)
        name = pl.concat_str(pl.col(unit).fill_null(""), again, separator=UNIT)
        if rows.get_column(unit).is_duplicated().any() and cluster is None:
            warnings.append(
                f"column {unit!r} has repeated values; rows with the same {unit!r} form one cluster"
            )
            cluster = unit
    group = pl.col(cluster).fill_null("") if cluster else name
    return rows.with_columns(name.alias(UNIT), group.alias(CLUSTER))


def _melt(frame: pl.DataFrame, options: TableOptions, warnings: list[str]) -> pl.DataFrame:
    if len(options.rater) < 2:
        raise SourceError(
            f"{options.name}: one rater column ({', '.join(options.rater)}); agreement needs at"
            f" least two raters (for one row per rating, use {choice('layout', 'long')})"
        )
    return (
        _units(frame, options, warnings)
        .unpivot(
            on=list(options.rater),
            index=[ROW, UNIT, CLUSTER],
            variable_name=_RATER,
            value_name=_LABEL,
        )
        .rename({ROW: "row", UNIT: "unit", CLUSTER: "cluster", _RATER: "rater", _LABEL: "label"})
    )


def without_missing(rows: pl.DataFrame, options: TableOptions, warnings: list[str]) -> pl.DataFrame:
    """The rows that have a label; a warning states how many cells contain NA."""
    label = rows.get_column("label")
    if label.dtype == pl.String:
        rows = rows.with_columns(label.str.strip_chars())
    rows = rows.filter(
        pl.col("label").is_not_null() & ~pl.col("label").is_in(list({*options.missing, ""}))
    )
    n = int((rows.get_column("label") == NA).sum())
    # It is a label of some scales ("not applicable").
    if n and NA not in {*options.labels, options.abstain}:
        warnings.append(
            f"{n:,} {'cell contains' if n == 1 else 'cells contain'} 'NA' and"
            f" {'was' if n == 1 else 'were'} treated as not rated; if 'NA' is a label,"
            f" declare it in {option('labels')} or {option('abstain')}"
        )
        rows = rows.filter(pl.col("label") != NA)
    return rows


def check_repeats(rows: pl.DataFrame, options: TableOptions, warnings: list[str]) -> None:
    """Refuse two different labels of one rater for one unit; count equal labels once.

    A warning reports equal labels.
    """
    key = rating_key(rows)
    again = rows.height - rows.select(key).n_unique()
    if not again:
        return
    twice = (
        rows.group_by(key)
        .agg(
            pl.col("label").n_unique().alias("n"),
            pl.col("label").unique().sort().alias("found"),
            pl.col("row").sort(),
        )
        .filter(pl.col("n") > 1)
        .sort(key)
    )
    if twice.height:
        raise SourceError(_repeats(twice, options))
    warnings.append(
        message(
            "{n:,} {n|row repeats a rating|rows repeat ratings} of the same rater, unit and label"
            " and {n|is|are} not counted again",
            message_id="table.rows_again",
            n=again,
        )
    )


def _repeats(twice: pl.DataFrame, options: TableOptions) -> str:
    """The first rating with two labels, the places of a few others, and what to do."""
    places = [
        " and ".join(str(options.line(int(row))) for row in rows[:2])
        for rows in twice.get_column("row").head(_PLACES).to_list()
    ]
    first = twice.row(0, named=True)
    labels = " and ".join(repr(v) for v in first["found"][:2])
    n = twice.height - 1
    others = ""
    if n:
        more = ", ..." if n >= len(places) else ""
        others = (
            f" ({n:,} more {'rating has' if n == 1 else 'ratings have'} two labels:"
            f" {options.place}s {', '.join(places[1:])}{more})"
        )
    rules = ["first", "last"]
    numbers = {label for labels in twice.get_column("found").to_list() for label in labels}
    rules += ["sum"] if None not in own_numbers([*numbers]) else []
    choices = [option("repeat", rule) for rule in rules]
    return (
        f"{options.name}: {options.place}s {places[0]}: rater {first['rater']!r} labelled unit"
        f" {first['unit']!r} both {labels}{others}; expected one label of a rater for a unit, or"
        f" {', '.join(choices[:-1])} or {choices[-1]}"
    )
