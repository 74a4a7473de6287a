"""Drafts of tasks: which answers stand on a rater's screen, before they are put in an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from konsil.errors import PlanError
from konsil.errors.message import COMMA, Listed, message, placed
from konsil.instrument import Instrument
from konsil.plan.model.allocation import Allocation
from konsil.plan.model.references import ReferenceIndex, asks_about_answers
from konsil.plan.model.rng_streams import generator, orders, token, tokens
from konsil.records import Item, Purpose, Rater, Span

Key = tuple[str | int, ...]
Subjects = list[tuple[str, ...]]
PART = "."
"""Stands between a draft's identifier and the part that one of its several screens shows."""


@dataclass(slots=True)
class Draft:
    """A task whose place in the rater's order is still open."""

    id: str
    allocation: Allocation
    seat: int
    rater: str
    item: str | None
    subject: tuple[str, ...] = ()
    """The answers in canonical order."""
    answers: tuple[str, ...] = ()
    """The answers in the order shown."""
    spans: tuple[Span, ...] = ()
    arm: str = ""
    purpose: Purpose = "main"
    order: str = ""
    """A random key: the item's place in this rater's order."""
    shared: str = ""
    """A random key that the panel shares: the item's batch."""
    scope: str = ""
    """For surveys: what they are about."""
    repeat_of: str | None = None
    wave: int = 0
    """With which addition to the plan it came; 0: with the plan itself."""
    parts: tuple[tuple[Span, ...], ...] = ()
    """The sentences of each of its screens, where it has several; empty: one screen with all."""
    batch: str = ""
    """The batch it is handed out in."""


@dataclass(frozen=True, slots=True)
class Site:
    """One allocation while it is being laid out."""

    book: ReferenceIndex
    allocation: Allocation
    instrument: Instrument
    key: Key
    where: str


def pool_of(site: Site) -> list[Item]:
    """The allocation's items that can be shown.

    An item needs an answer, or for pairs answers of two systems.

    An item that nobody answered is nobody's task; `missing` counts it. It is left out before
    anything is shared out, so that loads and pairs stay even.
    """
    book, allocation = site.book, site.allocation
    pool = book.pool(allocation, site.where)
    if not asks_about_answers(site.instrument):
        return pool
    systems = book.chosen_systems(allocation, site.where)
    least = 2 if allocation.show == "pair" else 1
    answerable = [
        i for i in pool if len({a.system for a in book.answers_by(i.id, systems)}) >= least
    ]
    if not answerable:
        of = _of_systems(systems) if allocation.systems else ""
        if least == 2 and any(book.answers_by(i.id, systems) for i in pool):
            fact = message(
                "a pair needs answers of two systems, and no item has two{of}",
                message_id="planning.no_pair",
                of=of,
            )
            raise PlanError(placed(f"{site.where}.show", fact))
        fact = message(
            "none of its {n:,} {n|item|items} has answers{of}; import or collect them first",
            message_id="planning.no_answers",
            n=len(pool),
            of=of,
        )
        raise PlanError(placed(site.where, fact))
    return answerable


def _of_systems(systems: Sequence[str]) -> str:
    return message(
        " of {systems}",
        message_id="planning.of_systems",
        systems=Listed(tuple(systems), end=COMMA),
    )


def item_subjects(site: Site, pool: Sequence[Item], rater: Rater) -> list[Subjects]:
    """The answers on one rater's screens, for each item of `pool_of`.

    They are tuples of answer ids in canonical order.
    """
    book, allocation = site.book, site.allocation
    if not asks_about_answers(site.instrument):
        return [[()] for _ in pool]
    systems = book.chosen_systems(allocation, site.where)
    # Drawn for every item whether or not this rater sees it, so that no draw depends on who sees
    # what.
    draws = generator(book.seed, *site.key, "pairs", rater.id).random((len(pool), 2))
    subjects: list[Subjects] = []
    for item, (first, second) in zip(pool, draws.tolist(), strict=True):
        shown = book.answers_by(item.id, systems)
        if allocation.show == "pair":
            present = list(dict.fromkeys(a.system for a in shown))
            drawn = _two(present, allocation.weights, first, second)
            subjects.append([tuple(next(a.id for a in shown if a.system == s) for s in drawn)])
        elif allocation.show == "each":
            subjects.append([(a.id,) for a in shown])
        else:
            subjects.append([tuple(a.id for a in shown)])
    return subjects


def _two(
    systems: Sequence[str], weights: Mapping[str, float], first: float, second: float
) -> tuple[str, ...]:
    """Two systems without replacement, each draw in proportion to the weights that are left.

    They are in canonical order.
    """
    remaining = list(systems)
    drawn = []
    for u in (first, second):
        sums = np.cumsum([weights.get(s, 1.0) for s in remaining])
        # Rounding may put a draw beyond the last sum.
        drawn.append(
            remaining.pop(
                min(int(np.searchsorted(sums, u * sums[-1], side="right")), len(remaining) - 1)
            )
        )
    # In the systems' own order: which answer comes first is drawn by `blind`.
    return tuple(s for s in systems if s in drawn)


