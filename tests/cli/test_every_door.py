"""Exports, several sheets and several files: what agreement reads, compare and preference read."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pyreadstat
import pytest
from tests.sources.exports.examples import assignment, choice, table, write

import konsil

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "100")
RATERS = ("ann", "ben")
UNITS = range(12)


def label(unit: int, rater: str, system: str) -> str:
    """One system is right more often, and one rater is stricter."""
    return "good" if (unit * 7 + len(system) * 5 + (rater == "ann")) % 4 else "bad"


def winner(unit: int, rater: str) -> str:
    return ("old", "newer", "tie", "newer")[(unit + (rater == "ann")) % 4]


RATED = pl.DataFrame(
    [(f"{u}", r, s, label(u, r, s)) for u in UNITS for s in ("old", "newer") for r in RATERS],
    schema=["unit", "rater", "system", "quality"],
    orient="row",
)
VOTES = pl.DataFrame(
    [(f"{u}", r, "old", "newer", winner(u, r)) for u in UNITS for r in RATERS],
    schema=["item", "rater", "first", "second", "winner"],
    orient="row",
)


def tasks(control: str, data: Callable[[int], dict[str, str]], chosen: Callable[..., str]) -> str:
    """Label Studio's JSON: a task for each unit, or for each unit and system."""
    return json.dumps(
        [
            {
                "id": n,
                "data": data(n),
                "annotations": [
                    {
                        "completed_by": {"email": r},
                        "was_cancelled": False,
                        "result": [choice(control, chosen(n, r))],
                    }
                    for r in RATERS
                ],
            }
            for n in range(24 if control == "quality" else 12)
        ]
    )


def result(call: Call, *words: object) -> dict[str, Any]:
    code, out, err = call(*words, *FEW, "--json")
    assert (code, err) == (0, "")
    document: dict[str, Any] = json.loads(out)
    return document


def printed(call: Call, *words: object) -> list[str]:
    """The words of the command that a refusal prints."""
    code, out, err = call(*words, *FEW)
    assert (code, out) == (2, "")
    (command,) = re.findall(r"^If so: konsil (.*)$", err, re.MULTILINE)
    return shlex.split(command)


def shares(document: dict[str, Any]) -> list[Any]:
    return [row["value"] for row in document["estimates"]]


def expected_shares(by: str, **options: Any) -> list[Any]:
    rows = konsil.compare(RATED, by=by, resamples=100, success=["good"], **options).estimates
    return [pytest.approx(row.estimate.value, rel=1e-11) for row in rows]


def differences(document: dict[str, Any]) -> list[Any]:
    return [row["value"] for row in document["win_difference"]]


def expected_differences() -> list[Any]:
    rows = konsil.preference(VOTES, resamples=100).win_difference
    return [pytest.approx(row["value"], rel=1e-11) for row in rows]


