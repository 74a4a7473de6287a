"""The same pages on a real PostgreSQL server, with raters at once."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from konsil.store import Store
from konsil.store.curation.renderings import rendered
from konsil.store.engine.engine import reading
from konsil.store.tasks import drafts, screens, vacancies, withdrawal
from konsil.store.tasks.drafts import Change
from konsil.web.rating.enrolment_service import Reception
from konsil.web.rating.placing import Placing
from konsil.web.rating.rating_service import Desk
from store.conftest import new_database, server  # noqa: F401  a fixture

from .test_joining import PANEL, WHO, fill_places

R1 = "canary-rater-1"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path)
    return new_database(request.getfixturevalue("server"))


@pytest.fixture
def opened(database: str):
    with Store.open(database) as store:
        yield store


def right() -> dict[str, str]:
    return {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}


@pytest.mark.slow
def test_raters_at_once(opened: Store, desk) -> None:
    here: Desk = desk("medqade", 8)
    faults: list[str] = []

    def rate(rater: str) -> None:
        rng = random.Random(rater)
        try:
            while (public := here.next_task(rater)) is not None:
                assert here.open(rater, public) is not None
                for n in range(1, 6):
                    told = [Change(f"{public}{n}", f"correctness.a{n}", "Falsch", 0)]
                    assert here.save(rater, public, told) is not None
                said = right() | {"correctness.a1": rng.choice(["Falsch", "Richtig"])}
                done = here.submit(rater, public, said, 99)
                assert done is not None
                assert done.is_stored
        except Exception as error:  # noqa: BLE001 - told below
            faults.append(repr(error))

    raters = [r.id for r in here._study.raters if r.panel == "panel"]
    threads = [threading.Thread(target=rate, args=(r,)) for r in raters]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not faults
    assert len(opened.ratings()) == 16 * 6
    conflicts = {
        r.item
        for r in opened.ratings()
        for s in opened.ratings()
        if r.answers == s.answers != () and r.label != s.label
    }
    assert {t.item for t in opened.tasks() if t.purpose == "tiebreak"} == conflicts
    assert opened.verify_log() == ()


def test_the_same_message_at_once_is_one_change(opened: Store, desk) -> None:
    here: Desk = desk()
    public = here.next_task(R1)
    assert public is not None
    told = [Change("once", "difficulty", "Mittel", 0)]
    faults: list[str] = []

    def save() -> None:
        try:
            here.save(R1, public, told)
        except Exception as error:  # noqa: BLE001 - told below
            faults.append(repr(error))

    threads = [threading.Thread(target=save) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not faults
    with reading(opened.engine) as connection:
        state = screens.public(connection, public)
        assert state is not None
        assert len(drafts.history(connection, state.task)) == 1
        assert state.rev == 1


def test_a_text_is_rendered_once(opened: Store) -> None:
    made: list[str] = []

    def render(source: str) -> str:
        made.append(source)
        return f"<p>{source} {len(made)}</p>"

    first = rendered(opened, "one", ["a", "b", "a"], render)
    again = rendered(opened, "two", ["b", "a"], render)
    assert first == ("<p>a 1</p>", "<p>b 2</p>", "<p>a 1</p>")
    assert again == (first[1], first[0]), "an upgrade changes nothing for those who come later"


def test_every_page_question_is_one_the_server_can_answer(opened: Store, desk) -> None:
    here: Desk = desk()
    public = here.next_task(R1)
    assert public is not None
    assert here.put_off(R1, public, right(), 0)
    assert here.report(R1, public, "x", "1")
    second = here.next_task(R1)
    assert second is not None
    assert second != public
    assert here.submit(R1, second, right(), 0).is_stored  # type: ignore[union-attr]
    sheet = here.open(R1, public)
    assert sheet is not None
    assert sheet.previous_page == second
    assert here.close_batch("", "", R1)
    assert here.submit(R1, public, right(), 0).closed  # type: ignore[union-attr]


def test_places_are_taken_once_each(opened: Store, clock) -> None:
    fill_places(opened)
    who = [f"s{n}" for n in range(6)]
    for one in who:
        Reception(PANEL, opened, clock.stamp).reply(
            "profile", one, WHO | {"specialty": "Chirurgie"}
        )
    faults: list[str] = []
    got: dict[str, bool] = {}

    def take(rater: str) -> None:
        try:
            got[rater] = Placing(PANEL, opened, clock.stamp).take(rater)
        except Exception as error:  # noqa: BLE001 - told below
            faults.append(repr(error))

    threads = [threading.Thread(target=take, args=(r,)) for r in who]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not faults
    assert sum(got.values()) == 3, "there are three places"
    tasks = [t for t in opened.tasks() if t.rater]
    assert {t.rater for t in tasks} == {r for r in who if got[r]}
    assert len({(t.rater, t.slot) for t in tasks}) == 3
    left = next(r for r in who if got[r])
    clock.pass_(1)
    found = withdrawal.withdraw(opened, PANEL, left, at=clock.stamp())
    assert found is not None
    clock.pass_(1)
    late = next(r for r in who if not got[r])
    assert Placing(PANEL, opened, clock.stamp).take(late) == bool(found.lapsed)
    assert opened.verify_log() == ()


def test_a_place_without_anybody_is_handed_over(opened: Store, desk, clock) -> None:
    here: Desk = desk()
    study = here._study
    withdrawal.withdraw(opened, study, "canary-breaker", at=clock.stamp())
    with reading(opened.engine) as connection:
        [empty] = vacancies.vacancies(connection, study)
    assert (empty.slot, empty.screens, empty.breaks_ties) == ("breakers 1", 0, True)
    for rater, label in (
        (R1, "Richtig"),
        ("canary-rater-2", "Falsch"),
        ("canary-rater-3", "Falsch"),
    ):
        while (public := here.next_task(rater)) is not None:
            assert here.submit(rater, public, right() | {"correctness.a1": label}, 0).is_stored  # type: ignore[union-attr]
    assert {t.rater for t in opened.tasks() if t.purpose == "tiebreak"} == {""}
    clock.pass_(1)
    assert vacancies.succeed(opened, study, "breakers 1", "new", at=clock.stamp()) > 0
    assert {t.rater for t in opened.tasks() if t.purpose == "tiebreak"} == {"new"}
    with reading(opened.engine) as connection:
        assert vacancies.vacancies(connection, study) == ()
    assert opened.verify_log() == ()
