"""Practice on the pages: handed in, a screen shows once more with what is suggested, and then the
work begins."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, assign
from konsil.records import Answer, Item, Rater, System
from konsil.store import Batch, Store
from konsil.store.people.access import Access
from konsil.study import Study
from konsil.study.sections.practice import Explanation
from konsil.web.app.app import create_app
from konsil.web.rating.rating_service import Desk
from konsil.web.site.site import Options

AT = "2025-03-01T12:00:00Z"
FORM = Instrument(
    "form", (Criterion("right", "Is it right?", Scale(("no", "yes"), abstain="unsure")),)
)
WHY = Explanation("p1", "right", "no", "The dose is ten times too high.", "s2")
STUDY = Study(
    "A study",
    7,
    instruments=(FORM,),
    systems=(System("s1", "f"), System("s2", "g")),
    raters=(Rater("r1", "panel"),),
    plan=(
        Allocation("panel", "form", items="practice", purpose="practice"),
        Allocation("panel", "form", items="core"),
    ),
    explanations=(WHY,),
)


def filled(store: Store) -> None:
    what = (Item("p1", "Practice?", sets=("practice",)), Item("q1", "Question?", sets=("core",)))
    said = tuple(
        Answer(f"{i.id}:{s.id}", i.id, s.id, f"of {s.id}") for i in what for s in STUDY.systems
    )
    tasks = assign(
        STUDY.plan,
        items=what,
        answers=said,
        raters=STUDY.raters,
        instruments=STUDY.instruments,
        seed=STUDY.seed,
    )
    store.add(
        Batch(items=what, answers=said, raters=STUDY.raters, tasks=tasks), source="test", at=AT
    )


def test_a_practice_explains_itself_once_it_is_handed_in(
    opened: Store, clock: Callable[..., Any]
) -> None:
    filled(opened)
    desk = Desk(STUDY, opened, clock.stamp)  # type: ignore[attr-defined]
    public = desk.next_task("r1")
    before = desk.open("r1", public)
    assert before.question == "Practice?", "practice comes first"
    assert before.practice
    assert not before.explained
    assert not any(a.explanation for g in before.everything for a in g.questions), (
        "not before it is handed in"
    )
    done = desk.submit("r1", public, {"right.a1": "yes", "right.a2": "yes"}, before.rev)
    assert done.is_stored
    assert done.explains
    again = desk.submit("r1", public, {"right.a1": "no", "right.a2": "yes"}, done.rev)
    assert not again.explains, "once, so that nobody goes round in circles"
    after = desk.open("r1", public)
    assert after.explained
    assert after.closed, "it takes no more answers"
    why = {
        pane.html: [(a.suggested, a.explanation) for g in pane.groups for a in g.questions]
        for pane in after.panes
    }
    assert why == {
        "<p>of s1</p>\n": [("", "")],
        "<p>of s2</p>\n": [("no", WHY.text)],
    }, "at its answer, not its letter"
    main = desk.open("r1", desk.next_task("r1"))
    assert main.question == "Question?"
    assert not main.practice


def test_after_a_practice_its_page_comes_once_more(
    opened: Store, clock: Callable[..., Any]
) -> None:
    filled(opened)
    url = "http://testserver"
    client = TestClient(create_app(STUDY, opened, Options(url=url), clock=clock), base_url=url)
    client.headers["accept-language"] = "de"
    secret = Access(opened).invite("r1", "rater", at=AT, expires_at="2099-01-01T00:00:00Z")

    def post(path: str, html: str, data: dict[str, str]) -> Any:
        csrf = re.search(r'name="csrf" value="([^"]*)"', html)
        return client.post(
            path, data={"csrf": csrf[1] if csrf else "", **data}, headers={"origin": url}
        )

    come = client.get(f"/come/{secret}")
    post(f"/come/{secret}", come.text, {})
    page = client.get("/next")
    assert "Übung, zählt nicht" in page.text
    assert WHY.text not in page.text
    path = re.search(r'action="(/task/[^"/]+)"', page.text)[1]  # type: ignore[index]
    explained = post(path, page.text, {"right.a1": "no", "right.a2": "no", "base_rev": "0"})
    assert explained.url.path == path
    assert WHY.text in explained.text
    assert explained.text.count("✓") == 1
    assert (
        explained.text.count("<fieldset")
        == len(re.findall(r"<fieldset[^>]* disabled\b", explained.text))
        == 2
    )
    assert "Question?" in client.get("/next").text
    client.close()


def test_a_practice_without_explanations_goes_straight_on(
    opened: Store, clock: Callable[..., Any]
) -> None:
    filled(opened)
    desk = Desk(dataclasses.replace(STUDY, explanations=()), opened, clock.stamp)  # type: ignore[attr-defined]
    public = desk.next_task("r1")
    assert not desk.submit("r1", public, {"right.a1": "yes", "right.a2": "yes"}, 0).explains
    assert not desk.open("r1", public).closed
