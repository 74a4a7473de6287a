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


def of_criteria(folder: Path, **others: list[tuple[str, ...]]) -> Path:
    """A sheet for each criterion with a column for each rater, by usual first names."""
    head, rows = ("Case", "Anna", "Ben", "Clara"), zip(*LABELS.values(), strict=True)
    table = [head, *((f"case {n}", *row) for n, row in enumerate(rows))]
    return workbook(folder, {"Accuracy": table, "Safety": [head, *reversed(table[1:])], **others})


STATED = ("--unit", "Case", "--rater", "Anna", "--rater", "Ben", "--rater", "Clara")


def printed(call: Call, *arguments: object) -> tuple[list[str], str]:
    """The words of the printed command, and the refusal that has it."""
    code, out, err = call(*arguments)
    assert (code, out) == (2, ""), err
    (command,) = re.findall(r"^If so: konsil (.*)$", err, re.MULTILINE)
    return shlex.split(command), err


@pytest.mark.parametrize("stated", [(), STATED, ("--wide",)])
def test_a_number_of_one_of_several_sheets_is_stated(
    stated: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    """Kills: the first of two equal sheets without a word on the other."""
    path = of_criteria(tmp_path)
    words, err = printed(call, "agreement", path, *ONE, *stated)
    assert "'Accuracy' and 'Safety' have these columns" in err and "--sheet '*'" in err
    assert words[words.index("--sheet") + 1] == "Accuracy"
    code, out, err = call(*words, "--json")
    assert code == 0, err
    assert json.loads(out)["statistics"][0]["value"] == pytest.approx(ALPHA, rel=1e-11)


def test_sheets_of_another_kind_are_no_question(call: Call, tmp_path: Path) -> None:
    notes: list[tuple[str, ...]] = [("Remark", "By"), ("late", "Anna"), ("twice", "Ben")]
    head = [("Case", "Anna", "Ben", "Clara")]
    path = of_criteria(tmp_path, Notes=notes)
    _, err = printed(call, "agreement", path, *ONE, *STATED)
    assert "--sheet Accuracy/Safety" in err and "'Notes' have" not in err
    rows: list[tuple[str, ...]] = [*head, *zip("0123456789", *LABELS.values(), strict=True)]
    # Neither notes nor a sheet with names alone has ratings.
    path = workbook(tmp_path, {"Ratings": rows, "Notes": notes, "Later": head, "Empty": []})
    code, out, err = call("agreement", path, *ONE, *STATED, "--json")
    assert code == 0, err
    assert json.loads(out)["statistics"][0]["value"] == pytest.approx(ALPHA, rel=1e-11)


def test_other_columns_of_the_sheet_beside_change_nothing(call: Call, tmp_path: Path) -> None:
    head: tuple[str, ...] = ("Case", "Anna", "Ben", "Clara", "Comment")
    rows = [(*row, "x") for row in zip("0123456789", *LABELS.values(), strict=True)]
    path = of_criteria(tmp_path, Tone=[head, *rows])
    words, err = printed(call, "agreement", path, *ONE, *STATED)
    assert "'Accuracy', 'Safety' and 'Tone' have these columns" in err
    assert "--sheet Accuracy/Safety" in err and words[-2:] == ["--sheet", "Accuracy"]


@pytest.mark.parametrize("stated", [(), STATED])
def test_sheets_with_a_column_for_each_rater_are_criteria(
    stated: tuple[str, ...], call: Call, tmp_path: Path
) -> None:
    """Kills: the agreement of one criterion with the other; both criteria as one."""
    path = of_criteria(tmp_path)
    words, err = printed(call, "agreement", path, "--sheet", "*", *ONE, *stated)
    assert "Is each sheet that of one criterion?" in err
    assert "First row: Case 'case 0', criterion 'Accuracy': Anna rated it '1'" in err
    assert words[words.index("--criterion") + 1] == "sheet" and "--long" not in words
    code, out, err = call(*words, "--json")
    assert code == 0, err
    groups = json.loads(out)["groups"]
    assert [group["group"] for group in groups] == ["Accuracy", "Safety"]
    for group in groups:
        assert group["statistics"][0]["value"] == pytest.approx(ALPHA, rel=1e-11)


def test_sheets_of_different_units_are_one_table_where_all_is_stated(
    call: Call, tmp_path: Path
) -> None:
    head: tuple[str, ...] = ("Case", "Anna", "Ben", "Clara")
    rows = [*zip("0123456789", *LABELS.values(), strict=True)]
    path = workbook(tmp_path, {"May": [head, *rows[:5]], "June": [head, *rows[5:]]})
    code, out, err = call("agreement", path, "--sheet", "*", *ONE, *STATED, "--json")
    assert code == 0, err
    assert json.loads(out)["statistics"][0]["value"] == pytest.approx(ALPHA, rel=1e-11)


def test_compare_has_the_sheets_as_criteria(call: Call, tmp_path: Path) -> None:
    path = of_criteria(tmp_path)
    words, _ = printed(call, "compare", path, "--sheet", "*", "--resamples", "100")
    assert words[words.index("--criterion") + 1] == "sheet"
    code, out, err = call(*words, "--json")
    assert code == 0, err
    assert [c["name"] for c in json.loads(out)["criteria"]] == ["Accuracy", "Safety"]


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
