"""The first page in a real browser: the main finding on the first screen, of the demonstration and
of every protocol; a page that reads whole without its script, on paper and on a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web.browsers import Still, chromium, in_a_browser

from reported_studies import ReportedStudy
from small_protocols import SMALL

__all__ = ["chromium"]
pytestmark = in_a_browser

SCREEN = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
SCREENS = 12
"""Screens of the page without its appendix."""


@pytest.fixture(scope="module", params=["demo", *sorted(SMALL)])
def report(request: pytest.FixtureRequest, reported: Callable[[str], ReportedStudy]) -> Path:
    return reported(request.param).folder / "report" / "index.html"


@pytest.fixture
def page(chromium: Still, report: Path) -> Iterator[Any]:
    page = chromium.new_page(viewport=SCREEN)
    page.goto(report.as_uri())
    yield page
    page.close()


def bottom(locator: Any) -> float:
    box = locator.bounding_box()
    assert box is not None
    return float(box["y"] + box["height"])


def test_the_main_finding_is_on_the_first_screen(page: Any, report: Path) -> None:
    answer, figure = page.locator(".question .answer").first, page.locator(".question svg").first
    assert bottom(answer) <= SCREEN["height"]
    # Of several criteria the figure has panels, of which the first screen shows the first.
    is_of_criteria = "real-pocqi" in report.as_posix()
    end = figure.bounding_box()["y"] + 100 if is_of_criteria else bottom(figure)
    assert end <= SCREEN["height"]
    sentence = answer.inner_text()
    if "cqa-eval" not in report.as_posix():  # too few items at this size for an interval
        assert re.search(r"95% CI, −?[\d.]+ to −?[\d.]+", sentence), sentence
    if "demo" in report.as_posix():
        assert "difference, 26.4 percentage points (95% CI, 16.8 to 38.8;" in sentence


@pytest.mark.covering(2)
def test_limits_come_first_and_a_question_is_no_name_of_a_statistic(page: Any) -> None:
    first = page.locator("#limits").bounding_box()["y"]
    assert first < page.locator(".question").first.bounding_box()["y"]
    questions = page.locator(".question h3").all_inner_texts()
    assert len(questions) >= 5
    assert all(q.endswith("?") for q in questions)


@pytest.mark.covering(2)
def test_the_body_has_at_most_twelve_screens(page: Any) -> None:
    assert page.locator("#appendix").bounding_box()["y"] <= SCREENS * SCREEN["height"]


@pytest.mark.covering(2)
def test_axe_has_nothing_to_say(page: Any, report: Path) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright")
    if "demo" in report.as_posix():
        for part in page.locator("details:not([open]) > summary").all()[::-1]:
            part.evaluate("summary => { summary.parentElement.open = true }")
    else:  # of the largest ones the body: their appendices have the same parts, and take minutes
        page.locator("details.part > :not(summary)").evaluate_all(
            "parts => parts.forEach(part => part.remove())"
        )
    violations = axe.Axe().run(page)["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in violations] == []


@pytest.mark.covering(1)
def test_the_page_reads_whole_without_its_script(chromium: Still, report: Path) -> None:
    context = chromium.new_context(viewport=SCREEN, java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert not page.locator(".filter").is_visible()
    methods = page.locator("details.part", has=page.locator("#methods"))
    assert not methods.locator("p").first.is_visible()
    methods.locator("summary").first.click()
    assert methods.locator("p").first.is_visible()
    context.close()


@pytest.mark.covering(1)
def test_paper_has_every_folded_section(chromium: Still, report: Path) -> None:
    context = chromium.new_context(viewport=SCREEN, java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    for name in ("methods", "versions", "flow"):
        part = page.locator("details.part", has=page.locator(f"#{name}"))
        assert part.locator(":scope > :not(summary)").first.is_visible(), name
    assert not page.locator(".filter").is_visible()
    context.close()


@pytest.mark.covering(1)
def test_the_filter_leaves_the_sections_that_contain_a_word(page: Any) -> None:
    box = page.locator(".filter input")
    parts = page.locator("details.part")
    every = parts.count()
    box.fill("seed")
    shown = [part for part in parts.all() if part.is_visible()]
    assert 1 <= len(shown) < every
    assert page.locator("details.part[open]", has=page.locator("#versions")).count() == 1
    assert page.locator(".filter output").inner_text() == f"{len(shown)} / {every}"
    box.fill("")
    assert all(part.is_visible() for part in parts.all())


@pytest.mark.covering(1)
def test_a_link_opens_the_section_that_it_leads_to(page: Any) -> None:
    page.locator(".question .numbers a[href^='#analysis-']").first.click()
    opened = page.locator("details.part[open]", has=page.locator("#prespecified"))
    opened.wait_for()
    assert opened.locator(".analysis h3").first.is_visible()


@pytest.mark.covering(2)
def test_nothing_is_cut_on_a_phone(chromium: Still, report: Path) -> None:
    page = chromium.new_page(viewport=PHONE)
    page.goto(report.as_uri())
    width = PHONE["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for figure in page.locator(".question svg").all():
        box = figure.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    # Nothing in the body scrolls sideways: a row of a table is a card, each number with its name.
    for part in page.locator(".question .scroll, .results .scroll").all():
        assert part.evaluate("e => e.scrollWidth - e.clientWidth") <= 1, part.inner_text()[:200]
    for cell in page.locator(".results .cards tbody td").all()[:40]:
        label = cell.evaluate("e => getComputedStyle(e, '::before').content")
        assert label == json.dumps(cell.get_attribute("data-label"), ensure_ascii=False)
    page.close()
