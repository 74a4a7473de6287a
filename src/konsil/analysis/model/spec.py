"""One line of the analysis plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from konsil.stats.engine.contract import RatersTarget

Mode = Literal["valid", "paper"]
Consensus = Literal["none", "majority", "mean"]
Cluster = Literal["item", "case", "rater"]
Test = Literal["interval", "flip", "none"]
Abstain = Literal["missing", "label"]
Denominator = Literal["cases", "recovered"]
FailureBy = Literal["every", "mean"]
SpanRule = Literal["each", "all", "any", "mean"]
Clock = Literal["active", "open"]
Stage = Literal["before", "after"]
Display = Literal["any", "complete"]


EnsembleUnits = Literal["common", "members"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """Which statistic of which ratings, in which groups, and how sure."""

    name: str
    """Unique in the study."""
    statistic: str
    """A statistic's name, as `konsil check` lists them."""
    criterion: str
    """The criterion whose labels are used."""
    raters: str
    """The panel whose ratings are used."""
    mode: Mode = "valid"
    """What holds (valid), or what a paper computes (paper), always labelled."""
    against: str | None = None
    """None: among the raters; 'rest': each rater against the majority of the others; a panel:
    against its majority."""
    items: str = ""
    """A set of items; empty: all."""
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Column -> the values kept (system, rater, a stratum)."""
    by: tuple[str, ...] = ()
    """Columns whose values make the groups (system, rater, a stratum of the items or raters);
    'rater_pair': every two raters are a group; 'length': win differences of the longer answers and
    of the shorter ones."""
    compare: str = ""
    """One of `by`: differences between its groups; of win differences and margins also `system`,
    and of all wins `criterion` (the first against those of `criteria`), which are no part of
    `by`."""
    arm: str | None = None
    """Only ratings of this arm; None: all."""
    weights: str = ""
    """Weights of a weighted statistic; empty: those in its name."""
    collapse: Mapping[str, str] = field(default_factory=dict)
    """Label -> label, applied before the statistic; an abstention can so become a label."""
    labels: tuple[str, ...] = ()
    """The labels after collapsing, where they are not simply those of the scale; their number
    counts as categories."""
    of: tuple[str, ...] = ()
    """For shares: the labels that count as a success."""
    abstain: Abstain = "missing"
    """An abstention is 'missing' (pairwise deletion) or a 'label' of its own."""
    consensus: Consensus = "none"
    """For shares and means: each rating, or the panel's majority or mean per subject; for
    comparisons 'mean' makes the panel a jury; against a panel 'mean' takes its average label."""
    spans: SpanRule = "each"
    """How labels of sentences become one label of the answer."""
    cluster: Cluster = "item"
    """What is resampled."""
    test: Test = "interval"
    """How compared groups are tested: by the test that their interval inverts, which the number
    decides; by swapping whole clusters, whatever the number is; or not at all."""
    covariate: str = ""
    """For slopes: the derived column whose number is on the x axis."""
    tiebreak: str = ""
    """For majorities: the panel whose label decides where the raters have none, from tie-break
    tasks alone."""
    criteria: tuple[str, ...] = ()
    """Further criteria: for rank_agreement and mann_whitney, anova and tukey one number for each;
    for approval and strictness all in one; what others make of them stands with each statistic."""
    margin: float | None = None
    """For differences, win differences and own preference: how large a difference still counts as
    equivalent."""
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
    clock: Clock = "active"
    """For seconds: those in which somebody was at the screen, or all for which its page was
    open."""
    target: float = 0.8
    """For rater_hours: the reliability to be reached."""
    minutes: tuple[float, ...] = ()
    """For budget_reliability: minutes of raters that an answer may take, one number or several."""
    pass_line: float | None = None
    """For shares and means: the value to reach, drawn into the figures; no number depends on it."""
    coverage: float = 0.5
    """For ensembles: a judge with labels on a smaller share of the panel's units is in none; 0: all
    are."""
    ensemble_units: EnsembleUnits = "common"
    """For ensembles: the units on which every one of them has a majority ('common'), or for each of
    them those on which its own members have one ('members')."""
    adjudication: Stage = "before"
    """Where raters who differed looked at it once more: the labels given before that, or those
    after it."""
    display: Display = "any"
    """Of ratings of answers: all of them ('any'), or those by people only where every answer rated
    was displayed to its end on the rating page ('complete')."""
    prespecified: bool = True
    """Whether it is declared: one of the family that is adjusted together; others are
    exploratory."""


Closed = Literal["both", "left", "right", "neither"]


@dataclass(frozen=True, slots=True)
class Bin:
    """One range of a derived number."""

    label: str
    """What the range is called."""
    low: float
    """Its lower end."""
    high: float
    """Its upper end."""
    closed: Closed = "left"
    """Which ends belong to it."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived column: the mean number that a panel gave an item, and its bin."""

    name: str
    """The column, for `by`, `where` and `covariate`."""
    criterion: str
    """The criterion whose labels' numbers are averaged."""
    raters: str
    """The panel whose ratings are averaged."""
    bins: tuple[Bin, ...] = ()
    """Ranges with their names; empty: the number alone, as a covariate."""
    title: str = ""
    """What tables and figures call it; empty: its name."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made."""

    draws: int = 10_000
    """Resamples of the clusters."""
    level: float = 0.95
    """Nominal coverage."""


@dataclass(frozen=True, slots=True)
class Inference:
    """Whom the report's intervals and tests are about."""

    raters: RatersTarget | None = None
    """Raters 'like these', of whom these are a sample, or 'these' alone; None: the former where
    there are enough."""


@dataclass(frozen=True, slots=True)
class AsPublished(Resampling):
    """Intervals as papers make them: the bootstrap's own, also where it has no width."""


@dataclass(frozen=True, slots=True)
class Exclusions:
    """Ratings that stay out of every analysis, counted and with their reason."""

    min_seconds: float = 0.0
    """People's screens rated faster than this are excluded; 0: none."""
    require_seconds: bool = False
    """Whether people's ratings without a time are excluded."""
    raters: tuple[str, ...] = ()
    """Raters left out."""
    items: tuple[str, ...] = ()
    """Items left out."""
