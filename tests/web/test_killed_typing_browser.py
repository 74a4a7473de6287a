"""The server dies amid a word and comes back: what is on the screen is stored, and the page goes on
by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from konsil.api import open_folder
from konsil.api.running.planning import make_plan
from konsil.records import Answer, Item
from konsil.store import Batch, Store

from .browsers import in_a_browser
from .test_browser import AT, Served

pytestmark = in_a_browser

PROTOCOL = """
title = "A study"
seed = 7
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Is the answer correct?"
scope = "item"
reason = true
scale = { labels = ["no", "yes"], abstain = "cannot judge" }
[[instruments.criteria]]
id = "dose"
question = "Which dose?"
scope = "item"
scale = { kind = "number", low = 0, high = 500, unit = "mg" }
[[instruments.criteria]]
id = "comment"
question = "Comment"
scope = "item"
scale = { kind = "text" }
[[instruments]]
id = "effort"
[[instruments.criteria]]
id = "load"
question = "How demanding was it?"
scope = "rater"
scale = { kind = "number", low = 0, high = 100 }
[[systems]]
id = "s"
[[raters]]
id = "r1"
panel = "panel"
[[plan]]
panel = "panel"
instrument = "form"
[[plan]]
panel = "panel"
instrument = "effort"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    with Store.open(tmp_path) as store:
        store.add(
            Batch(items=[Item("q", "Which?")], answers=[Answer("q:s", "q", "s", "So.")]),
            source="test",
            at=AT,
        )
    make_plan(open_folder(tmp_path))
    made = Served(tmp_path)
    made.start()
    yield made
    made.kill()


def type_and_lose_the_server(server: Served, page: Any, name: str, first: str, second: str) -> None:
    """Half of it is typed, the server is killed, the rest is typed, Enter is pressed, and the
    server comes back."""
    before = page.url
    field = page.locator(f'[name="{name}"]')
    field.focus()
    page.keyboard.type(first)
    server.kill()
    page.keyboard.type(second)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#away:not([hidden])")
    assert page.url == before
    server.start()
    page.wait_for_url(lambda url: url != before)


def stored(server: Served) -> dict[str, tuple[str | None, str]]:
    with Store.open(server.folder) as store:
        assert store.verify_log() == ()
        return {r.criterion: (r.label, r.note) for r in store.ratings()}


def test_amid_a_reason_a_number_a_text_and_a_survey(server: Served, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page = context.new_page()
    page.goto(server.link("r1"))
    page.click("button.go")
    page.wait_for_selector("html.scripted")
    task = page.url
    page.keyboard.press("1")
    page.locator("[name='~2']").fill("4")
    type_and_lose_the_server(server, page, "~1.reason", "It omits the renal", " dose")
    for name, first, second in (("~2", "1", "2,5"), ("~3", "Dangerous in", " CKD, 2 of 3 times")):
        page.goto(task)
        page.wait_for_selector("html.scripted")
        page.locator(f'[name="{name}"]').fill("")
        type_and_lose_the_server(server, page, name, first, second)
    page.wait_for_selector("html.scripted")
    type_and_lose_the_server(server, page, "~4", "7", "5")
    context.close()
    assert stored(server) == {
        "correct": ("no", "It omits the renal dose"),
        "dose": ("12.5", ""),
        "comment": ("Dangerous in CKD, 2 of 3 times", ""),
        "load": ("75", ""),
    }
