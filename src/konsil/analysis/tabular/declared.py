"""What a data frame states itself: units in its index, the scale by the types of its columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import polars as pl

from konsil.analysis.recoding.stated_labels import as_columns
from konsil.analysis.roles.names import best_fit
from konsil.analysis.roles.recognition import names_units
from konsil.analysis.tabular.agreement_options import RatingsRequest
from konsil.analysis.tabular.dataframes import cell_text, header_text, lone_index

R = TypeVar("R", bound=RatingsRequest)


def with_declared(frame: object, table: pl.DataFrame, request: R) -> R:
    """The request with the units and labels that a data frame declares where it states none.

    `table`: the frame as its cells are read. Units are a lone pandas index that is named for them;
    labels are ordered categories (pandas) and enums (Polars).
    """
    index = lone_index(frame)
    if not as_columns(request.unit) and index is not None and names_units(index, table):
        request = replace(request, unit=None if index in request.columns else index)
    labels = () if request.labels else declared_labels(frame, request)
    return replace(request, labels=labels) if labels else request


def declared_labels(frame: object, request: RatingsRequest) -> tuple[str, ...]:
    """The categories of the labels' column or columns in their order, unused ones included.

    Empty where the types declare none, or columns of raters declare different ones. Categories
    that mean an abstention or a missing rating are no labels.

    >>> frame = pl.DataFrame({"label": ["b"]}, schema={"label": pl.Enum(["c", "b", "a"])})
    >>> declared_labels(frame, RatingsRequest(label="label", abstain="a"))
    ('c', 'b')
    """
    categories = _ordered_categories(frame)
    labels, raters = as_columns(request.label), as_columns(request.rater)
    labels = labels or as_columns(getattr(request, "system", None))
    if labels:
        scales = [categories.get(name, ()) for name in labels]
    else:
        others = {*as_columns(request.unit), request.cluster, *request.slices.columns, request.by}
        scales = [
            scale
            for column, scale in categories.items()
            if column not in others and (column in raters if raters else not _is_key(column))
        ]
    if len(set(scales)) != 1:
        return ()
    return tuple(word for word in scales[0] if word not in {request.abstain, *request.missing})


def _is_key(name: str) -> bool:
    """Whether a column is named for units, criteria, systems or groups, which are no labels."""
    return best_fit(name, ("unit", "criterion", "system", "group")) == 1


def _ordered_categories(frame: object) -> dict[str, tuple[str, ...]]:
    """Column -> its categories in order."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return {
            name: tuple(kind.categories)
            for name, kind in frame.collect_schema().items()
            if isinstance(kind, pl.Enum)
        }
    # Any: pandas is not imported here.
    columns: Any = getattr(frame, "dtypes", None)
    # The kind of a series has no columns.
    if not hasattr(columns, "items"):
        return {}
    return {
        header_text(name): tuple(str(cell_text(value)) for value in kind.categories.tolist())
        for name, kind in columns.items()
        if getattr(kind, "ordered", False)
    }
