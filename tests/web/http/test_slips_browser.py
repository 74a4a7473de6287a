"""What hands do on a bad day: keys held down, words written on while the server is away, two
windows, long pastes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.web.http import throttle

from ..browsers import in_a_browser
from ..desks import OpenDesk, open_desk

pytestmark = in_a_browser

GRADES = Scale(("bad", "fair", "good"), level="ordinal", abstain="cannot judge")
MIXED = Instrument(
    "mixed",
    (
        Criterion("first", "Is it good?", GRADES, "item", reason=True),
        Criterion("second", "Is it clear?", GRADES, "item"),
        Criterion("comment", "Comment", Scale(kind="text"), "item"),
    ),
)
TEXTS = Instrument("texts", (Criterion("comment", "Comment", Scale(kind="text"), "item"),))


@pytest.fixture
def desk(chromium: Any, tmp_path: Path) -> Iterator[OpenDesk]:
    with open_desk(chromium, tmp_path, MIXED) as made:
        made.come()
        yield made


def refuse(status: int) -> Callable[[Any], None]:
    """A server that is there and takes nothing."""
    return lambda route: route.fulfill(
        status=status, content_type="application/json", body=f'{{"error": {status}}}'
    )


def choose_both(page: Any) -> None:
    page.locator("[name='~1'][value=good]").check(force=True)
    page.locator("[name='~2'][value=fair]").check(force=True)


def test_a_digit_that_is_held_down_answers_one_question(desk: OpenDesk) -> None:
    for _ in range(4):
        desk.page.keyboard.down("2")
    desk.page.keyboard.up("2")
    assert desk.page.locator("#rating input:checked").count() == 1
    desk.page.keyboard.press("2")
    assert desk.page.locator("#rating input:checked").count() == 2


@pytest.mark.parametrize("key", ["Enter", "Control+Enter"])
def test_enter_that_is_held_down_hands_in_one_page(key: str, chromium: Any, tmp_path: Path) -> None:
    """A page of optional texts may be handed in empty, and a key that is still down would do so
    page by page."""
    with open_desk(chromium, tmp_path, TEXTS) as desk:
        desk.come()
        before = desk.page.url
        if "+" in key:
            desk.page.keyboard.down("Control")
        desk.page.keyboard.down("Enter")
        desk.page.wait_for_url(lambda url: url != before)
        desk.page.wait_for_selector("html.scripted")
        second = desk.page.url
        desk.page.keyboard.down("Enter")
        # Whatever a second page handed in would be asked of the server before this answer.
        desk.page.evaluate("() => fetch('/health').then((answer) => answer.text())")
        assert desk.page.url == second
        assert desk.page.evaluate("() => document.readyState") == "complete"


def test_what_another_window_changed_is_seen_before_anybody_goes_on(desk: OpenDesk) -> None:
    """A value typed here and Enter at once: what is on the screen then is stored, or nothing is."""
    other = desk.page.context.new_page()
    other.goto(desk.page.url)
    other.wait_for_selector("html.scripted")
    choose_both(desk.page)
    desk.page.locator("[name='~3']").fill("Written on the laptop.")
    with desk.page.expect_response("**/save"):
        desk.page.locator("[name='~2']").first.focus()
    desk.saved()
    choose_both(other)
    other.locator("[name='~3']").fill("Written on the phone.")
    task = other.url
    other.keyboard.press("Control+Enter")
    other.wait_for_selector(".asked.crossed")
    assert other.url == task
    said = str(other.text_content(".asked.crossed .fault"))
    assert "Value in the other window: Written on the laptop." in said
    assert "You had entered here: Written on the phone." in said, (
        "words are never gone without a trace"
    )
    assert not desk.store.ratings()


def test_writing_on_after_enter_without_a_network_stays_on_the_page(desk: OpenDesk) -> None:
    """The next page would take the rest of the word for keys, and digits for labels."""
    page, task = desk.page, desk.page.url
    choose_both(page)
    desk.saved()
    page.route("**/task/**", lambda route: route.abort())
    page.locator("[name='~3']").focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#away:not([hidden])")
    page.keyboard.type("in 2")
    page.wait_for_selector("#away", state="hidden")
    page.unroute("**/task/**")
    page.wait_for_selector("#badge[data-state=saved]")
    page.keyboard.type(" of 3")
    assert page.url == task
    desk.leave("Control+Enter")
    assert desk.label("comment") == "in 2 of 3"


def test_a_server_that_fails_says_so_and_the_page_goes_on_by_itself(desk: OpenDesk) -> None:
    page, task = desk.page, desk.page.url
    choose_both(page)
    desk.saved()
    page.route(task, refuse(500))
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#delayed:not([hidden])")
    assert page.locator("#away").is_hidden(), "the network is there"
    page.unroute(task)
    page.wait_for_url(lambda url: url != task)
    assert desk.label("first") == "good"


def test_a_task_that_is_no_longer_ones_own_does_not_stay_silent(desk: OpenDesk) -> None:
    page, task = desk.page, desk.page.url
    choose_both(page)
    desk.saved()
    page.route(
        task,
        lambda route: refuse(404)(route) if route.request.method == "POST" else route.continue_(),
    )
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    page.wait_for_selector("html.scripted")


def test_more_changes_than_a_minute_takes_are_kept_and_taken_by_themselves(
    chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the server takes a minute is counted by a clock that the test moves."""
    now = [1000.0]
    monkeypatch.setattr(throttle, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with open_desk(chromium, tmp_path, MIXED, options={"posts_a_minute": 4}) as desk:
        desk.come()
        page, task = desk.page, desk.page.url
        for label in ("bad", "fair", "good", "bad", "good"):
            # Changes made while a message is under way go together in the next one: each alone.
            with page.expect_response("**/task/**") as answer:
                page.locator(f"[name='~1'][value={label}]").check(force=True)
            if answer.value.status == 429:
                break
        page.wait_for_selector("#badge[data-state=offline]")
        choose_both(page)
        page.locator("[name='~3']").fill("Nothing of this is lost.")
        # While the last change is on its way, the badge is that of saving.
        busy = page.get_by_text("busy: your answers are stored on this device", exact=True)
        busy.wait_for()
        assert busy.get_attribute("id") == "badge"
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#delayed:not([hidden])")
        assert page.locator("#away").is_hidden()
        assert page.url == task
        assert not desk.store.ratings()
        now[0] += 61
        page.wait_for_url(lambda url: url != task)
        assert (desk.label("first"), desk.label("second")) == ("good", "fair")
        assert desk.label("comment") == "Nothing of this is lost."


def test_an_hour_of_typing_without_a_server_arrives(desk: OpenDesk) -> None:
    """Every pause is a change of the whole text: in one message they are more than a server
    takes."""
    page = desk.page
    page.clock.install()
    page.reload()
    page.wait_for_selector("html.scripted")
    page.route("**/task/**", lambda route: route.abort())
    text = ""
    for n in range(60):
        text += f"Sentence {n} of a long comment that explains what is wrong. " * 4
        page.locator("[name='~3']").fill(text)
        page.clock.run_for(1000)
    page.wait_for_selector("#badge[data-state=offline]")
    page.unroute("**/task/**")
    page.clock.resume()
    desk.saved()
    page.reload()
    page.wait_for_selector("html.scripted")
    assert page.input_value("[name='~3']") == text


def test_a_correction_made_offline_arrives_by_way_of_another_page(desk: OpenDesk) -> None:
    page, task = desk.page, desk.page.url
    choose_both(page)
    desk.saved()
    page.click("[formaction]")
    page.wait_for_url(lambda url: url != task)
    another = page.url
    page.goto(task)
    page.wait_for_selector("html.scripted")
    page.context.set_offline(True)
    page.locator("[name='~1'][value=bad]").check(force=True)
    page.wait_for_selector("#badge[data-state=offline]")
    context = page.context
    page.close()
    context.set_offline(False)
    other = context.new_page()
    with other.expect_response("**/save"):
        other.goto(another)
    other.goto(task)
    assert other.locator("[name='~1'][value=bad]").is_checked()


def test_half_a_character_from_a_clipboard_is_no_obstacle(desk: OpenDesk) -> None:
    page = desk.page
    box = page.locator("[name='~3']")
    with page.expect_response("**/save") as answer:
        box.evaluate(
            "box => { box.value = 'caf\\u00e9 \\ud83d\\ude00 \\ud83d end';"
            " box.dispatchEvent(new Event('change', { bubbles: true })); }"
        )
    assert answer.value.json()["refused"] == []
    desk.saved()
    page.reload()
    assert page.input_value("[name='~3']") == "caf\u00e9 \U0001f600  end"


def test_a_page_that_the_browser_put_by_is_loaded_anew(desk: OpenDesk) -> None:
    with desk.page.expect_navigation():
        desk.page.evaluate(
            "() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
        )
    desk.page.wait_for_selector("html.scripted")
