from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from simulated_studies import answers_of, items_of, study_of

from konsil.design.edits import edited
from konsil.errors import StudyError
from konsil.simulate import (
    CriterionTruth,
    Departure,
    PanelTruth,
    SystemTruth,
    Truth,
    check_truth,
    read_truth,
    toml_of,
)

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "simulation.md"


def test_what_is_written_is_read():
    text = """
    wrong_answers = ["i0:a"]
    [systems.a]
    quality = 0.8
    [panels.physicians]
    accuracy = 0.95
    abstention_slope = 1
    [criteria.correctness]
    best = "Correct"
    """
    truth = read_truth(text)
    assert truth.systems == {"a": SystemTruth(0.8)}
    assert truth.panels["physicians"] == PanelTruth(accuracy=0.95, abstention_slope=1.0)
    items = items_of(2)
    check_truth(truth, study_of(), answers_of(items))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[panels.physicians]\nacuracy = 0.9", "did you mean 'accuracy'"),
        ("[systems.a]\nquality = 'good'", "simulation.toml: systems.a.quality: expected a number"),
        ("systems = 3", "expected a table"),
        ("[systems", "not valid TOML"),
    ],
)
def test_misspellings_are_found(text, message):
    with pytest.raises(StudyError, match=message):
        read_truth(text)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (Truth(systems={"z": SystemTruth()}), "no system 'z'"),
        (Truth(panels={"physicans": PanelTruth()}), "did you mean 'physicians'"),
        (Truth(raters={"p9": PanelTruth()}), "no rater 'p9'"),
        (Truth(wrong_answers=("i0:x",)), "no wrong answer 'i0:x'"),
        (Truth(systems={"a": SystemTruth(length=-1)}), "systems.a.length: expected 0 or more"),
        (Truth(items={"source": {"x": -1.0, "y": 2.0}}), "items.source: expected a share above 0"),
        (
            Truth(exceptions=(Departure(where={"yeers": "5"}),)),
            "the raters have no column 'yeers'",
        ),
        (Truth(exceptions=(Departure(where={"arm": "text"}),)), "where.arm: nobody has 'text'"),
        (Truth(systems={"a": SystemTruth(1.0)}), "between 0 and 1"),
        (
            Truth(panels={"physicians": PanelTruth(accuracy=1.2)}),
            "physicians.accuracy: expected a number from",
        ),
        (
            Truth(panels={"physicians": PanelTruth(severity=-1)}),
            "severity: expected a number from 0",
        ),
        (Truth(panels={"physicians": PanelTruth(severity=float("nan"))}), "got nan"),
        (
            Truth(panels={"physicians": PanelTruth(shared=0.8, item_rater=0.3)}),
            "more than the whole",
        ),
        (Truth(label_width=0.0), "label_width"),
    ],
)
def test_what_the_study_does_not_have_is_refused(truth, message):
    with pytest.raises(StudyError, match=message):
        check_truth(truth, study_of(), answers_of(items_of(1)))


def test_labels_narrower_than_a_step_are_accepted():
    check_truth(Truth(label_width=0.5, difficulty_spread=0.0), study_of(), answers_of(items_of(1)))


def test_the_best_label_is_an_end_of_the_scale():
    truth = read_truth("[criteria.difficulty]\nbest = 'Medium'")
    with pytest.raises(StudyError, match="not the first or last label"):
        check_truth(truth, study_of())


def test_the_document_names_every_key_and_its_example_is_read():
    text = DOCUMENT.read_text("utf-8")
    tables = re.findall(r"\| key \| default \| says \|\n\|---\|---\|---\|\n((?:\|.*\|\n)+)", text)
    kinds = (Truth, SystemTruth, PanelTruth, CriterionTruth, Departure)
    for kind, rows in zip(kinds, tables, strict=True):
        keys = [row.split("|")[1].strip(" `") for row in rows.splitlines()]
        assert keys == [f.name for f in dataclasses.fields(kind)], kind.__name__
        for field, row in zip(dataclasses.fields(kind), rows.splitlines(), strict=True):
            if isinstance(field.default, float):
                assert f"`{field.default:g}`" in row, field.name
    example, placeholders = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    assert read_truth(placeholders).items["source"] == {"real-pocqi": 0.77, "healthbench": 0.23}
    truth = read_truth(example)
    assert read_truth(edited("", toml_of(truth))) == truth
    assert truth.exceptions[1] == Departure(instrument="fine", seconds=150.0)
    assert truth.raters["judge-1"].approves == 0.5
