"""What an analysis gives: rows of estimates, the coverage of the ratings, warnings.

Nothing is rounded here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from konsil.stats.engine.contract import Estimate, RatersTarget

RowKind = Literal["estimate", "difference", "companion"]
PlanStatus = Literal[
    "prespecified", "frozen before import", "frozen late", "not frozen", "exploratory"
]
"""Of a declared analysis, whether its plan was frozen before the first rating that it uses; or
exploratory."""


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
    """For a difference of two groups: the subjects of the group subtracted; 0 where both are
    numbers of the same."""
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
    is_made: bool = True
    """False for the one row, without any group, of an analysis that cannot be made or selects
    nothing."""


@dataclass(frozen=True)
class CoverageRow:
    """Counts of one panel's ratings on one criterion, by outcome.

    Also by system, where answers are rated.
    """

    panel: str
    """The panel."""
    criterion: str
    """The criterion."""
    system: str
    """The system, or empty for criteria that are about no answer."""
    expected: int | None
    """Ratings the plan asks for; None where there is no plan."""
    rated: int
    """Labels given."""
    abstained: int
    """Abstentions."""
    unreadable: int
    """Judge's replies that no reading rule accepts."""
    missing: int | None
    """Expected but absent; None where there is no plan, or where more was given than expected."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """Reason -> ratings left out of every analysis, not counted in rated and abstained."""

    @property
    def received(self) -> int:
        """All that came back, whatever became of it."""
        return self.rated + self.abstained + self.unreadable + sum(self.excluded.values())


@dataclass(frozen=True)
class OutcomeRow:
    """How the tasks of one judge ended, over all of them or within one value of a stratum."""

    rater: str
    """The judge."""
    column: str
    """The stratum, or 'system'; empty: all tasks."""
    value: str
    """Its value; empty: all tasks."""
    counts: Mapping[str, int]
    """Outcome -> tasks, as `analysis.outcomes` names them, those that occurred."""


@dataclass(frozen=True)
class OrderRow:
    """How often one judge contradicted itself on pairs that it saw in both orders."""

    rater: str
    """The judge."""
    criterion: str
    """The comparison."""
    compared: int
    """Pairs with a label in each order."""
    inconsistent: int
    """Those whose two labels differ."""


@dataclass(frozen=True)
class Bounds:
    """Between which values a number would lie if the judgements that are missing had been given."""

    analysis: str
    """The analysis' name."""
    group: Mapping[str, str]
    """The row's group."""
    value: float
    """The number from the judgements that there are."""
    low: float
    """The least value that labels in place of the missing could have made of it; nan: not known."""
    high: float
    """The greatest."""
    n_missing: int
    """Judgements missing."""
    n_given: int
    """Judgements that there are, abstentions included."""


@dataclass(frozen=True)
class Curve:
    """Risk against coverage of one judge, from the most confident label on."""

    analysis: str
    """The analysis' name."""
    group: Mapping[str, str]
    """Whose it is."""
    coverage: tuple[float, ...]
    """Shares of the labels, rising to 1."""
    risk: tuple[float, ...]
    """How many of these disagree with the panel, as a share."""


@dataclass(frozen=True)
class TradeOff:
    """A judge's false approvals against its false rejections, by threshold.

    The first threshold is the most lenient.
    """

    analysis: str
    """The analysis' name."""
    group: Mapping[str, str]
    """Whose it is."""
    values: tuple[float, ...]
    """The numbers that the judge gave, rising; each is a threshold, and above the last nothing is
    approved."""
    approved: tuple[float, ...]
    """The share of the failures approved at each threshold, and 0 at the end."""
    rejected: tuple[float, ...]
    """The share of the successes rejected at each threshold, and 1 at the end."""
    approve: float
    """The threshold of the analysis."""


@dataclass(frozen=True)
class DerivedValue:
    """What was derived of one item from its ratings."""

    name: str
    """The derived column."""
    item: str
    """The item."""
    value: float
    """The mean number of its ratings."""
    label: str
    """The range that the number falls into; empty where the column has none."""


@dataclass(frozen=True)
class Results:
    """Everything the report tells."""

    rows: tuple[Row, ...]
    """All estimates, in the order of the protocol's analyses."""
    coverage: tuple[CoverageRow, ...]
    """All ratings, accounted for."""
    warnings: tuple[str, ...] = ()
    """What concerns the whole study."""
    methods: tuple[str, ...] = ()
    """Sentences of the methods paragraph, from what was run."""
    plan: Mapping[str, PlanStatus] = field(default_factory=dict)
    """Analysis -> whether it was frozen before its ratings; of analyses that are not named nothing
    was frozen."""
    played: str = ""
    """That models were played by konsil; empty: none was."""
    log: str = ""
    """What a check of the audit log found; empty: there was none."""
    target: RatersTarget = "these"
    """Whom the first intervals are about where raters are a source of chance."""
    inference: tuple[str, ...] = ()
    """That target in sentences, why it is that one, and what stands beside it."""
    refused: tuple[str, ...] = ()
    """Why an analysis could not be made, one sentence each; its row says so too."""
    label_counts: Mapping[tuple[str, str, str, str], int] = field(default_factory=dict)
    """(panel, criterion, system or '', label) -> how often; the abstention under its own label."""
    orders: tuple[OrderRow, ...] = ()
    """Judges that saw pairs in both orders, and how often they contradicted themselves."""
    outcomes: tuple[OutcomeRow, ...] = ()
    "Outcomes of the LLM judges' tasks."
    bounds: tuple[Bounds, ...] = ()
    """For every number that missing judgements touch."""
    derived: tuple[DerivedValue, ...] = ()
    """What was derived of the items, by column and item."""
    curves: tuple[Curve, ...] = ()
    """Risk against coverage, where an analysis asks for it and labels have a confidence."""
    trade_offs: tuple[TradeOff, ...] = ()
    """False approvals against false rejections, where an analysis asks for strictness."""

    @property
    def estimable_rows(self) -> tuple[Row, ...]:
        """The rows of analyses that could be made, with the groups that figures are drawn by."""
        return tuple(row for row in self.rows if row.is_made)
