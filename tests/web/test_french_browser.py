"""The rating page in French in a real browser: it fits a phone and a low desk, and axe finds
nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.study.definition.adjudication import Adjudication
from konsil.study.sections.enrolment import Enrolment

from .browsers import in_a_browser
from .desks import OpenDesk, open_desk

pytestmark = in_a_browser

SURE = Scale(
    ("Incorrecte", "Partiellement correcte", "Correcte"),
    level="ordinal",
    abstain="Impossible à juger",
)
FORM = Instrument(
    "form",
    (
        Criterion("correct", "La réponse est-elle correcte ?", SURE, reason=True),
        Criterion("dose", "Quelle dose ?", Scale(kind="number", low=0.5, high=40, unit="mg")),
    ),
    "Est correct ce qui ne contient aucune erreur.",
    show_reference=True,
    language="fr",
)


@pytest.fixture
def desk(chromium: Any, tmp_path: Path) -> Iterator[OpenDesk]:
    """A head as full as it gets: batches, the menu's entries for consent and disagreements, three
    answers beside."""
    more = {"adjudication": Adjudication("panel"), "enrolment": Enrolment(consent="Je participe.")}
    plan = [Allocation("panel", "form", batches=2)]
    with open_desk(
        chromium, tmp_path, FORM, systems=3, items=4, plan=plan, language="fr", more=more
    ) as made:
        made.page.goto(made.link())
        made.page.click("button.go")
        made.page.click("button[value=agree]")
        made.page.wait_for_selector("html.scripted")
        yield made


@pytest.mark.covering(1)
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 620)])
def test_the_rating_page_in_french_fits_and_axe_finds_nothing(
    width: int, height: int, desk: OpenDesk
) -> None:
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    page = desk.page
    page.set_viewport_size({"width": width, "height": height})
    assert page.locator("html").get_attribute("lang") == "fr"
    assert "Lot 1 sur 2" in page.locator(".progress").inner_text()
    assert page.locator("header.top").bounding_box()["height"] <= 56
    for opened in ("", "codebook", "keys", "more"):
        if opened:
            page.locator(f"#{opened}").evaluate("one => one.showPopover()")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, opened
        assert not [(v["id"], v["nodes"][0]["html"]) for v in axe.run(page)["violations"]], opened
        if opened:
            page.locator(f"#{opened}").evaluate("one => one.hidePopover()")


def test_a_language_is_chosen_by_its_own_name(desk: OpenDesk) -> None:
    page = desk.page
    page.click("button.menu")
    assert page.locator("button[name=language]").all_inner_texts() == ["Deutsch", "English"]
    page.click("button[name=language][lang=en]")
    page.wait_for_selector("html[lang=en]")
    page.click("button.menu")
    assert page.locator("button[name=language][lang=fr]").inner_text() == "français"
    page.click("button[name=language][lang=fr]")
    page.wait_for_selector("html[lang=fr]")


def test_numbers_have_the_comma_of_french_without_a_script_too(
    chromium: Any, tmp_path: Path
) -> None:
    form = replace(FORM, criteria=FORM.criteria[1:])
    with open_desk(chromium, tmp_path, form, language="fr", java_script_enabled=False) as desk:
        page = desk.page
        page.goto(desk.link())
        page.click("button.go")
        assert page.locator(".hint").first.inner_text() == "de 0,5 à 40"
        page.locator(".asked input[type=text]").first.fill("1.250")
        page.click("#go")
        assert "Veuillez écrire 1250 ou 1,25\u00a0:" in str(page.text_content(".fault"))
