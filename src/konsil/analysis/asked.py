"""How a table of ratings is to be read: what the flags of `konsil agreement` say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Layout = Literal["wide", "long"]


@dataclass(frozen=True)
class Asked:
    """How the table is to be read."""

    layout: Layout | None = None
    """Wide or long; None: long if it has columns for unit, rater and label, else wide."""
    unit: str | None = None
    """The column of the units."""
    rater: tuple[str, ...] = ()
    """Long: the column of the raters. Wide: the raters' columns, where not all others are."""
    label: str | None = None
    """Long: the column of the labels."""
    cluster: str | None = None
    """The column whose values are resampled together; None: each unit is its own cluster."""
    level: Level = "nominal"
    """The level of measurement."""
    labels: tuple[str, ...] = ()
    """The scale's labels in order; empty: those observed."""
    abstain: str | None = None
    """The label that is an abstention."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated."""
    line: Callable[[int], int] = field(default=lambda row: row + 2)
    """Row index -> line of the file, for errors."""
    name: str = "table"
    """The table's name, for errors."""
