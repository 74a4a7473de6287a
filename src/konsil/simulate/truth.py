"""What is true in a simulated study: the parameters, as simulation.toml states them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from konsil.study import decode
from konsil.study.sections.decode import toml_data


@dataclass(frozen=True, slots=True)
class SystemTruth:
    """How good a system's answers are."""

    quality: float = 0.75
    """The probability that an answer is right, over items of all difficulties."""
    strength: float = 0.0
    """How much better or worse its answers look beyond being right or wrong, in latent standard
    deviations.

    Seen on scales of more than two labels and in pairs; right or wrong is judged by `quality`
    alone. """
    quality_by: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Column of the items -> value -> the quality there; where several columns speak, their
    probits' shifts add up."""
    strength_on: Mapping[str, float] = field(default_factory=dict)
    """Criterion -> further strength on it."""
    hidden: float = 0.0
    """The probability that the reasoning of a wrong answer has the right one all the same."""
    length: float = 0.0
    """The median length of its placeholder answers in characters; 0: all are equally short."""


@dataclass(frozen=True, slots=True)
class PanelTruth:
    """How a panel's raters see and label. Latent scales have a residual standard deviation of 1."""

    accuracy: float = 0.9
    """The probability that a rater without severity or leniency labels an answer rightly; 0.5 is
    guessing."""
    severity: float = 0.0
    """Standard deviation, from rater to rater, of a constant shift towards the worse labels."""
    leniency: float = 0.0
    """The whole panel's shift towards the better labels."""
    self_preference: float = 0.0
    """Further shift towards the better labels where the answer's system is of the rater's own
    family."""
    shared: float = 0.3
    """Share of the residual variance that all raters have in common on an answer: what is ambiguous
    to everybody."""
    item_rater: float = 0.1
    """Share of the residual variance that a rater carries over all answers of an item."""
    rater_system: float = 0.0
    """Standard deviation, from rater to rater, of the liking for one system."""
    perception: float = 0.8
    """Correlation of an item's perceived and true difficulty."""
    abstention: float = 0.0
    """The probability of an abstention at an item of average difficulty, where the scale has
    one."""
    abstention_slope: float = 0.0
    """Change of the log odds of an abstention per standard deviation of difficulty."""
    tie: float = 0.3
    """Pairs: half the width of the zone of no difference."""
    position: float = 0.0
    """Pairs: shift in favour of the answer shown first."""
    seconds: float = 40.0
    """Median seconds on a screen."""
    approves: float | None = None
    """The probability that a wrong answer gets the middle label or a better one, whatever accuracy
    and leniency say."""


@dataclass(frozen=True, slots=True)
class CriterionTruth:
    """How a criterion's labels lie on the latent scale."""

    best: str = ""
    """The label at the good end (for pairs: 'the first is better'); empty: the last label, for
    pairs the first."""
    right: float = 1.0
    """How much of right and wrong shows in it: 1 all of it, 0 nothing."""
    shift: float = 0.0
    """Everybody's shift towards the better labels."""
    about: Literal["answer", "reasoning"] = "answer"
    """Whose right and wrong it is: the answer's, or that of the reasoning behind it."""


