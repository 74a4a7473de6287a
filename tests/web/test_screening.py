"""Going through a pool of items on the pages: one mechanism with the command's, several people,
nothing given away."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from konsil.prepare import (
    Preparation,
    Screening,
    decided_of,
    last_screened,
    screen,
    screening_event,
)
from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.web.app.app import create_app
from konsil.web.curation.passages import runs, sections
from konsil.web.curation.pool import PAGE, Pool
from konsil.web.site.site import Options

from .both import opened, server  # noqa: F401 - fixtures
from .conftest import AT, STUDIES, URL, Clock, hurried, visits

STATEMENTS = ("The course is rare.", "Complete <details>.")
ITEMS = (
    Item(
        "c1",
        "# Course\nMrs Miller had a fever.\n\nOutcome:\nShe <b>recovered</b>.",
        "Malaria",
        ("Plasmodium",),
    ),
    Item("c2", "Which dose at 100% & 50_mg?"),
    Item("c3", "And what about children? Ödeme, ÖDEM."),
    Item("c3:0", "A version of another case", case="c3"),
)
Come = Callable[..., Any]


def study(criteria: tuple[str, ...] = STATEMENTS, undecided: Any = "kept") -> Any:
    import dataclasses

    return dataclasses.replace(
        STUDIES["clexeval"],
        prepare=Preparation(screen=Screening(criteria=criteria, undecided=undecided)),
        language="en",
    )


def look(store: Store, spec: Screening | None) -> None:
    """As the command does it: rules look, what people decided stands."""
    assert spec is not None
    events = store.events()
    decided, seen = decided_of(events)
    pool = [item for item in store.items() if item.case is None]
    made, _ = screen(spec, pool, decided)
    event = screening_event(made, last_screened(events)[0] + 1, AT)
    event = type(event)(event.id, event.kind, event.subject, AT, dict(event.data) | {"seen": seen})
    store.add(Batch(events=[event]), source="screen", at=AT)


@pytest.fixture
def come(opened: Store, clock: Clock) -> Iterator[Come]:
    opened.add(
        Batch(items=ITEMS, answers=[Answer("canary-answer", "c1", "canary-system-1", "canary")]),
        source="t",
        at=AT,
    )
    app = create_app(study(), opened, Options(url=URL, tries_a_minute=500), clock=clock)
    with visits(app, opened) as enter:
        yield enter


def met(*which: int) -> dict[str, str]:
    return {f"met.{n}": STATEMENTS[n - 1] for n in which}


def standing(store: Store) -> dict[str, str]:
    return decided_of(store.events())[0]


# Deciding -----------------------------------------------------------------------------------------


def test_from_the_link_to_the_last_item(come: Come, opened: Store) -> None:
    look(opened, study().prepare.screen)
    browser = come()
    assert "/office/screening" in browser.html, "a curator begins there"
    html = browser.get("/office/screening?standing=suspected").text
    assert ["item=c1&" in html, "item=c2&" in html, "item=c3&" in html] == [True, False, True]
    assert "c3:0" not in browser.get("/office/screening").text, "versions are no items of the pool"
    recall = "70 of 120 made-up questions with identifiers (95% CI, 49 % to 67 %)"
    assert recall in browser.get("/office/screening").text
    html = browser.get("/office/screening/item?item=c1&standing=suspected").text
    assert '<mark class="evidence">Mrs Miller</mark>' in html
    assert "<h2>Course</h2>" in html
    assert "<h2>Outcome</h2>" in html
    assert "She &lt;b&gt;recovered&lt;/b&gt;." in html
    form = {"item": "c1", "seen": "0", "standing": "suspected"}
    got = browser.post(
        "/office/screening/item", {**form, "decision": "out", "reason": " names  a patient "}
    )
    assert got.url.params["item"] == "c3", "on to the next one under the same filter"
    assert standing(opened) == {"c1": "names a patient"}
    got = browser.post(
        "/office/screening/item",
        {"item": "c3", "seen": "0", "standing": "suspected", "decision": "keep", **met(1, 2)},
    )
    assert got.url.path == "/office/screening"
    assert standing(opened) == {"c1": "names a patient", "c3": "keep"}
    assert last_screened(opened.events())[1].out == {"names a patient": ["c1"]}  # type: ignore[union-attr]
    assert opened.verify_log() == ()


def test_what_stands_in_the_way_is_said_and_nothing_typed_is_lost(
    come: Come, opened: Store
) -> None:
    browser = come()
    browser.get("/office/screening/item?item=c2")
    form = {"item": "c2", "seen": "0", "note": "my <note>", **met(1)}
    got = browser.post("/office/screening/item", {**form, "decision": "keep"})
    assert got.status_code == 422
    assert "only if every statement applies" in got.text
    assert 'value="The course is rare." checked' in got.text
    assert "my &lt;note&gt;" in got.text
    browser.post("/office/screening/item", {**form, "decision": "out"})
    assert standing(opened) == {"c2": "not: Complete <details>."}, (
        "the first statement that does not hold"
    )
    got = browser.post(
        "/office/screening/item", {**form, "item": "c3", "decision": "out", **met(1, 2)}
    )
    assert "Please state the reason for exclusion" in got.text
    assert (
        browser.post(
            "/office/screening/item", {**form, "item": "c3", "decision": "dance"}
        ).status_code
        == 422
    )
    assert (
        browser.post(
            "/office/screening/item", {**form, "item": "nobody", "decision": "out"}
        ).status_code
        == 200
    )
    assert set(standing(opened)) == {"c2"}


def test_the_second_of_two_people_is_told_and_all_is_kept(come: Come, opened: Store) -> None:
    look(opened, study().prepare.screen)
    ada, ben = come("ada"), come("ben")
    for one in (ada, ben):
        one.get("/office/screening/item?item=c1")
    ada.post("/office/screening/item", {"item": "c1", "seen": "0", "decision": "keep", **met(1, 2)})
    got = ben.post(
        "/office/screening/item",
        {"item": "c1", "seen": "0", "decision": "out", "reason": "too short"},
    )
    assert got.status_code == 422
    assert "ada decided in the meantime: kept" in got.text
    assert standing(opened) == {"c1": "keep"}
    assert 'name="seen" value="1"' in got.text
    ben.post(
        "/office/screening/item",
        {"item": "c1", "seen": "1", "decision": "out", "reason": "too short"},
    )
    assert standing(opened) == {"c1": "too short"}
    ada.get("/office/screening/item?item=c1")
    ada.post("/office/screening/item", {"item": "c1", "seen": "2", "decision": "undo"})
    assert standing(opened) == {}
    assert last_screened(opened.events())[1].reasons()["c1"] == "identifier", (
        "what the rules say holds again"
    )  # type: ignore[union-attr]
    html = ada.get("/office/screening/item?item=c1").text
    assert [html.index(word) for word in ("taken back", "too short")] == sorted(
        html.index(word) for word in ("taken back", "too short")
    )
    assert "ben" in html


def test_once_a_plan_is_drawn_nothing_changes(
    desk: Callable[..., Any], opened: Store, clock: Clock
) -> None:
    desk("clexeval")
    pool = Pool(study(), opened, clock.stamp)
    assert pool.decide("canary-item-0", "out", by="ada", base_number=0, reason="x") == "planned"
    assert standing(opened) == {}


def test_search_takes_signs_for_what_they_are(come: Come) -> None:
    browser = come()
    for words, hits in (
        ("100%", ["c2"]),
        ("50_MG", ["c2"]),
        ("5%g", []),
        ("malaria FEVER", ["c1"]),
        ("c3", ["c3"]),
        ("ödeme", ["c3"]),
        ("Ödem", ["c3"]),
    ):
        html = (
            browser.get(
                "/office/screening",
            )
            and browser.client.get("/office/screening", params={"words": words}).text
        )
        assert [c for c in ("c1", "c2", "c3") if f"<strong>{c}</strong>" in html] == hits, words


# Who may ------------------------------------------------------------------------------------------


def test_a_curator_sees_no_rating_and_no_system(come: Come) -> None:
    browser = come()
    for path in ("/office/screening", "/office/screening/item?item=c1", "/"):
        assert "canary" not in browser.get(path).text, path
    for path in (
        "/office",
        "/office/download",
        "/office/signs",
        "/office/log",
        "/office/invitations",
        "/next",
    ):
        assert browser.get(path).status_code == 404, path
    rater = come("canary-rater-1", "rater")
    assert rater.get("/office/screening").status_code == 404
    assert rater.get("/office/screening/item?item=c1").status_code == 404


def test_without_a_screening_there_is_nothing_to_decide(enter: Callable[..., Any]) -> None:
    browser = enter(who="ada", role="curator")
    assert "sieht keine Sichtung ihrer Fragen vor" in browser.get("/office/screening").text
    assert browser.get("/office/screening/item?item=canary-item-1").url.path == "/office/screening"


# Many ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_thousand_are_paged_and_quick(tmp_path: Path, empty: Path, clock: Clock) -> None:
    shutil.copyfile(empty, tmp_path / "konsil.db")
    with Store.open(tmp_path) as store:
        hurried(store)
        store.add(
            Batch(items=[Item(f"i{n:05}", f"Case {n} " + "x" * 500) for n in range(10_000)]),
            source="t",
            at=AT,
        )
        pool = Pool(study(criteria=()), store, clock.stamp)
        for n in range(30):
            assert (
                pool.decide(f"i{n:05}", "out", by="ada", base_number=0, reason=f"reason {n % 3}")
                == ""
            )
        began = time.thread_time()
        listed = pool.listed("undecided", page=200)
        assert (listed.n_matches, listed.pages, listed.page, len(listed.rows)) == (
            9_970,
            200,
            200,
            20,
        )
        assert pool.next_after("i00029", "undecided") == "i00030"
        assert pool.next_after("i09999", "undecided") == "i00030", (
            "at the end it goes on at the beginning"
        )
        assert pool.listed("out", "reason 1").n_matches == 10
        assert pool.listed(words="case 9999 ").n_matches == 1
        assert time.thread_time() - began < 3
        assert len(pool.listed().rows) == PAGE


# Parts --------------------------------------------------------------------------------------------


def test_texts_are_cut_letter_for_letter() -> None:
    text = "fever and cough"
    assert [(r.text, r.of) for r in runs(text, [(0, 15), (0, 5), (6, 9)])] == [
        ("fever", (0, 1)),
        (" ", (0,)),
        ("and", (0, 2)),
        (" cough", (0,)),
    ]
    assert "".join(r.text for r in runs(text, [(-3, 99), (4, 4)])) == text
    assert runs("", []) == []


def test_headings_of_a_report() -> None:
    text = (
        "Before.\n## Demographics ##\nA man.\n**Course**\nLong: but no"
        " heading.\nOutcome:\nWell.\n\n- point"
    )
    assert [(s.heading, s.text) for s in sections(text)] == [
        ("", "Before."),
        ("Demographics", "A man."),
        ("Course", "Long: but no heading."),
        ("Outcome", "Well.\n\n- point"),
    ]


def test_what_a_model_suspects_is_told_as_such(opened: Store, clock: Clock) -> None:
    from konsil.prepare import Finding

    opened.add(Batch(items=ITEMS), source="t", at=AT)
    spec = Screening()
    suspected = {"c2": Finding("no question for a decision", by_model=True)}
    made, _ = screen(spec, ITEMS[:3], {}, suspected=suspected)
    opened.add(Batch(events=[screening_event(made, 1, AT)]), source="t", at=AT)
    one = Pool(study(criteria=()), opened, clock.stamp).review("c2")
    assert one is not None
    assert (one.by_model, one.standing, one.earlier_reasons) == (
        "no question for a decision",
        "suspected",
        [one.by_model],
    )
    assert one.quoted == "", "no reply is at hand"


def test_what_a_model_quotes_is_shown_and_marked(come: Come, opened: Store) -> None:
    from konsil.prepare import Finding
    from konsil.records import Call
    from konsil.store.calls.calls import Calls

    def said(work: str, subject: str, reason: str, quote: str, at: str = AT) -> Call:
        text = f'Here it is:\n```json\n{{"reason": "{reason}", "evidence": "{quote}",}}\n```'
        reply = {"finish": "stop", "text": text}
        return Call(
            work,
            1,
            "prepare",
            "screen",
            subject,
            "k",
            "fake",
            "m",
            "ok",
            1,
            200,
            reply=reply,
            at=at,
        )

    reason = "no question for a decision"
    suspected = {name: Finding(reason, by_model=True) for name in ("c2", "c3")}
    made, _ = screen(Screening(rules=()), ITEMS[:3], {}, suspected=suspected)
    opened.add(Batch(events=[screening_event(made, 1, AT)]), source="t", at=AT)
    Calls(opened).add(
        [
            said("w1", "c2", reason, "Which dose", "2026-01-01T00:00:00Z"),
            said("w2", "c2", reason, "100% & 50_mg", "2026-01-02T00:00:00Z"),
            said("w3", "c2", "follow-up", "dose", "2026-01-03T00:00:00Z"),
            said("w4", "c3", reason, "words of its own"),
        ]
    )
    browser = come()
    html = browser.get("/office/screening/item?item=c2").text
    assert html.count('<mark class="evidence">100% &amp; 50_mg</mark>') == 2, (
        "in the text, and beside the reason"
    )
    assert html.count('class="evidence"') == 2, (
        "what an earlier reply, or one for another reason, quoted is not shown"
    )
    html = browser.get("/office/screening/item?item=c3").text
    assert "flagged by a model" in html
    assert "words of its own" not in html, "what is not in the text is no quotation"


def test_what_is_remembered_is_what_is_stored(opened: Store, clock: Clock) -> None:
    """Two desks, each seeing the other's decisions, and one that reads everything anew."""
    opened.add(Batch(items=ITEMS), source="t", at=AT)
    look(opened, study().prepare.screen)
    one, other = (Pool(study(criteria=()), opened, clock.stamp) for _ in range(2))
    steps = (
        ("c1", "out"),
        ("c2", "out"),
        ("c1", "undo"),
        ("c3", "keep"),
        ("c1", "keep"),
        ("c3", "undo"),
        ("c2", "undo"),
    )
    for number, (item, decision) in enumerate(steps):
        desk = (one, other)[number % 2]
        seen = desk.stand().last[item].number if item in desk.stand().last else 0
        assert desk.decide(item, decision, by="ada", base_number=seen, reason="short") == ""
        anew = Pool(study(criteria=()), opened, clock.stamp).stand()
        assert one.stand() == other.stand() == anew
    assert one.stand().suspected == {"c3": "follow-up"}
