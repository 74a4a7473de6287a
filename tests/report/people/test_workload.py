"""Table 1 on the work: counted by hand from a few comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.report.conftest import arguments

from konsil.analysis import Results
from konsil.analysis.model.results import CoverageRow
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.report.material.language import ENGLISH
from konsil.report.material.overview import Material, _systems
from konsil.report.material.tables import Numbers, Table
from konsil.report.people.workload import workload

LABELS = Scale(("A", "tie", "B"), level="ordinal")
FORM = Instrument(
    "form", (Criterion("better", "?", LABELS, "pair"), Criterion("safer", "?", LABELS, "pair"))
)
TEXTS = {"q1:a": "long text", "q1:b": "short", "q2:a": "same", "q2:b": "same", "q2:c": ""}
COMPARISONS = [
    ("r1", "q1", "q1:a", "q1:b"),
    ("r1", "q2", "q2:b", "q2:a"),
    ("r2", "q1", "q1:b", "q1:a"),
    ("r2", "q2", "q2:a", "q2:c"),
    ("r2", "q2", "q2:b", "q2:c"),
    ("judge", "q1", "q1:a", "q1:b"),
]


def material(lengths: dict[str, int] | None = None, **changes: Any) -> Material:
    study: Any = arguments()["study"]
    ratings = tuple(
        Rating(f"t{n}", rater, criterion, item, (first, second), label="A")
        for n, (rater, item, first, second) in enumerate(COMPARISONS)
        for criterion in ("better", "safer")
    )
    coverage = (
        CoverageRow("people", "better", "a | b", 6, 5, 0, 0, 1),
        CoverageRow("people", "safer", "a | b", 6, 5, 0, 0, 1),
        CoverageRow("judges", "better", "a | b", None, 1, 0, 0, None),
    )
    raters = (
        Rater("r1", "people"),
        Rater("r2", "people"),
        Rater("r3", "people"),
        Rater("judge", "judges", kind="llm"),
    )
    return Material(
        study=replace(
            study,
            instruments=(FORM,),
            systems=tuple(map(System, "abc")),
            raters=(),
            **changes,
        ),
        results=Results((), coverage),
        items=tuple(Item(f"q{n}", "?") for n in (1, 2)),
        answers=tuple(Answer(a, a[:2], a[-1], text) for a, text in TEXTS.items()),
        raters=raters,
        ratings=ratings,
        language=ENGLISH,
        numbers=Numbers(ENGLISH),
        lengths=lengths or {},
    )


def cells(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_tasks_per_rater_and_item_are_counted_once_for_all_criteria() -> None:
    tasks = {row[0]: row[1:] for row in cells(workload(material())[0])}
    # Two tasks of r1 and three of r2; r3 has none. Item q1 has two, item q2 three.
    assert tasks["people"] == ["2.5 (0.7)", "2–3", "2.5 (0.7)", "2–3", "10/12 (83%)"]
    assert tasks["judges"] == ["1.0", "1", "1.0", "1", "–"]


def test_comparisons_per_system() -> None:
    assert cells(workload(material())[1]) == [
        ["judges", "a", "1", "1", "1"],
        ["judges", "b", "1", "1", "1"],
        ["people", "a", "4", "2", "2"],
        ["people", "b", "4", "2", "2"],
        ["people", "c", "2", "1", "1"],
    ]


def test_longer_answers_of_people_with_equal_and_unknown_lengths() -> None:
    table = workload(material())[2]
    # a against b: longer twice (q1), once equal (q2); the length of q2:c is not known.
    assert cells(table) == [["a", "–", "2/3 (67%)"], ["b", "0/3 (0%)", "–"]]
    notes = " ".join(note.text for note in table.notes)
    assert "1 comparison of answers of equal length is in the denominators only." in notes
    assert "2 comparisons with an answer of unknown length are left out." in notes


def test_imported_lengths_take_the_place_of_texts() -> None:
    lengths = {"q1:a": 5, "q1:b": 8, "q2:c": 100}
    known = material(lengths)
    assert cells(workload(known)[2]) == [
        ["a", "–", "0/3 (0%)", "0/1 (0%)"],
        ["b", "2/3 (67%)", "–", "0/1 (0%)"],
        ["c", "1/1 (100%)", "1/1 (100%)", "–"],
    ]
    systems = _systems(known)
    assert [row[-1] for row in cells(systems)] == [
        "4.5 [4.2, 4.8]",
        "6.0 [5.0, 7.0]",
        "100 [100, 100]",
    ]
    notes = " ".join(note.text for note in systems.notes)
    assert "Of 1 answer only the number of characters was imported" in notes
    assert "not available" not in notes


def test_without_comparisons_there_are_no_tables_of_them() -> None:
    of_answers = replace(material(), study=replace(material().study, instruments=()))
    assert len(workload(of_answers)) == 1
