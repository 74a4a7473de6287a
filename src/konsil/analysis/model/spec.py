"""One line of the analysis plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeVar

from konsil.analysis.model.catalogue.entry import QuestionKind
from konsil.analysis.model.catalogue.keys import misplacement, options_kind, options_kinds
from konsil.analysis.model.catalogue.known import statistic_of
from konsil.analysis.model.catalogue.limits import DEFAULTS, Mode, Stated
from konsil.analysis.model.options import CriterionRef, Options, keys_of
from konsil.errors import AnalysisError
from konsil.records.inline import INLINE, Inline
from konsil.stats.engine.contract import RatersTarget

Consensus = Literal["none", "majority", "mean"]
Cluster = Literal["item", "case", "rater"]
Test = Literal["interval", "flip", "none"]
Abstain = Literal["missing", "label"]
SpanRule = Literal["each", "all", "any", "mean"]
Stage = Literal["before", "after"]
Display = Literal["any", "complete"]

SomeOptions = TypeVar("SomeOptions", bound=Options)


def _options_kinds() -> tuple[type[Options], ...]:
    """Every record of options; an AnalysisError names one with a key that all analyses have."""
    kinds = options_kinds()
    for kind in kinds:
        for key in {f.name for f in fields(Analysis)}.intersection(keys_of(kind)):
            raise AnalysisError(
                f"the options {kind.__module__}.{kind.__name__} have the key {key!r}, which every"
                " analysis has; expected another name"
            )
    return kinds


def _refusal(key: str, stated: Mapping[str, object]) -> str:
    return misplacement(key, str(stated["statistic"]))


@dataclass(frozen=True, slots=True)
class Analysis:
    """Which statistic of which ratings, in which groups, and how sure."""

    name: str
    """Unique in the study."""
    statistic: str
    """A statistic's name, as `konsil check` lists them."""
    criterion: CriterionRef
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
    collapse: Mapping[str, str] = field(default_factory=dict)
    """Label -> label, applied before the statistic; an abstention can so become a label."""
    labels: tuple[str, ...] = ()
    """The labels after collapsing, where they are not simply those of the scale; their number
    counts as categories."""
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
    margin: float | None = None
    """For differences, win differences and own preference: how large a difference still counts as
    equivalent."""
    adjudication: Stage = "before"
    """Where raters who differed looked at it once more: the labels given before that, or those
    after it."""
    display: Display = "any"
    """Of ratings of answers: all of them ('any'), or those by people only where every answer rated
    was displayed to its end on the rating page ('complete')."""
    leave_out: tuple[str, ...] = ()
    """For agreement, shares, means and comparisons: 'rater', 'item', 'case' or characteristics of
    the items or raters; each value is omitted in turn, and the range of the estimates and the most
    influential value are reported."""
    prespecified: bool = True
    """Whether it is declared: one of the family that is adjusted together; others are
    exploratory."""
    question: str = ""
    """The question that it answers, in the words of the study: the heading of its answer on the
    report's first page; empty: it is not on that page, where other analyses have a question."""
    question_kind: QuestionKind | Literal[""] = ""
    """What the question asks for; `konsil check` refuses a kind that the analysis does not answer.
    Empty: the likeliest of those that it answers."""
    options: Options = field(
        default=Options(), metadata={INLINE: Inline(options_kind, _options_kinds, _refusal)}
    )
    """The options of the statistic's family. In files and digests they stand beside the other
    keys; without them all have their defaults."""

    def __post_init__(self) -> None:
        """Give the statistic its own options; refuse those of another family."""
        kind = statistic_of(self.statistic).options_kind
        if type(self.options) is Options:
            object.__setattr__(self, "options", kind())  # it is frozen only from here on
        elif not isinstance(self.options, kind):
            raise TypeError(_wrong_kind(self, kind))

    def options_as(self, kind: type[SomeOptions]) -> SomeOptions:
        """The options of a family of which the statistic is known to be.

        >>> from konsil.analysis.model.options import CaseOptions
        >>> Analysis("a", "stability", "correct", "experts").options_as(CaseOptions).correct
        0.75
        """
        if not isinstance(self.options, kind):
            raise TypeError(_wrong_kind(self, kind))
        return self.options

    def with_statistic(self, statistic: str) -> Analysis:
        """The same with another statistic; one of another family has its options' defaults.

        >>> analysis = Analysis("a", "risk_coverage", "correct", "judges", against="experts")
        >>> analysis.with_statistic("percent_agreement").options
        AgreementOptions(weights='')
        """
        kind = statistic_of(statistic).options_kind
        options = self.options if isinstance(self.options, kind) else kind()
        return replace(self, statistic=statistic, options=options)

    def stated(self) -> Stated:
        """Its settings and options, for the limits of its statistic."""
        options = {key: getattr(self.options, key) for key in keys_of(type(self.options))}
        settings = {key: getattr(self, key) for key in DEFAULTS}
        return Stated(self.statistic, self.mode, {**options, **settings})

    @property
    def criteria(self) -> tuple[CriterionRef, ...]:
        """Further criteria; none where the statistic takes none."""
        return self.options.further_criteria


def _wrong_kind(analysis: Analysis, kind: type[Options]) -> str:
    return (
        f"analysis {analysis.name!r}: {analysis.statistic!r} has"
        f" {type(analysis.options).__name__}, not {kind.__name__}"
    )


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
    criterion: CriterionRef
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


SpendingName = Literal["obrien_fleming", "pocock", "power"]
"""The families of alpha spending, as `stats.designs.spending` has them."""


@dataclass(frozen=True, slots=True)
class SequentialRules:
    """The rules of a group sequential test."""

    spending: SpendingName = "obrien_fleming"
    """How the type I error is spent."""
    alpha: float = 0.05
    """The two-sided type I error."""
    rho: float = 2.0
    """The exponent of the power family."""
    binding: bool = False
    """Whether the critical values rely on stops for futility."""
