"""A person at a real browser sets up a study of two panels from oddly named tables, and it is
reported."""

from __future__ import annotations

import json
import re
import shlex
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docx
import pytest

from fake_server import running
from konsil.api.design.serving import DraftWorkshop
from konsil.store import Store
from konsil.web.design.design_app import create_design_app
from small_studies import exit_code

from ..browsers import chromium, free_port, in_a_browser, served
from . import odd_tables
from .conftest import ANSWERS, CASES, answers_xlsx, cases_csv

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


@dataclass(frozen=True)
class Visit:
    """A person at the set-up, with what she reads on the pages."""

    page: Any
    place: Path
    url: str
    start: float

    def read(self, name: str, content: bytes, n_unsure: int = 0) -> list[str]:
        """Choose a table; the questions that its first row is asked back with.

        `n_unsure`: columns whose proposals the page asks to check.
        """
        (self.place / name).write_bytes(content)
        self.page.goto(self.url)
        self.page.locator("[name=title]").fill("On the ward")
        self.page.locator("[name=file]").set_input_files([self.place / name])
        self.press("read")
        checks = self.page.get_by_text(re.compile("^(please check|bitte prüfen)$"))
        assert checks.count() == n_unsure
        return self.page.locator("[id$=-first] + ul li").all_inner_texts()

    def press(self, do: str) -> None:
        """Press a button of a step."""
        with self.page.expect_navigation():
            self.page.locator(f"button[value='{do}']").last.click()
        alerts = self.page.get_by_role("alert").all_inner_texts()
        assert alerts == []

    def save(self) -> None:
        """From the analyses to the stages of the study."""
        for box in self.page.locator("[name=analysis]").all():
            box.check()
        self.press("next")
        self.press("save")
        self.page.locator("a[href='/conduct'].go").click()

    def check_time(self) -> None:
        """Whether it took less than it may."""
        assert time.monotonic() - self.start < 60 * MINUTES


@pytest.fixture
def visit(chromium, link, tmp_path: Path, request):
    context = chromium.new_context(
        locale=request.param, viewport={"width": 1280, "height": 900}, accept_downloads=True
    )
    yield Visit(context.new_page(), tmp_path, link, time.monotonic())
    context.close()


def rate_once(page) -> None:
    """Open the first personal link, and rate the first page."""
    with page.context.expect_page() as opened:
        page.locator(".links a").first.click()
    rater = opened.value
    rater.get_by_role("button").last.click()
    rater.wait_for_url("**/task/**")
    for _ in range(2):
        rater.keyboard.press("4")
    with rater.expect_navigation():
        rater.get_by_role("button", name=re.compile("^(Next|Weiter)$")).click()
    rater.close()


TO_COME = {
    "a cover, a title and merged names": (
        "replies.xlsx",
        odd_tables.answers_below_a_title,
        "Is “Which dose is given to case 1",
    ),
    "a sheet for each model": (
        "models.xlsx",
        odd_tables.a_sheet_for_each_model,
        "Is “Which dose is given to case 1",
    ),
    "an office's questions, without answers": (
        "faelle.csv",
        odd_tables.questions_of_an_office,
        "Ist „Wie viel Gramm des Mittels",
    ),
}


@pytest.mark.parametrize(
    ("visit", "name"),
    [("de-DE" if "office" in name else "en-GB", name) for name in TO_COME],
    indirect=["visit"],
)
def test_odd_tables_come_to_their_first_rating_without_a_terminal(visit, name):
    file, content, first = TO_COME[name]
    page = visit.page
    with running() as address:
        asked = visit.read(file, content())
        assert asked[0].startswith(first)
        if "office" in name:
            for n, system in enumerate(odd_tables.MODELS):
                visit.press("add model")
                page.locator(f"[name=m{n}-name]").fill(system)
                page.locator(f"[name=m{n}-url]").fill(f"{address}/v1")
                page.locator(f"[name=m{n}-model]").fill(f"model-{n}")
            visit.press("try 1")
            assert page.get_by_role("status").count() == 1
        else:
            assert asked[2:] == [text for text in asked if text.startswith(odd_tables.MODELS)]
        visit.press("next")
        visit.press("add five")
        visit.press("next")
        visit.press("add human")
        for _ in range(3):
            visit.press("next") if "/analyses" not in page.url else None
        visit.save()
        actions = ["import", "answer", "plan", "invite"]
        if "office" not in name:
            actions.remove("answer")
        if "cover" in name:
            actions.insert(2, "rehearse")
        for action in actions:
            wait_for(page, action)
        rate_once(page)
    visit.check_time()
    with Store.open(visit.place / "my-study") as store:
        assert store.counts()["ratings"] == len(odd_tables.MODELS)
        assert {a.system for a in store.answers()} == {*odd_tables.MODELS}
        assert store.verify_log() == ()


def cells_of(path: Path) -> list[list[str]]:
    """The rows of the first table of a Word file."""
    table = docx.Document(str(path)).tables[0]
    return [[cell.text for cell in row.cells] for row in table.rows]


