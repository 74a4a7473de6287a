"""Frames of the two libraries that people use, as one: Polars inside, pandas welcome at the door."""

from __future__ import annotations

from typing import Any

import polars as pl

from konsil.errors import AnalysisError


def to_polars(frame: object) -> pl.DataFrame:
    """A Polars frame from Polars or pandas; a pandas index that has a name becomes a column."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if type(frame).__module__.partition(".")[0] == "pandas":
        return _from_pandas(frame)
    raise AnalysisError(f"expected a Polars or pandas data frame, got {type(frame).__name__}")


def _from_pandas(frame: Any) -> pl.DataFrame:  # noqa: ANN401 - pandas is not imported here
    # Through Python lists: pandas without pyarrow is enough, and mixed object columns are read as words.
    columns: dict[str, list[str | None]] = {}
    index = frame.index
    named = frame.reset_index() if index.name is not None else frame
    for name in named.columns:
        columns[str(name)] = [_cell(v) for v in named[name].tolist()]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _cell(value: object) -> str | None:
    # pandas writes missing as None, NaN, NaT or NA: all are unequal to themselves or have no truth value.
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, float):
        return None if value != value else (str(int(value)) if value == int(value) else repr(value))
    return str(value)
