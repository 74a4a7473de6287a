"""draw: a whole study's tasks and ratings from stated parameters, by simulated raters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from konsil.instrument import Criterion, Instrument, digest, surveyed
from konsil.plan import History, assign, generator
from konsil.progress import tracked
from konsil.records import Answer, Item, Rating, Span, State, Task
from konsil.simulate.panel import Labeller, cut, cut_pair, labeller, number
from konsil.simulate.truth import CriterionTruth, Truth
from konsil.simulate.truth_check import check_truth
from konsil.simulate.world import Array, World, build_world
from konsil.study import Study

Reply = tuple[State, str | None]
Subject = tuple[tuple[str, ...], Span | None, Reply]
Key = tuple[str, ...]
_ABSTAINED: Reply = ("abstained", None)
_LENGTH_SPREAD = 0.4
"""The standard deviation of the logarithm of a placeholder answer's length."""


@dataclass(frozen=True, slots=True)
class Latent:
    """What nobody sees in a real study."""

    difficulty: Mapping[str, float]
    """Item -> difficulty, in standard deviations."""
    right: Mapping[str, bool]
    """Answer -> whether it is right."""
    severity: Mapping[str, float]
    """Rater -> shift towards the worse labels."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """One simulated study."""

    tasks: tuple[Task, ...]
    """The plan's tasks, tie-breaks included."""
    ratings: tuple[Rating, ...]
    """Every rater's ratings; those of tie-breaks come last."""
    truth_values: Latent
    """The latent values they were drawn from."""


def draw(
    study: Study,
    items: Sequence[Item],
    answers: Sequence[Answer],
    truth: Truth,
    seed: int,
    *,
    panel_seed: int | None = None,
) -> Simulated:
    """Tasks by `plan.assign` and, for each, ratings on every criterion.

    The same arguments give the same ratings.

    Each rater, criterion and repeat has a stream of its own that covers all items, whoever sees
    them: another allocation, criterion, rater or analysis changes no rating. Free texts are left
    unanswered. Tie-breaks are planned from the simulated ratings and then rated too. `seed` draws
    the panel; the plan follows the study's own seed, so that it is the plan of a real study.
    `panel_seed` makes the raters' severity and likings instead, so that the same raters can meet
    new items. The order of items and answers does not matter.
    """
    check_truth(truth, study, answers, items=items)
    item_ids = {i.id for i in items}
    items = sorted(items, key=lambda i: i.id)
    answers = sorted((a for a in answers if a.item in item_ids), key=lambda a: a.id)
    desk = people(study, items, answers, truth, seed, panel_seed=panel_seed)

    def plan(ratings: Sequence[Rating]) -> tuple[Task, ...]:
        tasks = assign(
            study.plan,
            items=items,
            answers=answers,
            raters=study.everybody(),
            instruments=study.instruments,
            seed=study.seed,
            history=History(ratings=ratings),
        )
        return tuple(tasks)

    tasks = plan(())
    ratings = desk.rate(tasks)
    if any(a.when == "disagreed" for a in study.plan):
        first = {t.id for t in tasks}
        tasks = plan(ratings)
        ratings += desk.rate([t for t in tasks if t.id not in first])
    latent = Latent(
        difficulty=dict(zip((i.id for i in items), desk.world.difficulty.tolist(), strict=True)),
        right=dict(zip((a.id for a in answers), desk.world.answers.right.tolist(), strict=True)),
        severity={r: rater_labeller.severity for r, rater_labeller in desk.labellers.items()},
    )
    return Simulated(tasks, tuple(ratings), latent)


def people(
    study: Study,
    items: Sequence[Item],
    answers: Sequence[Answer],
    truth: Truth,
    seed: int,
    *,
    panel_seed: int | None = None,
) -> Desk:
    """The simulated raters of `draw`, who can be asked task by task.

    Their ratings do not depend on the order in which they are asked.
    """
    items, answers, world = _world(study, items, answers, truth, seed)
    labeller_seed = seed if panel_seed is None else panel_seed
    labellers = {r.id: labeller(world, r, truth, labeller_seed) for r in study.everybody()}
    return Desk(study, items, answers, world, truth, labellers)


