"""No cell of a report's files is a formula, whatever names and labels other people's files brought
in."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from konsil.records.formulas import harmless
from report_files import write

EVIL = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize(
    "first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'="]
)
def test_what_a_spreadsheet_calculates_is_text(first: str) -> None:
    assert harmless(f"{first}1+1") == f"'{first}1+1"


@pytest.mark.parametrize("text", ["", "a", "-1", "+2.5", "1=1", "'quoted'"])
def test_the_rest_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_labels_raters_and_systems_of_a_report(
    tmp_path: Path, thin: Callable[..., dict[str, Any]]
) -> None:
    given = thin()
    results = given["results"]
    rows = tuple(replace(row, analysis=EVIL, group={"system": EVIL}) for row in results.rows[:1])
    coverage = tuple(replace(row, system=EVIL, panel=EVIL) for row in results.coverage[:1])
    counts = {(EVIL, EVIL, EVIL, EVIL): 3}
    given["results"] = replace(
        results, rows=(*results.rows, *rows), coverage=coverage, label_counts=counts
    )
    write(tmp_path / "report", **given)
    seen = 0
    for path in (tmp_path / "report").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                seen += sum(EVIL in cell for cell in row)
                assert not any(cell.startswith("=") for cell in row), path.name
    assert seen >= 7
