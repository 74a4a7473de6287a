"""Adjudication at the command line: what waits, what is under review, and the end of a round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import StudyError
from konsil.store.engine.engine import reading
from konsil.store.people.staff import pseudonym
from konsil.store.tasks import adjudications
from konsil.store.tasks.adjudications import Round
from konsil.study.definition.adjudication import Adjudication


@dataclass(frozen=True, slots=True)
class Adjudications:
    """How far the adjudication of a study is."""

    waiting: int
    """Disagreements that are not opened yet."""
    rounds: tuple[Round, ...]
    """What was opened, round by round."""


def adjudication(folder: Folder) -> Adjudications:
    """How far the adjudication is."""
    rules = _rules(folder)
    with folder.store() as store:
        waiting = len(adjudications.waiting(store, folder.study, rules))
        with reading(store.engine) as connection:
            return Adjudications(waiting, adjudications.rounds(connection))


def open_waiting(folder: Folder, by: str) -> int:
    """Open all disagreements that wait; count them."""
    rules = _rules(folder)
    with folder.store() as store:
        return adjudications.open_all(store, folder.study, rules, at=now(), by=pseudonym(store, by))


def close_round(folder: Folder, by: str) -> Round:
    """Close the round that is open; a StudyError where none is."""
    _rules(folder)
    with folder.store() as store:
        closed = adjudications.close(store, at=now(), by=pseudonym(store, by))
    if closed is None:
        raise StudyError(
            f"{folder.path}: no round of the adjudication is open, so there is nothing to close"
        )
    return closed


def lines_of(adjudications: Adjudications) -> Iterator[str]:
    """How far it is, in a few lines: every round, and every item of the one that is open."""
    for round_ in adjudications.rounds:
        state = (
            f"closed at {round_.closed_at} by {round_.by}"
            if round_.closed_at
            else f"open since {round_.opened_at}"
        )
        yield (
            f"round {round_.number}: {round_.n_decided:,} of {len(round_.screens):,} tasks decided,"
            f" {state}"
        )
        if not round_.closed_at:
            yield from _items(round_)
    yield f"disagreements not opened yet: {adjudications.waiting:,}"


def _items(round_: Round) -> Iterator[str]:
    screens = Counter(screen.item for screen in round_.screens)
    decided = Counter(screen.item for screen in round_.screens if screen.decided)
    names = {screen.item: ", ".join(screen.fields) for screen in round_.screens}
    for item, n in screens.items():
        yield f"  {item}: {decided[item]:,} of {n:,} tasks decided ({names[item]})"


def _rules(folder: Folder) -> Adjudication:
    if folder.study.adjudication is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: has no [adjudication]; expected one, by which raters"
            " who disagree rate again"
        )
    return folder.study.adjudication