def test_compare_reads_an_export(call: Call, tmp_path: Path) -> None:
    """Tasks of an answer each; the answer's system is among the task's data."""

    def system(n: int) -> str:
        return ("old", "newer")[n % 2]

    content = tasks(
        "quality",
        lambda n: {"system": system(n), "question": f"{n // 2}"},
        lambda n, rater: label(n // 2, rater, system(n)),
    )
    path = write(tmp_path, ".json", content)
    document = result(call, "compare", path, "--by", "system", "--success", "good")
    assert shares(document) == expected_shares("system")
    assert (document["raters"], document["ratings"]) == (2, 48)
    assert document["reading"].startswith("Label Studio's export; ")


def test_preference_reads_an_export(call: Call, tmp_path: Path) -> None:
    """Tasks of two answers each; the choice is the system whose answer is better."""
    content = tasks("winner", lambda n: {"first": "old", "second": "newer"}, winner)
    document = result(call, "preference", write(tmp_path, ".json", content))
    assert differences(document) == expected_differences()
    assert (document["n_items"], document["n_raters"]) == (12, 2)
    assert document["reading"].startswith("Label Studio's export; ")


def test_preference_of_a_form_does_not_ask_which_questions_are_ratings(
    call: Call, tmp_path: Path
) -> None:
    """Mechanical Turk's results, whose form also asks for something else."""
    rows = [
        {
            **assignment(row["item"], row["rater"], "", AssignmentStatus="Approved"),
            "Input.first": row["first"],
            "Input.second": row["second"],
            "Answer.winner": row["winner"],
            "Answer.read": ("yes", "no")[n % 3 == 0],
        }
        for n, row in enumerate(VOTES.to_dicts())
    ]
    path = write(tmp_path, ".csv", table(rows))
    code, _, err = call("agreement", path, *FEW)
    assert code == 2
    assert "A form's questions" in err
    document = result(call, "preference", path, "--outcome", "winner")
    assert differences(document) == expected_differences()
    assert document["n_raters"] == 2


def files_of(frame: pl.DataFrame, column: str, folder: Path) -> list[Path]:
    """A file for each value of a column."""
    paths = []
    for (name,), rows in frame.partition_by(column, as_dict=True, maintain_order=True).items():
        paths.append(path := folder / f"{name}.csv")
        rows.drop(column).write_csv(path)
    return paths


def workbook_of(frame: pl.DataFrame, column: str, folder: Path) -> Path:
    """A sheet for each value of a column."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for (name,), rows in frame.partition_by(column, as_dict=True, maintain_order=True).items():
        sheet = book.create_sheet(str(name))
        for row in (rows.drop(column).columns, *rows.drop(column).rows()):
            sheet.append(row)
    book.save(path := folder / "table.xlsx")
    return path


def test_compare_asks_whether_files_are_raters(call: Call, tmp_path: Path) -> None:
    paths = files_of(RATED, "rater", tmp_path)
    words = printed(call, "compare", *paths, "--success", "good")
    document = result(call, *words)
    assert shares(document) == expected_shares("system")
    assert document["raters"] == 2


def test_compare_of_a_file_for_each_system(call: Call, tmp_path: Path) -> None:
    paths = files_of(RATED, "system", tmp_path)
    document = result(call, "compare", *paths, "--success", "good", "--by", "file")
    assert shares(document) == expected_shares("system")


@pytest.mark.slow
def test_compare_of_a_sheet_for_each_system(call: Call, tmp_path: Path) -> None:
    path = workbook_of(RATED, "system", tmp_path)
    document = result(call, "compare", path, "--success", "good", "--by", "sheet", "--sheet", "*")
    assert shares(document) == expected_shares("system")


@pytest.mark.slow
def test_preference_of_a_file_or_sheet_for_each_rater(call: Call, tmp_path: Path) -> None:
    for content in (
        files_of(VOTES, "rater", tmp_path),
        [workbook_of(VOTES, "rater", tmp_path), "--sheet", "*"],
    ):
        document = result(call, *printed(call, "preference", *content))
        assert differences(document) == expected_differences()
        assert document["n_raters"] == 2


def test_preference_of_votes_nested_in_json(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, ".json", json.dumps({"votes": {"rows": VOTES.to_dicts()}}))
    document = result(call, "preference", path)
    assert differences(document) == expected_differences()
    assert "'votes/rows'" in document["reading"]


@pytest.mark.slow
def test_a_file_of_spss_has_the_numbers_of_its_codes(call: Call, tmp_path: Path) -> None:
    ratings = pl.DataFrame(
        {
            "case": [float(n // 2) for n in range(12)],
            "rater": [float(n % 2 + 1) for n in range(12)],
            "quality": [float(code) for code in [3, 3, 2, 1, 1, 1, 2, 3, 3, 3, 1, 2]],
        }
    )
    labels: dict[str, dict[int | float, str]] = {
        "rater": {1: "Dr. A", 2: "Dr. B"},
        "quality": {1: "poor", 2: "fair", 3: "good"},
    }
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(ratings, str(path), variable_value_labels=labels)
    words = ("--level", "interval", "--statistic", "alpha")
    document = result(call, "agreement", path, *words)
    codes = konsil.agreement(ratings, level="interval", statistics=["alpha"], resamples=100)
    expected = codes["krippendorff_alpha"].value
    assert document["statistics"][0]["value"] == pytest.approx(expected, rel=1e-11)
    assert result(call, "agreement", path)["labels"] == ["1 : poor", "2 : fair", "3 : good"]
