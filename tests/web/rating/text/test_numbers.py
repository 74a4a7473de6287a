"""Numbers as people type them: read back, asked about or refused; the page's module reads them as
the server does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.instrument.definition.fields import fields
from konsil.records import Task
from konsil.web.rating import form
from konsil.web.rating.text.numbers import read_number

from ...browsers import in_the_browser
from ...desks import open_desk

MG = Scale(kind="number", low=0, high=5000, abstain="unclear", unit="mg")
DOSE = Criterion("dose", "Which dose?", MG, "item")
FORM = Instrument("form", (DOSE,))
ASKED = fields(FORM, Task("t", "t", "r", "form", "i"))
UNDERSTOOD = {
    "40": "40",
    " 40 ": "40",
    "1,5": "1.5",
    "1.5": "1.5",
    "+3": "3",
    "-0": "-0",
    "\u22123": "-3",
    ".5": "0.5",
    "5.": "5",
    "0.125": "0.125",
    "0,125": "0.125",
    "1234.567": "1234.567",
    "1.2500": "1.2500",
    "1 000": "1000",
    "1'000": "1000",
    "1\u202f234,5": "1234.5",
    "1.000,5": "1000.5",
    "1,000.5": "1000.5",
    "1.000.000": "1000000",
    "1,000,000": "1000000",
}
AMBIGUOUS = {
    "1.000": ("1000", "1.0"),
    "1,234": ("1234", "1.2340"),
    "12.500": ("12500", "12.5"),
    "-1,250": ("-1250", "-1.25"),
}
NO_NUMBERS = (
    "1e2",
    "1E2",
    "0x10",
    "1_000",
    "inf",
    "nan",
    "4 0",
    "1.00.000",
    "1,000,00",
    "1.000.5",
    "forty",
    "4mg",
    "٤",
    "-",
)


def handed_in(typed: str) -> str | None:
    """The label that a form with this number stores; None where it is refused."""
    found = form.read(ASKED, form.tidied(ASKED, {"dose": typed}))
    return found.replies[0].label if found.readable else None


@pytest.mark.parametrize(("typed", "number"), UNDERSTOOD.items())
def test_a_number_that_can_be_read_in_one_way_is_read(typed: str, number: str) -> None:
    assert read_number(typed).number == number
    # What is stored of it is read in the same way when the page comes again.
    assert read_number(number).number == number
    if float(number) >= 0 and float(number) <= 5000:
        assert float(str(handed_in(typed))) == float(number)


@pytest.mark.parametrize(("typed", "ways"), AMBIGUOUS.items())
def test_a_number_that_can_be_read_in_two_ways_is_refused_with_both(
    typed: str, ways: tuple[str, str]
) -> None:
    found = read_number(typed)
    assert (found.number, found.grouped, found.decimal) == ("", *ways)
    assert handed_in(typed) is None
    assert [read_number(way).number for way in ways] == list(ways), (
        "each way of writing it is understood"
    )


@pytest.mark.parametrize("typed", NO_NUMBERS)
def test_what_is_no_number_is_refused(typed: str) -> None:
    assert read_number(typed).number == read_number(typed).grouped == ""
    assert handed_in(typed) is None


def test_an_abstention_is_no_number_and_is_taken() -> None:
    assert form.read(ASKED, form.tidied(ASKED, {"dose": "unclear"})).replies[0].state == "abstained"


@in_the_browser
def test_the_page_reads_numbers_as_the_server_does(chromium: Any, tmp_path: Path) -> None:
    texts = [*UNDERSTOOD, *AMBIGUOUS, *NO_NUMBERS, ""]
    with open_desk(chromium, tmp_path, FORM) as desk:
        desk.come()
        got = desk.page.evaluate("texts => texts.map((text) => konsilReadNumber(text))", texts)
    for text, one in zip(texts, got, strict=True):
        there = read_number(text)
        assert (one.get("number", ""), one.get("whole", ""), one.get("decimal", "")) == (
            there.number,
            there.grouped,
            there.decimal,
        ), text


@in_the_browser
@pytest.mark.parametrize(
    ("language", "thousand", "decimal"),
    [
        ("en", "= 1,000\u00a0mg", "1.0:"),
        ("de", "= 1.000\u00a0mg", "1,0:"),
        ("fr", "= 1\u202f000\u00a0mg", "1,0\u00a0:"),
    ],
)
def test_a_number_is_read_back_and_an_ambiguous_one_asked_about(
    language: str, thousand: str, decimal: str, chromium: Any, tmp_path: Path
) -> None:
    with open_desk(chromium, tmp_path, FORM, language=language) as desk:
        desk.come()
        box, page = desk.page.locator("[name='~1']"), desk.page
        box.fill("1 000")
        assert page.text_content(".reading") == thousand
        box.fill("1e2")
        assert page.text_content(".reading") == ""
        page.keyboard.press("Enter")
        page.wait_for_selector(".asked.missing")
        assert "5000" in str(page.text_content(".fault"))
        box.fill("1.000")
        page.keyboard.press("Enter")
        page.wait_for_selector(".asked.missing")
        said = str(page.text_content(".fault"))
        assert "1000" in said
        assert decimal in said
        assert not desk.store.ratings()
        box.fill("1000")
        desk.leave()
        assert desk.label("dose") == "1000"


@in_the_browser
def test_without_a_script_the_server_asks_and_reads_back(chromium: Any, tmp_path: Path) -> None:
    with open_desk(chromium, tmp_path, FORM, java_script_enabled=False) as desk:
        page = desk.page
        page.goto(desk.link())
        page.click("button.go")
        page.fill("[name='~1']", "1.000")
        page.click("#go")
        assert "Please write 1000 or 1.0: 1.000 can be read as either." in str(
            page.text_content(".fault")
        )
        assert page.input_value("[name='~1']") == "1.000", "what was typed is still there"
        assert not desk.store.ratings()
        before = page.url
        page.fill("[name='~1']", "1.000,5")
        page.click("#go")
        assert desk.label("dose") == "1000.5"
        page.goto(before)
        assert page.text_content(".reading") == "= 1,000.5\u00a0mg"


@pytest.mark.parametrize("number", ["9" * 400, "1" * 27 + ".55"])
def test_a_number_of_very_many_digits_is_shown_as_it_was_typed(number: str) -> None:
    """It was kept, and then every page that showed it ended in an error."""
    from konsil.web.site.pages import environment

    template = environment("de").from_string("{{ number | decimal }}")
    assert template.render(number=number) == number
