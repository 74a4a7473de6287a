"""Marking cases on the pages: one change at a time, two people at once, refused approvals, nothing
lost."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from konsil.prepare import Preparation, Screening
from konsil.prepare.cases.marking import Masking, last_markings, versions
from konsil.prepare.cases.masking import Mark
from konsil.records import Answer, Event, Item
from konsil.store import Batch, Store
from konsil.web.app.app import create_app
from konsil.web.curation.marks import Marks, following
from konsil.web.site.site import Options

from ..both import opened, server  # noqa: F401 - fixtures
from ..conftest import AT, STUDIES, URL, Clock, visits

TEXT = (
    "A man of 40 had <b>fever</b>.\r\nBiopsy 🩺 showed sarcoidosis. Löfgren syndrome is a"
    " sarcoidosis."
)
CASE = Item("c1", TEXT, "Sarcoidosis", ("Löfgren syndrome",))
ITEMS = (
    CASE,
    Item("c2", "Cough for weeks, then sarcoidosis.", "Sarcoidosis"),
    Item("c3", "Left out.", "x"),
)
Come = Callable[..., Any]


@pytest.fixture
def study() -> Any:
    prepare = Preparation(mask=Masking(), screen=Screening(("identifier",), undecided="kept"))
    return dataclasses.replace(STUDIES["clexeval"], prepare=prepare, language="en")


@pytest.fixture
def marks(study: Any, opened: Store, clock: Clock) -> Marks:
    opened.add(
        Batch(items=ITEMS, answers=[Answer("canary-a", "c1", "canary-system-1", "canary")]),
        source="t",
        at=AT,
    )
    return Marks(study, opened, clock.stamp)


@pytest.fixture
def come(study: Any, marks: Marks, opened: Store, clock: Clock) -> Iterator[Come]:
    app = create_app(study, opened, Options(url=URL, tries_a_minute=500), clock=clock)
    with visits(app, opened) as enter:
        yield enter


def held(store: Store, case: str = "c1") -> list[tuple[str, str, int]]:
    """Words, kind and rank of what is marked."""
    text = {item.id: item.text for item in ITEMS}[case]
    found = last_markings(store.events()).get(case)
    return (
        [(text[m.start : m.end], m.kind, m.rank) for m in found[1].marks]
        if found is not None
        else []
    )


def shown(html: str) -> str:
    """The narrative as a browser has it."""
    inside = re.search(r'id="narrative"[^>]*>(.*?)</div>', html, re.DOTALL)
    assert inside is not None
    text = re.sub(r"<[^>]*>", "", inside[1])
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'")


# One change at a time -----------------------------------------------------------------------------


@pytest.mark.slow
def test_from_the_first_mark_to_the_approval(come: Come, opened: Store) -> None:
    browser, other, seen = come(), come("ben"), 0

    def say(by: Any = browser, **form: str) -> Any:
        nonlocal seen
        got = by.post("/office/cases/mark", {"case": "c1", "seen": str(seen), **form})
        seen = int(re.search(r'name="seen" value="(\d+)"', got.text)[1])  # type: ignore[index]
        return got

    html = browser.get("/office/cases/mark?case=c1").text
    assert shown(html) == TEXT.replace("\r", ""), (
        "letter for letter, and no markup of the case's own"
    )
    start = TEXT.index("man of 40")
    assert (
        say(
            do="add", kind="demographic", start=str(start), end=str(start + 9), words="man of 40"
        ).status_code
        == 200
    )
    say(do="add", kind="diagnosis", words="SARCOIDOSIS", everywhere="1")
    say(do="add", kind="cue", words="fever")
    say(do="add", kind="cue", words="Biopsy 🩺")
    assert held(opened) == [
        ("man of 40", "demographic", 0),
        ("fever", "cue", 1),
        ("Biopsy 🩺", "cue", 2),
        ("sarcoidosis", "diagnosis", 0),
        ("sarcoidosis", "diagnosis", 0),
    ]
    place = f"{TEXT.index('Biopsy')}-{TEXT.index('Biopsy') + 8}"
    html = say(do="up", place=place).text
    assert ("Biopsy 🩺", "cue", 1) in held(opened)
    assert f'data-at="{TEXT.index("Biopsy")}"' in html
    html = say(do="word", place=place, replacement=" An   <exam> ").text
    assert '<ins class="m m-cue">An &lt;exam&gt;</ins>' in html
    say(do="join", place=place, rank="2")
    assert {rank for _, kind, rank in held(opened) if kind == "cue"} == {1}
    say(do="undo")
    assert ("Biopsy 🩺", "cue", 1) in held(opened)
    assert ("fever", "cue", 2) in held(opened)
    say(do="kind", place=place, kind="disease-specific")
    assert ("fever", "cue", 1) in held(opened)
    # Löfgren syndrome is left over: no approval without a reason.
    got = say(do="approve")
    assert got.status_code == 422
    assert "Not approved" in got.text
    assert "Löfgren" in got.text.split('id="found"')[1].split("</ul>")[0]
    got = say(do="approve", reason="Nobody knows that name.")
    assert got.status_code == 422
    assert "You marked this case. Please let another person" in got.text
    got = say(other, do="approve", reason="Nobody knows that name.")
    assert got.status_code == 200
    assert "Approved by ben." in got.text
    assert "Nobody knows that name." in got.text
    say(do="drop", place=place)
    assert not last_markings(opened.events())["c1"][1].approved, (
        "whoever changes a mark takes the approval back"
    )
    start = TEXT.index("Löfgren")
    say(do="add", kind="diagnosis", start=str(start), end=str(start + 16))
    assert "contains no less information than the previous version" in say(do="approve").text, (
        "there is one cue alone"
    )
    say(do="add", kind="cue", words="showed")
    assert say(other, do="approve").status_code == 200
    assert last_markings(opened.events())["c1"][1].despite == ""
    assert opened.verify_log() == ()


def test_versions_are_what_the_study_will_have(come: Come, opened: Store, marks: Marks) -> None:
    marks.change(
        "c1",
        {"do": "add", "kind": "diagnosis", "words": "sarcoidosis", "everywhere": "1"},
        by="a",
        base_number=0,
    )
    marks.change("c1", {"do": "add", "kind": "cue", "words": "fever"}, by="a", base_number=1)
    one = marks.case("c1")
    assert one is not None
    texts = {level: "".join(part.text for part, _ in parts) for level, parts in one.versions}
    assert texts == {i.strata["level"]: i.text for i in versions(CASE, one.marks)}
    left = ["".join(p.text for p, is_left in parts if is_left) for _, parts in one.versions]
    assert left[0] == ""
    assert all("Löfgren" in text for text in left[1:])


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        ({"do": "add", "kind": "cue", "words": "nowhere"}, "absent"),
        ({"do": "add", "kind": "cue", "start": "1", "end": "2"}, "absent"),
        ({"do": "add", "kind": "cue", "words": "of 40 had"}, "across"),
        ({"do": "add", "kind": "cue", "words": "man of 40"}, "twice"),
        ({"do": "add", "kind": "nonsense", "words": "fever"}, "unknown"),
        ({"do": "drop", "place": "1-2"}, "unknown"),
        ({"do": "word", "place": "nonsense"}, "unknown"),
        ({"do": "dance"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_what_cannot_be_done_changes_nothing(
    form: dict[str, str], fault: str, marks: Marks, opened: Store
) -> None:
    assert (
        marks.change(
            "c1", {"do": "add", "kind": "demographic", "words": "man of 40"}, by="a", base_number=0
        )
        == ""
    )
    before = opened.events()
    assert marks.change("c1", form, by="a", base_number=1) == fault
    assert opened.events() == before
    assert marks.change("nobody", {"do": "add"}, by="a", base_number=0) == "unknown"


def test_what_changes_nothing_leaves_no_trace(marks: Marks, opened: Store) -> None:
    assert (
        marks.change("c1", {"do": "add", "kind": "cue", "words": "fever"}, by="a", base_number=0)
        == ""
    )
    place = f"{TEXT.index('fever')}-{TEXT.index('fever') + 5}"
    assert (
        marks.change(
            "c1", {"do": "word", "place": place, "replacement": " "}, by="a", base_number=1
        )
        == ""
    )
    assert marks.change("c1", {"do": "up", "place": place}, by="a", base_number=1) == ""
    assert last_markings(opened.events())["c1"][0] == 1


# Two at once --------------------------------------------------------------------------------------


def test_the_second_of_two_is_told_and_can_do_it_all_the_same(come: Come, opened: Store) -> None:
    ada, ben = come("ada"), come("ben")
    for one in (ada, ben):
        one.get("/office/cases/mark?case=c1")
    form = {"case": "c1", "seen": "0", "do": "add", "kind": "cue"}
    ada.post("/office/cases/mark", {**form, "words": "fever"})
    got = ben.post("/office/cases/mark", {**form, "words": "Biopsy"})
    assert got.status_code == 409
    assert "ada changed this case in the meantime" in got.text
    assert held(opened) == [("fever", "cue", 1)]
    inside = got.text.split('role="alert"')[1].split("</form>")[0]
    again = dict(re.findall(r'name="(\w+)" value="([^"]*)"', inside))
    assert again.pop("csrf")
    assert again == {"case": "c1", "seen": "1", "do": "add", "kind": "cue", "words": "Biopsy"}
    ben.post("/office/cases/mark", again)
    assert held(opened) == [("fever", "cue", 1), ("Biopsy", "cue", 2)]
    past = ben.get("/office/cases/mark?case=c1").text.split('id="past"')[1]
    assert past.index("ben") < past.index("ada")


def test_what_is_sent_once_more_is_done_once(marks: Marks, opened: Store) -> None:
    """The answer was lost on its way, so the browser says it again: it is told that it is done."""
    form = {"do": "add", "kind": "diagnosis", "words": "sarcoidosis"}
    for _ in range(2):
        assert marks.change("c1", form, by="ada", base_number=0) == ""
    assert marks.change("c1", form, by="ben", base_number=0) == "crossed"
    assert marks.change("c1", form | {"words": "fever"}, by="ada", base_number=0) == "crossed"
    for _ in range(2):
        assert (
            marks.change("c1", {"do": "approve", "reason": "So be it."}, by="ben", base_number=1)
            == ""
        )
    assert (
        marks.change("c1", {"do": "approve", "reason": "Or not."}, by="ben", base_number=1)
        == "crossed"
    )
    assert [e.id for e in opened.events()] == ["marking-c1-1", "marking-c1-2"]


def test_another_narrative_is_not_marked_by_old_offsets(marks: Marks, opened: Store) -> None:
    data = {
        "number": 1,
        "case": "c2",
        "marks": [dataclasses.asdict(Mark(0, 5, "cue", 1))],
        "by": "a",
        "narrative": "old",
    }
    opened.add(Batch(events=[Event("marking-c2-1", "marking", "c2", AT, data)]), source="t", at=AT)
    one = marks.case("c2")
    assert one is not None
    assert (one.marks, one.number, one.state) == ((), 1, "unmarked")
    assert marks.change("c2", {"do": "approve"}, by="a", base_number=1) == "unknown"
    assert (
        marks.change(
            "c2", {"do": "add", "kind": "temporal", "words": "weeks"}, by="a", base_number=1
        )
        == ""
    )
    assert held(opened, "c2") == [("weeks", "temporal", 0)]


# How far ------------------------------------------------------------------------------------------


def test_the_list_says_how_far_each_case_is(come: Come, opened: Store, marks: Marks) -> None:
    browser = come()
    browser.get("/office/screening/item?item=c3")
    browser.post(
        "/office/screening/item", {"item": "c3", "seen": "0", "decision": "out", "reason": "short"}
    )
    from konsil.prepare import screen, screening_event

    made, _ = screen(Screening(("identifier",), undecided="kept"), ITEMS, {})
    opened.add(Batch(events=[screening_event(made, 1, AT)]), source="t", at=AT)
    marks.change(
        "c2", {"do": "add", "kind": "diagnosis", "words": "sarcoidosis"}, by="ada", base_number=0
    )
    assert [(row.case, row.state) for row in marks.cases()] == [
        ("c1", "unmarked"),
        ("c2", "marked"),
    ]
    assert following(marks.cases(), "c1") == "c2"
    assert following(marks.cases(), "c2") == "c1"
    html = browser.get("/office/cases").text
    assert "1 mark" in html
    # As a word: the letters of a random token may be these by chance.
    assert re.search(r"(?<![\w-])c3(?![\w-])", html) is None, "what is screened out is not marked"
    found = last_markings(opened.events())["c2"][1]
    opened.add(Batch(items=versions(ITEMS[1], found.marks)), source="mask", at=AT)
    assert [(row.case, row.state) for row in marks.cases()] == [("c1", "unmarked"), ("c2", "made")]
    assert marks.change("c2", {"do": "undo"}, by="ada", base_number=1) == "made"
    html = browser.get("/office/cases/mark?case=c2").text
    assert "part of the study already" in html
    assert '<button class="go"' not in html
    assert browser.get("/office/cases/mark?case=c2:0").url.path == "/office/cases", (
        "a version is no case"
    )


def test_who_may(come: Come, enter: Callable[..., Any]) -> None:
    browser = come()
    for path in ("/office/cases", "/office/cases/mark?case=c1"):
        assert "canary" not in browser.get(path).text, path
        assert come("canary-rater-1", "rater").get(path).status_code == 404
        assert come("stats", "analyst").get(path).status_code == 404
        assert come("office", "coordinator").get(path).status_code == 200
    without = enter(who="ada", role="curator")
    assert "werden keine Fälle maskiert" in without.get("/office/cases").text
    assert without.get("/office/cases/mark?case=canary-item-1").url.path == "/office/cases"
    assert without.get("/").url.path == "/office/cases"


def test_drugs_and_eponyms_that_no_mark_covers_are_shown_to_the_marker(
    come: Come, opened: Store
) -> None:
    browser = come()
    opened.add(
        Batch(items=[Item("c4", "Rituximab for Wegener's disease.", "GPA")]), source="t", at=AT
    )
    html = browser.get("/office/cases/mark?case=c4").text.split('id="found"')[1].split("</ul>")[0]
    assert [
        word in html
        for word in (">Rituximab<", "(drug", "Wegener&#39;s", "(eponym", 'value="disease-specific"')
    ] == [True] * 5
    assert html.count("may disclose the diagnosis") == 2
