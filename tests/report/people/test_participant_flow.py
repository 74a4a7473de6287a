"""The flow of items and people as a figure: its numbers, its boxes, its exclusions."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import pytest
from tests.report.conftest import arguments
from tests.report.manuscript.documents import material_of

from konsil.prepare import Drawn, event_of
from konsil.records import Event
from konsil.report.people.participant_flow import _laid_out, _wrapped, participant_flow


def words(svg: bytes) -> str:
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode()))


@pytest.mark.slow
def test_items_raters_and_ratings_have_their_numbers() -> None:
    drawing = participant_flow(material_of(arguments()))
    assert drawing.description.startswith("Items in the study: 60; Items rated: 60; ")
    assert (
        "Raters in the study: people: 3, LLM judges: 2; Raters analysed: 5" in drawing.description
    )
    assert (
        "Ratings with a label: 2028 (abstentions: 12; unreadable: 18; excluded: 36; missing: 48)"
        in drawing.description
    )
    assert "Raters analysed: 5" in words(drawing.svg)
    assert "Simulated ratings." in words(drawing.svg), "the file travels alone"


@pytest.mark.slow
def test_exclusions_and_recruitment_have_boxes_of_their_own() -> None:
    given: Any = arguments("de")
    people = {"contacted": 9, "consented": 6, "completed": 5}
    recruited = Event("r 1", "recruitment", "stratum ", "2026-01-01T00:00:00Z", people)
    study = replace(
        given["study"], exclusions=replace(given["study"].exclusions, raters=("judge A",))
    )
    few = [r for r in given["ratings"] if r.item != "item 9"]
    material = material_of(given | {"study": study, "ratings": few}, events=(recruited,))
    description = participant_flow(material).description
    assert "Eingeladen: 9; Eingewilligt: 6 (Nicht erreicht: 3" in description
    assert "Bewertete Items: 59 (Nicht bewertet: 1; keine Bewertung: 1)" in description
    assert (
        "Bewertende in der Analyse: 4 (Ausgeschlossen: 1; laut Studienprotokoll ausgeschlossen: 1)"
        in description
    )


def test_a_sample_states_pool_and_reasons() -> None:
    ids = tuple(f"item {n}" for n in range(1, 61))
    drawn = Drawn(
        "digest",
        100,
        lost={"duplicate": 7, "other language": 3},
        sample=True,
        drawn={"": {"": ids}},
    )
    event = event_of(drawn, 1, "2026-01-01T00:00:00Z")
    description = participant_flow(material_of(arguments(), events=(event,))).description
    assert "Items in the pool: 100; Items" in description
    assert (
        "(Excluded: 40; not sampled: 30; duplicate of another item: 7; other language: 3)"
        in description
    )


def test_lines_fit_their_box_and_boxes_do_not_overlap() -> None:
    assert _wrapped("Donaudampfschifffahrtsgesellschaftskapitän", 1.0)[0].endswith("…")
    assert len(_wrapped("one two three four five six seven", 0.7)) > 2
    from konsil.report.people.participant_flow import Stage

    boxes = _laid_out([Stage("a"), Stage("b", ("Lost: 3", "x: 2", "y: 1")), Stage("c")])
    assert all(first.bottom < second.top for first, second in itertools.pairwise(boxes))
    assert boxes[1].top - boxes[0].bottom > boxes[2].top - boxes[1].bottom
