"""The records that an allocation may refer to, looked up once.

A reference to a missing record raises an error of one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from konsil.errors import PlanError, nearest
from konsil.errors.message import message, placed
from konsil.errors.unknown_names import unknown_name
from konsil.instrument import Instrument
from konsil.plan.model.allocation import Allocation, Overlap
from konsil.plan.model.rng_streams import generator
from konsil.records import Answer, Item, Rater, Span

_SUBJECTS = ("answer", "sentence", "pair")
_SURVEYS = ("batch", "phase", "rater")


class ReferenceIndex:
    """Items by set, answers by item, raters by panel, instruments by id."""

    def __init__(
        self,
        items: Iterable[Item],
        answers: Iterable[Answer],
        raters: Iterable[Rater],
        instruments: Iterable[Instrument],
        seed: int,
        waves: Mapping[str, int] | None = None,
    ) -> None:
        self.seed = seed
        self.waves = waves or {}
        # Sorted, so that the plan does not depend on the order in which a database or file gives
        # its records.
        self.items = tuple(sorted(items, key=lambda i: i.id))
        self.answers: dict[str, list[Answer]] = {}
        self.by_id: dict[str, Answer] = {}
        for answer in sorted(answers, key=lambda a: a.id):
            self.answers.setdefault(answer.item, []).append(answer)
            self.by_id[answer.id] = answer
        self.systems = sorted({a.system for a in self.by_id.values()})
        self.panels: dict[str, list[Rater]] = {}
        for rater in raters:
            self.panels.setdefault(rater.panel, []).append(rater)
        self.instruments = {i.id: i for i in instruments}
        self._rank = {s: n for n, s in enumerate(self.systems)}
        self._spans: dict[tuple[str, int | None], tuple[Span, ...]] = {}
        self._shown: dict[tuple[str, ...], list[Answer]] = {}

    def panel(self, allocation: Allocation, where: str) -> list[Rater]:
        """The raters of the allocation's panel."""
        if allocation.panel not in self.panels:
            hint = nearest(allocation.panel, self.panels)
            fact = message(
                "no rater is in panel {panel!r}; {hint}",
                message_id="planning.no_rater",
                panel=allocation.panel,
                hint=hint,
            )
            raise PlanError(placed(f"{where}.panel", fact))
        return self.panels[allocation.panel]

    def first_panel(self, allocation: Allocation, where: str) -> list[Rater]:
        """The panel without the places that were added after the plan was drawn."""
        return [r for r in self.panel(allocation, where) if r.id not in self.waves]

    def instrument(self, allocation: Allocation, where: str) -> Instrument:
        """The allocation's instrument."""
        if allocation.instrument not in self.instruments:
            hint = nearest(allocation.instrument, self.instruments)
            fact = unknown_name("instrument", allocation.instrument, hint)
            raise PlanError(placed(f"{where}.instrument", fact))
        return self.instruments[allocation.instrument]

    def pool(self, allocation: Allocation, where: str) -> list[Item]:
        """The items of the allocation's set, in the order of their ids."""
        matches = [i for i in self.items if not allocation.items or allocation.items in i.sets]
        if not matches:
            if not self.items:
                fact = message(
                    "the study has no items yet; import them first", message_id="planning.no_items"
                )
                raise PlanError(placed(f"{where}.items", fact))
            hint = nearest(allocation.items, {s for i in self.items for s in i.sets})
            fact = message(
                "no item is in the set {name!r}; {hint}",
                message_id="planning.no_set",
                name=allocation.items,
                hint=hint,
            )
            raise PlanError(placed(f"{where}.items", fact))
        return matches

    def chosen_systems(self, allocation: Allocation, where: str) -> list[str]:
        """The systems whose answers are shown."""
        for system in (*allocation.systems, *allocation.weights):
            if system not in self._rank:
                fact = message(
                    "there is no answer of system {system!r}; {hint}",
                    message_id="planning.no_answer",
                    system=system,
                    hint=nearest(system, self.systems),
                )
                raise PlanError(placed(f"{where}.systems", fact))
        return [s for s in self.systems if not allocation.systems or s in allocation.systems]

    def answers_by(self, item: str, systems: Sequence[str]) -> list[Answer]:
        """The item's answers by these systems, in the canonical order of systems."""
        # Every rater of a panel is shown the same.
        key = (item, *systems)
        if key not in self._shown:
            chosen = set(systems)
            self._shown[key] = sorted(
                (a for a in self.answers.get(item, []) if a.system in chosen), key=self.rank
            )
        return self._shown[key]

    def rank(self, answer: Answer) -> int:
        """The place of the answer's system among all systems: the canonical order of answers."""
        return self._rank[answer.system]

    def spans(self, answer_id: str, n_sentences: int | None, where: str) -> tuple[Span, ...]:
        """The sentences of an answer to rate.

        One sample per answer, whoever rates it and in whatever phase.
        """
        key = (answer_id, n_sentences)
        if key not in self._spans:
            sentences = self.by_id[answer_id].sentences
            if not sentences:
                fact = message(
                    "answer {answer!r} has no sentences, but the instrument rates sentences;"
                    " answers are split into sentences at import or collection: import them into a"
                    " new folder or database",
                    message_id="planning.no_sentences",
                    answer=answer_id,
                )
                raise PlanError(placed(where, fact))
            # A stream of its own: which sentences are sampled depends on the answer alone.
            order = generator(self.seed, "sentences", answer_id).permutation(len(sentences))
            self._spans[key] = tuple(sentences[int(i)] for i in sorted(order[:n_sentences]))
        return self._spans[key]


