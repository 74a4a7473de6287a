"""Drugs, genes, codes and eponyms are listed for the marker, and ordinary words are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.prepare.cases.leftovers import LISTS, hints, leftovers
from konsil.prepare.cases.masking import REMOVED, Mark
from konsil.records import Item


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("Früher hieß es Wegenersche Granulomatose", "eponym", "Wegenersche"),
        ("known as Moschcowitz disease", "eponym", "Moschcowitz"),
        ("Diagnose E83.0 gesichert", "code", "E83.0"),
        ("OMIM 277900", "code", "OMIM 277900"),
        ("ORPHA:905", "code", "ORPHA:905"),
        ("a variant in ATP7B", "gene", "ATP7B"),
        ("SDHB-Mutation", "gene", "SDHB"),
        ("unter D-Penicillamin", "drug", "Penicillamin"),
        ("caplacizumab was given", "drug", "caplacizumab"),
        ("Phenoxybenzamin vor der OP", "drug", "Phenoxybenzamin"),
        ("fludrocortisone 0.1 mg", "drug", "fludrocortisone"),
        ("MIBG-Szintigraphie", "drug", "MIBG-Szintigraphie"),
        ("Kayser-Fleischer-Ring", "eponym", "Kayser-Fleischer-Ring"),
    ],
)
def test_what_gives_a_diagnosis_away_is_listed(text: str, kind: str, words: str) -> None:
    assert [(hint.kind, text[hint.start : hint.end]) for hint in hints(text)] == [(kind, words)]


@pytest.mark.parametrize(
    "text",
    [
        "Vitamin B12 and T4 were normal",
        "vertebra T12, L45",
        "The patient was still weak.",
        "MET 4.5; APP 12",
        "HbA1c 7.4 %",
    ],
)
def test_ordinary_findings_are_not(text: str) -> None:
    assert list(hints(text)) == []


def test_the_page_states_how_long_the_lists_are() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "howto-study.md").read_text("utf-8")
    stated = (
        f"({LISTS['drug']} drugs and the stems of their names, {LISTS['gene']} genes,"
        f" {LISTS['eponym']} eponyms)"
    )
    assert stated in " ".join(page.split())


def test_only_what_no_mark_covers_is_listed_once_and_stops_nobody() -> None:
    text = "Rituximab was given, rituximab again, then trientine. Sarcoidosis."
    marks = [
        Mark(text.index("Sarc"), len(text) - 1, "diagnosis"),
        Mark(text.index("trien"), text.index("."), "cue", 1),
    ]
    found = [
        one
        for one in leftovers(Item("c", text, "sarcoidosis"), marks, REMOVED)
        if one.kind == "hint"
    ]
    assert [one.description() for one in found] == ["level 3 still has 'Rituximab' at 0-9, a drug"]
    assert not found[0].stops
