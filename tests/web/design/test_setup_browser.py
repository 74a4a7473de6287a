"""A person at a real browser sets up a study of two panels from oddly named tables, and it is
reported."""

from __future__ import annotations

import re
import time
from pathlib import Path

import docx
import pytest

from konsil.api.design.serving import DraftWorkshop
from konsil.store import Store
from konsil.web.design.design_app import create_design_app
from small_studies import exit_code

from ..browsers import chromium, free_port, in_a_browser, served
from .conftest import ANSWERS, CASES, answers_xlsx, cases_csv, rated_csv

__all__ = ["chromium"]
pytestmark = in_a_browser
MINUTES = 5


@pytest.fixture
def link(tmp_path: Path):
    """The link of a set-up that is served on a port of this machine."""
    staging = tmp_path / "staging"
    staging.mkdir()
    port = free_port()
    workshop = DraftWorkshop(tmp_path / "my-study", staging, seed=7)
    app = create_design_app(workshop, [f"http://127.0.0.1:{port}"])
    with served(app, port) as url:
        yield f"{url}/start/{app.state.room.link}"
    workshop.conduct.close()


def press(page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=name, exact=True).last.click()


def test_a_study_is_set_up_in_the_browser_and_reported(chromium, link, tmp_path: Path):
    (tmp_path / CASES).write_bytes(cases_csv(12))
    (tmp_path / ANSWERS).write_bytes(answers_xlsx(12))
    context = chromium.new_context(locale="en-GB", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    start = time.monotonic()

    page.goto(link)
    page.get_by_label("Title of the study").fill("Nausea after anaesthesia")
    page.get_by_label("Choose tables").set_input_files([tmp_path / CASES, tmp_path / ANSWERS])
    press(page, "Read tables")
    assert page.get_by_role("row").count() == 2 + 7
    press(page, "Next step")

    press(page, "Five-point scale")
    press(page, "Yes or no (such as safety)")
    page.get_by_label("Label of an abstention").nth(1).fill("Cannot judge")
    press(page, "Preference with a tie")
    press(page, "Show the form “comparison”")
    page.get_by_role("link", name="Back to the set-up").click()
    press(page, "Next step")

    press(page, "People")
    page.get_by_label("Name of the panel").fill("anaesthetists")
    page.get_by_label("Number of raters").fill("4")
    press(page, "People")
    page.get_by_label("Name of the panel").nth(1).fill("nurses")
    press(page, "Next step")

    for line in range(4):
        page.get_by_label("Raters for each question").nth(line).fill("2")
    page.get_by_label("Pay for an hour").fill("80")
    press(page, "Compute")
    assert page.get_by_text(re.compile(r"People rate for about [\d.]+ hours in all")).is_visible()
    press(page, "Next step")

    for box in page.get_by_role("checkbox").all():
        box.check()
    press(page, "Next step")

    assert page.get_by_text("No problem found").is_visible()
    press(page, "Save the study")
    assert page.get_by_role("heading", name="Saved").is_visible()
    taken = time.monotonic() - start
    assert taken < 60 * MINUTES
    assert problems == []
    context.close()

    study = tmp_path / "my-study"
    assert exit_code("check", study) == 0
    assert exit_code("import", study) == 0
    assert exit_code("plan", study) == 0
    copy = tmp_path / "rehearsed"
    assert exit_code("rehearse", study, "--to", copy) == 0
    report = (copy / "report" / "index.html").read_text("utf-8")
    for words in ("Nausea after anaesthesia", "anaesthetists", "nurses", "γ-Modell"):
        assert words in report


def wait_for(page, action: str) -> None:
    """Press a button of the last page, and wait until its action has ended."""
    with page.expect_navigation():
        page.locator(f"button[value={action}]").click()
    page.get_by_role("status").wait_for(state="detached", timeout=120_000)
    assert page.get_by_role("alert").count() == 0, page.get_by_role("alert").all_inner_texts()


def test_answers_come_to_their_first_rating_without_a_terminal(chromium, link, tmp_path: Path):
    (tmp_path / CASES).write_bytes(cases_csv(6))
    (tmp_path / ANSWERS).write_bytes(answers_xlsx(6))
    context = chromium.new_context(locale="en-GB", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    start = time.monotonic()
    page.goto(link)
    page.get_by_label("Title of the study").fill("Nausea")
    page.get_by_label("Choose tables").set_input_files([tmp_path / CASES, tmp_path / ANSWERS])
    press(page, "Read tables")
    press(page, "Next step")
    press(page, "Five-point scale")
    press(page, "Next step")
    press(page, "People")
    for _ in range(3):
        press(page, "Next step")
    press(page, "Save the study")
    page.get_by_role("link", name="Continue: collect and report").click()
    for action in ("import", "plan", "rehearse", "invite", "office"):
        wait_for(page, action)
    with page.expect_download() as rehearsed:
        page.get_by_role("link", name="Report of the rehearsal").click()
    assert "Nausea" in Path(rehearsed.value.path()).read_text("utf-8")
    with context.expect_page() as opened:
        page.locator(".links a").first.click()
    rater = opened.value
    rater.get_by_role("button").last.click()
    rater.wait_for_url("**/task/**")
    rater.keyboard.press("4")
    rater.keyboard.press("4")
    rater.keyboard.press("4")
    with rater.expect_navigation():
        rater.get_by_role("button", name="Next", exact=True).click()
    taken = time.monotonic() - start
    with context.expect_page() as opened:
        page.get_by_role("link", name="To the study dashboard").click()
    opened.value.get_by_role("button").last.click()
    opened.value.wait_for_url("**/office")
    assert taken < 60 * MINUTES
    page.reload()
    wait_for(page, "report")
    with Store.open(tmp_path / "my-study") as store:
        assert len(store.ratings()) == 3 and store.verify_log() == ()
    context.close()


def test_ratings_come_to_a_word_file_without_a_terminal(chromium, link, tmp_path: Path):
    (tmp_path / "r.csv").write_bytes(rated_csv())
    context = chromium.new_context(locale="de-DE", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    start = time.monotonic()
    page.goto(link)
    page.get_by_label("Titel der Studie").fill("Zwei Modelle")
    page.get_by_label("Tabellen auswählen").set_input_files([tmp_path / "r.csv"])
    press(page, "Tabellen lesen")
    for _ in range(4):
        press(page, "Nächster Schritt")
    for box in page.get_by_role("checkbox").all():
        box.check()
    press(page, "Nächster Schritt")
    press(page, "Studie speichern")
    page.get_by_role("link", name="Weiter: erheben und berichten").click()
    for action in ("import", "replace", "report"):
        wait_for(page, action)
    with page.expect_download() as word:
        page.get_by_role("link", name="Manuskript mit seinen Tabellen (Word)").click()
    taken = time.monotonic() - start
    texts = [p.text for p in docx.Document(word.value.path()).paragraphs]
    assert any(text.startswith("Table 2.") for text in texts)
    assert taken < 60 * MINUTES
    context.close()


def test_the_pages_are_accessible_and_go_by_keyboard(chromium, link, tmp_path: Path):
    from axe_core_python.sync_playwright import Axe

    (tmp_path / CASES).write_bytes(cases_csv())
    (tmp_path / ANSWERS).write_bytes(answers_xlsx())
    # Axe is injected; the pages' policy would keep it out.
    context = chromium.new_context(bypass_csp=True, locale="de-DE")
    page = context.new_page()
    page.goto(link)
    page.get_by_label("Titel der Studie").fill("Übelkeit")
    page.get_by_label("Tabellen auswählen").set_input_files([tmp_path / CASES, tmp_path / ANSWERS])
    press(page, "Tabellen lesen")
    press(page, "Nächster Schritt")
    press(page, "Fünfstufige Skala")
    press(page, "Präferenz mit Gleichstand")
    press(page, "Nächster Schritt")
    press(page, "Personen")
    press(page, "Nächster Schritt")
    press(page, "Seite aktualisieren")
    press(page, "Nächster Schritt")
    for step in (
        "data",
        "questions",
        "people",
        "plan",
        "analyses",
        "save",
        "conduct",
        "page/answers",
    ):
        page.goto(link.partition("/start")[0] + f"/{step}")
        found = Axe().run(page)["violations"]
        assert [(v["id"], [n["target"] for n in v["nodes"]]) for v in found] == [], step
    # Enter in a field takes nothing away and goes nowhere else.
    page.goto(link.partition("/start")[0] + "/questions")
    first = page.get_by_label("Frage an die Bewertenden").first
    first.fill("Wie gut ist sie?")
    with page.expect_navigation():
        first.press("Enter")
    assert page.get_by_label("Frage an die Bewertenden").count() == 2
    assert page.get_by_label("Frage an die Bewertenden").first.input_value() == "Wie gut ist sie?"
    context.close()
