"""Request for preference in a table of comparisons: columns, ties and resamples, checked.

`konsil preference` has its fields as options, konsil.preference as keywords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from konsil.analysis.model.options import is_penalty
from konsil.analysis.recoding.flags import BY, COMPARE, CONFIDENCE, MISSING, WHERE, Where
from konsil.errors import AnalysisError, option
from konsil.records.numerals import own_numbers
from konsil.records.request import Flag, Request, setting

if TYPE_CHECKING:
    from konsil.analysis.roles.reading import StatedRoles, TableFile
    from konsil.analysis.tabular.slices import Slices
    from konsil.analysis.tabular.votes_options import VotesOptions


@dataclass(frozen=True, kw_only=True)
class PreferenceRequest(Request):
    """How a table of comparisons is read, and how it is evaluated."""

    refusal = AnalysisError

    item: str | None = setting(None, Flag("Column of the items; '-' if unknown.", metavar="C"))
    rater: str | Sequence[str] | None = setting(
        (),
        Flag(
            "Column of the raters; '-' if unknown; several: the column of each rater's outcomes.",
            metavar="C",
        ),
    )
    first: str | None = setting(None, Flag("Column of the first of the two systems.", metavar="C"))
    second: str | None = setting(None, Flag("Column of the second system.", metavar="C"))
    outcome: str | Sequence[str] | None = setting(
        (),
        Flag(
            "Column of the outcomes: a winner, a tie, or a label of --scale; a second column has"
            " those of the other order, and different ones count as a tie.",
            metavar="C",
        ),
    )
    swapped: str | None = setting(
        None,
        Flag(
            "Where words for a side, such as 'left', mean the side in the other order: the second"
            " column of the outcomes, rows with C=VALUE, or those with another system shown first"
            " in C than in --first; '-' for nowhere.",
            metavar="C[=VALUE]",
        ),
    )
    scale: Sequence[str] = setting(
        (),
        Flag(
            "All outcomes in order, from first to second system preferred.",
            metavar="a,b,c",
            is_listed=True,
        ),
    )
    ends: Sequence[str | float] = setting(
        (),
        Flag(
            "Outcomes are numbers: that of a full preference for the first and for the second"
            " system.",
            metavar="x,y",
            is_listed=True,
        ),
    )
    won: str | None = setting(
        None,
        Flag("Instead of --outcome: column with the first system's wins.", metavar="C"),
    )
    lost: str | None = setting(None, Flag("Column with the second system's wins.", metavar="C"))
    tied: str | None = setting(None, Flag("Column with the number of ties.", metavar="C"))
    unused: Sequence[str] = setting((), Flag("Column that is not used, repeatable.", metavar="C"))
    strict: bool = setting(False, Flag("Count only the outermost labels of the scale as wins."))
    ties: Literal["half", "dropped"] = setting(
        "half", Flag("Treatment of ties in the Bradley-Terry model.")
    )
    penalty: float = setting(
        0.0,
        Flag(
            "Penalised strengths: number of virtual comparisons of each system with an average one,"
            " such as 1; 0: no penalty."
        ),
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
    def outcomes(self) -> tuple[str, ...]:
        """The columns of the outcomes."""
        return (self.outcome,) if isinstance(self.outcome, str) else tuple(self.outcome or ())

    @property
    def raters(self) -> tuple[str, ...]:
        """The column of the raters, or the columns of each rater's outcomes; '-' if unknown."""
        return (self.rater,) if isinstance(self.rater, str) else tuple(self.rater or ())

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named."""
        roles = (self.item, *self.raters, self.first, self.second, *self.outcomes, *self.unused)
        named = (*roles, self.won, self.lost, self.tied, *self._groups, self.swapped)
        return tuple(name for name in named if name is not None)

    @property
    def _groups(self) -> tuple[str, ...]:
        """The columns that choose, group or exchange rows."""
        column, sign, _ = (self.swapped or "").partition("=")
        return tuple(sorted({*self.slices.columns, *([column.strip()] if sign else [])}))

    def table_options(self, file: TableFile | None = None) -> VotesOptions:
        """How the cells of a file are to be read; the columns' roles are stated apart."""
        from konsil.analysis.tabular.votes_options import VotesOptions

        return VotesOptions(
            **({} if file is None else vars(file)),
            scale=tuple(map(str, self.scale)),
            missing=tuple(self.missing),
            swapped=self.swapped,
        )

    def stated_roles(self) -> StatedRoles:
        """What is stated of the columns."""
        from konsil.analysis.roles.reading import StatedRoles

        first, second = (*self.outcomes, None, None)[:2]
        return StatedRoles(
            units=() if self.item in (None, "-") else (self.item,),
            raters=() if self.raters == ("-",) else self.raters,
            has_no_units=self.item == "-",
            has_no_raters=self.raters == ("-",),
            swapped=self.swapped,
            first=self.first,
            second=self.second,
            outcome=first,
            second_outcome=second,
            won=self.won,
            lost=self.lost,
            tied=self.tied,
            groups=self._groups,
            unused=tuple(self.unused),
            scale=tuple(map(str, self.scale)),
            ends=self._numbers(),
            missing=tuple(self.missing),
        )

    def _numbers(self) -> tuple[float, float] | None:
        """The two ends of the outcomes as numbers."""
        if not self.ends:
            return None
        numbers = own_numbers([v if isinstance(v, str) else repr(float(v)) for v in self.ends])
        if len({*numbers} - {None}) != 2 or len(numbers) != 2:
            texts = ",".join(map(str, self.ends))
            raise AnalysisError(f"{option('ends')} {texts}: expected two different numbers")
        first, second = (float(number or 0) for number in numbers)
        return first, second


