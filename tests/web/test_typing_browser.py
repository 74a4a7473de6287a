"""What is on the screen at Enter is what is stored: typing with pauses, corrections, lost answers,
decimal commas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, PageNames, Scale
from konsil.plan import Allocation

from .browsers import in_a_browser
from .desks import OpenDesk, open_desk

pytestmark = in_a_browser

DOSE = Criterion(
    "dose", "Which dose in mg would you give?", Scale(kind="number", low=0, high=500), "item"
)
CORRECT = Criterion(
    "correct", "Is the answer correct?", Scale(("no", "yes", "partly")), "item", reason=True
)
COMMENT = Criterion("comment", "Comment", Scale(kind="text"), "item")
FORM = Instrument("form", (DOSE, CORRECT, COMMENT))
EFFORT = Instrument(
    "effort", (Criterion("effort", "Effort?", Scale(kind="number", low=0, high=100), "rater"),)
)


@pytest.fixture
def desk(chromium: Any, tmp_path: Path) -> Iterator[OpenDesk]:
    with open_desk(chromium, tmp_path, FORM) as made:
        made.come()
        made.page.locator("[name='~1']").fill("7")
        made.page.locator("[name='~2'][value=yes]").click()
        made.saved()
        yield made


def type_after_a_save(desk: OpenDesk, name: str, first: str, second: str) -> None:
    """Type, wait until that is saved, and type the rest, of which nothing is saved yet."""
    field = desk.page.locator(f'[name="{PageNames(desk.study.instruments).neutral(name)}"]')
    field.fill("")
    with desk.page.expect_response("**/save"):
        field.press_sequentially(first)
    desk.saved()
    field.press_sequentially(second)


@pytest.mark.parametrize("key", ["Enter", "Control+Enter"])
def test_a_number_typed_with_a_pause_is_stored_whole(desk: OpenDesk, key: str) -> None:
    type_after_a_save(desk, "dose", "4", "0")
    desk.leave(key)
    assert desk.label("dose") == "40"


def test_a_reason_typed_with_a_pause_is_stored_whole(desk: OpenDesk) -> None:
    type_after_a_save(
        desk, "correct.reason", "It omits the renal dose", " and is dangerous in CKD "
    )
    desk.leave()
    assert desk.rating("correct").note == "It omits the renal dose and is dangerous in CKD"


def test_a_text_typed_with_a_pause_is_stored_whole(desk: OpenDesk) -> None:
    type_after_a_save(desk, "comment", "First.", "\nSecond.")
    desk.leave("Control+Enter")
    assert desk.label("comment") == "First.\nSecond."


def test_a_decimal_comma_does_not_conflict_with_itself(desk: OpenDesk) -> None:
    desk.page.locator("[name='~1']").fill("1,5")
    with desk.page.expect_response("**/save"):
        desk.page.locator("[name='~3']").focus()
    before = desk.page.url
    desk.page.click("#go")
    desk.page.wait_for_url(lambda url: url != before)
    assert desk.label("dose") == "1.5"


def test_a_correction_while_the_first_choice_is_on_its_way_is_stored(desk: OpenDesk) -> None:
    on_the_way: list[Any] = []

    def hold_the_first(route: Any) -> None:
        if on_the_way:
            route.continue_()
        on_the_way.append(route)

    desk.page.route("**/save", hold_the_first)
    desk.page.locator("[name='~2'][value=no]").focus()
    with desk.page.expect_request("**/save"):
        desk.page.keyboard.press("1")
    desk.page.locator("[name='~2'][value=no]").focus()
    desk.page.keyboard.press("3")
    desk.page.keyboard.press("Control+Enter")
    before = desk.page.url
    on_the_way[0].continue_()
    desk.page.wait_for_url(lambda url: url != before)
    assert desk.label("correct") == "partly"


def test_saves_whose_confirmation_was_lost_do_not_conflict_with_what_follows(
    desk: OpenDesk,
) -> None:
    def lose(route: Any) -> None:
        route.fetch()
        route.abort()

    desk.page.route("**/save", lose)
    desk.page.locator("[name='~2'][value=no]").click()
    desk.page.wait_for_selector("#badge[data-state=offline]")
    desk.page.locator("[name='~2'][value=partly]").click()
    desk.leave("Control+Enter")
    assert desk.label("correct") == "partly"


def test_later_keeps_what_was_typed_last(desk: OpenDesk) -> None:
    task = desk.page.url
    type_after_a_save(desk, "comment", "First", " and second")
    desk.page.click("button[formaction]")
    desk.page.wait_for_url(lambda url: url != task)
    desk.page.goto(task)
    assert desk.page.input_value("[name='~3']") == "First and second"


def test_leaving_by_a_link_keeps_what_was_typed_last(desk: OpenDesk) -> None:
    task = desk.page.url
    type_after_a_save(desk, "comment", "First", " and second")
    desk.page.goto(f"{desk.url}/finished")
    desk.page.goto(task)
    desk.page.wait_for_selector("html.scripted")
    assert desk.page.input_value("[name='~3']") == "First and second"


def test_another_window_still_conflicts(desk: OpenDesk) -> None:
    other = desk.page.context.new_page()
    other.goto(desk.page.url)
    other.wait_for_selector("html.scripted")
    # Nothing is left to be saved later in the first window: the second is told what stands there,
    # however late.
    with desk.page.expect_response("**/save"):
        desk.page.locator("[name='~1']").fill("4")
        desk.page.locator("[name='~3']").focus()
    desk.saved()
    other.locator("[name='~3']").fill("Saved here first.")
    with other.expect_response("**/save"):
        other.locator("[name='~1']").focus()
    other.keyboard.press("Enter")
    other.wait_for_selector(".asked.crossed")
    assert "Value in the other window: 4" in str(other.text_content(".asked.crossed .fault"))
    assert not desk.store.ratings(), "nothing is handed in over what another window says"
    other.keyboard.press("Enter")
    other.wait_for_url(lambda url: url != desk.page.url)
    assert desk.label("dose") == "4"


def test_a_survey_typed_with_a_pause_is_stored_whole(chromium: Any, tmp_path: Path) -> None:
    plan = (Allocation("panel", "effort"),)
    with open_desk(chromium, tmp_path, EFFORT, plan=plan) as desk:
        desk.come()
        type_after_a_save(desk, "effort", "4", "0")
        desk.leave()
        assert desk.label("effort") == "40"
