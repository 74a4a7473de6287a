"""One estimate of one analysis, with its group, its comparison and its notes.

Nothing is rounded here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from konsil.analysis.model.terms import words_of
from konsil.stats.engine.contract import Estimate

RowKind = Literal["estimate", "difference", "companion"]
PlanStatus = Literal[
    "prespecified",
    "frozen before import",
    "frozen late",
    "not frozen",
    "retrospective",
    "exploratory",
]
"""Of a declared analysis, whether its plan was frozen before the first rating that it uses, or
specified when the ratings existed already; or exploratory."""


@dataclass(frozen=True)
class Row:
    """One estimate of one analysis in one group."""

    analysis: str
    """The analysis' name."""
    statistic: str
    """What was computed."""
    criterion: str
    """Of which criterion."""
    raters: str
    """Of which panel."""
    estimate: Estimate
    """The number and how sure."""
    group: Mapping[str, str] = field(default_factory=dict)
    """Column -> value, for each of the analysis' `by`."""
    kind: RowKind = "estimate"
    """An estimate; a difference between two groups; or a companion: another interval of the
    estimate above it."""
    versus: Mapping[str, str] = field(default_factory=dict)
    """For a difference: the group subtracted."""
    is_paired: bool | None = None
    """For a difference: whether the two groups have clusters in common; None where that is no
    question."""
    n_units: int = 0
    """Subjects with at least one usable label; of a difference those of the first group."""
    n_units_versus: int = 0
    """For a difference of two groups: the subjects of the group subtracted, and for a relative one
    those of the reference; 0 where both are numbers of the same."""
    n_raters: int = 0
    """Raters with at least one usable label."""
    n_undefined_pairs: int = 0
    """Pairs of raters for which a pairwise statistic is undefined."""
    p_adjusted: float = float("nan")
    """Holm-adjusted within the declared family; nan for exploratory analyses and where nothing is
    tested."""
    p_max_t: float = float("nan")
    """Win differences and margins: max-T adjusted over all prespecified ones, by their two-way
    correlations."""
    prespecified: bool = True
    """Whether the analysis is declared as such: whether it belongs to the family that is adjusted
    together."""
    commonest: float = float("nan")
    """Agreement: the share of the label that was given most often; nan elsewhere."""
    warnings: tuple[str, ...] = ()
    """What a reader must know about this number."""
    detail: bool = False
    """Whether it is for the data files alone: one of very many rows of which the page shows the
    first."""
    finding: str = ""
    """What may be said because the intervals support it, or that they do not; empty: nothing is
    asked."""
    is_withheld: bool = False
    """Whether its numbers are withheld, and with them how many units, raters and ratings it has:
    the counts are then 0 here and empty where they are shown."""
    is_made: bool = True
    """False for the one row, without any group, of an analysis that cannot be made or selects
    nothing."""


@dataclass(frozen=True, slots=True)
class AdjustedEstimate:
    """The primary analysis, adjusted for its interim analyses."""

    analysis: str
    """The analysis."""
    value: float
    """The median-unbiased estimate."""
    low: float
    """The lower end of its confidence interval."""
    high: float
    """The upper end."""
    level: float
    """The interval's level, 1 - alpha."""
    p: float
    """The two-sided p value by stage-wise ordering."""
    z: float
    """The test statistic of the last analysis."""
    fractions: tuple[float, ...]
    """Information fractions of all analyses, the last included."""
    critical: tuple[float, ...]
    """Their critical values."""
    spent: tuple[float, ...]
    """The type I error spent up to each."""
    is_truncated: bool = False
    """Whether normal theory gave a limit beyond the possible values."""


def group_text(row: Row) -> str:
    """A row's group in words; of a difference also the group that is subtracted."""
    sides = (", ".join(words_of(v) for v in group.values()) for group in (row.group, row.versus))
    return " minus ".join(side for side in sides if side)
