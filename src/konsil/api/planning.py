"""The plan of a study's folder: drawn, stored, and described."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from konsil.api.folder import PROTOCOL, Folder, now
from konsil.api.preparing import check_drawn
from konsil.errors import StudyError
from konsil.plan import Balance, assign, balance
from konsil.prepare import in_study
from konsil.records import Answer, Item, Task
from konsil.store import Batch
from konsil.study import study_digest


@dataclass(frozen=True)
class Planned:
    """What was planned."""

    tasks: tuple[Task, ...]
    """Every task of the plan, those stored before included."""
    new: int
    """How many of them were not stored before."""
    balance: Balance
    """How even it is."""
    digest: str
    """What a pre-registration names: the same plan has the same digest."""

    def purposes(self) -> dict[str, int]:
        """Purpose -> tasks."""
        return dict(sorted(Counter(t.purpose for t in self.tasks).items()))


def make_plan(folder: Folder, *, keep: bool = True) -> Planned:
    """Draw the tasks of the protocol's plan from what is stored, and store them; `keep` False only describes it.

    Asked again, it gives the same tasks, and the tie-breaks that new ratings call for.
    """
    study = folder.study
    if not study.plan:
        raise StudyError(f"{folder.path / PROTOCOL}: there is no [[plan]]; nothing says who rates what")
    with folder.store(create=True) as store:
        held = store.batch()
        if not held.items:
            raise StudyError(f"{folder.path}: there are no items yet; run 'konsil import' first")
        check_drawn(folder, held.events, is_planned=bool(held.tasks))
        implied = () if held.answers else _without_texts(folder, in_study(held.items, held.events))
        tasks = assign(
            study.plan,
            items=held.items,
            answers=[*held.answers, *implied],
            raters=study.raters,
            instruments=study.instruments,
            seed=study.seed,
            ratings=held.ratings,
            events=held.events,
        )
        stored = {t.id for t in held.tasks}
        fresh = tuple(t for t in tasks if t.id not in stored)
        if keep and fresh:
            raters = [r for r in study.raters if r.id not in {x.id for x in held.raters}]
            store.note_study(study_digest(study), now())
            store.add(Batch(answers=implied, raters=raters, tasks=fresh), source="plan", at=now())
    return Planned(tasks, len(fresh), balance(tasks, [*held.answers, *implied]), digest_of_plan(tasks))


def _without_texts(folder: Folder, items: Sequence[Item]) -> tuple[Answer, ...]:
    """Answers to be planned for before there are any; where models are to answer, theirs must come first."""
    called = [s.id for s in folder.study.systems if s.model is not None]
    if called:
        raise StudyError(f"{folder.path}: system {called[0]!r} has not answered yet; run 'konsil answer' first")
    return implied_answers(items, [s.id for s in folder.study.systems])


def implied_answers(items: Sequence[Item], systems: Sequence[str]) -> tuple[Answer, ...]:
    """Answers without texts, for planning or rehearsing a study before anything was answered."""
    if not systems:
        raise StudyError("there are neither answers nor systems; a plan needs one of them")
    return tuple(Answer(f"{i.id}:{s}", i.id, s) for i in items for s in systems)


def digest_of_plan(tasks: Sequence[Task]) -> str:
    """SHA-256 over the tasks in their order of work, tie-breaks left out: they follow from the ratings."""
    main = [dataclasses.asdict(t) for t in tasks if t.purpose != "tiebreak"]
    text = json.dumps(main, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
