"""A rater's own list: filter, notes to oneself, and the way back to any page while its batch is
open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.store.engine.engine import reading
from konsil.store.log.entries import read_entries
from konsil.store.release.export import export
from konsil.store.tasks import batches
from konsil.study.sections.enrolment import Enrolment
from konsil.web.rating.rating_service import Desk

from ..browsers import in_a_browser
from ..desks import AT, RATER, OpenDesk, open_desk

pytestmark = in_a_browser
FORM = Instrument(
    "form", (Criterion("good", "Is it good?", Scale(("bad", "fair", "good")), "item"),)
)


@pytest.mark.covering(1)
@pytest.mark.parametrize("script", [True, False])
def test_a_note_leads_back_to_its_page(script: bool, chromium: Any, tmp_path: Path) -> None:
    with open_desk(chromium, tmp_path, FORM, java_script_enabled=script) as desk:
        page = desk.page
        page.goto(desk.link())
        page.click("button.go")
        first = page.url
        page.locator("[name='~1'][value=fair]").check(force=True)
        page.click("button[popovertarget=note]")
        page.fill("#note-text", "Ask the pharmacist.")
        page.keyboard.press("Escape")
        page.click("#go")
        page.wait_for_url(lambda url: url != first)
        page.goto(f"{desk.url}/ratings")
        assert page.locator(".rated").count() == 1, "nothing of what was not begun"
        assert "Ask the pharmacist." in str(page.text_content(".rated"))
        page.fill("#words", "PHARMACIST furosemide")
        page.click("form.choices button")
        assert page.locator(".rated").count() == 1
        page.select_option("[name=which]", "open")
        page.click("form.choices button")
        assert page.locator(".rated").count() == 0
        page.goto(f"{desk.url}/ratings?which=note")
        page.click(".rated a")
        assert page.url == first
        page.locator("[name='~1'][value=good]").check(force=True)
        page.click("#go")
        page.wait_for_url(lambda url: url != first)
        assert desk.label("good") == "good"
        assert len(desk.store.ratings()) == 1, "a note is no rating"
        folder = export(desk.store, tmp_path / "export", "csv")
        assert "pharmacist" not in "".join(p.read_text() for p in folder.glob("*.csv"))
        batches.close(desk.store, "", "", at=AT)
        page.goto(f"{desk.url}/ratings")
        assert "can only be read" in str(page.text_content(".rated"))


def test_pages_batches_and_breaks_are_told_before_consent(chromium: Any, tmp_path: Path) -> None:
    more = {"enrolment": Enrolment(consent="I take part.")}
    with open_desk(chromium, tmp_path, FORM, more=more) as desk:
        desk.page.goto(desk.link())
        desk.page.click("button.go")
        said = str(desk.page.text_content("main"))
        assert "There are 3 pages to rate." in said
        assert "break after every page" in said


def test_the_list_of_a_whole_study_is_light(chromium: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    with open_desk(
        chromium,
        tmp_path,
        FORM,
        items=45,
        question="{} " + "A long question about furosemide. " * 20,
    ) as desk:
        for _ in range(45):
            hand_in_next(desk)
        desk.page.goto(desk.link())
        desk.page.click("button.go")
        desk.page.goto(f"{desk.url}/ratings")
        assert desk.page.locator(".rated").count() == 30
        assert len(desk.page.content()) < 40_000
        assert not axe.run(desk.page)["violations"]
        desk.page.click("text=More")
        assert desk.page.locator(".rated").count() == 15


def hand_in_next(desk: OpenDesk) -> None:
    """Hand the next task in without a browser."""
    here = Desk(desk.study, desk.store, lambda: AT)
    public = here.next_task(RATER)
    assert public is not None
    assert here.submit(RATER, public, {"good": "fair"}, 0).is_stored  # type: ignore[union-attr]


@pytest.mark.covering(1)
@pytest.mark.parametrize("script", [True, False])
def test_a_change_is_handed_in_with_its_reason(script: bool, chromium: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    more = {"reasons_for_changes": True}
    with open_desk(
        chromium, tmp_path, FORM, items=1, more=more, java_script_enabled=script
    ) as desk:
        page = desk.page
        page.goto(desk.link())
        page.click("button.go")
        first = page.url
        assert page.locator("#why").count() == 0, "nothing was handed in yet"
        page.locator("[name='~1'][value=fair]").check(force=True)
        page.click("#go")
        page.wait_for_url(lambda url: url != first)
        page.goto(first)
        assert "counts once you choose Next" in str(page.text_content(".again"))
        page.locator("[name='~1'][value=good]").check(force=True)
        page.click("#go")
        page.wait_for_selector(".change.missing")
        assert "state the reason" in str(page.text_content(".change .fault"))
        assert desk.label("good") == "fair"
        if script:
            assert page.locator("#why").evaluate("box => box === document.activeElement")
            assert not axe.run(page)["violations"]
            page.goto(f"{desk.url}/finished")
            assert "1 page was changed" in str(page.text_content("main"))
            page.click(".notice a")
            assert "not submitted yet" in str(page.text_content(".rated"))
            page.click(".rated a")
            assert page.locator("[name='~1'][value=good]").is_checked()
        page.fill("#why", "I had misread the dose.")
        page.click("#go")
        page.wait_for_url(lambda url: url != first)
        assert desk.label("good") == "good"
        with reading(desk.store.engine) as connection:
            assert [e.why for e in read_entries(connection, kind="submission")] == [
                "",
                "I had misread the dose.",
            ]