def lengthened(
    study: Study,
    items: Sequence[Item],
    answers: Sequence[Answer],
    placeholders: Sequence[Answer],
    truth: Truth,
    seed: int,
) -> tuple[Answer, ...]:
    """Placeholder answers as long as the truth states, among all `answers`.

    A longer one looks better to all raters as far as `length_shared` states: its length is a sign
    of what they see in it, drawn with the same seed. Placeholders with sentences keep theirs.
    """
    medians = {system: stated.length for system, stated in truth.systems.items() if stated.length}
    if not medians:
        return tuple(placeholders)
    items, answers, world = _world(study, items, (*answers, *placeholders), truth, seed)
    part = truth.length_shared
    noise = generator(seed, "world", "length").standard_normal(len(answers))
    latent = part * world.answers.clarity + np.sqrt(1 - part**2) * noise
    lengths = {
        a.id: round(medians[a.system] * np.exp(_LENGTH_SPREAD * y))
        for a, y in zip(answers, latent.tolist(), strict=True)
        if a.system in medians and not a.sentences
    }
    return tuple(
        replace(a, text=(f"{a.text or '-'} " * lengths[a.id])[: lengths[a.id]])
        if a.id in lengths
        else a
        for a in placeholders
    )


def _world(
    study: Study, items: Sequence[Item], answers: Sequence[Answer], truth: Truth, seed: int
) -> tuple[list[Item], list[Answer], World]:
    """The items and their answers in their order, and the world that they make."""
    item_ids = {i.id for i in items}
    items = sorted(items, key=lambda i: i.id)
    answers = sorted((a for a in answers if a.item in item_ids), key=lambda a: a.id)
    families = {s.id: s.family for s in study.systems}
    return items, answers, build_world(items, answers, families, truth, seed)


