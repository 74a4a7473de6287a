"""The focus rests on the question: no key that scrolls chooses anything, and digits choose as
quickly as ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale

from .browsers import in_a_browser
from .desks import OpenDesk, open_desk

pytestmark = in_a_browser

GRADES = Scale(("bad", "fair", "good"), level="ordinal", abstain="cannot judge")
FORM = Instrument(
    "form", tuple(Criterion(f"c{n}", f"The answer is good in {n}.", GRADES) for n in range(3))
)
TYPED = Instrument(
    "typed",
    (
        Criterion("dose", "Dose?", Scale(kind="number", low=0, high=500)),
        Criterion("why", "Why?", Scale(kind="text")),
    ),
)
LONG = "The patient should be assessed for volume status, renal function and potassium. " * 80
FOCUS = "() => document.activeElement.matches('.asked, input:checked')"


@pytest.fixture
def desk(chromium: Any, tmp_path: Path) -> Iterator[OpenDesk]:
    with open_desk(chromium, tmp_path, FORM, text=LONG, size=(1366, 768)) as made:
        made.come()
        yield made


def scrolled(desk: OpenDesk) -> float:
    """How far the page and the answers were scrolled, in pixels."""
    how_far = "all => all.reduce((sum, one) => sum + one.scrollTop, scrollY)"
    return float(desk.page.eval_on_selector_all(".scroll", how_far))


@pytest.mark.covering(3)
@pytest.mark.parametrize(
    "key", ["Space", "Shift+Space", "PageDown", "PageUp", "ArrowDown", "ArrowRight", "Home", "End"]
)
def test_no_key_that_scrolls_chooses_on_a_fresh_page(desk: OpenDesk, key: str) -> None:
    for _ in range(3):
        desk.page.keyboard.press(key)
    assert desk.page.locator("#rating input:checked").count() == 0
    assert desk.page.evaluate(FOCUS)


def test_space_scrolls_and_shift_space_scrolls_back(desk: OpenDesk) -> None:
    desk.page.keyboard.press("Space")
    desk.page.locator(".scroll").evaluate("one => new Promise(requestAnimationFrame)")
    down = scrolled(desk)
    assert down > 100
    desk.page.keyboard.press("Shift+Space")
    desk.page.locator(".scroll").evaluate("one => new Promise(requestAnimationFrame)")
    assert scrolled(desk) < down


def test_after_a_digit_space_scrolls_and_the_next_question_is_still_open(desk: OpenDesk) -> None:
    desk.page.keyboard.press("2")
    assert desk.page.evaluate(FOCUS)
    desk.page.keyboard.press("Space")
    assert desk.page.locator("#rating input:checked").count() == 1
    for key in "30":
        desk.page.keyboard.press(key)
    desk.page.keyboard.press("Space")
    desk.leave()
    assert {r.criterion: r.label for r in desk.store.ratings()} == {
        "c0": "fair",
        "c1": "good",
        "c2": None,
    }


def test_an_option_that_was_reached_by_tab_is_chosen_by_space(desk: OpenDesk) -> None:
    desk.page.keyboard.press("Tab")
    desk.page.keyboard.press("Space")
    assert desk.page.locator("#rating input:checked").count() == 1


def test_what_is_typed_on_a_fresh_page_goes_where_it_belongs(chromium: Any, tmp_path: Path) -> None:
    with open_desk(chromium, tmp_path, TYPED) as desk:
        desk.come()
        desk.page.keyboard.press("Space")
        desk.page.keyboard.type("40")
        desk.page.keyboard.press("Tab")
        desk.page.keyboard.type("good reason?")
        desk.leave("Control+Enter")
        assert (desk.label("dose"), desk.label("why")) == ("40", "good reason?")
