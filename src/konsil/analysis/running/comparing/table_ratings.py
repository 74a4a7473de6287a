"""A table of any shape as ratings, each of a unit, criterion and system or group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from konsil.analysis.recoding.rewritten import check_recode, rating_key, recoded
from konsil.analysis.roles.reading import TableReading
from konsil.analysis.table.labels import Labels
from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.ratings_table import (
    check_repeats,
    refuse_empty,
    refuse_two_clusters,
    refuse_unrated,
    without_missing,
)
from konsil.analysis.tabular.reshaping import reshape
from konsil.analysis.tabular.scale import on_scale
from konsil.analysis.tabular.slices import Part, Slices, parts
from konsil.analysis.tabular.unnamed import ROW
from konsil.records.numerals import own_numbers

RATING = "rating"
"""The criterion of a table whose columns are raters or systems."""
ALL = "all"
"""The group of all ratings, where nothing is compared."""
ROLES = ("row", "unit", "rater", "cluster", "group", "criterion", "label")
"""The columns of the ratings."""


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
    *,
    is_level_stated: bool,
) -> TableRatings:
    """The ratings of a table of words whose columns have their roles.

    Raises SourceError with one sentence for what cannot be read. `slices` chooses the rows; the
    groups are those of the reading. Labels that are numbers are of an interval level unless another
    one is stated.
    """
    reshaped = reshape(words, reading, options, Slices())
    named = reshaped.options
    rows = [
        _melted(part, named, reading, reshaped.slices.by)
        for part in parts(reshaped.frame, replace(slices, by=reading.group), options.name, warnings)
    ]
    ratings = pl.concat(rows)
    has_raters = reading.shape not in {"one-rating", "systems"}
    is_rated = pl.col("label").is_not_null() & (pl.col("label") != "")
    refuse_empty(ratings.filter(is_rated), named)
    if not has_raters:
        ratings = _with_numbered_raters(ratings)
    if reading.cluster is not None:
        refuse_two_clusters(ratings, named)
    ratings = without_missing(ratings, named, warnings)
    check_recode({*ratings.get_column("label").unique()}, named.recode)
    ratings = recoded(ratings, named.recode)
    if ratings.height == 0:
        refuse_unrated(named)
    by_criterion = [
        (str(name), ratings.filter(pl.col("criterion") == name))
        for name in ratings.get_column("criterion").unique(maintain_order=True)
    ]
    criteria = tuple(
        _criterion(
            name, rows, named if is_level_stated else _with_usual_level(rows, named), warnings
        )
        for name, rows in by_criterion
    )
    return TableRatings(criteria, has_raters, reading.cluster is not None)


def _melted(
    part: Part, options: TableOptions, reading: TableReading, criterion: str | None
) -> pl.DataFrame:
    """The rows of a group as ratings."""
    numbered = part.frame.with_columns(pl.lit(part.name or ALL).alias(_GROUP))
    if options.unit is None:
        number = pl.col(ROW).cast(pl.String).str.zfill(9)
        numbered, options = numbered.with_columns(number.alias(_UNIT)), replace(options, unit=_UNIT)
    roles = {"row": ROW, "unit": options.unit, "group": _GROUP, "label": options.label}
    roles |= {"cluster": options.cluster or options.unit, "criterion": criterion}
    roles["rater"] = next(iter(options.rater), None)
    if options.layout == "wide":
        index = [n for n in (ROW, _GROUP, options.unit, roles["cluster"], criterion) if n]
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


_GROUP, _UNIT = "\x1fgroup name", "\x1funit number"
_RATER, _LABEL = "\x1fmelted rater", "\x1fmelted label"


def _with_numbered_raters(ratings: pl.DataFrame) -> pl.DataFrame:
    """Unknown raters of one unit, group and criterion with running numbers by their labels."""
    ordered = ratings.sort("unit", "group", "criterion", "label", maintain_order=True)
    number = pl.int_range(1, pl.len() + 1).over("unit", "group", "criterion")
    return ordered.with_columns(number.cast(pl.String).alias("rater")).sort(
        "row", maintain_order=True
    )


def _with_usual_level(rows: pl.DataFrame, options: TableOptions) -> TableOptions:
    """The options with the level that the labels usually have."""
    words = {*rows.get_column("label").unique(), *options.labels} - {options.abstain}
    is_numeric = bool(options.values) or None not in own_numbers([*words])
    return replace(options, level="interval") if is_numeric else options


def _criterion(
    name: str, rows: pl.DataFrame, options: TableOptions, warnings: list[str]
) -> CriterionRatings:
    ratings = on_scale(rows, options, warnings, counts_labels=False)
    check_repeats(ratings.rated, options, warnings)
    rated, abstained = (
        part.unique(rating_key(part), keep="first", maintain_order=True)
        for part in (ratings.rated, ratings.abstained)
    )
    return CriterionRatings(name, ratings.labels, rated, abstained)