def drafts_of(
    site: Site,
    seat: int,
    rater: Rater,
    arm: str,
    purpose: Purpose,
    chosen: Sequence[tuple[str, Subjects]],
    waves: Mapping[str, Sequence[int]] | None = None,
) -> list[Draft]:
    """One rater's screens of one allocation.

    Each has its own random name and a counterbalanced order of answers.

    `waves`: item -> with which addition each of its screens came, where that is not the rater's
    own.
    """
    seed, allocation = site.book.seed, site.allocation
    rater_wave = site.book.waves.get(rater.id, 0)
    drafts: list[Draft] = []
    order_of, name_of = (tokens(seed, *site.key, word, rater.id) for word in ("order", "task"))
    for item, subjects in chosen:
        order = order_of(item)
        shared = _shared(seed, allocation.panel, allocation.phase, item)
        for n, subject in enumerate(subjects):
            name = name_of(item, *subject, subjects[:n].count(subject) if n else 0)
            draft = Draft(
                name,
                allocation,
                seat,
                rater.id,
                item,
                subject,
                subject,
                (),
                arm,
                purpose,
                order,
                shared,
            )
            draft.wave = max(rater_wave, waves[item][n]) if waves is not None else rater_wave
            if site.instrument.unit == "sentence":
                if len(subject) != 1:
                    fact = message(
                        "instrument {instrument!r} rates sentences of one answer at a time, item"
                        " {item!r} has {n} {n|answer|answers} in the task; use show = 'each'",
                        message_id="planning.sentences_of_one",
                        instrument=site.instrument.id,
                        item=item,
                        n=len(subject),
                    )
                    raise PlanError(placed(f"{site.where}.show", fact))
                draft.spans = site.book.spans(subject[0], allocation.spans, site.where)
                draft.parts = _parts(site.instrument, draft.spans)
            drafts.append(draft)
    blind(seed, (*site.key, "blinding", rater.id), drafts)
    return drafts


@lru_cache(maxsize=1 << 16)
def _shared(seed: int, panel: str, phase: str, item: str) -> str:
    """The key of an item's batch, which every rater of a panel asks for."""
    return token(seed, "batches", panel, phase, item)


def _parts(instrument: Instrument, spans: Sequence[Span]) -> tuple[tuple[Span, ...], ...]:
    """One screen a sentence where the instrument presents them so, then that of the answer."""
    if instrument.present == "answer":
        return ()
    return (*((span,) for span in spans), *([()] if instrument.screen_criteria(0) else []))


def screens_of(draft: Draft, id_: str = "") -> list[tuple[str, tuple[Span, ...]]]:
    """The identifier and the sentences of each screen of a draft, in the order of work.

    `id_` stands for the draft's own, for the screens of a draft that this one repeats.
    """
    name = id_ or draft.id
    if not draft.parts:
        return [(name, draft.spans)]
    # By the sentence's place in the answer, so that another sample renames no task.
    return [(f"{name}{PART}{part[0].start if part else 'answer'}", part) for part in draft.parts]


def blind(seed: int, key: Key, drafts: Sequence[Draft]) -> None:
    """Give every draft its order of answers.

    Each answer's place is counterbalanced over the rater's screens.
    """
    sizes: dict[tuple[int, int], list[Draft]] = {}
    for draft in drafts:
        # Wave by wave: what is added later must not turn what was drawn before.
        if len(draft.subject) > 1:
            sizes.setdefault((len(draft.subject), draft.wave), []).append(draft)
    for (k, wave), group in sizes.items():
        if group[0].allocation.when == "disagreed":
            # Conflicts come about one by one; an order once shown must not change when the next one
            # comes.
            for draft in group:
                turn = generator(seed, "turn", draft.id).permutation(k)
                draft.answers = tuple(draft.subject[int(i)] for i in turn)
            continue
        rng = generator(seed, *key, k, *(("added", wave) if wave else ()))
        for draft, row in zip(group, orders(rng, len(group), k).tolist(), strict=True):
            draft.answers = tuple(draft.subject[i] for i in row)


def arms_of(seed: int, panel: Sequence[Rater], allocation: Allocation) -> list[str]:
    """Each rater's arm, from a shuffled deck in the stated ratio.

    It stays over all allocations with these arms.
    """
    if not allocation.arms:
        return ["" for _ in panel]
    deck = [arm for arm, share in allocation.arms.items() for _ in range(share)]
    rng = generator(seed, "arms", allocation.panel, *sorted(deck))
    dealt: list[str] = []
    while len(dealt) < len(panel):
        # Deck by deck, so that the ratio holds at every time of the enrolment.
        dealt += [deck[int(i)] for i in rng.permutation(len(deck))]
    return dealt[: len(panel)]
