"""Tie-breaks as they fall due are those that the whole plan, drawn again on the ratings, would
give."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest

from konsil.plan import History, assign
from konsil.records import Rater, Task
from konsil.store import Store
from konsil.store.tasks import withdrawal
from konsil.web.rating.rating_service import Desk

from ..conftest import AT, STUDIES, fill, raters

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
            assert done.is_stored


def ties(tasks: tuple[Task, ...]) -> set[tuple[object, ...]]:
    return {
        (t.id, t.rater, t.item, t.answers, t.slot, t.phase)
        for t in tasks
        if t.purpose == "tiebreak"
    }


def planned(desk: Desk, store: Store) -> set[tuple[object, ...]]:
    study = desk._study
    return ties(
        assign(
            study.plan,
            items=store.items(),
            answers=store.answers(),
            raters=study.raters,
            instruments=study.instruments,
            seed=study.seed,
            history=History(store.ratings(), store.events()),
        )
    )


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 8))]
)
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
    assert here.submit("canary-breaker", public, form("Falsch"), 0).is_stored  # type: ignore[union-attr]
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
    from konsil.store.engine.engine import reading
    from konsil.store.tasks import screens

    with reading(store.engine) as connection:
        found = screens.screen_state(connection, desk.line(rater)[0].task)
    assert found is not None
    return found.public


# Without a tie-breaker ----------------------------------------------------------------------------


def test_ties_wait_for_a_new_tie_breaker_and_go_to_whoever_is_named(
    opened: Store, desk: MakeDesk, enter: Any
) -> None:
    here = desk("medqade", 6)
    study, breaker = here._study, "canary-breaker"
    office = enter(who="office", role="coordinator", filled_already=True)
    assert "Freie Plätze" not in office.get("/office").text
    withdrawal.withdraw(opened, study, breaker, at=AT)
    before = office.get("/office").text
    assert "breakers 1" in before and "Stichentscheide dieses Platzes erscheinen hier" in before
    rng = random.Random(1)
    rate_all(here, lambda: form(rng.choice(["Falsch", "Richtig"])))
    waiting = [t for t in opened.tasks() if t.purpose == "tiebreak"]
    assert waiting and {t.rater for t in waiting} == {""}
    assert _notice(office.get("/office").text) == _notice(before), "how many there are is not told"
    for wrong in ("", "canary-rater-1", "x" * 61, "a\nb"):
        assert office.post("/office", {"slot": "breakers 1", "who": wrong}).status_code == 422
    assert office.post("/office", {"slot": "panel 1", "who": "new"}).status_code == 422
    office.get("/office")
    done = office.post("/office", {"slot": "breakers 1", "who": " new-breaker "})
    assert done.url.path == "/office/invitations"
    assert "new-breaker" in done.text
    assert {t.rater for t in opened.tasks() if t.purpose == "tiebreak"} == {"new-breaker"}
    assert "breakers 1" not in office.get("/office").text
    # What comes up from now on is the new one's, and the whole plan drawn again says the same.
    [public] = [_reopened(here, opened, RATERS[0])]
    here.submit(RATERS[0], public, form("Falsch"), 99)
    assert ties(opened.tasks()) == planned(here, opened)
    n = 0
    while (mine := here.next_task("new-breaker")) is not None:
        assert here.submit("new-breaker", mine, form("Richtig"), 0).is_stored  # type: ignore[union-attr]
        n += 1
    assert n == len(ties(opened.tasks()))
    assert opened.verify_log() == ()


def _notice(html: str) -> str:
    return html.split("Freie Plätze")[1].split("</section>")[0]


def test_ties_of_a_place_without_anybody_go_to_the_other_tie_breakers(
    opened: Store, clock: Any
) -> None:
    two = (*raters(), Rater("canary-breaker-2", "breakers"))
    base = STUDIES["medqade"]
    plan = tuple(
        dataclasses.replace(a, raters_per_item=1) if a.when == "disagreed" else a for a in base.plan
    )
    study = dataclasses.replace(base, raters=two, plan=plan)
    fill(opened, study, 8)
    here = Desk(study, opened, clock.stamp)
    withdrawal.withdraw(opened, study, "canary-breaker", at=AT)
    rng = random.Random(2)
    rate_all(here, lambda: form(rng.choice(["Falsch", "Richtig"])))
    found = [t for t in opened.tasks() if t.purpose == "tiebreak"]
    assert {t.slot for t in found} == {"breakers 1", "breakers 2"}
    assert {t.rater for t in found} == {"canary-breaker-2"}
    assert ties(opened.tasks()) == planned(here, opened), "the plan knows it from the events"
    assert opened.verify_log() == ()
