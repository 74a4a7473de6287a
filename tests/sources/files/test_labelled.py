"""Files of SPSS and Stata: cells with the labels of their codes, and files that cannot be read."""

from __future__ import annotations

import datetime
import importlib.util
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyreadstat
import pytest

from konsil.errors import SourceError
from konsil.sources.files.labelled import labelled_cells
from konsil.sources.files.table import read_table

QUALITY: dict[int | float, str] = {1: "poor", 2: "fair", 3: "good", 9: "no answer"}
FRAME = pl.DataFrame(
    {
        "case": [1.0, 1.0, 2.0, 2.0],
        "rater": [1.0, 2.0, 1.0, 2.0],
        "safe": [1.0, 0.0, 1.0, 1.0],
        "quality": [3.0, 2.0, None, 9.0],
        "tone": [1.0, 2.0, 3.0, 3.0],
        "kind": [1.0, 2.0, 1.0, 3.0],
        "score": [1.5, 2.0, 1234567.0, 0.1],
        "remark": ["a", "  b ", "", "é"],
        "day": [datetime.date(2026, 1, 2)] * 4,
    }
)
LABELS: dict[str, dict[int | float, str]] = {
    "rater": {1: "Dr. A", 2: "Dr. B"},
    "safe": {0: "no", 1: "yes"},
    "quality": QUALITY,
    "tone": {1: "cold", 3: "warm"},
    "kind": {1: "other", 2: "other", 3: "own"},
}


def spss(folder: Path, **options: Any) -> Path:
    path = folder / "t.sav"
    pyreadstat.write_sav(FRAME, str(path), variable_value_labels=LABELS, **options)
    return path


def test_labels_of_codes_are_labels_and_keep_the_code_where_it_has_an_order(tmp_path: Path) -> None:
    measures = {"quality": "ordinal", "tone": "ordinal", "kind": "nominal"}
    path = spss(tmp_path, variable_measure=measures, missing_ranges={"quality": [9]})
    cells = labelled_cells(path, path.name)
    assert cells.to_dict(as_series=False) == {
        "case": ["1", "1", "2", "2"],
        "rater": ["Dr. A", "Dr. B", "Dr. A", "Dr. B"],
        "safe": ["yes", "no", "yes", "yes"],
        # 9 is declared to be missing.
        "quality": ["3 : good", "2 : fair", None, None],
        # A code without a label is its number.
        "tone": ["1 : cold", "2", "3 : warm", "3 : warm"],
        # Two codes with one label stay two labels.
        "kind": ["1 : other", "2 : other", "1 : other", "3 : own"],
        "score": ["1.5", "2", "1234567", "0.1"],
        "remark": ["a", "  b", None, "é"],
        "day": ["2026-01-02"] * 4,
    }


@pytest.mark.parametrize(
    ("measure", "first"), [("nominal", "good"), ("ordinal", "3 : good"), ("scale", "3 : good")]
)
def test_the_measure_decides_whether_labels_keep_their_codes(
    measure: str, first: str, tmp_path: Path
) -> None:
    path = spss(tmp_path, variable_measure={"quality": measure, "safe": measure})
    cells = labelled_cells(path, path.name)
    assert cells["quality"][0] == first
    assert cells["safe"][0] == ("1 : yes" if measure == "ordinal" else "yes")


def test_stata_files_of_another_writer(tmp_path: Path) -> None:
    """pandas writes categories as labelled codes, and missing values in Stata's way."""
    path = tmp_path / "t.dta"
    quality = pd.Categorical(["good", "fair", None, "poor"], ["poor", "fair", "good"], ordered=True)
    frame = pd.DataFrame({"unit": [1, 1, 2, 2], "quality": quality, "score": [1.5, None, 2, 0.1]})
    frame.to_stata(path, write_index=False)
    assert labelled_cells(path, path.name).to_dict(as_series=False) == {
        "unit": ["1", "1", "2", "2"],
        "quality": ["2 : good", "1 : fair", None, "0 : poor"],
        "score": ["1.5", None, "2", "0.1"],
    }


@pytest.mark.slow
def test_a_child_reads_it(tmp_path: Path) -> None:
    table = read_table(spss(tmp_path))
    assert (table.frame["rater"][1], table.place, table.line(1)) == ("Dr. B", "row", 2)


def test_without_the_library_the_refusal_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [spss(tmp_path), tmp_path / "t.dta", tmp_path / "t.zsav"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for path in paths:
        path.write_bytes(b"x")
        with pytest.raises(SourceError, match=r"\.\[spss\].*save it in (SPSS|Stata) as \.csv"):
            read_table(path)


def test_damaged_and_empty_files_are_refused(tmp_path: Path) -> None:
    whole = spss(tmp_path).read_bytes()
    for content in (whole[:200], b"$FL2" + b"\0" * 400, b"case,rater\n1,2\n"):
        path = tmp_path / "damaged.sav"
        path.write_bytes(content)
        with pytest.raises(SourceError, match=r"damaged\.sav: the file is damaged"):
            labelled_cells(path, path.name)
    pyreadstat.write_sav(FRAME.head(0), str(path))
    with pytest.raises(SourceError, match="no row"):
        labelled_cells(path, path.name)


def test_tables_of_too_many_cells_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spss(tmp_path)
    monkeypatch.setattr("konsil.sources.files.labelled.CELLS", 35)
    with pytest.raises(SourceError, match="more than 35 cells"):
        labelled_cells(path, path.name)