def is_survey(instrument: Instrument, where: str) -> bool:
    """Whether the instrument asks about batches, phases or raters and not about items."""
    surveys = [c.scope in _SURVEYS for c in instrument.criteria]
    if any(surveys) and not all(surveys):
        raise PlanError(
            f"{where}.instrument: {instrument.id!r} mixes questions about items with questions"
            " about a batch, phase or rater; give the latter an instrument of their own"
        )
    return bool(surveys) and all(surveys)


def asks_about_answers(instrument: Instrument) -> bool:
    """Whether any question needs an answer on the screen."""
    return any(c.scope in _SUBJECTS for c in instrument.criteria)


def check_numbers(allocation: Allocation, instrument: Instrument, where: str) -> None:
    """Refuse numbers that mean nothing."""
    numbers: Sequence[tuple[str, int | None]] = (
        ("raters_per_item", allocation.raters_per_item),
        ("per_rater", allocation.per_rater),
        ("batches", allocation.batches),
        ("spans", allocation.spans),
        *((f"arms.{arm}", share) for arm, share in allocation.arms.items()),
    )
    for name, number in numbers:
        if number is not None and number < 1:
            fact = message(
                "expected 1 or more, got {number}",
                message_id="planning.not_positive",
                number=number,
            )
            raise PlanError(placed(f"{where}.{name}", fact))
    if allocation.repeats < 0:
        fact = message(
            "expected 0 or more, got {number}",
            message_id="planning.negative",
            number=allocation.repeats,
        )
        raise PlanError(placed(f"{where}.repeats", fact))
    if any(not 0 < w < float("inf") for w in allocation.weights.values()):
        raise PlanError(
            f"{where}.weights: weights are positive numbers, got {dict(allocation.weights)}"
        )
    if allocation.overlap is not None:
        _check_overlap(allocation, allocation.overlap, where)
    if allocation.spans is not None and instrument.unit != "sentence":
        raise PlanError(
            f"{where}.spans: sentences are sampled, but instrument {instrument.id!r} rates"
            f" {instrument.unit}s"
        )


def _check_overlap(allocation: Allocation, overlap: Overlap, where: str) -> None:
    """Refuse an overlap that cannot be drawn, or that says what the line says already."""
    place = f"{where}.overlap"
    if not 0 < overlap.share <= 1:
        raise PlanError(
            f"{place}.share: expected a share above 0 and up to 1, got {overlap.share:g}"
        )
    if overlap.raters < 2:
        raise PlanError(f"{place}.raters: expected 2 or more, got {overlap.raters}")
    if allocation.like or allocation.when != "always" or allocation.purpose != "main":
        raise PlanError(
            f"{place}: only a main allocation with its own items can have one; leave it out here"
        )
    if allocation.raters_per_item is not None and allocation.raters_per_item > 1:
        raise PlanError(
            f"{place}: raters_per_item = {allocation.raters_per_item} already has every item"
            " rated several times; expected raters_per_item = 1 or none with an overlap"
        )
    if (
        allocation.raters_per_item is None
        and allocation.per_rater is None
        and allocation.show != "pair"
    ):
        raise PlanError(
            f"{place}: the whole panel already rates every item; expected per_rater or"
            " raters_per_item = 1"
        )
