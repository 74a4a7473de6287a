"""Before the first task: consent in versions, eligibility, the profile, a place of the plan."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from konsil.instrument import Scale
from konsil.plan import Allocation, History, assign
from konsil.plan.model.places import Places
from konsil.records import Rater
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.store.tasks import withdrawal
from konsil.study import Study
from konsil.study.sections.enrolment import (
    Enrolment,
    Question,
    excluded_by_withdrawal,
    names_of,
    version_of,
    with_profiles,
)
from konsil.web.rating.enrolment_service import Reception
from konsil.web.rating.placing import Placing

from ..conftest import AT, LATER, PAIR, STUDIES, SYSTEMS, answers, items

YES = Scale(("Nein", "Ja"))
ASKS = Enrolment(
    consent="# Einwilligung\n\nIch nehme **freiwillig** teil.",
    withdrawn="exclude",
    eligibility=(
        Question("licensed", "Sind Sie approbiert?", YES, admits=("Ja",)),
        Question("author", "Haben Sie an einem der Systeme mitgearbeitet?", YES, admits=("Nein",)),
    ),
    profile=(
        Question("specialty", "Ihr Fachgebiet?", Scale(("Chirurgie", "Innere", "Andere"))),
        Question("years", "Berufsjahre?", Scale(kind="number", low=0, high=60)),
        Question("product", "Nutzen Sie eines?", Scale(("nein", "ja"), abstain="Keine Angabe")),
    ),
)
FITS = {"licensed": "Ja", "author": "Nein"}
WHO = {"specialty": "Innere", "years": "12", "product": "Keine Angabe"}
R1 = "canary-rater-1"
STUDY = dataclasses.replace(STUDIES["medqade"], enrolment=ASKS)
PANEL = Study(
    "Plätze",
    7,
    language="de",
    instruments=(PAIR,),
    systems=SYSTEMS,
    raters=(),
    places=(
        Places("doctors", 6, {"specialty": "Innere"}),
        Places("doctors", 3, {"specialty": "Chirurgie"}),
    ),
    enrolment=ASKS,
    plan=(
        Allocation(
            "doctors",
            "pairs",
            show="pair",
            match="specialty",
            per_rater=3,
            arms={"text": 2, "citations": 1},
        ),
    ),
)


def with_specialties(n: int = 8) -> Any:
    found = items(n)
    return tuple(
        dataclasses.replace(i, strata={"specialty": "Innere" if k % 2 else "Chirurgie"})
        for k, i in enumerate(found)
    )


def fill_places(store: Store, study: Study = PANEL) -> None:
    what = with_specialties()
    said = answers(what)
    tasks = assign(
        study.plan,
        items=what,
        answers=said,
        raters=study.raters,
        instruments=study.instruments,
        seed=study.seed,
        places=study.places,
    )
    store.add(
        Batch(items=what, answers=said, tasks=tasks), source="test", at="2025-03-01T12:00:00Z"
    )


@pytest.fixture
def reception(opened: Store, clock: Any) -> Callable[..., Reception]:
    def make(study: Study = STUDY) -> Reception:
        return Reception(study, opened, clock.stamp)

    return make


# Consent ------------------------------------------------------------------------------------------


def test_consent_is_recorded_with_its_version_time_and_text(
    reception: Any, opened: Store, clock: Any
) -> None:
    here = reception()
    assert here.standing(R1).consent == "open"
    assert not here.agree(R1, "another version")
    assert here.standing(R1).consent == "open"
    assert here.agree(R1, here.version)
    clock.pass_(60)
    assert here.agree(R1, here.version)
    text, given = sorted(opened.events(), key=lambda e: e.kind, reverse=True)
    assert (given.kind, given.subject, given.at) == ("consent", R1, "2025-03-01T12:00:00Z")
    assert dict(given.data) == {"version": version_of(ASKS.consent), "agreed": True}
    assert text.data["text"] == ASKS.consent
    assert opened.verify_log() == ()


def test_a_new_version_asks_again_and_the_old_text_stays(reception: Any, opened: Store) -> None:
    first = reception()
    first.agree(R1, first.version)
    newer = dataclasses.replace(STUDY, enrolment=dataclasses.replace(ASKS, consent="Neu."))
    second = reception(newer)
    assert second.standing(R1).consent == "outdated"
    second.decline(R1)
    assert second.standing(R1).consent == "declined"
    assert excluded_by_withdrawal(ASKS, opened.events()) == frozenset(), (
        "declining the new is not withdrawing the old"
    )
    second.agree(R1, second.version)
    assert second.standing(R1).consent == "given"
    assert {e.data["text"] for e in opened.events() if e.kind == "consent text"} == {
        ASKS.consent,
        "Neu.",
    }


def test_what_becomes_of_ratings_after_a_withdrawal_is_the_protocols_to_say(
    reception: Any, opened: Store
) -> None:
    here = reception()
    assert not here.withdraw(R1), "there is nothing to withdraw"
    here.agree(R1, here.version)
    assert here.withdraw(R1)
    assert not here.withdraw(R1)
    assert here.standing(R1).consent == "withdrawn"
    assert excluded_by_withdrawal(ASKS, opened.events()) == {R1}
    assert (
        excluded_by_withdrawal(dataclasses.replace(ASKS, withdrawn="keep"), opened.events())
        == frozenset()
    )
    here.agree(R1, here.version)
    assert excluded_by_withdrawal(ASKS, opened.events()) == frozenset()


# Eligibility and profile --------------------------------------------------------------------------


def test_who_does_not_fit_is_not_let_in_and_the_reply_stands(reception: Any, opened: Store) -> None:
    here = reception()
    assert here.standing(R1).eligible is None
    assert set(here.reply("eligibility", R1, {"licensed": "Ja"})) == {"author"}
    assert here.standing(R1).eligible is None
    assert here.reply("eligibility", R1, {"licensed": "Ja", "author": "Ja"}) == {}
    assert here.standing(R1).eligible is False
    here.reply("eligibility", R1, FITS)
    assert here.standing(R1).eligible is False
    [event] = opened.events()
    assert event.data["replies"] == {"licensed": "Ja", "author": "Ja"}


def test_the_profile_becomes_strata(reception: Any, opened: Store) -> None:
    here = reception()
    assert set(here.reply("profile", R1, {})) == {"specialty", "years", "product"}
    assert set(here.reply("profile", R1, WHO | {"years": "120"})) == {"years"}
    assert here.reply("profile", R1, WHO) == {}
    assert here.standing(R1).profiled
    named = Rater(R1, "panel", strata={"hospital": "A", "years": "13"})
    [rater] = with_profiles([named], ASKS, opened.events())
    assert rater.strata == {
        "specialty": "Innere",
        "hospital": "A",
        "years": "13",
    }, "the protocol's word stands"


def test_a_study_that_asks_nothing_lets_everybody_through(reception: Any) -> None:
    standing = reception(STUDIES["medqade"]).standing(R1)
    assert standing.consent == "not asked"
    assert standing.eligible is True
    assert standing.profiled


# Places -------------------------------------------------------------------------------------------


def sign_up(store: Store, clock: Any, who: str, specialty: str, study: Study = PANEL) -> bool:
    Reception(study, store, clock.stamp).reply("profile", who, WHO | {"specialty": specialty})
    clock.pass_(1)
    return Placing(study, store, clock.stamp).take(who)


def test_people_take_places_of_their_specialty_and_get_arm_and_tasks(
    opened: Store, clock: Any
) -> None:
    fill_places(opened)
    assert {t.rater for t in opened.tasks()} == {""}
    taken = [sign_up(opened, clock, f"s{n}", "Chirurgie") for n in range(4)]
    assert taken == [True, True, True, False]
    assert all(sign_up(opened, clock, f"i{n}", "Innere") for n in range(6))
    assert not sign_up(opened, clock, "other", "Andere")
    tasks = opened.tasks()
    assert Counter(t.rater for t in tasks) == {
        f"{p}{n}": 3 for p, k in (("s", 3), ("i", 6)) for n in range(k)
    }
    strata = {i.id: i.strata["specialty"] for i in opened.items()}
    assert all(
        strata[t.item or ""] == ("Chirurgie" if t.rater[0] == "s" else "Innere") for t in tasks
    )
    arms = {t.rater: t.arm for t in tasks}
    assert Counter(arms.values()) == {"text": 6, "citations": 3}
    assert Counter(arms[f"i{n}"] for n in range(3)) == {
        "text": 2,
        "citations": 1,
    }, "at every time of the enrolment"
    raters = {r.id: r for r in opened.raters()}
    assert raters["s0"].panel == "doctors"
    assert raters["s0"].strata == {"specialty": "Chirurgie", "years": "12"}
    assert opened.verify_log() == ()


def test_the_plan_is_a_pure_function_of_the_events(opened: Store, clock: Any) -> None:
    fill_places(opened)
    for n, specialty in enumerate(("Innere", "Chirurgie", "Innere")):
        sign_up(opened, clock, f"r{n}", specialty)
    again = assign(
        PANEL.plan,
        items=opened.items(),
        answers=opened.answers(),
        raters=(),
        instruments=PANEL.instruments,
        seed=PANEL.seed,
        history=History(events=reversed(opened.events())),
        places=PANEL.places,
    )
    assert {t.id: t for t in again} == {t.id: t for t in opened.tasks()}


def test_taking_a_place_twice_takes_one(opened: Store, clock: Any) -> None:
    fill_places(opened)
    assert sign_up(opened, clock, "a", "Innere")
    assert sign_up(opened, clock, "a", "Innere")
    assert sum(t.rater == "a" for t in opened.tasks()) == 3
    assert not Placing(PANEL, opened, clock.stamp).needs_place("a")


# Over HTTP ----------------------------------------------------------------------------------------


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch, opened: Store) -> Iterator[None]:
    monkeypatch.setitem(STUDIES, "asks", STUDY)
    yield


def replied(html: str, replies: dict[str, str]) -> dict[str, str]:
    """The replies by the names of the fields; no identifier is on the page, as it could tell what
    lets somebody in."""
    names = names_of(ASKS)
    assert not [q.id for q in (*ASKS.eligibility, *ASKS.profile) if q.id in html]
    found = names.neutrals(replies)
    assert all(f'name="{name}"' in html for name in found)
    return found


def test_the_whole_way_in(studies: None, enter: Any, opened: Store) -> None:
    browser = enter("asks")
    assert browser.get("/next").url.path == "/consent"
    assert "<strong>freiwillig</strong>" in browser.html
    version = re.search(r'name="version" value="([0-9a-f]+)"', browser.html)
    assert version is not None
    got = browser.post("/consent", {"say": "agree", "version": version[1]})
    assert got.url.path == "/eligibility"
    got = browser.post("/eligibility", replied(browser.html, {"licensed": "Ja"}))
    assert got.status_code == 422
    assert "1 Frage ist noch offen." in got.text
    assert re.search(r'value="Ja"[^>]* checked', got.text), "what was replied is still there"
    assert browser.post("/eligibility", replied(got.text, FITS)).url.path == "/profile"
    got = browser.post("/profile", replied(browser.html, WHO | {"years": "200"}))
    assert got.status_code == 422
    assert "Bitte geben Sie eine Zahl von 0 bis 60 ein." in got.text
    # A page that was open when the server was updated has the identifiers.
    assert browser.post("/profile", WHO).url.path.startswith("/task/")
    for path in ("/eligibility", "/profile", "/place"):
        assert browser.get(path).url.path.startswith("/task/"), path
    browser.get("/consent")
    assert "Sie haben diesem Text am 1. März 2025 zugestimmt." in browser.html
    assert browser.post("/consent", {"say": "withdraw"}).url.path == "/consent"
    assert "gehen in keine Analyse ein" in browser.html
    assert browser.get("/next").url.path == "/consent"


def test_no_address_leads_past_a_gate(studies: None, enter: Any, opened: Store, clock: Any) -> None:
    browser = enter("asks")
    here = Reception(STUDY, opened, clock.stamp)
    here.agree(R1, here.version)
    here.reply("eligibility", R1, FITS)
    here.reply("profile", R1, WHO)
    path = browser.get("/next").url.path
    hidden = browser.hidden()
    here.withdraw(R1)
    assert browser.get(path).url.path == "/consent"
    browser.get("/consent")
    message = {
        "changes": [{"id": "1", "field": "difficulty", "value": "Mittel", "base_rev": 0}],
        "visit": "v",
    }
    assert browser.save(path + "/save", message).status_code == 403
    full = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}
    assert browser.post(path, {**hidden, **full}).url.path == "/consent"
    assert opened.ratings() == ()


def test_who_does_not_fit_is_thanked(studies: None, enter: Any) -> None:
    browser = enter("asks")
    browser.get("/consent")
    version = re.search(r'name="version" value="([0-9a-f]+)"', browser.html)
    assert version is not None
    browser.post("/consent", {"say": "agree", "version": version[1]})
    got = browser.post("/eligibility", {"licensed": "Nein", "author": "Nein"})
    assert got.url.path == "/eligibility"
    assert "Vielen Dank für Ihr Interesse" in got.text
    browser.post("/eligibility", FITS)
    assert browser.get("/next").url.path == "/eligibility"


# A link for anybody -------------------------------------------------------------------------------


def test_a_link_for_anybody_makes_each_a_rater_of_their_own(
    enter: Any, opened: Store, monkeypatch: Any
) -> None:
    study = dataclasses.replace(
        PANEL, enrolment=dataclasses.replace(ASKS, consent="", withdrawn="keep", eligibility=())
    )
    fill_places(opened, study)
    monkeypatch.setitem(STUDIES, "places", study)
    secret = Access(opened).invite("", "rater", at=AT, expires_at=LATER)
    people = []
    for _ in range(2):
        browser = enter("places", who="", filled_already=True)
        assert browser.post(f"/come/{secret}").url.path == "/profile"
        assert browser.post("/profile", WHO).url.path == "/place"
        assert "3 Seiten" in browser.html
        assert browser.post("/place").url.path == "/link"
        people.append(browser)
    holders = {t.rater for t in opened.tasks()} - {""}
    assert len(holders) == 2
    assert all(h.startswith("guest-") for h in holders)
    first = people[0]
    first.get("/link")
    got = first.post("/link")
    link = re.search(r'value="http://testserver(/come/[^"]+)"', got.text)
    assert link is not None
    assert first.get("/next").url.path.startswith("/task/")
    # The link for anybody again makes nobody new of somebody; the personal one leads back, on any
    # device.
    first.get("/next")
    assert first.post(f"/come/{secret}").url.path == first.get("/next").url.path
    other = enter("places", who="", filled_already=True)
    assert other.post(link[1]).url.path == first.get("/next").url.path
    assert {t.rater for t in opened.tasks()} - {""} == holders


def test_when_all_places_are_taken_nothing_is_lost(
    enter: Any, opened: Store, clock: Any, monkeypatch: Any
) -> None:
    fill_places(opened)
    for n in range(3):
        sign_up(opened, clock, f"s{n}", "Chirurgie")
    monkeypatch.setitem(STUDIES, "places", PANEL)
    browser = enter("places", who="late", filled_already=True)
    here = Reception(PANEL, opened, clock.stamp)
    here.agree("late", here.version)
    here.reply("eligibility", "late", FITS)
    here.reply("profile", "late", WHO | {"specialty": "Chirurgie"})
    browser.get("/next")
    assert "Alle Plätze sind vergeben" in browser.html
    browser.get("/place")
    assert browser.post("/place").url.path == "/place"
    assert "late" not in {t.rater for t in opened.tasks()}


def test_of_two_who_come_at_once_one_gets_the_last_place(opened: Store, clock: Any) -> None:
    fill_places(opened)
    for n in range(2):
        sign_up(opened, clock, f"s{n}", "Chirurgie")
    late = [f"late{n}" for n in range(6)]
    for who in late:
        Reception(PANEL, opened, clock.stamp).reply(
            "profile", who, WHO | {"specialty": "Chirurgie"}
        )
    with ThreadPoolExecutor(6) as pool:
        got = list(pool.map(lambda who: Placing(PANEL, opened, clock.stamp).take(who), late))
    assert sum(got) == 1
    assert Counter(t.rater for t in opened.tasks() if t.rater)[late[got.index(True)]] == 3
    assert opened.verify_log() == ()


def test_a_place_that_somebody_leaves_is_free_again(
    opened: Store, clock: Any, enter: Any, monkeypatch: Any
) -> None:
    fill_places(opened)
    for n in range(3):
        sign_up(opened, clock, f"s{n}", "Chirurgie")
    assert not sign_up(opened, clock, "late", "Chirurgie")
    left = [t.id for t in opened.tasks() if t.rater == "s1"]
    withdrawal.withdraw(opened, PANEL, "s1", at=clock.stamp())
    clock.pass_(1)
    free = {t.id for t in opened.tasks() if not t.rater}
    assert sign_up(opened, clock, "late", "Chirurgie") == bool(free & set(left))
    again = assign(
        PANEL.plan,
        items=opened.items(),
        answers=opened.answers(),
        raters=(),
        instruments=PANEL.instruments,
        seed=PANEL.seed,
        history=History(events=opened.events()),
        places=PANEL.places,
    )
    assert {t.id: t for t in again} == {t.id: t for t in opened.tasks()}
    assert opened.verify_log() == ()
    monkeypatch.setitem(STUDIES, "places", PANEL)
    office = enter("places", who="office", role="coordinator", filled_already=True)
    office.get("/office")
    assert "18 Aufgaben liegen auf noch freien Plätzen." in office.html
    assert "entfallen" not in office.html