class Desk:
    """Replies of all raters, computed for a whole criterion at once and looked up by task."""

    def __init__(
        self,
        study: Study,
        items: Sequence[Item],
        answers: Sequence[Answer],
        world: World,
        truth: Truth,
        labellers: Mapping[str, Labeller],
    ) -> None:
        self.instruments = {i.id: i for i in study.instruments}
        self.digests = {i.id: digest(i) for i in study.instruments}
        self.items = {i.id: n for n, i in enumerate(items)}
        self.answers = {a.id: n for n, a in enumerate(answers)}
        self.spans = {
            a.id: {s: n for n, s in enumerate(a.sentences)} for a in answers if a.sentences
        }
        self.world, self.truth, self.labellers = world, truth, labellers
        self._seated: dict[Key, Labeller] = {}
        self._replies: dict[Key, list[Reply]] = {}
        self._impressions: dict[Key, tuple[Array, list[bool]]] = {}
        self._seconds: dict[Key, list[float]] = {}

    def rate(self, tasks: Sequence[Task]) -> list[Rating]:
        """All ratings of these tasks.

        A second look at the same answer differs by phase or as a repeat.
        """
        ratings: list[Rating] = []
        surveys: dict[tuple[str, str], int] = {}
        for task in tracked(tasks, "tasks rated"):
            if task.rater not in self.labellers:
                continue
            instrument = self.instruments[task.instrument]
            labeller = self._seat(task, instrument)
            context = repr((instrument.id, task.phase, task.purpose == "repeat"))
            if task.item is None:
                place = surveys.get((task.rater, task.instrument), 0)
                surveys[task.rater, task.instrument] = place + 1
                seconds = None
                subjects = self._survey(labeller, instrument, task, place)
            else:
                place = self.items[task.item]
                seconds = self._time(labeller, context)[place]
                subjects = self._screen(labeller, instrument, task, place, context)
            for criterion, (answers, span, (state, label)) in subjects:
                ratings.append(
                    Rating(
                        task=task.id,
                        rater=task.rater,
                        criterion=criterion.id,
                        item=task.item,
                        answers=answers,
                        span=span,
                        state=state,
                        label=label,
                        seconds=seconds,
                        instrument=self.digests[instrument.id],
                    )
                )
        return ratings

    def _seat(self, task: Task, instrument: Instrument) -> Labeller:
        key = (task.rater, *(context := (instrument.id, task.arm, task.phase)))
        if key not in self._seated:
            self._seated[key] = self.labellers[task.rater].under(*context)
        return self._seated[key]

    def _survey(
        self, labeller: Labeller, instrument: Instrument, task: Task, place: int
    ) -> Iterator[tuple[Criterion, Subject]]:
        for criterion in surveyed(instrument.criteria, in_batch=bool(task.batch)):
            if criterion.scale.kind == "text":
                continue
            y = labeller.mood_of(criterion, place + 1)[place:]
            yield criterion, ((), None, self._label(criterion, y, [False], labeller)[0])

    def _screen(
        self, labeller: Labeller, instrument: Instrument, task: Task, place: int, context: str
    ) -> Iterator[tuple[Criterion, Subject]]:
        for criterion in instrument.screen_criteria(len(task.spans)):
            if criterion.scale.kind == "text":
                continue
            if criterion.scope == "pair":
                yield (
                    criterion,
                    (task.answers, None, self._pair(labeller, criterion, task, context)),
                )
                continue
            replies = self._all(labeller, criterion, context)
            if criterion.scope == "answer":
                for answer in task.answers:
                    yield criterion, ((answer,), None, replies[self.answers[answer]])
            elif criterion.scope == "sentence":
                for answer in task.answers:
                    first = int(self.world.first_sentence[self.answers[answer]])
                    for span in task.spans:
                        yield (
                            criterion,
                            ((answer,), span, replies[first + self.spans[answer][span]]),
                        )
            else:
                yield criterion, ((), None, replies[place])

    def _all(self, labeller: Labeller, criterion: Criterion, context: str) -> list[Reply]:
        key = (labeller.rater.id, *labeller.context, criterion.id, context)
        if key not in self._replies:
            if criterion.scope in ("answer", "sentence"):
                units = self.world.answers if criterion.scope == "answer" else self.world.sentences
                y = labeller.impression(units, criterion, context)
                silent = labeller.abstains(criterion, units.item_of, context).tolist()
            else:
                y = labeller.about_items(criterion, context)
                silent = (
                    [False] * len(y)
                    if criterion.scale.abstain is None
                    else self._silent(labeller, criterion, context)
                )
            self._replies[key] = self._label(criterion, y, silent, labeller)
        return self._replies[key]

    def _silent(self, labeller: Labeller, criterion: Criterion, context: str) -> list[bool]:
        silent: list[bool] = labeller.abstains(criterion, self.world.every_item(), context).tolist()
        return silent

    def _pair(self, labeller: Labeller, criterion: Criterion, task: Task, context: str) -> Reply:
        key = (labeller.rater.id, *labeller.context, criterion.id, context)
        if key not in self._impressions:
            y = labeller.impression(self.world.answers, criterion, context)
            self._impressions[key] = (y, self._silent(labeller, criterion, context))
        y, silent = self._impressions[key]
        first, second = (self.answers[a] for a in task.answers)
        # Two impressions of variance 1 differ with variance 2.
        difference = (y[[first]] - y[[second]]) / 2**0.5 + labeller.on(criterion.id).position
        return self._label(criterion, difference, [silent[self.items[task.item or ""]]], labeller)[
            0
        ]

    def _label(
        self, criterion: Criterion, y: Array, silent: Sequence[bool], labeller: Labeller
    ) -> list[Reply]:
        if criterion.scale.kind == "number":
            return [
                _ABSTAINED if quiet else ("rated", number(value, criterion))
                for value, quiet in zip(y.tolist(), silent, strict=True)
            ]
        criterion_truth = self.truth.criteria.get(criterion.id, CriterionTruth())
        if criterion.scope == "pair":
            codes = cut_pair(y, criterion, criterion_truth, labeller.on(criterion.id).tie)
        else:
            codes = cut(y, criterion, criterion_truth, self.truth.label_width)
        replies: list[Reply] = [("rated", label) for label in criterion.scale.labels]
        return [
            _ABSTAINED if quiet else replies[code]
            for code, quiet in zip(codes.tolist(), silent, strict=True)
        ]

    def _time(self, labeller: Labeller, context: str) -> list[float]:
        key = (labeller.rater.id, *labeller.context, context)
        if key not in self._seconds:
            self._seconds[key] = labeller.seconds(context).tolist()
        return self._seconds[key]
