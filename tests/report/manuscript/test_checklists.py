"""Checklists: all items of the guideline, filled in where the study knows, marked where not."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.report.conftest import arguments
from tests.report.manuscript.documents import material_of
from tests.report.manuscript.six_studies import CALLED, FREEZE, RECORD, STUDIES

from konsil.instrument import Instrument
from konsil.records import Source, Usage
from konsil.report.manuscript.blocks import Heading, Numbering, Paragraph
from konsil.report.manuscript.checklists.item import Item
from konsil.report.manuscript.checklists.registry import (
    CHECKLISTS,
    checklist_blocks,
    checklist_table,
)
from konsil.report.manuscript.citations import entries, in_words
from konsil.report.manuscript.request import Checklist
from konsil.report.material.overview import Material

MARK = {
    "en": "[to be written by the authors]",
    "de": "[von den Autorinnen und Autoren zu ergänzen]",
}
LETTERED = {
    # Item -> its subitems, as the guidelines' own tables have them.
    "tripod-llm": {3: "ab", 5: "abcde", 6: "abcde", 7: "abcde", 8: "abc", 9: "ab", 14: "abcdef"}
    | {16: "abcd", 19: "abcdefg"},
    "chart": {1: "ab", 2: "ab", 3: "ab", 4: "abc", 5: "ab", 6: "abcd", 7: "ab", 9: "a"}
    | {10: "abc", 11: "abc", 12: "abcde"},
}
ROMAN = {"5a": 3, "7b": 3, "9a": 1, "12c": 2}
"""CHART: subitem -> the Roman numbers below it."""


def numbering(name: Checklist) -> list[str]:
    """The numbers that a guideline's items have, in their order."""
    if name == "grras":
        return [str(n) for n in range(1, 16)]
    if name == "data-statement":
        return list("ABCDEFGHI")
    numbers = []
    for n in range(1, {"tripod-llm": 19, "chart": 12}[name] + 1):
        for letter in LETTERED[name].get(n, [""]):
            below = ROMAN.get(f"{n}{letter}", 0) if name == "chart" else 0
            numbers += [f"{n}{letter}", *(f"{n}{letter}{'i' * k}" for k in range(1, below + 1))]
    return numbers


def items(name: Checklist, given: Mapping[str, Any], **changes: Any) -> dict[str, Item]:
    filled = CHECKLISTS[name](material_of(given, **changes))
    return {item.number: item for item in filled.items}


def shown(name: Checklist, material: Material) -> dict[str, str]:
    table = checklist_table(material, CHECKLISTS[name](material))
    return {row[0].text: row[3].text for row in table.rows}


