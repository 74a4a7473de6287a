"""A table of any shape as ratings, each of a unit, criterion and system or group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.recoding.rewritten import (
    check_recode,
    chosen_repeats,
    combined_repeats,
    recoded,
)
from konsil.analysis.roles.reading import TableReading
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import (
    check_repeats,
    refuse_abstentions,
    refuse_empty,
    refuse_two_clusters,
    refuse_unrated,
    without_missing,
)
from konsil.analysis.tabular.reshaping import reshape
from konsil.analysis.tabular.scale import decide
from konsil.analysis.tabular.slices import Part, Slices, parts
from konsil.records.numerals import own_numbers

RATING = "rating"
"""The criterion of a table whose columns are raters or systems."""
ALL = "all"
"""The group of all ratings, where nothing is compared."""
ROLES = ("row", "unit", "rater", "cluster", "group", "criterion", "label")
"""The columns of the ratings."""
_KEY = ("unit", "rater", "group")


@dataclass(frozen=True, eq=False)
class CriterionRatings:
    """The ratings on one criterion, and its scale."""

    name: str
    """The criterion."""
    labels: Labels
    """Its labels with their numbers."""
    rated: pl.DataFrame
    """The ratings, with the columns ROLES; each rater rated a unit of a group once."""
    abstained: pl.DataFrame
    """The abstentions, in the same columns."""


@dataclass(frozen=True, eq=False)
class TableRatings:
    """All ratings of a table."""

    criteria: tuple[CriterionRatings, ...]
    """By criterion, in the table's order."""
    has_raters: bool
    """Whether it is known who gave which rating."""
    has_clusters: bool
    """Whether the clusters are stated; otherwise each unit is one."""


def table_ratings(
    words: pl.DataFrame,
    reading: TableReading,
    options: TableOptions,
    slices: Slices,
    warnings: list[str],
) -> TableRatings:
    """The ratings of a table of words whose columns have their roles.

    Raises SourceError with one sentence for what cannot be read. `slices` chooses the rows; the
    groups are those of the reading.
    """
    reshaped = reshape(words, reading, options, Slices())
    named = reshaped.options
    rows = [
        _melted(part, replace(named, rows=_gathered(named, part)), reading, reshaped.slices.by)
        for part in parts(reshaped.frame, replace(slices, by=reading.group), options.name, warnings)
    ]
    ratings = pl.concat(rows)
    has_raters = reading.shape not in {"one-rating", "systems"}
    _check_roles(ratings, named)
    if not has_raters:
        ratings = _with_numbered_raters(ratings)
    if reading.cluster is not None:
        refuse_two_clusters(ratings, named)
    ratings = without_missing(ratings, named, warnings)
    check_recode({*ratings.get_column("label").unique()}, named.recode)
    ratings = recoded(ratings, named.recode)
    if ratings.height == 0:
        refuse_unrated(named)
    criteria = tuple(
        _criterion(str(name), ratings.filter(pl.col("criterion") == name), named, warnings)
        for name in ratings.get_column("criterion").unique(maintain_order=True)
    )
    return TableRatings(criteria, has_raters, reading.cluster is not None)


def _gathered(options: TableOptions, part: Part) -> pl.Series:
    return part.rows if options.rows is None else options.rows.gather(part.rows)


def _melted(
    part: Part, options: TableOptions, reading: TableReading, criterion: str | None
) -> pl.DataFrame:
    """The rows of a group as ratings."""
    numbered = part.frame.with_columns(
        pl.Series(_ROW, options.rows, dtype=pl.Int64), pl.lit(part.name or ALL).alias(_GROUP)
    )
    if options.unit is None:
        number = pl.col(_ROW).cast(pl.String).str.zfill(9)
        numbered, options = numbered.with_columns(number.alias(_UNIT)), replace(options, unit=_UNIT)
    roles = {"row": _ROW, "unit": options.unit, "group": _GROUP, "label": options.label}
    roles |= {"cluster": options.cluster or options.unit, "criterion": criterion}
    roles["rater"] = next(iter(options.rater), None)
    if options.layout == "wide":
        index = [name for name in (_ROW, _GROUP, options.unit, roles["cluster"]) if name]
        numbered = numbered.unpivot(
            on=list(options.rater),
            index=list(dict.fromkeys(index)),
            variable_name=_RATER,
            value_name=_LABEL,
        )
        roles |= {"rater": _RATER, "label": _LABEL}
    if reading.shape == "systems":
        # The columns' names are systems, and there is one criterion.
        roles |= {"group": criterion, "criterion": None}
    default = reading.rated[0] if len(reading.labels) == 1 else RATING
    return numbered.select(
        (pl.lit(default) if name is None else pl.col(name)).alias(role)
        for role in ROLES
        for name in (roles[role],)
    )


_ROW, _GROUP, _UNIT = "\x1frow number", "\x1fgroup name", "\x1funit number"
_RATER, _LABEL = "\x1fmelted rater", "\x1fmelted label"


def _check_roles(ratings: pl.DataFrame, options: TableOptions) -> None:
    """Refuse a rating whose unit, rater or cluster is empty."""
    rated = ratings.filter(pl.col("label").is_not_null() & (pl.col("label") != ""))
    for role in ("unit", "rater", "cluster"):
        empty = rated.filter(pl.col(role).is_null() | (pl.col(role) == ""))
        if empty.height:
            refuse_empty(role, int(empty.item(0, "row")), options)


def _with_numbered_raters(ratings: pl.DataFrame) -> pl.DataFrame:
    """Unknown raters of one unit, group and criterion with running numbers by their labels."""
    ordered = ratings.sort("unit", "group", "criterion", "label", maintain_order=True)
    number = pl.int_range(1, pl.len() + 1).over("unit", "group", "criterion")
    return ordered.with_columns(number.cast(pl.String).alias("rater")).sort(
        "row", maintain_order=True
    )


def _criterion(
    name: str, rows: pl.DataFrame, options: TableOptions, warnings: list[str]
) -> CriterionRatings:
    is_abstention = pl.lit(value=False)
    if options.abstain is not None:
        is_abstention = pl.col("label") == options.abstain
    rated, abstained = rows.filter(~is_abstention), rows.filter(is_abstention)
    if rated.height == 0:
        refuse_abstentions(options)
    if options.repeat in ("sum", "mean", "max"):
        rated = pl.concat(
            combined_repeats(part, options.repeat, options.name)
            for part in rated.partition_by("group", maintain_order=True)
        )
    words = (*rated.get_column("label").unique(), *options.labels)
    is_numeric = bool(options.values) or None not in own_numbers(words)
    if options.level == "nominal" and is_numeric:
        options = replace(options, level="interval")
    rated, labels, _ = decide(rated, options, warnings, counts_labels=False)
    rated = _once(rated, options, warnings)
    return CriterionRatings(name, labels, rated, abstained.unique(_KEY, maintain_order=True))


def _once(rated: pl.DataFrame, options: TableOptions, warnings: list[str]) -> pl.DataFrame:
    """One rating of a rater for a unit of a group."""
    groups = []
    # Within a group a unit and rater name a rating; equal sentences are stated once.
    notes: list[str] = []
    for part in rated.partition_by("group", maintain_order=True):
        chosen = part
        if options.repeat in ("first", "last"):
            chosen = chosen_repeats(part, options.repeat, notes)
        check_repeats(chosen, options, notes)
        groups.append(chosen)
    warnings.extend(dict.fromkeys(notes))
    return pl.concat(groups).unique(_KEY, keep="first", maintain_order=True)
