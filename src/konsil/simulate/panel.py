"""How a simulated rater labels: a latent impression cut into the scale's labels.

For an answer a of item i by system s, the rater r of panel p has the impression

    y = d (right_a - 1/2) + leniency_p - severity_r + self_preference_p [family_r = family_s] +
        liking_rs + sqrt(shared) clarity_a + sqrt(item_rater) mood_ri + sqrt(rest) noise_ra,
        d = 2 probit(accuracy_p)

so that a rater without severity labels a share `accuracy` of right and of wrong answers rightly. A
criterion may show only a part of d and have a shift of its own; `approves` puts the mean of wrong
answers where that share of them gets the middle label or a better one. Two labels are cut at 0,
more labels at equal steps (a graded response model). A pair is labelled by the difference of two
impressions with a zone of ties; an item by its difficulty as perceived. Abstentions are logistic in
the difficulty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from konsil.instrument import Criterion
from konsil.plan import generator
from konsil.records import Rater
from konsil.simulate.truth import CriterionTruth, Departure, PanelTruth, Truth
from konsil.simulate.world import Array, Indices, Units, World

Codes = NDArray[np.int64]
_MUCH = 1.0
OF_TASKS = ("arm", "phase")
"""Columns of the tasks; all others of an exception's `where` are of the raters."""


