"""How a table of ratings is to be read: the options of `konsil agreement`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Literal, TypeVar, cast

from konsil.analysis.recoding.repeat import Repeat
from konsil.analysis.roles.reading import StatedRoles

T = TypeVar("T")

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Layout = Literal["wide", "long", "counts", "lists"]
"""Wide and long tables name their raters; tables of counts and lists of labels in a cell do not."""


@dataclass(frozen=True)
class TableOptions:
    """How the table is to be read."""

    layout: Layout | None = None
    """How the table is laid out; None: not known yet.

    Counts: one row a unit, one column a label, with the number of raters who gave it. Lists: one
    row a unit, the column of the labels holding those of all its raters. """
    unit: str | None = None
    "Column of the units."
    rater: tuple[str, ...] = ()
    """Long: the column of the raters. Wide: the raters' columns, where not all others are."""
    label: str | None = None
    """Long: the column of the labels."""
    cluster: str | None = None
    """The column whose values are resampled together; None: each unit is its own cluster."""
    level: Level = "nominal"
    "Level of measurement."
    labels: tuple[str, ...] = ()
    """The scale's labels in order; empty: those observed."""
    abstain: str | None = None
    """The label that is an abstention."""
    missing: tuple[str, ...] = ("",)
    """Words that mean: not rated."""
    line: Callable[[int], int | str] = field(default=lambda row: row + 2)
    """Row index -> line of the file, or the row's name in a data frame, for errors."""
    place: str = "line"
    """What `line` names: lines of a text, rows of a spreadsheet or of a data frame."""
    name: str = "table"
    """The table's name, for errors."""
    split: str = ""
    """The character between two labels of a cell; empty where cells are JSON lists."""
    has_sets: bool = False
    """Whether a rating of one rater is a set of labels; lists contain those of all raters."""
    recode: Mapping[str, str] = field(default_factory=dict)
    """Label -> the label it is read as."""
    repeat: Repeat | None = None
    """Which of several labels of one rater for one unit counts; None: they are refused."""
    values: tuple[float, ...] = ()
    """The numbers of `labels`; empty: labels that are numbers are these numbers."""
    unclear: tuple[str, ...] = ()
    """What is unclear of the file: a table of which not every role is stated is then refused."""
    tool_roles: StatedRoles | None = None
    """The roles that the tool which wrote the table gives its columns, unless the user states
    others."""
    question: str = ""
    """What has to be confirmed before `tool_roles` are read; empty: nothing."""


def composed(value: T) -> T:
    """Texts with composed letters (NFC), as all cells of a table are read.

    Within sequences, mappings and settings.

    >>> composed("e\u0301") == "\u00e9", composed(("e\u0301", 1))
    (True, ('é', 1))
    """
    if isinstance(value, str):
        return cast(T, unicodedata.normalize("NFC", value))
    if isinstance(value, tuple | list):
        return cast(T, type(value)(composed(member) for member in value))
    if isinstance(value, Mapping):
        return cast(T, {composed(key): composed(member) for key, member in value.items()})
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: composed(getattr(value, f.name)) for f in fields(value)})
    return value
