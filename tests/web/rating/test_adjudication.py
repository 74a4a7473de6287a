"""Adjudication: who differs looks once more, labels before and after are both kept, nobody is shown
a system."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from konsil.instrument import Instrument, fields
from konsil.instrument.screens.reply import ratings, read_form
from konsil.plan import Allocation
from konsil.records import Rating, Task
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.people.people import Person, note_person
from konsil.store.tasks import adjudications
from konsil.study import Study
from konsil.study.definition.adjudication import (
    CLOSED,
    DECIDED,
    OPENED,
    Adjudication,
    closing_sentences,
)
from konsil.web.rating.consensus.adjudication import Adjudicating
from konsil.web.rating.rating_service import Desk

from ..conftest import AT, MEDQADE, PAIR, STUDIES, SYSTEMS, fill, study_of

R1, R2 = "canary-rater-1", "canary-rater-2"
Enter = Callable[..., Any]
PLAIN = study_of(MEDQADE, (Allocation("panel", "medqade", items="core"),))
STUDY = dataclasses.replace(PLAIN, raters=PLAIN.raters[:2], adjudication=Adjudication("panel"))
PAIRS = dataclasses.replace(
    study_of(PAIR, (Allocation("panel", "pairs", systems=tuple(s.id for s in SYSTEMS[:2])),)),
    raters=PLAIN.raters[:2],
    adjudication=Adjudication("panel", criteria=("p1",), steps=2),
)


def rate(
    store: Store, instrument: Instrument, task: Task, labels: dict[str, str], event: str = "rated"
) -> tuple[Rating, ...]:
    asked = fields(instrument, task)
    form = {f.name: labels.get(f.name, f.options[0]) for f in asked}
    found = ratings(read_form(asked, form), instrument, task, at=AT)
    store.revise(found, at=AT, event_id=f"{event} {task.id}")
    return found


def tasks_on(store: Store, item: str) -> list[Task]:
    found = [t for t in store.tasks() if t.item == item and t.purpose == "main"]
    return sorted(found, key=lambda t: t.rater)


def differing(store: Store, n_items: int = 2) -> None:
    """Both rate everything; on the first item they differ on the system of one answer and on the
    difficulty."""
    fill(store, STUDY, n_items)
    for n in range(n_items):
        one, other = tasks_on(store, f"canary-item-{n}")
        rate(store, MEDQADE, one, {})
        answer = next(i for i, a in enumerate(other.answers, 1) if a == one.answers[0])
        rate(
            store,
            MEDQADE,
            other,
            {f"correctness.a{answer}": "Richtig", "difficulty": "Schwer"} if n == 0 else {},
        )


def of(study: Study, store: Store, clock: Any) -> Adjudicating:
    return Adjudicating(study, store, clock.stamp)


def test_it_opens_by_the_rule_and_the_labels_before_stand(opened: Store, clock: Any) -> None:
    differing(opened)
    here = of(STUDY, opened, clock)
    before = opened.ratings()
    assert here.waiting() == 1
    assert here.open_all("owner") == 1 and here.open_all("owner") == 0
    events = [e for e in opened.events() if e.kind == OPENED]
    assert {e.subject for e in events} == {t.id for t in tasks_on(opened, "canary-item-0")}
    assert {tuple(e.data["fields"]) for e in events} == {("correctness.a1", "difficulty")}  # type: ignore[arg-type]
    assert [e.data["by"] for e in events] == ["owner", "owner"]
    mine = [t for t in opened.tasks() if t.purpose == "adjudication"]
    assert len({t.answers for t in mine}) == 1 and {t.rater for t in mine} == {R1, R2}
    # What was rated can no longer be corrected: others have seen it.
    desk = Desk(STUDY, opened, clock.stamp)
    [row] = [r for r in desk.line(R1) if r.task == tasks_on(opened, "canary-item-0")[0].id]
    assert row.is_completed
    assert opened.ratings() == before
    assert opened.verify_log() == ()


def test_a_task_under_review_is_closed_and_no_other(
    enter: Enter, opened: Store, clock: Any, monkeypatch: Any
) -> None:
    differing(opened)
    monkeypatch.setitem(STUDIES, "differ", STUDY)
    of(STUDY, opened, clock).open_all("owner")
    desk = Desk(STUDY, opened, clock.stamp)
    from konsil.store.engine.engine import writing
    from konsil.store.tasks import screens

    for item, closed in (("canary-item-0", True), ("canary-item-1", False)):
        task = tasks_on(opened, item)[0]
        with writing(opened.engine) as connection:
            public = screens.named(connection, task.id, R1, clock.stamp()).public
        sheet = desk.open(R1, public)
        assert sheet is not None and sheet.closed is closed
        form = {f"correctness.a{n}": "Richtig" for n in range(1, 6)} | {"difficulty": "Mittel"}
        done = desk.submit(R1, public, form, sheet.rev)
        assert done is not None and done.closed is closed


def test_keeping_and_changing_keeps_both_labels_and_the_log(opened: Store, clock: Any) -> None:
    differing(opened)
    here = of(STUDY, opened, clock)
    here.open_all("owner")
    before = {r.task: r for r in opened.ratings() if r.criterion == "difficulty"}
    rows = here.rows(R1)
    assert len(rows) == 2 and not any(r.decided for r in rows)
    [about] = [r.about for r in rows if "schwer" in r.question]
    assert here.decide(R1, about, {"label": "Mittel", "reason": " "}) == "reason"
    assert here.decide(R1, about, {"label": "Unsinn", "reason": "x"}) == "label"
    assert here.decide(R2, about, {"label": "Mittel", "reason": "x"}) == "unknown"
    assert here.decide(R1, about, {"label": "Mittel", "reason": "Einig in der Mitte"}) == ""
    assert here.decide(R1, about, {"label": "Mittel", "reason": "Einig in der Mitte"}) == ""
    [after] = [r for r in opened.ratings() if r.task not in before]
    assert (after.label, after.note, after.criterion) == (
        "Mittel",
        "Einig in der Mitte",
        "difficulty",
    )
    assert {
        r.task: r for r in opened.ratings() if r.task in before and r.criterion == "difficulty"
    } == before
    assert len([e for e in opened.events() if e.kind == DECIDED]) == 1
    here.decide(R1, about, {"label": "Einfach", "reason": "Doch nicht"})
    [again] = [r for r in opened.ratings() if r.task not in before]
    assert again.label == "Einfach"
    assert len([e for e in opened.events() if e.kind == DECIDED]) == 2
    assert [r.decided for r in here.rows(R1)].count(True) == 1
    assert opened.verify_log() == ()


def test_a_comparison_reads_alike_for_both_and_counts_by_distance(
    opened: Store, clock: Any
) -> None:
    fill(opened, PAIRS, 4)
    sides = []
    for n in range(4):
        one, other = tasks_on(opened, f"canary-item-{n}")
        sides.append(one.answers == other.answers)
        # The same answer is better for both on item 0 (in other words where it stood on the other
        # side).
        better = {"p1": "A much"}
        turned = {"p1": "B much"} if one.answers != other.answers else better
        near = {"p1": "A"} if one.answers == other.answers else {"p1": "B"}
        far = {"p1": "B"} if one.answers == other.answers else {"p1": "A"}
        rate(opened, PAIR, one, better)
        rate(opened, PAIR, other, (turned, near, far, far)[n])
    assert False in sides
    here = of(PAIRS, opened, clock)
    assert here.waiting() == 2
    here.open_all("owner")
    for rater, other in ((R1, R2), (R2, R1)):
        for row in here.rows(rater):
            mine = here.review(rater, row.about)
            assert mine is not None and len(mine.others) == 1
            [theirs] = mine.others
            [back] = [
                r
                for r in (here.review(other, o.about) for o in here.rows(other))
                if r is not None and r.item == mine.item
            ]
            assert (back.before, back.others[0].before) == (theirs.before, mine.before)
            assert [p.html for p in back.panes] == [p.html for p in mine.panes]
    # A reason names A and B: where the two saw them on other sides, that is said.
    reviews = [here.review(r, row.about) for r in (R1, R2) for row in here.rows(r)]
    turned_ = [v.is_turned for r in reviews if r is not None for v in (*r.others, r)]
    assert turned_.count(True) > 0 or all(sides[2:])


def test_waiting_for_all_who_rate_the_same(opened: Store, clock: Any) -> None:
    fill(opened, STUDY, 1)
    one, other = tasks_on(opened, "canary-item-0")
    rate(opened, MEDQADE, one, {})
    assert of(STUDY, opened, clock).waiting() == 0
    rate(opened, MEDQADE, other, {"difficulty": "Schwer"})
    assert of(STUDY, opened, clock).waiting() == 1


@pytest.mark.parametrize(("abstentions", "n"), [(False, 0), (True, 1)])
def test_an_abstention_differs_where_the_protocol_says_so(
    opened: Store, clock: Any, abstentions: bool, n: int
) -> None:
    study = dataclasses.replace(
        STUDY, adjudication=Adjudication("panel", ("correctness",), abstentions=abstentions)
    )
    fill(opened, study, 1)
    one, other = tasks_on(opened, "canary-item-0")
    rate(opened, MEDQADE, one, {"difficulty": "Schwer"})
    rate(opened, MEDQADE, other, {"correctness.a1": "Keine Angabe"})
    assert of(study, opened, clock).waiting() == n


# The end of a round -------------------------------------------------------------------------------


def decide_all(here: Adjudicating, rater: str, reason: str = "Einig") -> None:
    for row in here.rows(rater):
        review = here.review(rater, row.about)
        assert review is not None
        assert here.decide(rater, row.about, {"label": review.label, "reason": reason}) == ""


def test_after_a_round_is_closed_nothing_in_it_changes(opened: Store, clock: Any) -> None:
    differing(opened)
    here = of(STUDY, opened, clock)
    assert not here.close("owner"), "nothing is open"
    here.open_all("owner")
    decide_all(here, R1)
    n_before = len(opened.ratings()) - 2
    assert here.close("owner") and not here.close("owner")
    closed = [e for e in opened.events() if e.kind == CLOSED]
    assert {e.subject for e in closed} == {
        t.id for t in opened.tasks() if t.purpose == "adjudication"
    }
    assert [e.data for e in closed] == [
        {"round": 1, "screens": 2, "decided": 1, "ratings": n_before, "by": "owner"}
    ] * 2
    before, events = opened.ratings(), opened.events()
    for rater in (R1, R2):
        for row in here.rows(rater):
            assert row.closed
            review = here.review(rater, row.about)
            assert review is not None and review.closed
            assert here.decide(rater, row.about, {"label": "Mittel", "reason": "Doch"}) == "closed"
    assert (opened.ratings(), opened.events()) == (before, events)
    assert opened.verify_log() == ()
    [sentence] = closing_sentences(events)
    assert (
        sentence
        == f"Round 1 of the adjudication was closed at {clock.stamp()}, after {n_before} ratings"
        " had been collected; 1 of its 2 tasks had a decision."
    )


def test_what_is_opened_after_a_round_is_a_round_of_its_own(opened: Store, clock: Any) -> None:
    differing(opened)
    here = of(STUDY, opened, clock)
    here.open_all("owner")
    here.close("owner")
    rate(
        opened,
        MEDQADE,
        tasks_on(opened, "canary-item-1")[1],
        {"difficulty": "Schwer"},
        event="corrected",
    )
    clock.pass_(60)
    assert here.open_all("owner") == 1
    [fresh] = [row for row in here.rows(R1) if not row.closed]
    assert len(here.rows(R1)) == 3
    assert here.decide(R1, fresh.about, {"label": "Mittel", "reason": "Nun gut"}) == ""
    with reading(opened.engine) as connection:
        first, second = adjudications.rounds(connection)
    assert (first.number, first.n_decided, bool(first.closed_at)) == (1, 0, True)
    assert (second.number, second.n_decided, second.closed_at) == (2, 1, "")
    assert {s.item for s in second.screens} == {"canary-item-1"}
    here.close("owner")
    assert [str(s).split(" was")[0] for s in closing_sentences(opened.events())] == [
        "Round 1 of the adjudication",
        "Round 2 of the adjudication",
    ]


# Over HTTP ----------------------------------------------------------------------------------------


def test_the_pages_from_opening_to_a_decision(
    enter: Enter, opened: Store, clock: Any, monkeypatch: Any
) -> None:
    differing(opened)
    note_person(opened, Person(R2, "Dr. Zweite"))
    monkeypatch.setitem(STUDIES, "differ", STUDY)
    owner = enter("differ", who="owner", role="owner", filled_already=True)
    assert "Noch nicht geöffnete Abweichungen" in owner.get("/office/adjudication").text
    assert owner.post("/office/adjudication").status_code == 200
    rater = enter("differ", who=R1, filled_already=True)
    assert rater.get("/next").url.path == "/finished"
    assert "Bei 2 Fragen weichen Sie und andere voneinander ab." in rater.html
    names = re.findall(r'href="(/adjudication/[0-9a-f]{20})"', rater.get("/adjudication").text)
    assert len(names) == 2 and rater.html.count("noch offen") == 2
    for path in names:
        html = rater.get(path).text
        assert "Eine andere Person" in html and "Dr. Zweite" not in html
        assert not re.search(r"canary-(system|family|answer|item|rater)", html), (
            "no identifier of a record"
        )
        assert len(html) < 60_000
    assert rater.post(names[0], {"label": "Unsinn", "reason": "x"}).status_code == 422
    assert "Bitte wählen Sie eine Bewertung." in rater.html
    label = re.search(r'value="([^"]+)" checked', rater.get(names[0]).text)
    assert label is not None
    assert rater.post(names[0], {"label": label[1]}).status_code == 422
    assert "Bitte schreiben Sie, warum" in rater.html
    assert (
        rater.post(names[0], {"label": label[1], "reason": "Weil <b>so</b>"}).url.path == names[1]
    )
    other = enter("differ", who=R2, filled_already=True)
    texts = [
        other.get(p).text
        for p in re.findall(r'href="(/adjudication/[^"]+)"', other.get("/adjudication").text)
    ]
    assert sum("Weil &lt;b&gt;so&lt;/b&gt;" in text for text in texts) == 1
    assert other.get(names[0]).status_code == 404, "another's"
    assert other.post(names[0], {"label": label[1], "reason": "x"}).status_code == 404
    # The owner closes the round while a page of it is open.
    rater.get(names[1])
    assert "Runde 1: 0 von 2 Aufgaben entschieden" in owner.get("/office/adjudication").text
    assert owner.post("/office/adjudication", {"do": "close"}).status_code == 200
    assert "Runde schließen" not in owner.html and "geschlossen am" in owner.html
    late = rater.post(names[1], {"label": label[1], "reason": "Zu spät"})
    assert late.status_code == 409
    assert "Ihre Eingaben wurden nicht gespeichert:" in late.text and "Zu spät" in late.text
    assert (
        "<textarea" not in rater.get(names[0]).text and "Weil &lt;b&gt;so&lt;/b&gt;" in rater.html
    )
    assert "weichen Sie und andere" not in rater.get("/finished").text
    assert rater.get("/adjudication").text.count("geschlossen, nur noch lesbar") == 2


def test_names_are_shown_where_the_protocol_says_so(
    enter: Enter, opened: Store, clock: Any, monkeypatch: Any
) -> None:
    differing(opened)
    note_person(opened, Person(R2, "Dr. Zweite"))
    shown = dataclasses.replace(STUDY, adjudication=Adjudication("panel", names="shown"))
    here = of(shown, opened, clock)
    here.open_all("owner")
    review = here.review(R1, here.rows(R1)[0].about)
    assert review is not None and [v.name for v in review.others] == ["Dr. Zweite"]
    hidden = of(STUDY, opened, clock).review(R1, here.rows(R1)[0].about)
    assert hidden is not None and [v.name for v in hidden.others] == [""]


def test_only_owners_open_and_see_how_many(
    enter: Enter, opened: Store, clock: Any, monkeypatch: Any
) -> None:
    differing(opened)
    monkeypatch.setitem(STUDIES, "differ", STUDY)
    for role in ("coordinator", "analyst", "curator"):
        browser = enter("differ", who=role, role=role, filled_already=True)
        assert browser.get("/office/adjudication").status_code == 404
        assert browser.post("/office/adjudication").status_code == 404
    office = enter("differ", who="coordinator", role="coordinator", filled_already=True)
    before = office.get("/office").text
    of(STUDY, opened, clock).open_all("owner")
    after = office.get("/office").text
    assert strip(before) == strip(after), "how many disagree is an outcome"
    assert not [t for t in opened.tasks() if t.purpose == "adjudication" and t.slot != t.id]


def strip(html: str) -> Sequence[str]:
    return re.findall(r"\d+", re.sub(r'value="[^"]*"', "", html))
