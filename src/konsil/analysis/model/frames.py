"""Results as plain records and as frames of Polars and pandas, for files and for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from konsil.errors.message import TranslatableMessage, message
from konsil.records.digits import written
from konsil.stats.engine.contract import RatersTarget

if TYPE_CHECKING:
    import pandas as pd

    from konsil.analysis.model.rows import PlanStatus, Row

TYPES: Mapping[str, pl.DataType | type[pl.DataType]] = MappingProxyType(
    {
        "analysis": pl.String,
        "kind": pl.String,
        "statistic": pl.String,
        "criterion": pl.String,
        "raters": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "level": pl.Float64,
        "se": pl.Float64,
        "p": pl.Float64,
        "p_adjusted": pl.Float64,
        "p_max_t": pl.Float64,
        "n_units": pl.Int64,
        "n_units_versus": pl.Int64,
        "n_raters": pl.Int64,
        "n_ratings": pl.Int64,
        "n_clusters": pl.Int64,
        "n_undefined": pl.Int64,
        "n_undefined_pairs": pl.Int64,
        "method": pl.String,
        "target": pl.String,
        "reason": pl.String,
        "declared": pl.Boolean,
        "prespecified": pl.Boolean,
        "warnings": pl.List(pl.String),
    }
)
"""The columns of a row but for its groups, with their types; the groups stand before `value`."""


_IN_PANDAS: Mapping[pl.DataType | type[pl.DataType], str] = MappingProxyType(
    {pl.Int64: "Int64", pl.Float64: "float64", pl.Boolean: "boolean"}
)


COUNTS = (
    "n_units",
    "n_units_versus",
    "n_raters",
    "n_ratings",
    "n_clusters",
    "n_undefined",
    "n_undefined_pairs",
)
"""The columns of how much an estimate rests on, empty where its numbers are withheld."""


def whom(raters: RatersTarget) -> TranslatableMessage:
    """Whom an interval is about, in words."""
    if raters == "like these":
        return message("raters like these", message_id="target.like_these")
    return message("these raters", message_id="target.these")


def record(row: Row, plan: Mapping[str, PlanStatus] = MappingProxyType({})) -> dict[str, object]:
    """A row as plain data; `group` and `versus` are mappings of their own."""
    e = row.estimate
    is_undefined = math.isnan(e.value)
    plain: dict[str, object] = {
        "analysis": row.analysis,
        "kind": row.kind,
        "statistic": row.statistic,
        "criterion": row.criterion,
        "raters": row.raters,
        "group": dict(sorted(row.group.items())),
        "versus": dict(sorted(row.versus.items())),
        "value": e.value,
        "low": e.low,
        "high": e.high,
        "level": e.level,
        "se": e.se,
        "p": e.p,
        "p_adjusted": row.p_adjusted,
        "p_max_t": row.p_max_t,
        "n_units": row.n_units,
        "n_units_versus": row.n_units_versus or None,
        "n_raters": row.n_raters,
        "n_ratings": e.n_ratings,
        "n_clusters": e.n_clusters,
        "n_undefined": e.n_undefined,
        "n_undefined_pairs": row.n_undefined_pairs,
        "method": e.method,
        "target": str(whom(e.raters)) if math.isfinite(e.low) else "",
        "reason": e.reason or ("undefined" if is_undefined else ""),
        "declared": row.prespecified,
        "prespecified": plan.get(row.analysis) == "prespecified",
        "warnings": list(row.warnings),
    }
    return plain | (dict.fromkeys(COUNTS) if row.is_withheld else {})


def group_columns(rows: Iterable[Row]) -> tuple[list[str], list[str]]:
    """The names of the groups of these rows, and of the groups that are subtracted."""
    rows = list(rows)
    return (
        sorted({column for row in rows for column in row.group}),
        sorted({column for row in rows for column in row.versus}),
    )


def columns(groups: Sequence[str], versus: Sequence[str]) -> list[str]:
    """The columns of a table of rows in their order: `estimates.csv` has the same."""
    names = list(TYPES)
    at = names.index("value")
    names[at:at] = [*(f"group.{c}" for c in groups), *(f"versus.{c}" for c in versus)]
    return names


def frame_of(rows: Sequence[Row], plan: Mapping[str, PlanStatus]) -> pl.DataFrame:
    """Rows as a typed Polars frame; undefined numbers and absent groups are null.

    Numbers are those of `estimates.csv`, at 12 significant digits.
    """
    groups, versus = group_columns(rows)
    names = columns(groups, versus)
    data: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        plain: dict[str, Any] = written(record(row, plan))
        plain |= {f"group.{c}": row.group.get(c) for c in groups}
        plain |= {f"versus.{c}": row.versus.get(c) for c in versus}
        for name in names:
            value = plain[name]
            # Messages and terms are texts with a memory; a frame has plain ones.
            data[name].append(str(value) if isinstance(value, str) else value)
    schema = {name: TYPES.get(name, pl.String) for name in names}
    data["warnings"] = [[str(text) for text in texts] for texts in data["warnings"]]
    return pl.DataFrame(data, schema=schema)


def finite_or_none(value: float) -> float | None:
    """A number of plain data; undefined is None."""
    return float(value) if math.isfinite(value) else None


def as_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A Polars frame as a pandas one, without pyarrow: null numbers are NaN, whole ones Int64."""
    import pandas

    table = pandas.DataFrame({name: pandas.Series(frame[name].to_list()) for name in frame.columns})
    types = {name: _IN_PANDAS[t] for name, t in frame.schema.items() if t in _IN_PANDAS}
    return table.astype(types)
