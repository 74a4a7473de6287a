"""Data frames of Polars and pandas as Polars frames, and their cells as words."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from typing import Any, Protocol, cast

import polars as pl

from konsil.analysis.tabular.agreement_options import composed
from konsil.errors import AnalysisError, SourceError

_WHOLE = 1e15
"""Whole numbers below it are exact and written without a point."""


class PandasFrame(Protocol):
    """A data frame of pandas, which need not be installed."""

    @property
    def columns(self) -> Any:  # noqa: ANN401 - pandas' own types
        """The names of the columns."""

    @property
    def index(self) -> Any:  # noqa: ANN401
        """The names of the rows."""

    @property
    def iloc(self) -> Any:  # noqa: ANN401
        """The cells by number."""


def to_polars(frame: object) -> pl.DataFrame:
    """A Polars frame from Polars or pandas; a pandas index with names becomes columns."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    # A series has no columns, and a styled frame no cells by number.
    is_frame = hasattr(frame, "columns") and hasattr(frame, "iloc")
    if is_frame and type(frame).__module__.partition(".")[0] == "pandas":
        return _from_pandas(frame)
    raise AnalysisError(f"expected a Polars or pandas data frame, got {type(frame).__name__}")


def lone_index(frame: object) -> str | None:
    """The name of a pandas index that has a name: it identifies the rows."""
    names: Sequence[object] = getattr(getattr(frame, "index", None), "names", ())
    return header_text(names[0]) if len(names) == 1 and names[0] is not None else None


# Any: pandas is not imported here.
def _from_pandas(frame: Any) -> pl.DataFrame:  # noqa: ANN401
    # Through Python lists: pandas without pyarrow is enough, and mixed object columns are read as
    # words.
    names = [header_text(n) for n in frame.columns]
    columns = {
        name: [cell_text(v) for v in frame.iloc[:, n].tolist()] for n, name in enumerate(names)
    }
    if len(columns) < len(names):
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise AnalysisError(
            f"the data frame has two columns named {twice!r}; expected each name once"
        )
    # An index that somebody named is data (often the units); one without a name is pandas' own
    # numbering.
    index: dict[str, list[str | None]] = {}
    for level, name in enumerate(frame.index.names):
        if name is not None and header_text(name) not in columns:
            index[header_text(name)] = [
                cell_text(v) for v in frame.index.get_level_values(level).tolist()
            ]
    columns = {**index, **columns}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def row_names(frame: object) -> Sequence[object]:
    """What a frame calls its rows, for errors: the index of pandas, else their numbers from 0."""
    if type(frame).__module__.partition(".")[0] == "pandas":
        return cast(PandasFrame, frame).index.tolist()  # type: ignore[no-any-return]
    return range(sys.maxsize)


def header_text(name: object) -> str:
    """The name of a column as text."""
    return " / ".join(str(part) for part in name) if isinstance(name, tuple) else str(name)


def cell_text(value: Any) -> str | None:  # noqa: ANN401 - a cell can hold anything
    """A cell of pandas as text; None where it is missing."""
    # pandas writes missing as None, NaN, NaT or NA: all are unequal to themselves or have no truth
    # value.
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1:
        return json.dumps(value.tolist() if hasattr(value, "tolist") else list(value), default=str)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if value != value:
            return None
        return str(int(value)) if abs(value) < _WHOLE and value == int(value) else repr(value)
    return str(value)


def with_composed_names(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the letters of its columns' names composed, where they stay different."""
    names = [composed(name) for name in frame.columns]
    if len({*names}) < len(names):
        return frame
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


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
            # pandas makes a column of whole numbers with gaps one of floats: 1.0 is the label 1
            # there.
            return pl.Series(name, cells, dtype=pl.String)
        if kind.is_float():
            whole_numbers = column.cast(pl.Int64, strict=False).cast(pl.String)
            is_whole = (column == column.floor()) & (column.abs() < _WHOLE)
            words = pl.when(is_whole).then(whole_numbers).otherwise(column.cast(pl.String))
            return pl.when(column.is_nan()).then(None).otherwise(words).alias(name)
        if kind.is_nested() or kind == pl.Object or kind == pl.Binary:
            raise SourceError(
                f"{source}: column {name!r} contains {kind}; expected one label per cell"
            )
        return column.cast(pl.String)

    words = frame.select([text(name, kind) for name, kind in frame.schema.items()])
    return with_composed_names(words.with_columns(pl.all().str.normalize("NFC")))


def as_categories(
    frame: pl.DataFrame, source: str, lists: Collection[str] = (), stripped: Collection[str] = ()
) -> pl.DataFrame:
    """The words of `as_text` as categories: a number for each cell, and each word once.

    In the columns `stripped`, words are without the spaces around them.

    >>> as_categories(pl.DataFrame({"a": [3.0, None, 3.0]}), "table").to_series().to_list()
    ['3', None, '3']
    """

    def categories(column: pl.Series) -> pl.Series:
        if column.dtype.is_nested():
            column = as_text(column.to_frame(), source, lists).to_series()
        if column.dtype == pl.String:
            column = column.cast(pl.Categorical)
        if column.dtype.is_float():
            column = column.fill_nan(None)
        # Letters are composed once for each word: for each cell this takes most of the time.
        each = column.drop_nulls().unique()
        words = as_text(each.to_frame(), source, lists).to_series()
        if composed(column.name) in stripped:
            words = words.str.strip_chars()
        words = words.cast(pl.Categorical)
        return column.replace_strict(each, words, default=None, return_dtype=pl.Categorical)

    return with_composed_names(frame.select(categories(column) for column in frame))
