"""Lines over ordered categories: when they are drawn, and what few cases look like."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Results, Row
from konsil.records import System
from konsil.report.answers.answers import first_page
from konsil.report.answers.ordered_lines import FEW, is_of_few
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.stats.engine.contract import Estimate
from konsil.study import Study

LEVELS = ("narrative", "0", "1")
SPEC = flat_analysis(
    "levels", "accuracy", "precision", "experts", by=("level",), question="How often?"
)
ISS = flat_analysis("iss", "information_sensitivity", "precision", "experts", levels=LEVELS)


def row(level: str, system: str = "a", n: int = 20, value: float = 0.5) -> Row:
    return Row(
        "levels",
        "accuracy",
        "precision",
        "experts",
        Estimate(value, value - 0.1, value + 0.1, n_clusters=n),
        {"system": system, "level": level},
        kind="estimate",
        n_units=n,
        n_raters=2,
    )


def drawn(*rows: Row) -> str:
    spoken = language("en")
    study = Study("t", 1, systems=(System("a"), System("b")), analyses=(SPEC, ISS))
    given = Material(
        study=study,
        results=Results(rows, ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
    )
    [view] = first_page(given).questions[0].answers
    assert view.figure is not None
    return view.figure.svg.decode() + view.figure.description


GRID = [row(level, system) for system in "ab" for level in LEVELS]


def test_groups_over_levels_are_lines_in_the_order_of_the_levels() -> None:
    shown = drawn(*reversed(GRID))
    assert "a: narrative 50.0%, 0 50.0%, 1 50.0%" in shown
    assert "n &lt; 5" not in shown
    assert "system-a, Level" not in shown
    assert "Information level, from most to least information" in shown


def test_points_of_few_cases_are_hollow_and_named() -> None:
    few = replace(GRID[1], estimate=replace(GRID[1].estimate, n_clusters=FEW - 1))
    assert "n &lt; 5" in drawn(few, *(r for r in GRID if r is not GRID[1]))


@pytest.mark.parametrize(("n", "expected"), [(0, False), (4, True), (5, False)])
def test_few_is_below_five_clusters(n: int, expected: bool) -> None:
    assert is_of_few(row("0", n=n)) is expected


def test_two_levels_are_rows() -> None:
    assert "a: narrative" not in drawn(*(r for r in GRID if r.group["level"] != "1"))
