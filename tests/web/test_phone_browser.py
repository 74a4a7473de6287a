"""On a phone every control is in the window, in German too, where words are long; nothing scrolls
inside itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale

from .browsers import in_a_browser
from .desks import OpenDesk, open_desk

pytestmark = in_a_browser

FORM = Instrument(
    "form",
    (
        Criterion(
            "good",
            "Trifft die Antwort zu?",
            Scale(("falsch", "richtig"), abstain="Keine Angabe"),
            reason=True,
        ),
        Criterion(
            "dose", "Welche Dosis?", Scale(kind="number", low=0, high=500, unit="mg"), "item"
        ),
        Criterion("why", "Warum?", Scale(kind="text"), "item"),
    ),
    "# Kodierbuch",
    language="de",
)
SMALL = ((320, 640), (360, 740), (390, 844), (640, 310))
OUTSIDE = """() => [...document.querySelectorAll('button, a, input, textarea, select, .option, h1, h2, legend')]
  .filter((one) => one.offsetWidth && !one.closest('[popover]:not(.more), .skip, .visually-hidden'))
  .map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => box.left < -0.5 || box.right > innerWidth + 0.5)
  .map(([one]) => one.outerHTML.slice(0, 80))"""
CUT = """() => [...document.querySelectorAll('main *, header *')].filter((one) => one.offsetWidth > 1
  && !one.closest('[popover]') && getComputedStyle(one).overflowX !== 'visible' && !one.matches('textarea, input')
  && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1))
  .map((one) => one.outerHTML.slice(0, 80))"""


def second_task(desk: OpenDesk) -> None:
    """A page with all buttons: there is something to go back to."""
    desk.come()
    desk.page.keyboard.press("2")
    desk.page.locator("[name='~2']").fill("40")
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_selector("a.quiet[href*='/task/']")


@pytest.mark.covering(2)
@pytest.mark.parametrize("size", SMALL)
def test_no_control_of_a_rating_page_is_out_of_the_window(
    size: tuple[int, int], chromium: Any, tmp_path: Path
) -> None:
    with open_desk(chromium, tmp_path, FORM, language="de", size=size) as desk:
        second_task(desk)
        assert desk.page.locator(".bar > :visible").count() == 5
        assert desk.page.evaluate(OUTSIDE) == []
        assert desk.page.evaluate(CUT) == []
        assert desk.page.evaluate("() => document.documentElement.scrollWidth") <= size[0]


@pytest.mark.covering(1)
@pytest.mark.parametrize("size", SMALL)
def test_no_word_of_a_plain_page_is_cut(
    size: tuple[int, int], chromium: Any, tmp_path: Path
) -> None:
    more = {"title": "Beurteilung der Antworten von Sprachmodellen auf kardiologische Fragen"}
    with open_desk(chromium, tmp_path, FORM, language="de", size=size, more=more) as desk:
        desk.come()
        for path in ("/ratings", "/finished", "/none"):
            desk.page.goto(f"{desk.url}{path}")
            assert desk.page.evaluate(OUTSIDE) == [], path
            assert desk.page.evaluate(CUT) == [], path
