"""The scale that the types of a data frame declare: ordered categories, enums of Polars."""

from __future__ import annotations

from typing import Any

import polars as pl

from konsil.analysis.recoding.stated_labels import as_columns
from konsil.analysis.standalone.agreement_request import AgreementRequest
from konsil.analysis.tabular.dataframes import cell_text, header_text


def declared_labels(frame: object, request: AgreementRequest) -> tuple[str, ...]:
    """The categories of the labels' column or columns in their order, unused ones included.

    Empty where the types declare none, or columns of raters declare different ones. Categories
    that mean an abstention or a missing rating are no labels.

    >>> frame = pl.DataFrame({"label": ["b"]}, schema={"label": pl.Enum(["c", "b", "a"])})
    >>> declared_labels(frame, AgreementRequest(label="label", abstain="a"))
    ('c', 'b')
    """
    categories = _ordered_categories(frame)
    labels, raters = as_columns(request.label), as_columns(request.rater)
    if labels:
        scales = [categories.get(name, ()) for name in labels]
    else:
        others = {*as_columns(request.unit), request.cluster, *request.slices.columns}
        scales = [
            scale
            for column, scale in categories.items()
            if column not in others and (not raters or column in raters)
        ]
    if len(set(scales)) != 1:
        return ()
    return tuple(word for word in scales[0] if word not in {request.abstain, *request.missing})


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