def with_study(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {**arguments()}
    return {**given, "study": replace(given["study"], **changes)}


def test_every_checklist_that_is_offered_can_be_filled_in() -> None:
    assert tuple(CHECKLISTS) == get_args(Checklist)


@pytest.mark.parametrize(
    ("name", "n"), [("grras", 15), ("tripod-llm", 49), ("chart", 39), ("data-statement", 9)]
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_checklist_has_the_items_of_its_guideline_in_their_order(
    name: Checklist, n: int, language: str
) -> None:
    material = material_of(arguments(language))
    table = checklist_table(material, CHECKLISTS[name](material))
    numbers = [row[0].text for row in table.rows]
    assert numbers == numbering(name)
    assert len(numbers) == n
    assert len({row[1].text for row in table.rows}) == n, "no two items ask for the same"
    main = {int(re.match(r"\d+", x)[0]) for x in numbers if x[0].isdigit()}  # type: ignore[index]
    assert len(main) == {"grras": 15, "tripod-llm": 19, "chart": 12, "data-statement": 0}[name]


@pytest.mark.parametrize("name", get_args(Checklist))
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_item_is_stated_or_marked_or_does_not_apply(name: Checklist, language: str) -> None:
    material = material_of(arguments(language))
    filled = CHECKLISTS[name](material)
    does_not = {"en": "Does not apply: ", "de": "Entfällt: "}[language]
    for item, row in zip(filled.items, checklist_table(material, filled).rows, strict=True):
        content, place = row[3].text, row[4].text
        assert (item.state == "for the authors") == (content == MARK[language]), item.number
        assert (item.state == "not applicable") == content.startswith(does_not), item.number
        assert bool(item.stated) == bool(place), item.number
        assert (item.state == "partly answered") == (
            bool(item.stated) and content.endswith(MARK[language])
        )
        if item.state == "partly answered":
            assert all(f"{topic} {MARK[language]}" in content for topic in item.open), item.number
        assert not (item.stated and item.reason), "an item is in one state"
    states = Counter(item.state for item in filled.items)
    assert states["answered"] + states["partly answered"] > 4 and states["for the authors"] > 0


STATES = {
    "answered": "answered",
    "partly answered": "partly",
    "for the authors": "authors",
    "not applicable": "not applicable",
}


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("name", get_args(Checklist))
def test_states_of_all_items_are_those_that_a_person_gave(name: Checklist, study: str) -> None:
    with (Path(__file__).parent / "checklist_states.csv").open() as file:
        expected = {r["item"]: r[study] for r in csv.DictReader(file) if r["checklist"] == name}
    filled = CHECKLISTS[name](STUDIES[study]())
    assert {item.number: STATES[item.state] for item in filled.items} == expected


def test_estimates_of_reliability_are_no_proportions_and_means() -> None:
    given: Any = arguments()
    n = int(items("grras", given)["13"].text.split()[0])
    agreement = ("agreement", "by_system", "pairs", "judges", "as_in_paper")
    rows = [r for r in given["results"].rows if r.kind == "estimate"]
    assert n == sum(math.isfinite(r.estimate.low) and r.analysis in agreement for r in rows)
    assert n < sum(math.isfinite(r.estimate.low) for r in rows)


@pytest.mark.parametrize("name", get_args(Checklist))
def test_a_checklist_names_its_source_and_how_its_items_are_numbered(name: Checklist) -> None:
    material = material_of(arguments())
    heading, source, _table = checklist_blocks(material, name, Numbering())
    filled = CHECKLISTS[name](material)
    assert isinstance(heading, Heading) and isinstance(source, Paragraph)
    assert filled.reference in source.text
    assert (filled.note in source.text) and bool(filled.note) == (name in LETTERED)
    assert in_words(entries()[filled.reference])


def test_of_grras_numbers_are_known_and_their_reason_is_not() -> None:
    content = shown("grras", material_of(arguments()))
    for number in ("1", "3", "4", "5", "7", "9", "14"):
        assert content[number] == MARK["en"], number
    assert content["6"].endswith(f"Reason for the sample size: {MARK['en']}")
    assert "60" in content["11"] and "180" in content["11"]


def test_of_grras_nothing_is_stated_that_no_record_shows() -> None:
    bare = items("grras", with_study(instruments=(), description="", licence=""))
    assert bare["2"].stated == ()
    assert bare["9"].text == "", "ratings that were imported may have been given together"
    given: Any = arguments()
    no_rows = given | {"results": replace(given["results"], rows=())}
    assert items("grras", given)["13"].text and not items("grras", no_rows)["13"].stated


def test_a_data_statement_follows_the_study() -> None:
    given: Any = arguments()
    content = items("data-statement", given)
    assert content["A"].text == given["study"].description
    assert "Language of the forms: en." in content["B"].text
    assert "Large LLM, small-llm, physician" in content["C"].text
    assert "Licence: CC0-1.0." in content["H"].stated
    assert content["E"].text == content["I"].text == ""
    changed = with_study(instruments=(Instrument("form", (), "x", language="fr"),))
    assert items("data-statement", changed)["B"].text == "Language of the forms: fr."


USED = (Usage("answer", "alpha", works=3, calls=3),)


@pytest.mark.parametrize(
    ("name", "number", "words", "changes", "of_study"),
    [
        ("tripod-llm", "14d", "osf.io/abcde", {"events": (RECORD,)}, {}),
        ("tripod-llm", "13", "Board of Ulm", {"events": (RECORD,)}, {}),
        ("chart", "12c", "Reference number: 12/26", {"events": (RECORD,)}, {}),
        ("tripod-llm", "14c", "frozen at 2026-03-01", {"events": (FREEZE,)}, {}),
        ("chart", "12d", "frozen at 2026-03-01", {"events": (FREEZE,)}, {}),
        ("tripod-llm", "12", "times, tokens and costs", {"usage": USED}, {}),
        ("chart", "6a", "API", {"usage": USED}, {}),
        ("chart", "6b", "days of the calls", {"usage": USED}, {}),
        ("chart", "6c", "request of its own", {"usage": USED}, {}),
        ("tripod-llm", "7c", "days of the calls", {"usage": USED}, {}),
        ("tripod-llm", "6a", "alpha (vendor:alpha-70b)", {}, {"systems": CALLED}),
        ("chart", "3a", "alpha (vendor:alpha-70b)", {}, {"systems": CALLED}),
        ("chart", "5b", "instructions are printed", {}, {"systems": CALLED}),
        ("tripod-llm", "5a", "deck.csv", {}, {"sources": (Source("deck.csv", "items"),)}),
        ("chart", "5ai", "deck.csv", {}, {"sources": (Source("deck.csv", "items"),)}),
        ("chart", "7biii", "blinding codes", {}, {"blinded": True}),
        ("grras", "8", "blinding codes", {}, {"blinded": True}),
    ],
)
def test_a_fact_is_stated_where_the_study_has_it_and_nowhere_else(
    name: Checklist, number: str, words: str, changes: dict[str, Any], of_study: dict[str, Any]
) -> None:
    without = items(name, arguments())[number]
    with_it = items(name, with_study(**of_study), **changes)[number]
    assert words in " ".join(with_it.stated)
    assert words not in " ".join(without.stated)


def test_questions_and_references_are_those_of_the_analyses() -> None:
    given: Any = arguments()
    analyses = given["study"].analyses
    asked = tuple(replace(a, question="Who is right?", against="physicians") for a in analyses)
    for name, number in (("tripod-llm", "4"), ("chart", "2b")):
        assert "Who is right?" not in items(name, given)[number].text  # type: ignore[arg-type]
        assert "Who is right?" in items(name, with_study(analyses=asked))[number].text  # type: ignore[arg-type]
    bare = with_study(analyses=tuple(replace(a, against=None) for a in analyses))
    assert items("chart", bare)["7a"].state == "for the authors"
    assert "panel physicians" in items("chart", with_study(analyses=asked))["7a"].text


def test_counts_of_missing_and_excluded_ratings_are_those_of_the_results() -> None:
    given: Any = arguments()
    coverage = given["results"].coverage
    text = items("tripod-llm", given)["5e"].text
    assert f"Abstentions: {sum(row.abstained for row in coverage)}." in text
    without = given | {"results": replace(given["results"], coverage=())}
    assert items("tripod-llm", without)["5e"].text == ""


def test_names_of_files_and_models_are_withheld_while_systems_are_blinded() -> None:
    given = with_study(sources=(Source("answers-of-alpha-70b.csv", "answers"),), systems=CALLED)
    material = material_of(given, usage=USED)
    for name in get_args(Checklist):
        hidden = shown(name, replace(material, is_blinded=True))
        assert not any("alpha-70b" in text or "API" in text for text in hidden.values())
    assert "alpha-70b" in " ".join(shown("chart", material).values())
