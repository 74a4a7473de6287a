"""Tie-breaks as they fall due are those that the whole plan, drawn again on the ratings, would give."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from konsil.plan import assign
from konsil.records import Task
from konsil.store import Store
from konsil.web.desk import Desk

MakeDesk = Callable[..., Desk]
RATERS = ("canary-rater-1", "canary-rater-2", "canary-rater-3")


def form(correct: str, abstain: int | None = None) -> dict[str, str]:
    said = {f"correctness.a{n}": correct for n in range(1, 6)} | {"difficulty": "Mittel"}
    return said if abstain is None else said | {f"correctness.a{abstain}": "Keine Angabe"}


def rate_all(desk: Desk, label: Callable[[], dict[str, str]]) -> None:
    for rater in RATERS:
        while (public := desk.next_task(rater)) is not None:
            done = desk.submit(rater, public, label(), 0)
            assert done is not None
            assert done.done


def ties(tasks: tuple[Task, ...]) -> set[tuple[object, ...]]:
    return {(t.id, t.rater, t.item, t.answers, t.slot, t.phase) for t in tasks if t.purpose == "tiebreak"}


def planned(desk: Desk, store: Store) -> set[tuple[object, ...]]:
    study = desk._study
    return ties(
        assign(
            study.plan, items=store.items(), answers=store.answers(), raters=study.raters,
            instruments=study.instruments, seed=study.seed, ratings=store.ratings(), events=store.events(),
        )
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 8))])
def test_they_are_those_of_the_plan(seed: int, opened: Store, desk: MakeDesk) -> None:
    here, rng = desk("medqade", 12), random.Random(seed)
    rate_all(here, lambda: form(rng.choice(["Falsch", "Richtig", "Richtig", "Keine Angabe"])))
    found = ties(opened.tasks())
    assert found == planned(here, opened)
    assert 0 < len(found) < 12
    assert opened.verify_log() == ()


def test_agreement_calls_for_none(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    rate_all(here, lambda: form("Richtig"))
    assert ties(opened.tasks()) == set()
    assert here.next_task("canary-breaker") is None


def test_one_conflict_makes_one_and_an_abstention_none(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    first: dict[str | None, bool] = {}

    def rate(rater: str) -> None:
        while (public := here.next_task(rater)) is not None:
            sheet = here.open(rater, public)
            assert sheet is not None
            n = first.setdefault(sheet.question, False)
            said = form("Richtig", abstain=1)
            if n and sheet.question == conflict:
                said = form("Falsch")
            first[sheet.question] = True
            here.submit(rater, public, said, 0)

    conflict = "Frage 3: welches Organ?"
    for rater in RATERS:
        rate(rater)
    assert len(ties(opened.tasks())) == 1
    public = here.next_task("canary-breaker")
    assert public is not None
    sheet = here.open("canary-breaker", public)
    assert sheet is not None
    assert sheet.question == conflict
    assert here.submit("canary-breaker", public, form("Falsch"), 0).done  # type: ignore[union-attr]
    assert here.next_task("canary-breaker") is None
    assert len(ties(opened.tasks())) == 1


def test_a_correction_makes_a_tiebreak_too(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    rate_all(here, lambda: form("Richtig"))
    [public, *_] = [p for r in RATERS[:1] if (p := _reopened(here, opened, r))]
    done = here.submit(RATERS[0], public, form("Falsch"), 99)
    assert done is not None
    assert done.tiebreaks == 1
    again = here.submit(RATERS[0], public, form("Richtig"), 99)
    assert again is not None
    assert again.tiebreaks == 0
    assert len(ties(opened.tasks())) == 1, "a tie-break that was called for stays"


def _reopened(desk: Desk, store: Store, rater: str) -> str:
    from konsil.store import screens
    from konsil.store.engine import reading

    with reading(store.engine) as connection:
        found = screens.shown(connection, desk.line(rater)[0].task)
    assert found is not None
    return found.public
