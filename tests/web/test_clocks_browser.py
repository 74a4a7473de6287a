"""Clocks that jump, of the server or of a device: nobody is signed out, nothing is lost, no time is
absurd."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from konsil.instrument import Criterion, Instrument, Scale
from konsil.store.engine import page_schema
from konsil.store.engine.engine import reading
from konsil.store.people.access import Access

from .browsers import in_a_browser
from .desks import AT, FAR, OpenDesk, open_desk

pytestmark = in_a_browser

GRADES = Scale(("bad", "good"), level="ordinal")
FORM = Instrument(
    "form", (Criterion("good", "Is it good?", GRADES), Criterion("why", "Why?", Scale(kind="text")))
)
JUMPS = (-6, 30, -48, 1, 0, 240, -240)
"""Hours by which a clock jumps after each page."""
MOST_SECONDS = 120
"""More than a page of these tests is open on any machine, and less than any jump."""


def sound_times(desk: OpenDesk) -> None:
    """Every time that was recorded can have been one."""
    v = page_schema.visits.c
    with reading(desk.store.engine) as connection:
        rows = connection.execute(sa.select(v.wall, v.active, v.first_input)).all()
    seconds = [one for row in rows for one in row if one is not None]
    seconds += [r.seconds for r in desk.store.ratings() if r.seconds is not None]
    assert len(seconds) > len(JUMPS)
    assert all(0 <= one < MOST_SECONDS for one in seconds), seconds
    assert all(active <= wall for wall, active, _ in rows if wall is not None)


def test_the_servers_clock(chromium: Any, tmp_path: Path) -> None:
    now = [datetime(2025, 3, 1, 12, tzinfo=UTC)]
    with open_desk(chromium, tmp_path, FORM, items=len(JUMPS) + 1, clock=lambda: now[0]) as desk:
        desk.come()
        for n, hours in enumerate(JUMPS):
            desk.page.keyboard.press("2")
            desk.saved()
            now[0] += timedelta(hours=hours)
            desk.page.locator("[name='~2.a1']").fill(f"After {hours} hours.")
            desk.leave("Control+Enter")
            desk.page.wait_for_selector("html.scripted")
            assert len({r.task for r in desk.store.ratings()}) == n + 1
            assert f"{n + 1} of {len(JUMPS) + 1} done" in str(desk.page.text_content(".progress"))
        notes = {r.label for r in desk.store.ratings() if r.criterion == "why"}
        assert notes == {f"After {hours} hours." for hours in JUMPS}
        sound_times(desk)
        assert desk.store.verify_log() == ()
        for path in ("/ratings", "/next"):
            assert desk.page.goto(f"{desk.url}{path}").status == 200
        office = desk.page.context.new_page()
        office.goto(
            f"{desk.url}/come/{Access(desk.store).invite('lead', 'owner', at=AT, expires_at=FAR)}"
        )
        office.click("button.go")
        for path in ("/office", "/office/signs", "/office/log"):
            assert office.goto(f"{desk.url}{path}").status == 200, path
            assert not re.search(r"(?<![\w-])[-\u2212]\d", str(office.text_content("main"))), path


def test_the_clock_of_a_device(chromium: Any, tmp_path: Path) -> None:
    with open_desk(chromium, tmp_path, FORM, items=len(JUMPS) + 1) as desk:
        desk.come()
        time = datetime.now(UTC)
        for hours in JUMPS:
            desk.page.keyboard.press("2")
            time += timedelta(hours=hours)
            # What its owner sets, or a server of time: the page's own seconds go on as before.
            desk.page.evaluate(
                "at => { globalThis.DateBefore ??= Date; const ahead = at - DateBefore.now(); Date"
                " = class extends DateBefore { constructor(...all) { all.length ? super(...all) :"
                " super(DateBefore.now() + ahead); } static now() { return DateBefore.now() +"
                " ahead; } }; }",
                time.timestamp() * 1000,
            )
            desk.page.locator("[name='~2.a1']").fill("Typed.")
            desk.saved()
            desk.leave("Control+Enter")
            desk.page.wait_for_selector("html.scripted")
        assert len({r.task for r in desk.store.ratings()}) == len(JUMPS)
        sound_times(desk)
        assert desk.store.verify_log() == ()


def test_a_page_that_was_hidden_counts_no_work(chromium: Any, tmp_path: Path) -> None:
    """A frozen window of a phone ticks only when it comes back: what lies between was no work on
    the page."""
    with open_desk(chromium, tmp_path, FORM) as desk:
        desk.page.clock.install()
        desk.come()
        show = (
            "state => { Object.defineProperty(document, 'hidden', { value: state === 'hidden',"
            " configurable: true }); document.dispatchEvent(new Event('visibilitychange')); }"
        )
        # The first save is answered before the second is awaited: else a busy machine takes one for
        # the other.
        with desk.page.expect_response("**/save"):
            desk.page.keyboard.press("2")
        desk.page.clock.run_for(2000)
        desk.page.evaluate(show, "hidden")
        desk.page.clock.fast_forward(50_000)
        desk.page.evaluate(show, "visible")
        with desk.page.expect_response("**/save"):
            desk.page.keyboard.press("ArrowLeft")
            desk.page.keyboard.press("1")
        v = page_schema.visits.c
        with reading(desk.store.engine) as connection:
            [(wall, active)] = connection.execute(sa.select(v.wall, v.active)).all()
        assert wall >= 50
        assert active < 40
