"""Rows of a long table of ratings as codes, so that a table can be read in parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from konsil.analysis.tabular.agreement_options import TableOptions
from konsil.analysis.tabular.coded_votes import Column, coded
from konsil.stats.engine.contract import IntArray

ROLES = ("unit", "rater", "cluster")
"""What every rating has."""


def long_columns(options: TableOptions) -> dict[str, str]:
    """Role -> column of a long table; the cluster may be the unit."""
    if options.unit is None or options.label is None or len(options.rater) != 1:
        raise ValueError(f"the columns of a long table need their roles, got {options}")
    columns = {"unit": options.unit, "rater": options.rater[0], "label": options.label}
    return {**columns, "cluster": options.cluster or options.unit}


@dataclass(frozen=True, eq=False)
class CodedRatings:
    """Some rows of a long table."""

    columns: Mapping[str, Column]
    """Role -> each row's word: unit, rater, label, and cluster where it is not the unit."""
    first: int
    """The first row's number in the whole table."""
    numbers: IntArray | None
    """(n_rows,) the rows' numbers in the whole table; None where they follow one another."""
    empty: Mapping[str, int]
    """Role -> the first row in which it is empty."""


def code_ratings(frame: pl.DataFrame, options: TableOptions) -> CodedRatings:
    """Some rows of a long table as codes; `options.rows` has their numbers in the whole table.

    Labels are read without the spaces around them, identifiers as they are.
    """
    chosen = long_columns(options)
    if chosen["cluster"] == chosen["unit"]:
        del chosen["cluster"]
    columns = {
        role: coded(frame.get_column(name), options.name, is_stripped=role == "label")
        for role, name in chosen.items()
    }
    rows = pl.int_range(frame.height, eager=True) if options.rows is None else options.rows
    numbers = rows.to_numpy().astype(np.int64, copy=False)
    is_consecutive = len(numbers) == 0 or int(numbers[-1] - numbers[0]) + 1 == len(numbers)
    empty: dict[str, int] = {}
    for role in ROLES:
        if role in columns:
            is_empty = (columns[role].texts() == "").to_numpy()[columns[role].codes]
            if is_empty.any():
                empty[role] = int(numbers[is_empty.argmax()])
    first = int(numbers[0]) if len(numbers) else 0
    return CodedRatings(columns, first, None if is_consecutive else numbers, empty)
