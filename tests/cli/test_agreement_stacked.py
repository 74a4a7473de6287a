"""konsil agreement of ratings in several sheets or files: each is one rater, or one criterion."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import konsil

Call = Callable[..., tuple[int, str, str]]
LABELS = {"Dana": "1223312311", "Eli": "1223212331", "Fay": "1123312211"}
ONE = ("--statistic", "krippendorff_alpha", "--resamples", "100")
ALPHA = konsil.agreement(
    pl.DataFrame({name: list(labels) for name, labels in LABELS.items()}),
    rater=[*LABELS],
    resamples=100,
    statistics=["krippendorff_alpha"],
)["krippendorff_alpha"].value


def sheets() -> dict[str, list[tuple[str, ...]]]:
    """For each rater a table of the cases, in an order of its own."""
    tables: dict[str, list[tuple[str, ...]]] = {}
    for n, (name, labels) in enumerate(LABELS.items()):
        rows: list[tuple[str, ...]] = [
            (f"case {unit}", label, "") for unit, label in enumerate(labels)
        ]
        random.Random(n).shuffle(rows)
        tables[name] = [("Case", "Rating", "Comment"), *rows]
    return tables


def workbook(folder: Path, tables: Mapping[str, list[tuple[str, ...]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in tables.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path := folder / "ratings.xlsx")
    return path


def files(folder: Path, names: Mapping[str, str]) -> list[Path]:
    """A CSV file for each rater; `names`: rater -> path."""
    paths = []
    for name, rows in sheets().items():
        paths.append(path := folder / names[name])
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(map(",".join, rows)))
    return paths


def followed(call: Call, *arguments: object) -> float:
    """Alpha by the command that the refusal of a table prints."""
    code, out, err = call("agreement", *arguments, *ONE)
    assert (code, out) == (2, "")
    (command,) = re.findall(r"^If so: konsil agreement (.*)$", err, re.MULTILINE)
    code, out, err = call("agreement", *shlex.split(command), "--json")
    assert code == 0, err
    (statistic,) = json.loads(out)["statistics"]
    return float(statistic["value"])


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--sheet", "*"), ("--sheet", "[DEF]*")])
def test_a_sheet_for_each_rater(flags: tuple[str, ...], call: Call, tmp_path: Path) -> None:
    path = workbook(tmp_path, sheets())
    assert followed(call, path, *flags) == pytest.approx(ALPHA, rel=1e-11)


def test_a_file_for_each_rater(call: Call, tmp_path: Path) -> None:
    paths = files(tmp_path, {name: f"{name}.csv" for name in LABELS})
    assert followed(call, *paths) == pytest.approx(ALPHA, rel=1e-11)


def test_equal_names_of_files_have_their_folders(call: Call, tmp_path: Path) -> None:
    paths = files(tmp_path, {name: f"{name}/ratings.csv" for name in LABELS})
    assert followed(call, *paths) == pytest.approx(ALPHA, rel=1e-11)
    code, _, err = call("agreement", paths[0], paths[0], *ONE)
    assert code == 2 and "'ratings' is named twice" in err


def test_a_folder_for_each_rater_names_the_raters(call: Call, tmp_path: Path) -> None:
    paths = files(tmp_path, {name: f"{name}/ratings.csv" for name in LABELS})
    stated = ("--long", "--unit", "Case", "--rater", "file", "--label", "Rating", "--pairs")
    code, out, _ = call("agreement", *paths, *ONE, *stated, "--json")
    assert code == 0
    pairs = {name for pair in json.loads(out)["pairs"] for name in pair["raters"]}
    assert pairs == {f"{name}/ratings" for name in LABELS}


def test_a_sheet_for_each_criterion(call: Call, tmp_path: Path) -> None:
    head, rows = ("Case", *LABELS), zip(*LABELS.values(), strict=True)
    table = [head, *((f"case {n}", *row) for n, row in enumerate(rows))]
    path = workbook(tmp_path, {"Accuracy": table, "Tone": [head, *reversed(table[1:])]})
    raters = [word for name in LABELS for word in ("--rater", name)]
    stated = ("--sheet", "*", "--by", "sheet", "--unit", "Case", *raters)
    code, out, err = call("agreement", path, *ONE, *stated, "--json")
    assert code == 0, err
    groups = json.loads(out)["groups"]
    assert [group["group"] for group in groups] == ["Accuracy", "Tone"]
    for group in groups:
        (statistic,) = group["statistics"]
        assert statistic["value"] == pytest.approx(ALPHA, rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "named"),
    [
        ([("Case", "Score", "Comment"), ("case 1", "2", "")], "'Rating'"),
        ([("Case", "Rating"), ("case 1", "2")], "'Comment'"),
    ],
)
def test_sheets_with_other_columns_are_refused(
    other: list[tuple[str, ...]], named: str, call: Call, tmp_path: Path
) -> None:
    path = workbook(tmp_path, {**sheets(), "Other": other})
    code, out, err = call("agreement", path, "--sheet", "*", *ONE)
    assert (code, out) == (2, "") and named in err and "'Other'" in err
    # Without a statement the first sheet alone is asked for.
    code, _, err = call("agreement", path, *ONE)
    assert code == 2 and "[Dana]" in err


@pytest.mark.slow
def test_a_column_with_the_name_of_the_sheets_is_refused(call: Call, tmp_path: Path) -> None:
    rows: list[tuple[str, ...]] = [("sheet", "Rating"), ("1", "2")]
    path = workbook(tmp_path, {"Dana": rows, "Eli": rows})
    code, _, err = call("agreement", path, "--sheet", "*", *ONE)
    assert code == 2 and "has a column 'sheet'" in err
