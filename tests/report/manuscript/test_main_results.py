"""Tables 1 and 2 of a manuscript, and their numbers as cells of a workbook."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.analyses import flat_analysis
from tests.report.conftest import arguments, estimate
from tests.report.manuscript.documents import material_of

from konsil.analysis import Row
from konsil.report.manuscript.printed import printed
from konsil.report.manuscript.tables.main_results import main_results
from konsil.report.manuscript.tables.study_table import study_table
from konsil.report.manuscript.writers.number_cells import number_parts
from konsil.report.material.language import language
from konsil.report.material.overview import Material


def with_rows(*analyses: Any, rows: tuple[Row, ...]) -> Material:
    given: Any = arguments()
    study = replace(given["study"], analyses=analyses)
    return material_of({**given, "study": study}, results=replace(given["results"], rows=rows))


def row(name: str, statistic: str, value: float, **more: Any) -> Row:
    e = estimate(value, 0.1, n_ratings=60)
    fields = {"raters": "physicians", "n_units": 60, "n_raters": 3, "group": {"system": "a"}}
    return Row(name, statistic, "helpful", estimate=e, **{**fields, **more})


def cells(material: Material) -> list[list[str]]:
    shown = main_results(printed(material))
    assert shown is not None
    return [[cell.text for cell in line] for line in shown.rows]


def test_a_proportion_has_numerator_and_denominator_and_a_difference_percentage_points() -> None:
    share = flat_analysis(
        "right_answers", "share", "helpful", "physicians", by=("system",), of=("Agree",)
    )
    difference = row("right_answers", "share", 0.25, kind="difference", versus={"system": "b"})
    material = with_rows(share, rows=(row("right_answers", "share", 0.75), difference))
    estimate_line, difference_line = cells(material)
    assert estimate_line[0].startswith("Right answers: ") and "_" not in estimate_line[0]
    assert estimate_line[1:5] == ["a", "45/60 (75.0%)", "65.0 to 85.0", ""]
    assert difference_line[1:5] == ["a − b", "", "", "25.0 (15.0 to 35.0)"]


def test_a_mean_has_the_standard_deviation_of_the_same_sample() -> None:
    mean = flat_analysis("mean", "mean", "helpful", "physicians", by=("system",), question="?")
    deviation = replace(mean, name="sd", statistic="standard_deviation", question="")
    rows = (row("mean", "mean", 3.62), row("sd", "standard_deviation", 0.914))
    [line] = cells(with_rows(mean, deviation, rows=rows))
    assert line[2:4] == ["3.62 (0.91)", "3.52 to 3.72"]
    of_others = replace(deviation, raters="judges")
    [line] = cells(with_rows(mean, of_others, rows=rows))
    assert line[2] == "3.62"


def test_an_exploratory_analysis_with_a_question_is_called_so() -> None:
    mean = flat_analysis("mean", "mean", "helpful", "physicians", by=("system",), question="?")
    [declared] = cells(with_rows(mean, rows=(row("mean", "mean", 3.62),)))
    exploratory = replace(mean, prespecified=False)
    [line] = cells(with_rows(exploratory, rows=(row("mean", "mean", 3.62),)))
    assert line[0] == f"{declared[0]}, exploratory"


def test_table_one_has_planned_given_and_missing_ratings_of_each_panel() -> None:
    lines = [[c.text for c in line] for line in study_table(material_of(arguments())).rows]
    judges = {name: text for part, name, text in lines if part == "Ratings, judges"}
    assert judges["Planned"] == "1080"
    assert judges["Rated"] == "1014 (94%)"
    assert judges["Missing"] == "24 (2%)"
    assert ["Raters, physicians", "specialty: cardiology", "2 (67%)"] in lines
    assert ["Items", "specialty: surgery", "30 (50%)"] in lines


@pytest.mark.parametrize(
    ("text", "code", "numbers"),
    [
        ("45/60 (75.0%)", "en", {"n": 45, "N": 60, "%": 75.0}),
        ("0,612 [0,540; 0,684]", "de", {"": 0.612, "untere Grenze": 0.54, "obere Grenze": 0.684}),
        ("−0.6 to 19.3", "en", {"lower": -0.6, "upper": 19.3}),
        ("8.5 (−0.6 to 19.3)", "en", {"": 8.5, "lower": -0.6, "upper": 19.3}),
        ("3.62 (0.91)", "en", {"": 3.62, "SD": 0.91}),
        ("12\u202f000", "en", {"": 12000}),
        ("59 / 60", "en", {"first group": 59, "second group": 60}),
        ("88,9\u202f%", "de", {"": 88.9}),
        ("< 0.001", "en", {"": "< 0.001"}),
    ],
)
def test_each_number_of_a_cell_is_a_number(text: str, code: str, numbers: dict[str, Any]) -> None:
    parts = number_parts([text], language(code))
    assert dict(zip(parts.names, parts.rows[0], strict=True)) == numbers
