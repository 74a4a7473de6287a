"""Request for preference in a table of comparisons: columns, ties and resamples, checked.

`konsil preference` has its fields as options, konsil.preference as keywords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from konsil.analysis.recoding.flags import BY, COMPARE, CONFIDENCE, MISSING, WHERE, Where
from konsil.errors import AnalysisError
from konsil.records.request import Flag, Request, setting

if TYPE_CHECKING:
    from konsil.analysis.tabular.slices import Slices
    from konsil.analysis.tabular.votes_layout import Layout


@dataclass(frozen=True, kw_only=True)
class PreferenceRequest(Request):
    """How a table of comparisons is read, and how it is evaluated."""

    refusal = AnalysisError

    item: str | None = setting(None, Flag("Column of the items; '-' if unknown.", metavar="C"))
    rater: str | None = setting(None, Flag("Column of the raters; '-' if unknown.", metavar="C"))
    first: str | None = setting(None, Flag("Column of the first of the two systems.", metavar="C"))
    second: str | None = setting(None, Flag("Column of the second system.", metavar="C"))
    outcome: str | None = setting(
        None,
        Flag("Column of the outcomes: a winner, a tie, or a label of --scale.", metavar="C"),
    )
    scale: Sequence[str] = setting(
        (),
        Flag(
            "All outcomes in order, from first to second system preferred.",
            metavar="a,b,c",
            is_listed=True,
        ),
    )
    won: str | None = setting(
        None,
        Flag("Instead of --outcome: column with the first system's wins.", metavar="C"),
    )
    lost: str | None = setting(None, Flag("Column with the second system's wins.", metavar="C"))
    tied: str | None = setting(None, Flag("Column with the number of ties.", metavar="C"))
    strict: bool = setting(False, Flag("Count only the outermost labels of the scale as wins."))
    ties: Literal["half", "dropped"] = setting(
        "half", Flag("Treatment of ties in the Bradley-Terry model.")
    )
    mode: Literal["valid", "paper"] = setting(
        "valid",
        Flag(
            "Recommended method, or item-cluster percentile CIs and permutation tests of single"
            " comparisons, as published in many papers."
        ),
    )
    where: Where | None = setting(None, WHERE)
    by: str | None = setting(None, BY)
    compare: str | None = setting(None, COMPARE)
    missing: Sequence[str] = setting(("",), MISSING)
    resamples: int = setting(
        10_000, Flag("Number of bootstrap resamples and permutations.", minimum=100)
    )
    confidence: float = setting(0.95, CONFIDENCE)
    seed: int = setting(0, Flag("Seed of resamples and permutations.", is_shown=True))

    @property
    def slices(self) -> Slices:
        """Which rows are used, and how they are grouped."""
        # With Polars, which a help does without.
        from konsil.analysis.tabular.slices import Slices, as_values

        return Slices(as_values(self.where), self.by, self.compare)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named."""
        roles = (self.item, self.rater, self.first, self.second, self.outcome)
        named = (*roles, self.won, self.lost, self.tied, *self.slices.columns)
        return tuple(name for name in named if name is not None)

    def layout(self) -> Layout:
        """How the table is to be read."""
        from konsil.analysis.tabular.votes_layout import Layout

        return Layout(
            self.item,
            self.rater,
            self.first,
            self.second,
            self.outcome,
            tuple(map(str, self.scale)),
            self.won,
            self.lost,
            self.tied,
            tuple(self.missing),
            tuple(self.slices.columns),
        )


def check_request(request: PreferenceRequest) -> None:
    """Refuse what no table allows."""
    if isinstance(request.scale, str) or isinstance(request.missing, str):
        raise AnalysisError("scale and missing: expected a list of labels, got a single text")
    if request.resamples < 100:
        raise AnalysisError(f"resamples: expected at least 100, got {request.resamples}")
    if not 0.5 <= request.confidence < 1:
        raise AnalysisError(f"confidence: expected from 0.5 to below 1, got {request.confidence:g}")
