"""Any table of ratings, wide or long, as a sample: for people without a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import polars as pl

from konsil.analysis.model.message import message
from konsil.analysis.model.sample import Sample
from konsil.analysis.recoding.rewritten import chosen_repeats, combined_repeats, recoded
from konsil.analysis.table.encoding import matrix
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.label_sets import members_of, refuse_order_of_sets, set_rows
from konsil.analysis.tabular.scale import decide
from konsil.analysis.tabular.unnamed import CLUSTER, ROW, UNIT, of_counts, of_lists
from konsil.errors import SourceError, choice, option
from konsil.records.numerals import own_numbers
from konsil.stats.agreement.label_sets import Members

ROLES = ("unit", "rater", "cluster")
"""What every rating has."""
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
    """Read a table of words whose columns have their roles.

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
        refuse_order_of_sets(options)
        sets = set_rows(melted, options, warnings)
        rated, abstained, labels, constant = sets.rated, sets.abstained, sets.labels, None
    else:
        rated, abstained = _without_abstentions(recoded(melted, options.recode), options)
        if options.repeat in ("sum", "mean", "max"):
            rated = combined_repeats(rated, options.repeat, options.name)
        rated, labels, constant = decide(rated, options, warnings)
    if options.repeat in ("first", "last"):
        rated = chosen_repeats(rated, options.repeat, warnings)
    check_repeats(rated, options, warnings)
    raters = melted.get_column("rater").unique().sort().to_list()
    has_raters = layout in {"wide", "long"}
    if has_raters:
        check_raters(raters, options)
    if len(raters) < 2:
        raise SourceError(
            f"{options.name}: no unit has two labels; agreement needs at least two raters"
        )
    # Units without any label (all abstained) stay out; their number is n_abstained's business.
    # Only equal labels are left twice: different ones have just been refused.
    rated = rated.unique(["unit", "rater"], maintain_order=True)
    scale, members = members_of(rated, labels) if options.has_sets else (labels, None)
    codes = (
        rated.get_column("label").replace_strict(scale.codes(), return_dtype=pl.Int64).to_numpy()
    )
    sample = matrix(
        rated.get_column("unit"),
        rated.get_column("rater"),
        rated.get_column("cluster"),
        codes,
        scale,
        raters,
    )
    counted = (
        dict(abstained.group_by("rater").len().sort("rater").iter_rows())
        if abstained.height
        else {}
    )
    return Table(sample, labels, counted, tuple(warnings), constant, has_raters, members)


def _without_abstentions(
    melted: pl.DataFrame, options: TableOptions
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows with labels, and those with abstentions."""
    if options.abstain is None:
        return melted, melted.clear()
    is_abstention = pl.col("label") == options.abstain
    rated = melted.filter(~is_abstention)
    if rated.height == 0:
        refuse_abstentions(options)
    return rated, melted.filter(is_abstention)


def refuse_unrated(options: TableOptions) -> NoReturn:
    """Refuse a table without a rating."""
    raise SourceError(f"{options.name}: no cell contains a rating; every cell is empty")


def refuse_abstentions(options: TableOptions) -> NoReturn:
    """Refuse a table of abstentions alone."""
    raise SourceError(
        f"{options.name}: every rating is the abstention {options.abstain!r}; there is no label to"
        " compare"
    )


def check_raters(raters: Sequence[str], options: TableOptions) -> None:
    """Refuse a single rater."""
    if len(raters) < 2:
        raise SourceError(
            f"{options.name}: only one rater ({raters[0]!r}) gave labels; agreement needs at"
            " least two"
        )


def long_columns(options: TableOptions) -> dict[str, str]:
    """Role -> column of a long table; the cluster may be the unit."""
    if options.unit is None or options.label is None or len(options.rater) != 1:
        raise ValueError(f"the columns of a long table need their roles, got {options}")
    columns = {"unit": options.unit, "rater": options.rater[0], "label": options.label}
    return {**columns, "cluster": options.cluster or options.unit}


def _long(frame: pl.DataFrame, options: TableOptions) -> pl.DataFrame:
    chosen = long_columns(options)
    rows = _numbered(frame, options).select(
        pl.col(ROW).alias("row"),
        pl.col(chosen["unit"]).alias("unit"),
        pl.col(chosen["rater"]).alias("rater"),
        pl.col(chosen["cluster"]).alias("cluster"),
        pl.col(chosen["label"]).alias("label"),
    )
    for role in ROLES:
        empty = rows.filter(pl.col(role).is_null() | (pl.col(role) == ""))
        if empty.height:
            refuse_empty(role, int(empty.item(0, "row")), options)
    if chosen["cluster"] != chosen["unit"]:
        refuse_two_clusters(rows, options)
    return rows


def refuse_empty(role: str, row: int, options: TableOptions) -> NoReturn:
    """Refuse a row without the value of a role."""
    raise SourceError(
        f"{options.name}: {options.place} {options.line(row)}: the {role} is empty; every rating"
        f" needs its {role}"
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


def _numbered(frame: pl.DataFrame, options: TableOptions) -> pl.DataFrame:
    """The rows with their numbers in the whole table."""
    if options.rows is None:
        return frame.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64))
    return frame.with_columns(options.rows.cast(pl.Int64).alias(ROW))


def _units(frame: pl.DataFrame, options: TableOptions, warnings: list[str]) -> pl.DataFrame:
    """The rows as units, with `row`, `unit` and `cluster`.

    A unit is named by its identifier, so that the order of the rows changes nothing; without an
    identifier by its row's number.
    """
    unit, cluster = options.unit, options.cluster
    rows = _numbered(frame, options)
    # Filled with zeros, so that row 10 comes after row 9 where units are sorted as text.
    number = pl.col(ROW).cast(pl.String).str.zfill(len(str(rows.get_column(ROW).max())))
    name = number
    if unit is not None:
        # Rows of one name are told apart by what they hold, and where that is the same it does not
        # matter.
        rows = rows.sort(unit, *(c for c in frame.columns if c not in {unit, cluster}))
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
    rows = rows.with_columns(pl.col("label").str.strip_chars())
    rows = rows.filter(
        pl.col("label").is_not_null() & ~pl.col("label").is_in(list({*options.missing, ""}))
    )
    if has_na_cells(options):
        n = int((rows.get_column("label") == NA).sum())
        if n:
            warn_of_na(n, warnings)
            rows = rows.filter(pl.col("label") != NA)
    return rows


def has_na_cells(options: TableOptions) -> bool:
    """Whether NA means that a cell is missing, as R writes it.

    It is a label of some scales ("not applicable").
    """
    return NA not in {*options.labels, options.abstain}


def warn_of_na(n: int, warnings: list[str]) -> None:
    """State how many cells contain NA."""
    warnings.append(
        f"{n:,} {'cell contains' if n == 1 else 'cells contain'} 'NA' and"
        f" {'was' if n == 1 else 'were'} treated as not rated; if 'NA' is a label,"
        f" declare it in {option('labels')} or {option('abstain')}"
    )


def check_repeats(rows: pl.DataFrame, options: TableOptions, warnings: list[str]) -> None:
    """Refuse two different labels of one rater for one unit; count equal labels once.

    A warning reports equal labels.
    """
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