def check_request(request: PreferenceRequest) -> None:
    """Refuse what no table allows."""
    if isinstance(request.scale, str) or isinstance(request.missing, str):
        raise AnalysisError("scale and missing: expected a list of labels, got a single text")
    _check_outcomes(request)
    if request.resamples < 100:
        raise AnalysisError(f"resamples: expected at least 100, got {request.resamples}")
    if not is_penalty(request.penalty):
        raise AnalysisError(
            f"{option('penalty')}: expected 0, or from 0.1 to 100, got {request.penalty:g}"
        )
    if not 0.5 <= request.confidence < 1:
        raise AnalysisError(f"confidence: expected from 0.5 to below 1, got {request.confidence:g}")


def _check_outcomes(request: PreferenceRequest) -> None:
    """Refuse options for outcomes of different kinds."""
    if len(request.outcomes) > 2:
        raise AnalysisError(f"{option('outcome')}: expected one column, or two for both orders")
    if len(request.raters) > 1 and (request.outcomes or request.won):
        other = "outcome" if request.outcomes else "won"
        raise AnalysisError(
            f"{option('rater')} and {option(other)}: expected one of them; several raters' columns"
            " contain their outcomes"
        )
    counted = {name: getattr(request, name) for name in ("won", "lost", "tied")}
    stated = [name for name, column in counted.items() if column is not None]
    if stated and len({"won", "lost"} & {*stated}) < 2:
        absent = "lost" if "won" in stated else "won"
        raise AnalysisError(
            f"{option('won')} and {option('lost')}: expected both columns; name the other one with"
            f" {option(absent)}"
        )
    kinds = [
        *(["outcome"] if request.outcomes and stated else []),
        *(name for name in ("scale", "ends") if getattr(request, name)),
        *stated[:1],
    ]
    if len(request.outcomes) > 1 and request.ends:
        kinds = ["outcome", "ends"]
    if len(kinds) > 1:
        raise AnalysisError(
            f"{option(kinds[0])} and {option(kinds[1])}: expected one kind of outcomes, which are"
            " labels, numbers or counts of wins"
        )
    if request.swapped is not None and stated:
        raise AnalysisError(
            f"{option('swapped')} and {option('won')}: counts of wins have no words for sides"
        )
    if request.strict and (request.ends or stated):
        other = "ends" if request.ends else "won"
        raise AnalysisError(
            f"{option('strict')}: expected labels in order; {option(other)} has none"
        )
