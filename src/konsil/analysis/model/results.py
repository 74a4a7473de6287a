"""What an analysis gives: rows of estimates, the coverage of the ratings, warnings.

Nothing is rounded here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from konsil.analysis.model.notebook import Dot, ShownResult, dot_plot, html_table, interval_text
from konsil.analysis.model.rows import AdjustedEstimate, PlanStatus, Row, group_text
from konsil.errors import AnalysisError, nearest
from konsil.stats.engine.contract import RatersTarget

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


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
class CaseScore:
    """What a panel gave a system's answer to one version of one case, on average."""

    analysis: str
    """The analysis' name."""
    system: str
    """The system."""
    case: str
    """The case."""
    level: str
    """The version, by its information level."""
    value: float
    """The mean number."""


@dataclass(frozen=True, repr=False)
class Results(ShownResult):
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
    """The target in sentences, the reason for it, and what is also reported."""
    all_excluded: str = ""
    """That every rating is excluded, and by which rule; empty: not every one is."""
    refused: tuple[str, ...] = ()
    """Why an analysis could not be made, one sentence each; its row says so too."""
    label_counts: Mapping[tuple[str, str, str, str], int] = field(default_factory=dict)
    """(panel, criterion, system or '', label) -> how often; the abstention under its own label."""
    orders: tuple[OrderRow, ...] = ()
    """Judges that saw pairs in both orders, and how often they contradicted themselves."""
    outcomes: tuple[OutcomeRow, ...] = ()
    "Completeness of LLM judge ratings, by judge."
    bounds: tuple[Bounds, ...] = ()
    """For every number that missing judgements touch."""
    derived: tuple[DerivedValue, ...] = ()
    """What was derived of the items, by column and item."""
    curves: tuple[Curve, ...] = ()
    """Risk against coverage, where an analysis asks for it and labels have a confidence."""
    trade_offs: tuple[TradeOff, ...] = ()
    """False approvals against false rejections, where an analysis asks for strictness."""
    case_scores: tuple[CaseScore, ...] = ()
    """The scores behind each fall over the levels, case by case."""
    sequential: AdjustedEstimate | None = None
    """The primary analysis adjusted for its comparative interim analyses; None: there were none."""
    is_withheld: bool = False
    """Whether numbers of single systems are withheld, as before the last analysis; also where no
    analysis has a row of one system."""

    @property
    def reasons_without_result(self) -> dict[str, str]:
        """Analysis without any estimate -> the reason, in the order of the analyses."""
        reasons: dict[str, str] = {}
        for row in self.rows:
            if row.kind != "companion" and not row.detail:
                reasons.setdefault(row.analysis, row.estimate.reason)
        with_result = {
            row.analysis
            for row in self.rows
            if row.is_withheld or math.isfinite(row.estimate.value)
        }
        return {name: text for name, text in reasons.items() if name not in with_result}

    @property
    def estimable_rows(self) -> tuple[Row, ...]:
        """The rows of analyses that could be made, with the groups that figures are drawn by."""
        return tuple(row for row in self.rows if row.is_made)

    def counts(self) -> str:
        """How many analyses and estimates there are."""
        n_analyses = len(dict.fromkeys(row.analysis for row in self.rows))
        n_rows = len(self.estimable_rows)
        return (
            f"{n_analyses} {'analysis' if n_analyses == 1 else 'analyses'},"
            f" {n_rows} {'estimate' if n_rows == 1 else 'estimates'}"
        )

    def to_polars(self) -> pl.DataFrame:
        """All rows as a typed Polars frame with the columns of `estimates.csv`.

        Groups have a column each (`group.system`, `versus.system`). Undefined numbers are null,
        and `reason` says why.
        """
        # With Polars, which the help of a command need not load.
        from konsil.analysis.model.frames import frame_of

        return frame_of(self.rows, self.plan)

    def _repr_html_(self) -> str:
        """What a notebook shows: every estimate and difference with its interval."""
        rows = [
            [
                row.analysis,
                row.statistic,
                group_text(row),
                interval_text(e.value, e.low, e.high, e.reason),
                "" if math.isnan(e.p) else f"{e.p:.3g}",
                "" if math.isnan(row.p_adjusted) else f"{row.p_adjusted:.3g}",
                "" if row.is_withheld else str(row.n_units),
            ]
            for row in self.rows
            if row.kind != "companion" and not row.detail
            for e in (row.estimate,)
        ]
        head = ("analysis", "statistic", "group", "estimate [CI]", "p", "p adjusted", "units")
        return html_table(self.counts(), head, rows, self.warnings)

    def plot(
        self,
        analysis: str,
        *,
        kind: Literal["estimate", "difference"] = "estimate",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw an analysis' estimates or differences with their intervals on matplotlib axes.

        Return the axes, to be changed; `.figure.savefig` writes them. Raises AnalysisError where
        there is no such analysis, or no such rows of it.
        """
        names = list(dict.fromkeys(row.analysis for row in self.rows))
        if analysis not in names:
            raise AnalysisError(f"there is no analysis {analysis!r}; {nearest(analysis, names)}")
        rows = [r for r in self.rows if r.analysis == analysis and r.kind == kind and not r.detail]
        if not rows:
            raise AnalysisError(f"analysis {analysis!r} has no {kind}s")
        dots = [
            Dot(group_text(r) or analysis, r.estimate.value, r.estimate.low, r.estimate.high)
            for r in rows
        ]
        title = rows[0].statistic if kind == "estimate" else f"difference of {rows[0].statistic}"
        reference = 0.0 if kind == "difference" else None
        return dot_plot(dots, ax, label=f"{title}, {rows[0].criterion}", reference=reference)
