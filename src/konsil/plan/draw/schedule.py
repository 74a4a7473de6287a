"""Each rater's order of work.

Phases, batches, shuffled items, repeats at the end, surveys in their places.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from konsil.errors import PlanError
from konsil.errors.message import COMMA, Listed, message, placed
from konsil.plan.model.places import slot_of
from konsil.plan.model.rng_streams import token
from konsil.plan.model.screens import Draft, blind, screens_of
from konsil.plan.model.task_columns import TaskColumns

_CHUNK = 5_000
"""Drafts that become columns at once."""
_FIELDS = (
    *("id", "allocation", "seat", "rater", "item", "answers"),
    *("spans", "arm", "batch", "purpose", "repeat_of"),
)
"""What a draft has of a task."""
_RANK = {"practice": 0, "pilot": 1, "main": 2, "tiebreak": 2, "repeat": 3}


def _ordered(drafts: Sequence[Draft]) -> list[Draft]:
    """Drafts by their random key, and by their name where they have the same one."""
    if len({len(d.order) for d in drafts}) == 1:
        # Keys of one length: one text is compared in half the time of two.
        return sorted(drafts, key=lambda d: d.order + d.id)
    return sorted(drafts, key=attrgetter("order", "id"))


def schedule(drafts: Sequence[Draft], seed: int) -> TaskColumns:
    """Tasks by rater, in the order in which each rater works through them."""
    phases = {phase: n for n, phase in enumerate(dict.fromkeys(d.allocation.phase for d in drafts))}
    by_rater: dict[str, list[Draft]] = {}
    for draft in drafts:
        by_rater.setdefault(draft.rater, []).append(draft)
    ordered: list[Draft] = []
    positions: list[int] = []
    for rater_drafts in by_rater.values():
        # Tie-breaks come when all else is planned; they go last so that they move nothing.
        late = [d for d in rater_drafts if d.allocation.when == "disagreed"]
        early = [d for d in rater_drafts if d.allocation.when != "disagreed"]
        scheduled: list[Draft] = []
        # What was added comes after all that was there: no position moves.
        waves = sorted({d.wave for d in early})
        for n, wave in enumerate(waves):
            for phase in phases:
                theirs = [d for d in early if d.allocation.phase == phase and d.wave == wave]
                scheduled += _phase(theirs, phase, seed, first=n == 0)
        screens = [*_one_by_one([*scheduled, *_ordered(late)])]
        positions += range(len(screens))
        ordered += screens
    return _columns(ordered, positions)


def _phase(drafts: Sequence[Draft], phase: str, seed: int, *, first: bool = True) -> list[Draft]:
    """The screens of one phase in batches; repeats come of what was planned first alone."""
    surveys = [d for d in drafts if d.scope]
    screens = [d for d in drafts if not d.scope]
    sizes = {d.allocation.batches for d in screens}
    if len(sizes) > 1:
        none = message("none", message_id="planning.no_batches")
        fact = message(
            "the allocations of panel {panel!r} in phase {phase!r} are assigned together (including"
            " practice and pilot) and need the same 'batches', got {sizes}",
            message_id="planning.batch_sizes",
            panel=screens[0].allocation.panel,
            phase=phase,
            sizes=Listed(
                tuple(none if n is None else str(n) for n in sorted(sizes, key=str)), end=COMMA
            ),
        )
        raise PlanError(placed("plan", fact))
    size = next(iter(sizes), None)
    batches: list[list[Draft]] = []
    for rank in sorted({_RANK[d.purpose] for d in screens}):
        batches += _batches([d for d in screens if _RANK[d.purpose] == rank], size)
    repeats = _repeats([d for batch in batches for d in batch], seed) if first else []
    batches += _batches(repeats, size)
    scheduled: list[Draft] = []
    for n, batch in enumerate(batches, start=1):
        name = "" if size is None else f"{phase} {n}".strip()
        if name:
            for draft in batch:
                draft.batch = name
        scheduled += batch
        if size is not None or n == len(batches):
            for survey in surveys:
                if survey.scope == "batch":
                    id_ = token(seed, "batch survey", survey.id, n)
                    scheduled.append(dataclasses.replace(survey, id=id_, batch=name))
    return scheduled + [s for s in surveys if s.scope != "batch" or not batches]


def _batches(drafts: Sequence[Draft], size: int | None) -> list[list[Draft]]:
    """All screens of an item in one batch.

    The panel determines which batch; the order within it is the rater's own.
    """
    if not drafts:
        return []
    if size is None:
        return [_ordered(drafts)]
    items: dict[str, list[Draft]] = {}
    for draft in sorted(drafts, key=attrgetter("shared", "order")):
        items.setdefault(draft.item or "", []).append(draft)
    batches: list[list[Draft]] = [[]]
    for item, screens in items.items():
        if len(screens) > size:
            fact = message(
                "the {n} {n|task|tasks} of item {item!r} do not fit into a batch of {size}",
                message_id="planning.small_batch",
                n=len(screens),
                item=item,
                size=size,
            )
            raise PlanError(placed("plan", fact))
        if len(batches[-1]) + len(screens) > size:
            batches.append([])
        batches[-1] += screens
    return [_ordered(batch) for batch in batches]


def _repeats(ordered: Sequence[Draft], seed: int) -> list[Draft]:
    """The rater's first items of each allocation once more, freshly blinded."""
    repeats: list[Draft] = []
    # By identity, because a plan may have two lines that are equal.
    wanting = {id(d.allocation): d.allocation for d in ordered if d.allocation.repeats}
    for allocation in wanting.values():
        line_drafts = [d for d in ordered if d.allocation is allocation]
        items = list(dict.fromkeys(d.item for d in line_drafts))
        if len(items) < allocation.repeats:
            fact = message(
                "rater {rater!r} has {n} {n|item|items} of panel {panel!r}, too few to repeat"
                " {repeats}",
                message_id="planning.few_to_repeat",
                rater=line_drafts[0].rater,
                n=len(items),
                panel=allocation.panel,
                repeats=allocation.repeats,
            )
            raise PlanError(placed("plan", fact))
        again = set(items[: allocation.repeats])
        copies = [
            dataclasses.replace(
                d,
                id=token(seed, "repeat", d.id),
                purpose="repeat",
                repeat_of=d.id,
                order=token(seed, "again", d.order),
            )
            for d in line_drafts
            if d.item in again
        ]
        blind(seed, ("repeats", line_drafts[0].id), copies)
        repeats += copies
    return repeats


