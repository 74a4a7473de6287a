"""Of every answer twelve lines are in sight, or all of it; hidden text is marked, and an end in
sight is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from konsil.store.engine import page_schema
from konsil.store.engine.engine import reading

from .browsers import in_a_browser
from .visible_text import SIZES, TWELVE_LINES, page_of, visible

pytestmark = in_a_browser
INSIDE = """() => [...document.querySelectorAll('main, main *')].filter((one) =>
  ['auto', 'scroll'].includes(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight + 1)
  .map((one) => one.className)"""


def test_twelve_lines_of_every_answer_are_in_sight_at_every_desk(
    chromium: Any, tmp_path: Path
) -> None:
    with page_of(chromium, tmp_path) as desk:
        for size in SIZES:
            for answers in (2, 3, 5):
                for criteria in (1, 4, 7):
                    found = visible(desk, size, answers, criteria)
                    assert len(found) == answers
                    for pixels, whole, marked in found:
                        assert pixels >= min(TWELVE_LINES, whole), (size, answers, criteria, found)
                        assert marked == (pixels < whole - 2), (size, answers, criteria, found)


@pytest.mark.covering(2)
@pytest.mark.parametrize("size", SIZES)
def test_twelve_lines_of_a_single_answer_and_of_short_ones_are_in_sight(
    size: tuple[int, int], chromium: Any, tmp_path: Path
) -> None:
    with page_of(chromium, tmp_path, answers=1) as desk:
        for criteria in (1, 4, 7):
            [(pixels, _, _)] = visible(desk, size, 1, criteria)
            assert pixels >= TWELVE_LINES
    (tmp_path / "short").mkdir()
    with page_of(chromium, tmp_path / "short", answers=3, text="Give **40 mg**.") as desk:
        for pixels, whole, marked in visible(desk, size, 3, 7):
            assert whole <= pixels < 120
            assert not marked


@pytest.mark.covering(2)
@pytest.mark.parametrize(
    "size", [(683, 325), (640, 310), (960, 475), (375, 667), (320, 640), (1100, 560)]
)
def test_at_200_percent_and_on_a_phone_nothing_scrolls_inside_itself(
    size: tuple[int, int], chromium: Any, tmp_path: Path
) -> None:
    with page_of(chromium, tmp_path, answers=2) as desk:
        visible(desk, size, 2, 3)
        assert desk.page.evaluate(INSIDE) == []
        assert desk.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert desk.page.locator(".more-mark:visible").count() == 0


def test_every_question_is_reached_by_keys_and_none_is_covered(
    chromium: Any, tmp_path: Path
) -> None:
    covered = """() => { const one = document.querySelector('.asked.here .options').getBoundingClientRect();
      return ['.question', '.bar', '.asked.here'].concat('.pane:has(.asked.here) .scroll').map((other) => {
        const box = document.querySelector(other).getBoundingClientRect();
        return other !== '.asked.here' && one.top < box.bottom - 1 && box.top < one.bottom - 1; }).some((x) => x)
        || one.top < 0 || one.bottom > innerHeight; }"""
    with page_of(chromium, tmp_path, answers=3) as desk:
        for size in ((1280, 620), (1366, 650), (1920, 950)):
            visible(desk, size, 3, 7)
            desk.page.locator("input[type=radio]").first.focus()
            for n in range(20):
                desk.page.keyboard.press("3")
                assert not desk.page.evaluate(covered), (size, n)


def test_without_a_script_all_text_is_on_the_page(chromium: Any, tmp_path: Path) -> None:
    from .desks import open_desk
    from .visible_text import FORM, LONG

    with open_desk(
        chromium, tmp_path, FORM, systems=2, text=LONG, java_script_enabled=False
    ) as desk:
        desk.page.goto(desk.link())
        desk.page.click("button.go")
        assert desk.page.evaluate(INSIDE) == []


def test_answers_that_were_read_to_their_end_are_recorded(chromium: Any, tmp_path: Path) -> None:
    with page_of(chromium, tmp_path, answers=2, size=(1366, 650)) as desk:

        def recorded() -> list[str | None]:
            with reading(desk.store.engine) as connection:
                return list(connection.execute(sa.select(page_schema.visits.c.ends)).scalars())

        desk.page.locator("input[type=radio]").first.focus()
        with desk.page.expect_response("**/save"):
            desk.page.keyboard.press("3")
        assert recorded() == ["0"], "neither end was in sight"
        desk.page.locator(".scroll").nth(1).evaluate("one => { one.scrollTop = one.scrollHeight; }")
        desk.page.wait_for_selector(".pane:nth-child(2) .more-mark", state="hidden")
        desk.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
        )
        with desk.page.expect_response("**/save"):
            desk.page.keyboard.press("3")
        assert recorded() == ["2"]
