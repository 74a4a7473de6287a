"""Tables and figures of the report as the protocol lays them out: analyses by rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FigureKind = Literal["forest", "series", "matrix"]
CellContent = Literal["interval", "estimate", "sd", "count"]

OWN_KEYS = ("analysis", "statistic", "criterion", "panel")
"""What every analysis has, beside the columns that it is grouped by."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """One table: the estimates of several analyses, by rows and columns."""

    id: str
    """What the table is called in links."""
    title: str
    """The beginning of its caption."""
    analyses: tuple[str, ...] = ()
    """The names of the analyses whose estimates it has, in the order of its rows and columns."""
    rows: tuple[str, ...] = ()
    """What its rows differ in: 'analysis', 'statistic', 'criterion', 'panel', or columns that the
    analyses are grouped by, such as 'system', 'level' or 'rater'."""
    columns: tuple[str, ...] = ()
    """What its columns differ in, likewise."""
    parts: tuple[str, ...] = ()
    """In place of analyses, rows and columns: the identifiers of other tables, whose rows it has
    one below the other."""
    cells: CellContent = "interval"
    """Each estimate with its 'interval', the 'estimate' alone, 'sd': each mean with the standard
    deviation that another analysis of the table estimates, and other estimates with intervals, or
    'count': each proportion with the number of its units before it, and their number."""
    grades: Mapping[str, float] = field(default_factory=dict)
    """Word -> the lowest estimate that it is said of, proportions as numbers from 0 to 1; each cell
    has the word of the highest that its estimate reaches."""
    difference: tuple[str, ...] = ()
    """Two values of the only grouping column among `columns`: a further column has the first minus
    the second, as the analyses' `compare` estimates it."""
    significance: tuple[float, ...] = (0.05, 0.01, 0.001)
    """Adjusted p values below which a cell has one, two, three marks; none: no marks."""
    p: bool = False
    """Whether a column has the adjusted p value of each row: of its differences, or of its
    estimates where it has none."""
    n: bool = True
    """Whether the last column has the number of rated units."""


@dataclass(frozen=True, slots=True)
class FigureLayout:
    """One figure: the estimates of several analyses, by rows and panels on one axis."""

    id: str
    """What the figure and its files are called."""
    title: str
    """The beginning of its caption."""
    analyses: tuple[str, ...]
    """The names of the analyses whose estimates it has; all of one unit, which is its axis."""
    rows: tuple[str, ...]
    """What its rows differ in: 'analysis', 'statistic', 'criterion', 'panel', or columns that the
    analyses are grouped by; of a series the categories, of a matrix its rows."""
    panels: tuple[str, ...] = ()
    """What its groups of rows or its panels differ in, likewise; none: one panel."""
    columns: tuple[str, ...] = ()
    """What the columns of a matrix differ in."""
    kind: FigureKind = "forest"
    """Dots with intervals in rows ('forest'), lines over ordered categories ('series'), or cells
    ('matrix')."""
    reference: float | None = None
    """A value that a dashed line marks, such as a pass line, as the axis writes it: 60 for 60 per
    cent; by default what the statistic is compared with."""
    reference_name: str = ""
    """What the dashed line is called in the figure."""
    zero: bool = False
    """Whether the axis includes zero, for values other than proportions and coefficients, whose
    axis has its whole scale anyway."""
    caption: str = ""
    """What else the caption says."""


def grouping_keys(layout: TableLayout) -> tuple[str, ...]:
    """The columns of groups that the table's columns differ in.

    >>> grouping_keys(TableLayout("t", "T", ("a",), ("criterion",), ("statistic", "system")))
    ('system',)
    """
    return tuple(key for key in layout.columns if key not in OWN_KEYS)