def _one_by_one(drafts: Sequence[Draft]) -> Iterator[Draft]:
    """A draft for each screen: those of several screens are taken apart."""
    for draft in drafts:
        if not draft.parts:
            yield draft
            continue
        screens = screens_of(draft)
        repeated = screens_of(draft, draft.repeat_of) if draft.repeat_of else []
        for n, (name, spans) in enumerate(screens):
            repeat_of = repeated[n][0] if repeated else None
            yield dataclasses.replace(draft, id=name, spans=spans, repeat_of=repeat_of)


def _columns(drafts: Sequence[Draft], positions: list[int]) -> TaskColumns:
    """The drafts as tasks, each of one screen, with their places in the raters' orders of work."""
    values: list[list[Any]] = [[] for _ in _FIELDS]
    # In parts that stay in the processor's cache: a rater's drafts lie anywhere in memory.
    for start in range(0, len(drafts), _CHUNK):
        part = zip(*map(attrgetter(*_FIELDS), drafts[start : start + _CHUNK]), strict=True)
        for column, part_values in zip(values, part, strict=True):
            column += part_values
    columns = dict(zip(_FIELDS, values, strict=True))
    allocations, numbers = columns["allocation"], [seat + 1 for seat in columns["seat"]]
    return TaskColumns(
        {
            **columns,
            "slot": [*map(cache(slot_of), [a.panel for a in allocations], numbers)],
            "instrument": [a.instrument for a in allocations],
            "phase": [a.phase for a in allocations],
            "position": positions,
        }
    )