@dataclass(frozen=True, slots=True)
class Departure:
    """What is different for some raters, under one instrument or on one criterion.

    What it leaves out stays.
    """

    panels: tuple[str, ...] = ()
    """These panels; none: all."""
    raters: tuple[str, ...] = ()
    """These raters; none: all."""
    instrument: str = ""
    """Under this instrument; empty: any."""
    criterion: str = ""
    """On this criterion; empty: all, and the seconds on the screen."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Column of the raters, `arm` or `phase` -> the value of the ratings that it is about; empty:
    all."""
    shift: float = 0.0
    """Further shift towards the better labels."""
    accuracy: float | None = None
    """Instead of the panel's, as are all that follow."""
    leniency: float | None = None
    """The whole panel's shift towards the better labels."""
    self_preference: float | None = None
    """Further shift for the rater's own family."""
    shared: float | None = None
    """Share of the residual variance that all raters have in common."""
    item_rater: float | None = None
    """Share that a rater carries over the answers of an item."""
    perception: float | None = None
    """Correlation of perceived and true difficulty."""
    abstention: float | None = None
    """The probability of an abstention."""
    abstention_slope: float | None = None
    """Its change with difficulty."""
    seconds: float | None = None
    """Median seconds on a screen; only without a criterion."""
    approves: float | None = None
    """The probability that a wrong answer gets the middle label or a better one."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Everything a simulation is drawn from; what is not stated has its default."""

    systems: Mapping[str, SystemTruth] = field(default_factory=dict)
    """System -> its answers."""
    panels: Mapping[str, PanelTruth] = field(default_factory=dict)
    """Panel -> its raters."""
    raters: Mapping[str, PanelTruth] = field(default_factory=dict)
    """Rater -> parameters of its own, instead of the panel's (judges differ)."""
    criteria: Mapping[str, CriterionTruth] = field(default_factory=dict)
    """Criterion -> its labels."""
    exceptions: tuple[Departure, ...] = ()
    """What is different under an instrument or on a criterion; of two that speak of the same, the
    later holds."""
    difficulty_spread: float = 1.0
    """How much an item's difficulty moves the probability of a right answer, in latent standard
    deviations."""
    label_width: float = 3.0
    """The latent range over which the labels of a scale of more than two labels are spread."""
    sentence_errors: float = 0.4
    """In a wrong answer each sentence is wrong with this probability, and at least one is."""
    sentence_shared: float = 0.0
    """Share of what everybody sees in a sentence, beyond right and wrong, that it has from its
    answer."""
    length_shared: float = 0.5
    """Correlation between the length of a placeholder answer and what all raters see in it beyond
    right and wrong."""
    items: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Column of placeholder items -> value -> its share of them."""
    wrong_answers: tuple[str, ...] = ()
    """Answers known to be wrong; all others are then right. Empty: right and wrong are drawn from
    `quality`."""


def without_effects(truth: Truth) -> Truth:
    """The same study without anything to find.

    All systems answer alike and on all items, and no rater prefers a family, a position or an arm,
    abstains more on difficult items or reads one instrument differently. What makes ratings vary
    stays: difficulty, accuracy, severity, ambiguity and abstention of each panel.

    >>> truth = Truth({"a": SystemTruth(0.9), "b": SystemTruth(0.7, strength=1.0)})
    >>> {t.quality for t in without_effects(truth).systems.values()}
    {0.8}
    """
    n = max(1, len(truth.systems))
    quality, length = (
        round(sum(getattr(t, key) for t in truth.systems.values()) / n, 12)
        for key in ("quality", "length")
    )
    neutral = {"leniency": 0.0, "self_preference": 0.0, "position": 0.0, "abstention_slope": 0.0}
    return replace(
        truth,
        systems=dict.fromkeys(truth.systems, SystemTruth(quality, length=length)),
        panels={
            name: replace(panel, approves=None, **neutral) for name, panel in truth.panels.items()
        },
        raters={},
        exceptions=(),
        length_shared=0.0,
        wrong_answers=(),
    )


def toml_of(truth: Truth) -> dict[str, object]:
    """What a simulation.toml states for this truth; what has its default is left out.

    >>> toml_of(Truth({"a": SystemTruth(0.8)}, difficulty_spread=2.0))
    {'systems': {'a': {'quality': 0.8}}, 'difficulty_spread': 2.0}
    """
    return {f.name: _plain(getattr(truth, f.name)) for f in fields(truth) if _is_stated(truth, f)}


def _is_stated(value: object, field_of: Field[Any]) -> bool:
    factory = field_of.default_factory
    default = field_of.default if factory is MISSING else factory()
    return bool(getattr(value, field_of.name) != default)


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {
            f.name: _plain(getattr(value, f.name)) for f in fields(value) if _is_stated(value, f)
        }
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def read_truth(text: str, name: str = "simulation.toml") -> Truth:
    r"""Decode the text of a simulation.toml, strictly.

    >>> read_truth("[systems.a]\nquality = 0.8\n").systems["a"].quality
    0.8
    """
    return decode(Truth, toml_data(text, name), name)
