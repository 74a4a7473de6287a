"""Results of `konsil compare` and konsil.compare: estimates and differences with their CIs.

As plain data, tables and frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.frames import finite_or_none, frame_of
from konsil.analysis.model.notebook import Dot, ShownResult, dot_plot, html_table, interval_text
from konsil.analysis.model.rows import Row, group_text
from konsil.analysis.running.comparing.table_study import ComparedCriterion
from konsil.errors import AnalysisError, nearest
from konsil.errors.message import TranslatableMessage, message
from konsil.stats.engine.contract import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class GroupComparison(ShownResult):
    """The systems or groups of a table with their proportions, means and medians."""

    by: str
    """The column of the groups; empty where each system has a column."""
    groups: tuple[str, ...]
    """The groups."""
    criteria: tuple[ComparedCriterion, ...]
    """What was rated, and which labels count as a success."""
    rows: tuple[Row, ...]
    """All rows of the study in memory: estimates, differences and other intervals of both."""
    n_units: int
    """Units with a rating."""
    n_raters: int | None
    """Raters; None where it is not known who gave which rating."""
    n_ratings: int
    """Ratings; abstentions are not counted."""
    n_abstained: int
    """Abstentions."""
    confidence: float
    """The intervals' nominal coverage."""
    reference: str | None
    """The group that is subtracted; None: differences of all pairs."""
    warnings: tuple[str, ...]
    """What a reader must know."""
    methods: tuple[str, ...]
    """Sentences for a methods section."""
    reading: str = ""
    """What the table's columns were taken for; empty where all of it was stated."""

    @property
    def estimates(self) -> tuple[Row, ...]:
        """The estimate of each group, by criterion and statistic."""
        return tuple(row for row in self.rows if row.kind == "estimate")

    @property
    def differences(self) -> tuple[Row, ...]:
        """The differences, by criterion and statistic."""
        return tuple(row for row in self.rows if row.kind == "difference")

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, of the table and of single numbers, each sentence once."""
        wider = [
            (text, row)
            for row in self.rows
            for text in row.warnings
            if isinstance(text, TranslatableMessage) and text.message_id in _WIDER
        ]
        of_rows = [text for row in self.rows for text in row.warnings]
        rest = [text for text in of_rows if text not in [text for text, _ in wider]]
        sentences = (*self.warnings, *_widening(wider), *rest)
        return tuple(dict.fromkeys(sentences))

    def counts(self) -> str:
        """How much was rated, in words."""
        raters = "" if self.n_raters is None else f", {self.n_raters:,} raters"
        of = f" of {self.by}" if self.by else ""
        n = len(self.groups)
        groups = f"{n} group{'s'[: n != 1]}{of}"
        return f"{groups}, {self.n_units:,} units{raters}, {self.n_ratings:,} ratings"

    def to_polars(self) -> pl.DataFrame:
        """All rows as a typed Polars frame with the columns of a report's `estimates.csv`."""
        return frame_of(self.rows, {})

    def _repr_html_(self) -> str:
        """What a notebook shows: every estimate and difference with its interval and method."""
        rows = [
            [
                row.criterion,
                statistic_of(row.statistic).title,
                group_text(row),
                interval_text(e.value, e.low, e.high, str(e.reason)),
                "" if math.isnan(e.p) else f"{e.p:.3g}",
                "" if math.isnan(row.p_adjusted) else f"{row.p_adjusted:.3g}",
                str(e.n_ratings),
                str(e.n_clusters),
                str(e.method),
            ]
            for row in (*self.estimates, *self.differences)
            for e in (row.estimate,)
        ]
        interval = f"estimate [{self.confidence:.0%} CI]"
        head = ("criterion", "statistic", "group", interval, "p", "p (Holm)", "ratings", "clusters")
        return html_table(self.counts(), (*head, "CI method"), rows, self.notes)

    def plot(
        self,
        criterion: str = "",
        *,
        kind: Literal["estimate", "difference"] = "estimate",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a criterion's estimates or differences with their intervals on matplotlib axes."""
        names = [c.name for c in self.criteria]
        criterion = criterion or names[0]
        if criterion not in names:
            raise AnalysisError(f"there is no criterion {criterion!r}; {nearest(criterion, names)}")
        statistic = next(c.statistics[0] for c in self.criteria if c.name == criterion)
        dots = [
            Dot(group_text(row), row.estimate.value, row.estimate.low, row.estimate.high)
            for row in self.rows
            if (row.criterion, row.statistic, row.kind) == (criterion, statistic, kind)
        ]
        title = statistic_of(statistic).title
        title = title if kind == "estimate" else f"difference of {title.lower()}s"
        return dot_plot(
            dots, ax, label=f"{title}, {criterion}", reference=0.0 if kind == "difference" else None
        )

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data; undefined numbers are None."""
        return {
            "reading": self.reading,
            "by": self.by,
            "groups": list(self.groups),
            "reference": self.reference,
            "confidence": self.confidence,
            "units": self.n_units,
            "raters": self.n_raters,
            "ratings": self.n_ratings,
            "abstentions": self.n_abstained,
            "criteria": [
                {"name": c.name, "labels": list(c.labels), "success": list(c.success)}
                for c in self.criteria
            ],
            "estimates": [_record(row) for row in self.estimates],
            "differences": [_record(row) for row in self.differences],
            "other_intervals": [_record(row) for row in self.rows if row.kind == "companion"],
            "notes": list(self.notes),
            "methods": [str(text) for text in self.methods],
        }


_WIDER = ("two_way.wider", "target.wider")
"""Sentences on the width that the sampling of raters adds to one interval."""


def _widening(
    wider: Sequence[tuple[TranslatableMessage, Row]],
) -> Iterator[TranslatableMessage]:
    """One sentence on all intervals that the sampling of raters widens, with the widest."""
    if not wider:
        return
    text, row = max(wider, key=lambda part: float(str(part[0].values["wider"])))
    yield message(
        "Allowing for rater sampling widens {n} {n|CI|CIs}, most that of {number}, by {wider:.0%};"
        " the two-way CIs generalise to other raters.",
        message_id="comparison.wider",
        n=len(wider),
        number=f"{statistic_of(row.statistic).title}, {group_text(row)}",
        wider=text.values["wider"],
    )


def _record(row: Row) -> dict[str, Any]:
    e: Estimate = row.estimate
    group = next(iter(row.group.values()), "")
    versus = next(iter(row.versus.values()), None)
    return {
        "criterion": row.criterion,
        "statistic": row.statistic,
        "group": group,
        **({"minus": versus, "paired": row.is_paired} if versus is not None else {}),
        "value": finite_or_none(e.value),
        "low": finite_or_none(e.low),
        "high": finite_or_none(e.high),
        "se": finite_or_none(e.se),
        **(
            {"p": finite_or_none(e.p), "p_holm": finite_or_none(row.p_adjusted)}
            if versus is not None
            else {}
        ),
        "units": row.n_units,
        "ratings": e.n_ratings,
        "clusters": e.n_clusters,
        "method": str(e.method),
        "reason": str(e.reason),
    }
