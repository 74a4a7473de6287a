"""What an analysis states for statistics of one family only: a frozen record for each family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Literal, NewType

CriterionRef = NewType("CriterionRef", str)
"""What an analysis takes labels or numbers from: a criterion, by its identifier."""

Denominator = Literal["cases", "recovered"]
FailureBy = Literal["every", "mean"]
Clock = Literal["active", "open"]
EnsembleUnits = Literal["common", "members"]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one family of statistics; this one has none.

    The properties are what every analysis is asked for, whatever its family.
    """

    @property
    def further_criteria(self) -> tuple[CriterionRef, ...]:
        """Criteria that are used beside the analysis' own."""
        return ()

    @property
    def panels(self) -> tuple[str, ...]:
        """Panels whose ratings are used beside those of the analysis' own."""
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are used beside those of the groups."""
        return ()

    @property
    def labels_counted(self) -> tuple[str, ...]:
        """The labels whose share is computed."""
        return ()

    def problems(self) -> Iterator[str]:
        """Each value that no statistic can use, as 'key: what is wrong'."""
        yield from ()


@dataclass(frozen=True, slots=True)
class AgreementOptions(Options):
    """For agreement among the raters of a panel, and of raters with themselves."""

    weights: str = ""
    """Weights of a weighted statistic; empty: those in its name."""


WITHHELD = "withheld"
"""What blinded protocols have in place of a value that has no letter, such as a reference group."""


@dataclass(frozen=True, slots=True)
class ShareOptions(Options):
    """For shares of labels, means and abstentions."""

    of: tuple[str, ...] = ()
    """For shares: the labels that count as a success."""
    pass_line: float | None = None
    """For shares and means: the value to reach, drawn into the figures; no number depends on it."""
    tiebreak: str = ""
    """For majorities: the panel whose label decides where the raters have none, from tie-break
    tasks alone."""
    reference: Mapping[str, str] = field(default_factory=dict)
    """For relative differences: one column of `by` -> its value whose proportion the others are
    divided by."""

    @property
    def panels(self) -> tuple[str, ...]:
        """The panel that breaks ties."""
        return (self.tiebreak,) if self.tiebreak else ()

    @property
    def labels_counted(self) -> tuple[str, ...]:
        """Those in `of`."""
        return self.of

    def problems(self) -> Iterator[str]:
        """A reference of more than one column or without a value."""
        if len(self.reference) > 1:
            yield f"reference: expected one column and its value, got {dict(self.reference)}"
        for column, value in self.reference.items():
            if not value.strip():
                yield f"reference.{column}: is empty; expected the value to divide by"


@dataclass(frozen=True, slots=True)
class PairOptions(Options):
    """For comparisons of two answers."""

    criteria: tuple[CriterionRef, ...] = ()
    """Further criteria: for rank_agreement one number for each; for preference_correlation every
    two of all of them; for wins those that are compared with the first."""
    penalty: float = 0.0
    """For davidson and bradley_terry: how many virtual comparisons each system has with an average
    one; 0: no penalty."""

    @property
    def further_criteria(self) -> tuple[CriterionRef, ...]:
        """Those in `criteria`."""
        return self.criteria

    def problems(self) -> Iterator[str]:
        """A penalty that is too weak to be found by rounded numbers, or stronger than any data."""
        if not is_penalty(self.penalty):
            yield f"penalty: expected 0, or from 0.1 to 100, got {self.penalty:g}"


def is_penalty(penalty: float) -> bool:
    """Whether strengths can have this penalty; 0 is none."""
    return penalty == 0 or 0.1 <= penalty <= 100


@dataclass(frozen=True, slots=True)
class CaseOptions(Options):
    """For cases in several versions, with less and less of their information."""

    criteria: tuple[CriterionRef, ...] = ()
    """Further criteria: for mann_whitney, anova and tukey one number for each; for approval and
    strictness all in one; what others make of them stands with each statistic."""
    levels: tuple[str, ...] = ()
    """The values of the items' stratum `level`, from all the information to the least."""
    correct: float = 0.75
    """A panel's mean number from which on an answer counts as right."""
    failure: float = 0.25
    """The number down from which an answer counts as a failure."""
    failure_by: FailureBy = "every"
    """For approval and strictness: whose number that is, 'every' one of the panel's or their
    'mean'."""
    approve: float = 0.5
    """A judge's number from which on it approves of an answer."""
    denominator: Denominator = "cases"
    """For monotonicity_violation: out of all 'cases', or of those right at the last level
    ('recovered')."""

    @property
    def further_criteria(self) -> tuple[CriterionRef, ...]:
        """Those in `criteria`."""
        return self.criteria


@dataclass(frozen=True, slots=True)
class JudgeOptions(Options):
    """For what is asked of judges: abstention, ensembles, preference, confidence, blinding."""

    covariate: str = ""
    """For slopes: the derived column whose number is on the x axis."""
    coverage: float = 0.5
    """For ensembles: a judge with labels on a smaller share of the panel's units is in none; 0: all
    are."""
    ensemble_units: EnsembleUnits = "common"
    """For ensembles: the units on which every one of them has a majority ('common'), or for each of
    them those on which its own members have one ('members')."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The covariate."""
        return (self.covariate,) if self.covariate else ()

    def problems(self) -> Iterator[str]:
        """A coverage that is no proportion."""
        if not 0 <= self.coverage <= 1:
            yield f"coverage: expected a proportion from 0 to 1, got {self.coverage:g}"


@dataclass(frozen=True, slots=True)
class DesignOptions(Options):
    """For whole answers beside their sentences: times, parts, and what rater hours buy."""

    clock: Clock = "active"
    """For seconds: those in which somebody was at the screen, or all for which its page was
    open."""
    target: float = 0.8
    """For rater_hours: the reliability to be reached."""
    minutes: tuple[float, ...] = ()
    """For budget_reliability: minutes of raters that an answer may take, one number or several."""

    def problems(self) -> Iterator[str]:
        """A reliability or minutes that cannot be reached or spent."""
        if not 0 < self.target < 1:
            yield f"target: expected a reliability between 0 and 1, got {self.target:g}"
        for n, minutes in enumerate(self.minutes):
            if not minutes > 0:
                yield f"minutes[{n}]: expected more than 0, got {minutes:g}"


OPTIONS: Mapping[str, type[Options]] = MappingProxyType(
    {
        "agreement": AgreementOptions,
        "shares": ShareOptions,
        "judges": JudgeOptions,
        "pairs": PairOptions,
        "cases": CaseOptions,
        "designs": DesignOptions,
    }
)
"""Family -> its options."""


def keys_of(kind: type[Options]) -> tuple[str, ...]:
    """The names of the options of one kind.

    >>> keys_of(DesignOptions)
    ('clock', 'target', 'minutes')
    """
    return tuple(field.name for field in fields(kind))
