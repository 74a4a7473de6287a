"""The page of rewritten questions: both wordings with their differences, every verdict kept,
nothing too late."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from konsil.prepare import Preparation
from konsil.prepare.questions.rewriting import Rewriting, decisions, proposed_event
from konsil.records import Answer, Item
from konsil.store import Batch, Store
from konsil.store.engine.engine import reading
from konsil.store.people.access import Access, role_of
from konsil.store.tasks import screens
from konsil.web.app.app import create_app
from konsil.web.site.site import Options

from ..browsers import free_port, in_the_browser, served

URL = "http://testserver"
AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"
PAGE = "/office/rewriting"
ITEMS = (
    Item("q1", "pls dose of <b>apixaban</b>"),
    Item("q2", "Which dose?"),
    Item("q3", "hx of dvt"),
    Item("q4", "no reply for this"),
)
WORDED = {
    "q1": "Please, which dose of <b>apixaban</b>?",
    "q2": "Which dose?",
    "q3": "History of DVT?",
}
Come = Callable[..., Any]


@pytest.fixture
def come(opened: Store, studies: dict[str, Any], kit: Any) -> Iterator[Come]:
    study = dataclasses.replace(
        studies["medqade"], prepare=Preparation(rewrite=Rewriting(model="fake:"))
    )
    events = [proposed_event(item, text, f"w{item}", 1, AT) for item, text in WORDED.items()]
    opened.add(Batch(items=ITEMS, raters=study.raters, events=events), source="test", at=AT)
    app = create_app(study, opened, Options(url=URL, tries_a_minute=500), clock=kit.clock())
    clients = []

    def enter(role: str = "coordinator") -> Any:
        clients.append(TestClient(app, base_url=URL))
        browser = kit.browser(clients[-1])
        secret = Access(opened).invite(f"the {role}", role_of(role), at=AT, expires_at=LATER)
        browser.post(f"/come/{secret}")
        return browser

    yield enter
    for client in clients:
        client.close()


def _texts(store: Store) -> dict[str, str]:
    with reading(store.engine) as connection:
        found = [screens.item(connection, item.id) for item in ITEMS]
    return {item.id: item.text for item in found if item is not None}


def test_both_wordings_side_by_side_with_what_differs(come: Come) -> None:
    html = come().get(PAGE).text
    assert "<del>pls</del>" in html
    assert "<ins>Please, which</ins>" in html
    assert "&lt;b&gt;apixaban&lt;/b&gt;" in html
    assert "<b>apixaban" not in html
    assert "Frage q2" not in html, "there the model changed nothing"
    assert "Das Modell hat sie nicht neu formuliert" in html
    assert "Frage q2" in come().get(f"{PAGE}?list=same").text


def test_every_verdict_is_kept_and_shown(come: Come, opened: Store) -> None:
    office = come()
    office.get(PAGE)
    after = office.post(f"{PAGE}?list=open&page=1", {"item": "q1", "verdict": "accept"})
    assert "Zu Frage q1 gespeichert" in after.text
    assert after.text.count("autofocus") == 1
    office.post(PAGE, {"item": "q3", "verdict": "edit", "text": "Anamnese:\r\nTVT?"})
    office.post(PAGE, {"item": "q4", "verdict": "keep"})
    assert "Es ist nichts mehr zu entscheiden" in office.get(PAGE).text
    assert _texts(opened) == {
        "q1": WORDED["q1"],
        "q2": "Which dose?",
        "q3": "Anamnese:\nTVT?",
        "q4": "no reply for this",
    }
    held = decisions(opened.events())
    assert {item: one.verdict for item, one in held.items()} == {
        "q1": "accept",
        "q3": "edit",
        "q4": "keep",
    }
    assert {one.by for one in held.values()} == {"the coordinator"}
    decided = office.get(f"{PAGE}?list=decided").text
    assert all(
        word in decided for word in ("angenommen", "selbst formuliert", "unverändert gelassen")
    )
    office.post(PAGE, {"item": "q1", "verdict": "keep"})
    assert _texts(opened)["q1"] == ITEMS[0].text, "until it is answered it can be decided anew"


def test_what_cannot_be_is_said_and_changes_nothing(come: Come, opened: Store) -> None:
    office = come()
    office.get(PAGE)
    opened.add(
        Batch(answers=[Answer("a", "q1", "canary-system-1", "An answer.")]), source="answers", at=AT
    )
    for data, says in (
        ({"item": "q1", "verdict": "accept"}, "Ihr Wortlaut bleibt"),
        ({"item": "q4", "verdict": "accept"}, "keine Fassung zum Annehmen"),
        ({"item": "q3", "verdict": "edit", "text": "  "}, "Bitte schreiben Sie die Fassung"),
        ({"item": "q9", "verdict": "accept"}, "Ihr Wortlaut bleibt"),
        ({"item": "q3", "verdict": "delete"}, "Es wurde nichts gespeichert"),
        ({}, "Es wurde nichts gespeichert"),
    ):
        refused = office.post(PAGE, data)
        assert (refused.status_code, says in refused.text) == (422, True), data
    assert decisions(opened.events()) == {}
    assert "Frage q1" not in office.get(PAGE).text
    assert "schon beantwortet" in office.get(f"{PAGE}?list=decided").text


@pytest.mark.parametrize("page", ["0", "-1", "x", "99999999", "²"])
def test_odd_addresses_show_the_list(come: Come, page: str) -> None:
    assert "Frage q1" in come().get(f"{PAGE}?list=nothing&page={page}").text


def test_only_those_who_run_the_study(come: Come, enter: Come) -> None:
    assert come("owner").get(PAGE).status_code == 200
    assert come("analyst").get(PAGE).status_code == 404
    assert come("rater").get(PAGE).status_code == 404
    plain = enter(who="office", role="coordinator")
    html = plain.get(PAGE).text
    assert "werden keine Fragen neu formuliert" in html
    assert f'href="{PAGE}"' not in html, "no menu entry where the protocol asks for none"


def test_long_lists_have_pages(come: Come, opened: Store) -> None:
    more = [Item(f"r{n:02}", f"pls {n}") for n in range(45)]
    opened.add(Batch(items=more), source="more", at=AT)
    office = come()
    first, third = office.get(PAGE).text, office.get(f"{PAGE}?page=3").text
    assert len(re.findall(r"<article", first)) == 20
    assert "Seite 3 von 3" in third
    assert len(re.findall(r"<article", third)) == 8


@in_the_browser
def test_by_keys_alone_and_by_axe(
    opened: Store,
    studies: dict[str, Any],
    kit: Any,
    chromium: Any,
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    study = dataclasses.replace(
        studies["medqade"], prepare=Preparation(rewrite=Rewriting(model="fake:"))
    )
    events = [proposed_event(item, text, f"w{item}", 1, AT) for item, text in WORDED.items()]
    opened.add(Batch(items=ITEMS, raters=study.raters, events=events), source="test", at=AT)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    app = create_app(study, opened, Options(url=url, tries_a_minute=500), clock=kit.clock())
    found: list[Any] = []

    def complain(message: Any) -> None:
        if message.type == "error":
            found.append(message.text)

    with served(app, port):
        for language, scheme in (("de", "light"), ("en", "dark")):
            context = chromium.new_context(locale=language, color_scheme=scheme)
            page = context.new_page()
            page.on("console", complain)
            secret = Access(opened).invite(f"office {language}", "owner", at=AT, expires_at=LATER)
            page.goto(f"{url}/come/{secret}")
            page.click("button.go")
            for width, height in ((1280, 900), (390, 844), (320, 640)):
                page.set_viewport_size({"width": width, "height": height})
                page.goto(url + PAGE)
                page.locator("summary").first.click()
                found += [
                    (width, v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]
                ]
                wide = page.evaluate(
                    "document.documentElement.scrollWidth > document.documentElement.clientWidth"
                )
                found += [(width, "too wide")] if wide else []
        page.goto(url + PAGE)
        page.locator("button.go").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=status]")
        page.keyboard.press("Enter")  # the next question's button has the focus
        page.wait_for_selector("text=q3.")
        page.close()
    assert not found
    assert {item: one.verdict for item, one in decisions(opened.events()).items()} == {
        "q1": "accept",
        "q3": "accept",
    }


def test_a_warning_is_shown_and_must_be_answered(come: Come, opened: Store) -> None:
    office = come()
    page = office.post(PAGE, {"item": "q4", "verdict": "edit", "text": "Frau Schulze, 5 mg?"})
    assert page.status_code == 422
    assert "Bitte nennen Sie den Grund" in page.text
    assert "q4" not in decisions(opened.events())
    office.post(
        PAGE,
        {"item": "q4", "verdict": "edit", "text": "Frau Schulze, 5 mg?", "despite": "Erfunden."},
    )
    held = decisions(opened.events())["q4"]
    assert (held.verdict, held.despite) == ("edit", "Erfunden.")
    shown = office.get(f"{PAGE}?list=decided").text
    assert "<ins>Frau Schulze</ins>" in shown
    assert 'value="Erfunden."' in shown
