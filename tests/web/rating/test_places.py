"""More volunteers than places: places added after the plan, a waiting list, places drawn at
sign-up, freed places."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from konsil.cli.main import group
from konsil.errors import AddedTasksError, KonsilError, PlanError, StoreError, StudyError
from konsil.plan import Allocation, History, assign
from konsil.plan.model.places import ADDED, Places
from konsil.records import Event, Rater, Task
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.store.tasks import withdrawal
from konsil.store.tasks.additions import Addition, add_places, groups
from konsil.study import Study
from konsil.study.interim.looks import LOOK_TAKEN
from konsil.study.sections.enrolment import Surplus
from konsil.web.rating.enrolment_service import Reception
from konsil.web.rating.placing import EXTRA, Placing

from ..conftest import AT, LATER, PAIR, STUDIES, SYSTEMS, answers
from .test_joining import ASKS, PANEL, WHO, fill_places, sign_up, with_specialties

PLACES = Addition(
    Places("doctors", 2, {"specialty": "Chirurgie"}), "three more surgeons came", "office"
)


def with_surplus(surplus: Surplus, **more: Any) -> Study:
    return dataclasses.replace(
        PANEL,
        enrolment=dataclasses.replace(
            ASKS, surplus=surplus, consent="", eligibility=(), withdrawn="keep", **more
        ),
    )


def full(store: Store, clock: Any, study: Study) -> None:
    fill_places(store, study)
    for n in range(3):
        assert sign_up(store, clock, f"s{n}", "Chirurgie", study)


def drawn_anew(store: Store, study: Study) -> dict[str, Task]:
    tasks = assign(
        study.plan,
        items=store.items(),
        answers=store.answers(),
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
        history=History(events=store.events()),
        places=study.places,
    )
    return {t.id: t for t in tasks}


def test_added_places_leave_every_task_as_it_was_and_are_logged(opened: Store, clock: Any) -> None:
    full(opened, clock, PANEL)
    before = opened.tasks()
    done = add_places(opened, PANEL, PLACES, at=clock.stamp())
    assert done.slots == ("doctors 10", "doctors 11")
    after = opened.tasks()
    assert set(before) < set(after)
    fresh = [t for t in after if t not in set(before)]
    assert Counter(t.slot for t in fresh) == {"doctors 10": 3, "doctors 11": 3} and done.tasks == 6
    [event] = [e for e in opened.events() if e.kind == ADDED]
    assert (event.subject, event.data["reason"], event.data["by"]) == (
        "doctors",
        PLACES.reason,
        "office",
    )
    assert opened.verify_log() == ()
    assert sign_up(opened, clock, "late", "Chirurgie")
    assert {t.rater for t in opened.tasks() if t.slot == "doctors 10"} == {"late"}
    assert drawn_anew(opened, PANEL) == {t.id: t for t in opened.tasks()}
    assert [(g.places, g.added, g.free) for g in groups(PANEL, opened)] == [(6, 0, 6), (5, 2, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (Addition(Places("doctor", 1), "x"), "did you mean 'doctors'"),
        (Addition(Places("doctors", 0), "x"), "expected 1 to 500 rater slots, got 0"),
        (Addition(Places("doctors", 1), " "), "expected the reason for adding rater slots"),
        (
            Addition(Places("doctors", 1, {"specialty": "Chirurg"}), "x"),
            "there is no label 'Chirurg'",
        ),
        (
            Addition(Places("doctors", 1, {"specialty": "Andere"}), "x"),
            "no items for 'doctors' with specialty",
        ),
    ],
)
def test_what_cannot_be_added_is_one_sentence_and_writes_nothing(
    opened: Store, wanted: Addition, says: str
) -> None:
    fill_places(opened)
    before = (opened.tasks(), opened.events())
    with pytest.raises(KonsilError, match=says):
        add_places(opened, PANEL, wanted, at=AT)
    assert (opened.tasks(), opened.events()) == before


def test_no_place_is_added_after_a_comparative_look(opened: Store, clock: Any) -> None:
    """Neither by the office nor for somebody who signs up too late."""
    study = with_surplus("extra ratings")
    full(opened, clock, study)
    data = {"look": "comparative", "is_planned": True, "tasks": 9}
    look = Event("l", LOOK_TAKEN, "1", clock.stamp(), data)
    opened.add(Batch(events=(look,)), source="test", at=look.at)
    before = opened.tasks()
    with pytest.raises(AddedTasksError, match="places: 6 tasks would be added"):
        add_places(opened, study, PLACES, at=clock.stamp())
    assert not sign_up(opened, clock, "late", "Chirurgie", study)
    assert opened.tasks() == before


def test_places_come_after_the_plan(opened: Store) -> None:
    with pytest.raises(StoreError, match="run 'konsil plan' first"):
        add_places(opened, PANEL, PLACES, at=AT)


def test_an_addition_that_would_move_somebody_is_refused(opened: Store) -> None:
    judged = Allocation("judges", "pairs", show="pair", like="main", per_rater=1)
    study = dataclasses.replace(
        PANEL,
        seed=8,
        raters=(Rater("j", "judges", "llm"),),
        places=(Places("doctors", 1, {"specialty": "Innere"}),),
        plan=(dataclasses.replace(PANEL.plan[0], per_rater=2, phase="main"), judged),
    )
    what = with_specialties()
    said = answers(what)
    tasks = assign(
        study.plan,
        items=what,
        answers=said,
        raters=study.raters,
        instruments=(PAIR,),
        seed=study.seed,
        places=study.places,
    )
    opened.add(Batch(items=what, answers=said, tasks=tasks), source="test", at=AT)
    wanted = Addition(Places("doctors", 1, {"specialty": "Innere"}), "x")
    with pytest.raises(PlanError, match="would change the order or the tasks"):
        add_places(opened, study, wanted, at=AT)
    assert len(SYSTEMS) > 2 and opened.tasks() == tuple(sorted(tasks, key=lambda t: t.id))


def test_two_who_add_at_once_both_do(opened: Store, clock: Any) -> None:
    fill_places(opened)
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: add_places(opened, PANEL, PLACES, at=AT), range(3)))
    assert sorted(slot for one in done for slot in one.slots) == [
        f"doctors {n}" for n in range(10, 16)
    ]
    assert drawn_anew(opened, PANEL) == {t.id: t for t in opened.tasks()}
    assert opened.verify_log() == ()


# The waiting list ---------------------------------------------------------------------------------


def profiled(store: Store, clock: Any, study: Study, *who: str) -> Placing:
    for one in who:
        Reception(study, store, clock.stamp).reply("profile", one, WHO | {"specialty": "Chirurgie"})
    return Placing(study, store, clock.stamp)


def test_places_go_to_those_who_waited_first(opened: Store, clock: Any) -> None:
    study = with_surplus("waiting list")
    full(opened, clock, study)
    here = profiled(opened, clock, study, "w1", "w2", "new")
    for who in ("w1", "w2"):
        assert not here.take(who)
        assert here.wait(who) and here.wait(who)
        clock.pass_(1)
    assert [(w.rater, w.has_place) for w in here.waiting()] == [("w1", False), ("w2", False)]
    add_places(
        opened,
        study,
        dataclasses.replace(PLACES, places=Places("doctors", 1, {"specialty": "Chirurgie"})),
        at=AT,
    )
    assert [(w.rater, w.has_place) for w in here.waiting()] == [("w1", True), ("w2", False)]
    assert not here.take("new") and not here.take("w2")
    assert here.take("w1") and not here.is_waiting("w1")
    assert here.stop_waiting("w2", by="office") and not here.stop_waiting("w2")
    assert here.waiting() == ()
    assert opened.verify_log() == ()


def test_who_left_the_list_and_comes_back_is_last(opened: Store, clock: Any) -> None:
    study = with_surplus("waiting list")
    full(opened, clock, study)
    here = profiled(opened, clock, study, "w1", "w2")
    for who in ("w1", "w2"):
        here.wait(who)
        clock.pass_(1)
    here.stop_waiting("w1")
    clock.pass_(1)
    here.wait("w1")
    assert [w.rater for w in here.waiting()] == ["w2", "w1"]


def test_nobody_waits_where_the_protocol_has_no_list(opened: Store, clock: Any) -> None:
    full(opened, clock, PANEL)
    assert not Placing(PANEL, opened, clock.stamp).wait("late")
    assert not [e for e in opened.events() if e.subject == "late"]


def test_a_withdrawal_frees_the_place_for_who_waits(opened: Store, clock: Any) -> None:
    """Of the same rater's panel others have room; without a list they would take the screens
    over."""
    line = dataclasses.replace(PANEL.plan[0], per_rater=None, raters_per_item=1, arms={})
    study = dataclasses.replace(with_surplus("waiting list"), plan=(line,))
    full(opened, clock, study)
    here = profiled(opened, clock, study, "late")
    here.wait("late")
    theirs = {t.id for t in opened.tasks() if t.rater == "s1"}
    assert theirs
    preview = withdrawal.preview(opened, study, "s1")
    assert preview.frees and preview.lapsed == len(theirs) and preview.n_taken_over == {}
    withdrawal.withdraw(opened, study, "s1", at=clock.stamp())
    clock.pass_(1)
    assert {t.rater for t in opened.tasks() if t.id in theirs} == {""}
    assert here.take("late")
    assert {t.rater for t in opened.tasks() if t.id in theirs} == {"late"}
    assert drawn_anew(opened, study) == {t.id: t for t in opened.tasks()}


# Drawn at sign-up ---------------------------------------------------------------------------------


def test_surplus_volunteers_get_places_of_their_own(opened: Store, clock: Any) -> None:
    study = with_surplus("extra ratings", most_extra=2)
    full(opened, clock, study)
    before = set(opened.tasks())
    here = profiled(opened, clock, study, "e1", "e2", "e3")
    assert here.draws_for("e1")
    assert here.take("e1") and here.take("e1") and here.take("e2")
    assert not here.draws_for("e3") and not here.take("e3")
    tasks = opened.tasks()
    assert before < set(tasks)
    assert Counter(t.rater for t in tasks if t.rater[:1] == "e") == {"e1": 3, "e2": 3}
    assert [e.data["reason"] for e in opened.events() if e.kind == ADDED] == [EXTRA, EXTRA]
    assert drawn_anew(opened, study) == {t.id: t for t in tasks}


def test_what_nobody_can_rate_is_not_drawn(opened: Store, clock: Any) -> None:
    study = with_surplus("extra ratings")
    study = dataclasses.replace(
        study, places=(*study.places, Places("doctors", 1, {"specialty": "Andere"}))
    )
    fill_places(opened, study)
    assert not sign_up(opened, clock, "other", "Andere", study)
    assert not [e for e in opened.events() if e.kind == ADDED]


# Over HTTP and at the command line ----------------------------------------------------------------


@pytest.mark.slow
def test_a_guest_waits_with_a_link_and_the_office_adds_a_place(
    enter: Any, opened: Store, clock: Any, monkeypatch: Any
) -> None:
    study = with_surplus("waiting list")
    full(opened, clock, study)
    monkeypatch.setitem(STUDIES, "places", study)
    secret = Access(opened).invite("", "rater", at=AT, expires_at=LATER)
    guest = enter("places", who="", filled_already=True)
    guest.post(f"/come/{secret}")
    assert guest.post("/profile", WHO | {"specialty": "Chirurgie"}).url.path == "/place"
    assert "Auf die Warteliste setzen" in guest.html
    assert guest.post("/place", {"say": "wait"}).url.path == "/link"
    assert "/come/" in guest.post("/link").text
    guest.get("/place")
    assert "Sie stehen auf der Warteliste" in guest.html
    office = enter("places", who="office", role="coordinator", filled_already=True)
    [name] = [w.rater for w in Placing(study, opened, clock.stamp).waiting()]
    assert name in office.get("/office/enrolment").text and "noch keiner" in office.html
    for wrong in (
        {"group": "9"},
        {"number": "0"},
        {"reason": " "},
        {"number": "-1"},
        {"number": "501"},
    ):
        got = office.post(
            "/office/enrolment/places", {"group": "1", "number": "1", "reason": "mehr"} | wrong
        )
        assert got.status_code == 422 and "Es wurden keine Plätze hinzugefügt" in got.text, wrong
    assert not [e for e in opened.events() if e.kind == ADDED]
    got = office.post(
        "/office/enrolment/places", {"group": "1", "number": "1", "reason": "mehr Chirurgen"}
    )
    assert got.status_code == 200 and "reserviert" in got.text
    [event] = [e for e in opened.events() if e.kind == ADDED]
    assert (event.data["by"], event.data["reason"]) == ("office", "mehr Chirurgen")
    guest.get("/place")
    assert "3 Seiten" in guest.html
    assert guest.post("/place", {"say": "take"}).url.path == "/link"
    assert (
        name
        not in office.get("/office/enrolment")
        .text.split("<h2>Nach Person")[0]
        .split("Warteliste")[-1]
    )


def test_only_the_office_adds_places_and_sees_who_waits(
    enter: Any, opened: Store, clock: Any, monkeypatch: Any
) -> None:
    study = with_surplus("waiting list")
    full(opened, clock, study)
    here = profiled(opened, clock, study, "w1")
    here.wait("w1")
    monkeypatch.setitem(STUDIES, "places", study)
    analyst = enter("places", who="analyst", role="analyst", filled_already=True)
    # As a word: the letters of a random token may be these by chance.
    assert re.search(r"(?<![\w-])w1(?![\w-])", analyst.get("/office/enrolment").text) is None
    for path in ("/office/enrolment/places", "/office/enrolment/waiting"):
        assert (
            analyst.post(
                path, {"who": "w1", "group": "0", "number": "1", "reason": "x"}
            ).status_code
            == 404
        )
    assert here.is_waiting("w1")
    office = enter("places", who="office", role="coordinator", filled_already=True)
    office.get("/office/enrolment")
    office.post("/office/enrolment/waiting", {"who": "w1"})
    assert not here.is_waiting("w1") and "Die Warteliste ist leer." in office.html


def test_who_declines_does_not_hold_a_place(opened: Store, clock: Any) -> None:
    study = with_surplus("waiting list")
    full(opened, clock, study)
    here = profiled(opened, clock, study, "w1")
    here.wait("w1")
    asks = dataclasses.replace(study, enrolment=dataclasses.replace(ASKS, surplus="waiting list"))
    Reception(asks, opened, clock.stamp).decline("w1")
    assert here.waiting() == ()


@pytest.mark.slow
def test_the_command_lists_and_adds(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    CliRunner().invoke(
        group, ["new", str(folder), "--protocol", "real-pocqi"], catch_exceptions=False
    )
    text = (folder / "study.toml").read_text()
    said = 'file = "items.csv"\nrecords = "items"\nstrata = ["specialty"]\n[[sources]]\n'
    said += 'file = "answers.csv"\nrecords = "answers"\n'
    begin, end = text.index("[[sources]]"), text.index("# WHICH questions")
    (folder / "study.toml").write_text(f"{text[:begin]}[[sources]]\n{said}\n{text[end:]}")
    rows = [f"q{n}" for n in range(20)]
    (folder / "items.csv").write_text(
        "item,text,specialty\n" + "".join(f"{q},?,cardiology\n" for q in rows)
    )
    lines = [f"{q},system-{s},x\n" for q in rows for s in (1, 2, 3, 4)]
    (folder / "answers.csv").write_text("item,system,text\n" + "".join(lines))

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(group, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    run("import", str(folder))
    first = run("plan", str(folder)).splitlines()[-1]
    asks = [
        "places",
        str(folder),
        "--add",
        "2",
        "--for",
        "specialty=cardiology",
        "--for",
        "exposure=user",
    ]
    with pytest.raises(StudyError, match="by: is empty"):
        run(*asks, "--reason", "x")
    with pytest.raises(StudyError, match="expected NAME=VALUE"):
        run(*asks[:4], "--for", "cardiology", "--by", "b", "--reason", "x")
    out = run(*asks, "--by", "office", "--reason", "more cardiologists came")
    assert "physicians: 2 rater slots added, " in out
    assert (
        "physicians (exposure=user, specialty=cardiology): 5 rater slots, 2 of them added later, 5 free"
        in out
    )
    again = run("plan", str(folder)).splitlines()
    assert "0 new" in again[0]
    assert (
        again[-2]
        == "  checksum (SHA-256) of the plan without added rater slots: " + first.split(": ")[1]
    )
    assert again[-1] != first
    assert "more cardiologists came" in run("log", str(folder))