@dataclass(frozen=True)
class Labeller:
    """One rater before one world.

    Each draw has a stream keyed by rater, criterion and context (phase, repeat).
    """

    world: World
    rater: Rater
    truth: PanelTruth
    severity: float
    liking: Array
    """(n_systems,)."""
    seed: int
    """What makes the rater who they are; the world's seed makes what they see."""
    width: float = 3.0
    """The latent range of a scale's labels."""
    criteria: Mapping[str, CriterionTruth] = field(default_factory=dict)
    """Criterion -> what is stated of it."""
    departures: tuple[Departure, ...] = ()
    """What is different for this rater on some criteria, under the instrument at hand."""
    context: tuple[str, ...] = ()
    """Arm and phase of the task at hand."""

    def under(self, instrument: str, arm: str = "", phase: str = "") -> Labeller:
        """The same rater before one instrument, in one arm and phase."""
        context = dict(zip(OF_TASKS, (arm, phase), strict=True))
        departures = tuple(
            d
            for d in self.departures
            if d.instrument in ("", instrument)
            and all(d.where.get(column, value) == value for column, value in context.items())
        )
        return replace(self, departures=departures, context=(arm, phase))

    def on(self, criterion: str) -> PanelTruth:
        """The parameters on a criterion; on none, those of the whole screen."""
        parameters = self.truth
        for departure in self.departures:
            if departure.criterion in ("", criterion):
                stated = {name: getattr(departure, name) for name in _INSTEAD}
                parameters = replace(
                    parameters,
                    **{name: value for name, value in stated.items() if value is not None},
                )
        return parameters

    def shift(self, criterion: str) -> float:
        """What is stated of the criterion and of this rater on it, towards the better labels."""
        rater_shift = sum(d.shift for d in self.departures if d.criterion in ("", criterion))
        return self.criteria.get(criterion, CriterionTruth()).shift + rater_shift

    def impression(self, units: Units, criterion: Criterion, context: str) -> Array:
        """The latent impression y of every unit, (n_units,)."""
        t, world = self.on(criterion.id), self.world
        criterion_truth = self.criteria.get(criterion.id, CriterionTruth())
        shift = t.leniency - self.severity + self.liking
        own_family = np.array(
            [bool(self.rater.family) and f == self.rater.family for f in world.families],
            dtype=np.bool_,
        )
        shift = shift + t.self_preference * own_family
        if criterion.scope == "pair" or len(criterion.scale.labels) != 2:
            shift = shift + world.strengths_on.get(criterion.id, world.strengths)
        shift = shift + self.shift(criterion.id)
        right = units.reasoned if criterion_truth.about == "reasoning" else units.right
        mean = (
            criterion_truth.right * 2 * ndtri(t.accuracy) * (right - 0.5) + shift[units.system_of]
        )
        k = len(criterion.scale.labels)
        if t.approves is not None and criterion_truth.right > 0 and criterion.scope != "pair" and k:
            above = self.width * (k // 2 / k - 0.5) + ndtri(t.approves)
            habit = self.liking - self.severity + t.self_preference * own_family
            mean = np.where(right, mean, above + habit[units.system_of])
        # The mood about an item is one for all its answers, criteria and repeats; the noise is
        # drawn anew.
        mood = self._stream("mood", "", "").standard_normal(len(world.difficulty))
        noise = self._stream("noise", criterion.id, context).standard_normal(len(units.item_of))
        # The two shares may add up to 1, and in floating point to a little more.
        rest = max(0.0, 1 - t.shared - t.item_rater)
        return np.asarray(
            mean
            + np.sqrt(t.shared) * units.clarity
            + np.sqrt(t.item_rater) * mood[units.item_of]
            + np.sqrt(rest) * noise,
            dtype=np.float64,
        )

    def about_items(self, criterion: Criterion, context: str) -> Array:
        """Perceived difficulty (scope item) or ease of the screen (scope task), (n_items,)."""
        parameters = self.on(criterion.id)
        part = parameters.perception if criterion.scope == "item" else -0.5
        rng = self._stream("item", criterion.id, context)
        habit = generator(
            self.seed, "rater", self.rater.id, "habit", criterion.id
        ).standard_normal()
        noise = rng.standard_normal(len(self.world.difficulty))
        return np.asarray(
            part * self.world.difficulty
            + np.sqrt(1 - part**2) * noise
            + habit * self.truth.severity
            + self.shift(criterion.id),
            dtype=np.float64,
        )

    def mood_of(self, criterion: Criterion, n: int) -> Array:
        """Replies to n questionnaires in order, (n,)."""
        return np.asarray(
            self._stream("survey", criterion.id, "").standard_normal(n) + self.shift(criterion.id)
        )

    def abstains(
        self, criterion: Criterion, units_item: Indices, context: str
    ) -> NDArray[np.bool_]:
        """Where the rater abstains, (n_units,)."""
        parameters = self.on(criterion.id)
        if criterion.scale.abstain is None or parameters.abstention <= 0:
            return np.zeros(len(units_item), dtype=np.bool_)
        u = self._stream("abstain", criterion.id, context).random(len(units_item))
        odds = logit(parameters.abstention) + parameters.abstention_slope * self.world.difficulty
        return np.asarray(u < expit(odds)[units_item], dtype=np.bool_)

    def seconds(self, context: str) -> Array:
        """Seconds on the screen of each item, log-normal, (n_items,)."""
        pace = 0.25 * self._stream("pace", "", "").standard_normal()
        noise = self._stream("seconds", "", context).standard_normal(len(self.world.difficulty))
        return np.asarray(
            np.round(self.on("").seconds * np.exp(pace + 0.4 * noise), 1), dtype=np.float64
        )

    def _stream(self, purpose: str, criterion: str, context: str) -> np.random.Generator:
        # Streams by name, not by turn: another rater or criterion changes no draw of those that
        # stay.
        return generator(self.world.seed, "rater", self.rater.id, purpose, criterion, context)


def labeller(world: World, rater: Rater, truth: Truth, seed: int) -> Labeller:
    """The rater with the severity and likings that the seed gives it, whatever the world."""
    parameters = truth.raters.get(rater.id, truth.panels.get(rater.panel, PanelTruth()))
    rng = generator(seed, "rater", rater.id, "severity")
    severity = float(rng.standard_normal()) * parameters.severity
    liking = np.array(
        [generator(seed, "rater", rater.id, "liking", s).standard_normal() for s in world.systems],
        dtype=np.float64,
    )
    departures = tuple(d for d in truth.exceptions if _is_of(d, rater))
    habits = liking * parameters.rater_system
    return Labeller(
        world,
        rater,
        parameters,
        severity,
        habits,
        seed,
        truth.label_width,
        truth.criteria,
        departures,
    )


def _is_of(departure: Departure, rater: Rater) -> bool:
    return (
        (not departure.panels or rater.panel in departure.panels)
        and (not departure.raters or rater.id in departure.raters)
        and all(rater.strata.get(c) == v for c, v in departure.where.items() if c not in OF_TASKS)
    )


_INSTEAD = tuple({f.name for f in fields(PanelTruth)} & {f.name for f in fields(Departure)})


def cut(y: Array, criterion: Criterion, criterion_truth: CriterionTruth, width: float) -> Codes:
    """Label numbers of impressions, in the order of the scale's labels."""
    labels = criterion.scale.labels
    k = len(labels)
    inner = np.arange(1, k) / k
    about_answers = criterion.scope in ("answer", "sentence")
    cuts = width * (inner - 0.5) if about_answers else ndtri(inner)
    codes = np.searchsorted(cuts, y).astype(np.int64)
    return k - 1 - codes if criterion_truth.best and criterion_truth.best == labels[0] else codes


def cut_pair(
    difference: Array, criterion: Criterion, criterion_truth: CriterionTruth, tie: float
) -> Codes:
    """Label numbers of differences of impressions, first minus second answer.

    A zone of ties where k is odd.
    """
    labels = criterion.scale.labels
    k = len(labels)
    half = np.arange((k - 1) // 2) * _MUCH + tie
    cuts = (
        np.concatenate((-half[::-1], half)) if k % 2 else np.concatenate((-half[::-1], [0.0], half))
    )
    codes = np.searchsorted(cuts, difference).astype(np.int64)
    return codes if criterion_truth.best and criterion_truth.best == labels[-1] else k - 1 - codes


def number(y: float, criterion: Criterion) -> str:
    """A number on the criterion's scale for an impression.

    It is the impression's normal rank between the ends of the scale.
    """
    scale = criterion.scale
    low = 0.0 if scale.low is None else scale.low
    high = max(low, 100.0) if scale.high is None else scale.high
    value = low + (high - low) * float(ndtr(y))
    return f"{round(value) if high - low >= 5 else round(value, 2):g}"