def shares(n: int, label: Callable[[int, int, int], bool]) -> list[str]:
    """How many of each model's ratings are a success, counted by hand."""
    hits = [
        sum(label(k, m, r) for k in range(1, n + 1) for r in range(3))
        for m in range(len(odd_tables.MODELS))
    ]
    return [f"{h}/{3 * n}" for h in hits]


EXISTING = {
    "a column for each rater, decimal commas": (
        "noten.csv",
        odd_tables.a_column_for_each_rater,
        "Bewertete Dr. Adler die Antwort von Alpha mit „2.0“?",
        [],
    ),
    "rater x question on a second sheet": (
        "ratings.xlsx",
        odd_tables.raters_and_questions_in_headings,
        "Did Dr. Adler rate the answer of Alpha “no”? (correct)",
        shares(24, lambda k, m, r: odd_tables.grade(k, m, r, 3) > 1),
    ),
    "a sheet for each rater": (
        "panel.xlsx",
        odd_tables.a_sheet_for_each_rater,
        "Did Dr. Adler rate the answer of Alpha “Yes”? (Correct?)",
        shares(24, lambda k, m, r: odd_tables.grade(k, m, r, 4) > 1),
    ),
}


@pytest.mark.parametrize(
    ("visit", "name"),
    [("de-DE" if "commas" in name else "en-GB", name) for name in EXISTING],
    indirect=["visit"],
)
def test_odd_ratings_come_to_a_table_2_in_word_without_a_terminal(visit, name):
    file, content, first, hits = EXISTING[name]
    page = visit.page
    assert visit.read(file, content())[1] == first
    for _ in range(4):
        visit.press("next")
    visit.save()
    for action in ("import", "replace", "report", "table"):
        wait_for(page, action)
    with page.expect_download() as word:
        page.locator("a[href='/download/table']").click()
    visit.check_time()
    assert word.value.suggested_filename == "table-2.docx"
    head, *rows = cells_of(word.value.path())
    texts = [p.text for p in docx.Document(word.value.path()).paragraphs]
    assert any(text.startswith("Table 2.") for text in texts)
    at = next(n for n, cell in enumerate(head) if cell.startswith(("n/N", "Mean (SD)")))
    got = [row[at].split()[0] for row in rows if row[at]]
    if hits:
        assert got[: len(hits)] == hits
    else:
        grades = [
            [odd_tables.grade(k, m, r, 9) / 2 for k in range(1, 25) for r in range(3)]
            for m in range(2)
        ]
        assert got == [f"{statistics.fmean(of):.2f}" for of in grades]


@pytest.mark.parametrize("visit", ["en-GB"], indirect=True)
def test_headings_by_a_pattern_come_to_a_table_2_in_word(visit):
    page = visit.page
    visit.read("letters.csv", odd_tables.headings_by_a_pattern(), n_unsure=8)
    page.locator("[name=t0-names]").fill("R{rater}_Q{criterion}")
    visit.press("stay")
    asked = page.locator("[id$=-first] + ul li").all_inner_texts()
    assert asked[1:3] == [
        "Did 1 rate the answer of Alpha “no”? (1)",
        "Did 1 rate the answer of Alpha “4”? (2)",
    ]
    for _ in range(4):
        visit.press("next")
    visit.save()
    for action in ("import", "table"):
        wait_for(page, action)
    with page.expect_download() as word:
        page.locator("a[href='/download/table']").click()
    visit.check_time()
    head, *rows = cells_of(word.value.path())
    at = next(n for n, cell in enumerate(head) if cell.startswith("n/N"))
    got = [row[at].split()[0] for row in rows if row[at]]
    assert got[:2] == shares(24, lambda k, m, r: odd_tables.grade(k, m, r, 3) > 1)


SHAPES = {
    "counts of labels": (
        "zahlen.csv",
        odd_tables.counts_of_labels,
        "Wählte 1 Person für „P1“ das Label „leicht“?",
        ("multirater_percent_agreement", 2 / 9),
    ),
    "a cross table": (
        "two raters.xlsx",
        odd_tables.crossed_labels,
        "Did the rater of the rows choose “mild”, and the other “mild”, in 20 cases?",
        ("percent_agreement", 33 / 38),
    ),
}


@pytest.mark.parametrize(
    ("visit", "name"),
    [("de-DE" if "counts" in name else "en-GB", name) for name in SHAPES],
    indirect=["visit"],
)
def test_shapes_that_no_study_holds_end_in_the_command_that_computes_them(
    visit, name, monkeypatch, capsys
):
    """Kills: a page without a way on; a command that computes another table."""
    file, content, first, (statistic, value) = SHAPES[name]
    assert visit.read(file, content())[0] == first
    visit.press("next")
    [command] = visit.page.locator("pre.command").all_inner_texts()
    monkeypatch.chdir(visit.place)
    assert exit_code(*shlex.split(command)[1:], "--json") == 0
    rows = json.loads(capsys.readouterr().out)["statistics"]
    assert {row["name"]: row["value"] for row in rows}[statistic] == pytest.approx(value)
    visit.press(f"remove {file}")
    visit.press("next")
    assert visit.page.url.endswith("/questions")


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
