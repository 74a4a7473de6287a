"""What is true in a simulated study: the parameters, as simulation.toml states them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from konsil.errors import StudyError, nearest
from konsil.records import Answer
from konsil.study import Study, decode


@dataclass(frozen=True, slots=True)
class SystemTruth:
    """How good a system's answers are."""

    quality: float = 0.75
    """The probability that an answer is right, over items of all difficulties."""
    strength: float = 0.0
    """How much better or worse its answers look beyond being right or wrong, in latent standard deviations.

    Seen on scales of more than two labels and in pairs; right or wrong is judged by `quality` alone.
    """


@dataclass(frozen=True, slots=True)
class PanelTruth:
    """How a panel's raters see and label. Latent scales have a residual standard deviation of 1."""

    accuracy: float = 0.9
    """The probability that a rater without severity or leniency labels an answer rightly; 0.5 is guessing."""
    severity: float = 0.0
    """Standard deviation, from rater to rater, of a constant shift towards the worse labels."""
    leniency: float = 0.0
    """The whole panel's shift towards the better labels."""
    self_preference: float = 0.0
    """Further shift towards the better labels where the answer's system is of the rater's own family."""
    shared: float = 0.3
    """Share of the residual variance that all raters have in common on an answer: what is ambiguous to everybody."""
    item_rater: float = 0.1
    """Share of the residual variance that a rater carries over all answers of an item."""
    rater_system: float = 0.0
    """Standard deviation, from rater to rater, of the liking for one system."""
    perception: float = 0.8
    """Correlation of an item's perceived and true difficulty."""
    abstention: float = 0.0
    """The probability of an abstention at an item of average difficulty, where the scale has one."""
    abstention_slope: float = 0.0
    """Change of the log odds of an abstention per standard deviation of difficulty."""
    tie: float = 0.3
    """Pairs: half the width of the zone of no difference."""
    position: float = 0.0
    """Pairs: shift in favour of the answer shown first."""
    seconds: float = 40.0
    """Median seconds on a screen."""


@dataclass(frozen=True, slots=True)
class CriterionTruth:
    """How a criterion's labels lie on the latent scale."""

    best: str = ""
    """The label at the good end (for pairs: 'the first is better'); empty: the last label, for pairs the first."""


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
    difficulty_spread: float = 1.0
    """How much an item's difficulty moves the probability of a right answer, in latent standard deviations."""
    label_width: float = 3.0
    """The latent range over which the labels of a scale of more than two labels are spread."""
    wrong_answers: tuple[str, ...] = ()
    """Answers known to be wrong; all others are then right. Empty: right and wrong are drawn from `quality`."""


def read_truth(text: str, name: str = "simulation.toml") -> Truth:
    r"""Decode the text of a simulation.toml, strictly.

    >>> read_truth("[systems.a]\nquality = 0.8\n").systems["a"].quality
    0.8
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{name}: not valid TOML: {error}") from None
    return decode(Truth, data, name)


def check_truth(truth: Truth, study: Study, answers: Iterable[Answer] = (), name: str = "simulation.toml") -> None:
    """Raise a StudyError that lists every name the study does not have and every number out of its range."""
    found = tuple(_problems(truth, study, answers, name))
    if found:
        raise StudyError("\n".join(found))


def _problems(truth: Truth, study: Study, answers: Iterable[Answer], name: str) -> Iterator[str]:
    known_answers = {a.id: a.system for a in answers}
    systems = {s.id for s in study.systems} | set(known_answers.values())
    criteria = {c.id: c for i in study.instruments for c in i.criteria}
    for where, named, known in (
        ("systems", truth.systems, systems),
        ("panels", truth.panels, set(study.panels())),
        ("raters", truth.raters, {r.id for r in study.everybody()}),
        ("criteria", truth.criteria, set(criteria)),
        ("wrong_answers", truth.wrong_answers, set(known_answers)),
    ):
        for one in named:
            if one not in known:
                yield f"{name}: {where}: the study has no {where.rstrip('s').replace('_', ' ')} {one!r}; " + (
                    nearest(one, known)
                )
    for system, stated in truth.systems.items():
        if not 0 < stated.quality < 1:
            yield f"{name}: systems.{system}.quality: expected a number between 0 and 1, got {stated.quality:g}"
    for where, panels in (("panels", truth.panels), ("raters", truth.raters)):
        for panel, one_panel in panels.items():
            yield from _panel_problems(one_panel, f"{name}: {where}.{panel}")
    for criterion, told in truth.criteria.items():
        if criterion in criteria and told.best:
            labels = criteria[criterion].scale.labels
            if told.best not in (labels[:1] + labels[-1:]):
                yield (
                    f"{name}: criteria.{criterion}.best: {told.best!r} is not the first or last label of {list(labels)}"
                )
    if not truth.difficulty_spread >= 0 or not truth.label_width > 0:
        yield f"{name}: difficulty_spread is 0 or more and label_width is above 0"


def _panel_problems(panel: PanelTruth, where: str) -> Iterator[str]:
    for f in fields(panel):
        value = getattr(panel, f.name)
        low, high = _RANGES.get(f.name, (0.0, float("inf")))
        if not low <= value <= high:
            yield f"{where}.{f.name}: expected a number from {low:g} to {high:g}, got {value:g}"
    if panel.shared + panel.item_rater > 1:
        yield f"{where}.shared: with item_rater it makes {panel.shared + panel.item_rater:g}, more than the whole"


_ANY = (-20.0, 20.0)
_RANGES: Mapping[str, tuple[float, float]] = {
    "accuracy": (0.001, 0.999),
    "leniency": _ANY,
    "self_preference": _ANY,
    "shared": (0.0, 1.0),
    "item_rater": (0.0, 1.0),
    "perception": (0.0, 1.0),
    "abstention": (0.0, 0.999),
    "abstention_slope": _ANY,
    "position": _ANY,
}
