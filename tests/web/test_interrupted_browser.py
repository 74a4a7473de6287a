"""A server that was away is noticed at once; a batch closed under an open page tells what it did
not take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.store.tasks import batches

from .browsers import in_a_browser
from .desks import AT, OpenDesk, open_desk

pytestmark = in_a_browser

GRADES = Scale(("bad", "fair", "good"), level="ordinal")
FORM = Instrument(
    "form",
    (
        Criterion("good", "Is it good?", GRADES, "item"),
        Criterion("why", "Why?", Scale(kind="text"), "item"),
    ),
    "# Codebook\n\nGood is *good*.",
)
HEADINGS = "# One\n\nText.\n\n### Two\n\nMore text."


@pytest.fixture
def desk(chromium: Any, tmp_path: Path) -> Iterator[OpenDesk]:
    with open_desk(chromium, tmp_path, FORM, text=HEADINGS, size=(1366, 768)) as made:
        made.come()
        yield made


def test_the_servers_return_is_noticed_within_three_seconds(desk: OpenDesk) -> None:
    away = [True]

    def away_or_there(route: Any) -> None:
        route.abort() if away[0] else route.continue_()

    # The page's clock is the test's, so that a busy machine decides nothing.
    desk.page.clock.install()
    desk.page.reload()
    desk.page.wait_for_selector("html.scripted")
    desk.page.route("**/save", away_or_there)
    desk.page.keyboard.press("2")
    for _ in range(8):
        with desk.page.expect_event("requestfailed"):
            desk.page.clock.run_for(3000)
    desk.page.wait_for_selector("#badge[data-state=offline]")
    away[0] = False
    desk.page.clock.run_for(3000)
    desk.saved()


def test_try_now_tries_now_and_goes_on(desk: OpenDesk) -> None:
    task = desk.page.url
    desk.page.clock.install()
    desk.page.reload()
    desk.page.wait_for_selector("html.scripted")
    assert not desk.page.is_visible("#try")
    desk.page.route("**/task/**", lambda route: route.abort())
    desk.page.keyboard.press("2")
    desk.page.keyboard.press("Control+Enter")
    desk.page.wait_for_selector("#away:not([hidden])")
    desk.page.unroute("**/task/**")
    desk.page.click("#try")
    desk.page.wait_for_url(lambda url: url != task)
    assert desk.label("good") == "fair"


@pytest.mark.parametrize("key", ["Tab", "Control+Enter"])
def test_a_batch_closed_under_an_open_page_tells_what_was_not_stored(
    desk: OpenDesk, key: str
) -> None:
    desk.page.keyboard.press("3")
    desk.saved()
    batches.close(desk.store, "", "", at=AT)
    desk.page.locator("[name='~2']").fill("It names the dose.")
    desk.page.keyboard.press(key)
    desk.page.wait_for_selector("#lost:not([hidden])")
    said = str(desk.page.text_content("#lost"))
    assert "Why? It names the dose." in said
    assert "Is it good?" not in said, "that was saved before"
    assert not desk.store.ratings()


def test_without_a_script_a_closed_batch_tells_what_was_not_stored(
    chromium: Any, tmp_path: Path
) -> None:
    with open_desk(chromium, tmp_path, FORM, java_script_enabled=False) as desk:
        page = desk.page
        page.goto(desk.link())
        page.click("button.go")
        page.locator("[name='~1'][value=good]").check(force=True)
        page.fill("[name='~2']", "It names the dose.")
        batches.close(desk.store, "", "", at=AT)
        page.click("#go")
        said = str(page.text_content("#lost"))
        assert "Is it good? good" in said
        assert "Why? It names the dose." in said


def test_the_codebook_stands_beside_the_page(desk: OpenDesk) -> None:
    for width in (1366, 1920):
        desk.page.set_viewport_size({"width": width, "height": 768})
        desk.page.keyboard.press("g")
        desk.page.wait_for_selector("#codebook:popover-open")
        book = desk.page.locator("#codebook").bounding_box()
        for other in desk.page.locator(
            ".option, #go, .pane, .question, .asked, header a, header button"
        ).all():
            if other.is_visible():
                box = other.bounding_box()
                assert box["x"] + box["width"] <= book["x"] + 0.5, (width, other.text_content())
        desk.page.keyboard.press("Escape")


def test_an_answers_headings_follow_its_own(chromium: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    form = Instrument("form", (Criterion("good", "Is it good?", GRADES),))
    with open_desk(chromium, tmp_path, form, text=HEADINGS) as desk:
        desk.come()
        levels = desk.page.eval_on_selector_all(
            ".pane h2, .pane h3, .pane h4", "all => all.map((one) => one.tagName)"
        )
        found = axe.run(
            desk.page, options={"runOnly": {"type": "rule", "values": ["heading-order"]}}
        )
    assert levels == ["H2", "H3", "H3"]
    assert not found["violations"]
