"""Names and words that are stated of tables: numbered columns, absent labels, marks of decimals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import konsil
from konsil.errors import AnalysisError, SourceError

from .conftest import Call

LABELS = np.array([[0, 0], [1, 1], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1], [0, 0]])
BY_NUMBER = pd.DataFrame(LABELS)
"""Its columns have numbers and no names."""
FEW = {"resamples": 100}


@pytest.mark.parametrize(
    "raters", [[0, 1], (np.int64(0), "1"), BY_NUMBER.columns, np.array([0, 1]), ["0", "1"]]
)
def test_numbered_columns_are_named_by_their_numbers(raters: object) -> None:
    """In the long form, the first rater is called like the column of units."""
    assert konsil.agreement(BY_NUMBER, rater=raters, **FEW)["percent_agreement"].value == 0.75
    long = BY_NUMBER.rename_axis("unit").reset_index().melt("unit")
    long.columns = range(3)
    result = konsil.agreement(long, unit=0, rater=1, label=2, **FEW)
    assert result["percent_agreement"].value == 0.75


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("rater", True, "rater: expected names of columns, got bool True"),
        ("rater", [None, 1], "rater: expected names of columns, got list"),
        ("unit", 1.5, "unit: expected names of columns, got float 1.5"),
        ("by", ["1"], "by: expected the name of one column, got list"),
        ("label", 3, "label '3': there is no such column; known: 0, 1"),
    ],
)
def test_what_is_no_name_of_a_column_is_refused(option: str, value: object, expected: str) -> None:
    with pytest.raises((AnalysisError, SourceError), match=expected):
        konsil.agreement(BY_NUMBER, **{option: value}, **FEW)


def test_an_item_of_several_columns_is_refused() -> None:
    with pytest.raises(AnalysisError, match="item: expected the name of one column, got list"):
        konsil.preference(BY_NUMBER, item=["0", "1"], **FEW)


@pytest.mark.parametrize("command", ["agreement", "compare"])
def test_an_abstention_that_no_rating_is_is_refused(
    call: Call, tmp_path: Path, command: str
) -> None:
    words = [["unsure", "yes"], ["no", "yes"], ["yes", "yes"], ["no", "no"]]
    file = tmp_path / "table.csv"
    file.write_text(
        "item,dr_a,dr_b\n" + "".join(f"{n},{a},{b}\n" for n, (a, b) in enumerate(words))
    )
    stated = [command, file, "--rater", "dr_a", "--rater", "dr_b", "--resamples", "100"]
    stated += ["--by", "-"] if command == "compare" else []
    code, _, err = call(*stated, "--abstain", "unsur")
    assert (code, "--abstain unsur: no rating is this label; did you mean 'unsure'?" in err) == (
        2,
        True,
    )
    assert call(*stated, "--abstain", "unsure")[0] == 0
    # Some rows may lack it.
    assert call(*stated, "--abstain", "unsure", "--where", "item=1", "--where", "item=2")[0] == 0


@pytest.mark.parametrize(("separator", "mark"), [(";", ","), ("\t", ","), (",", ".")])
def test_the_likelier_decimal_mark_is_proposed(
    call: Call, tmp_path: Path, separator: str, mark: str
) -> None:
    cell = '"{}"' if separator == "," else "{}"
    rows = [(f"{n % 4 + 1},{100 + 37 * n}", f"{n % 5 + 1},{200 + 41 * n}") for n in range(18)]
    lines = [separator.join(["case", "dr_a", "dr_b"])]
    lines += [separator.join([str(n), *map(cell.format, row)]) for n, row in enumerate(rows)]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines) + "\n")
    code, _, err = call("agreement", file, "--level", "interval")
    assert code == 2
    assert (
        "'1,100' can be a thousand or a decimal number: --decimal , for 1.100, --decimal . for"
        in err
    )
    assert err.strip().splitlines()[-1].endswith(f"--decimal {mark}")


@pytest.mark.parametrize(("others", "mark"), [("3", ","), ("812", "."), ("3.2", None)])
def test_a_thousand_far_from_all_others_is_asked(
    call: Call, tmp_path: Path, others: str, mark: str | None
) -> None:
    """Of whole numbers, the command has the likelier sign; beside points, no option reads it."""
    rows = [f"{n},{others},{others if n % 3 else others[::-1]}" for n in range(1, 12)]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(["case,dr_a,dr_b", '0,"4,693",4', *rows]) + "\n")
    words = ("agreement", file, "--level", "interval", "--resamples", "100")
    code, _, err = call(*words)
    assert (code, "'4,693'" in err, "4.693" in err) == (2, True, True)
    last = err.strip().splitlines()[-1]
    if mark is not None:
        assert last.endswith(f"--decimal {mark}")
    else:
        assert not last.startswith("If so")
        assert call(*words, "--decimal", ".")[0] == 0


ANSWERS = ("Pneumonia", "Gout", "Eczema", "Sepsis", "Measles", "Angina", "Asthma", "Anaemia")


@pytest.mark.parametrize("n_rows", [4, 8])
@pytest.mark.parametrize("outcomes", [("winner",), ("anna", "ben")])
def test_short_answers_are_no_systems(
    call: Call, tmp_path: Path, n_rows: int, outcomes: tuple[str, ...]
) -> None:
    rows = [
        [str(n), answer, f"{answer} acute", *("AB"[(n + k) % 2] for k in range(len(outcomes)))]
        for n, answer in enumerate(ANSWERS[:n_rows])
    ]
    file = tmp_path / "table.csv"
    names = ["case", "diagnosis_a", "diagnosis_b", *outcomes]
    file.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    code, _, err = call("preference", file)
    assert code == 2
    assert "Hardly any value of diagnosis_a and diagnosis_b occurs twice" in err
    # Columns that are named for systems have them.
    for pair in (("model_a", "model_b"), ("Modellname A", "Modellname B"), ("model", "opponent")):
        names[1:3] = pair
        file.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
        _, out, err = call("preference", file, "--resamples", "100")
        assert f"systems in {' and '.join(pair)}" in out + err


@pytest.mark.parametrize(
    "names",
    [
        ("answer_1", "answer_2"),
        ("response_a", "response_b"),
        ("model_a_answer", "model_b_answer"),
        ("Ausgabe A", "Ausgabe B"),
        ("diagnosis_a", "diagnosis_b"),
    ],
)
@pytest.mark.parametrize("answers", ["ABCD", ("yes", "no", "maybe"), ("Gout", "Sepsis", "Asthma")])
def test_recurring_answers_are_asked(
    call: Call, tmp_path: Path, names: tuple[str, str], answers: Sequence[str]
) -> None:
    """Kills: answers as systems because they recur."""
    rows = [
        [str(n), f"r{n % 2}", *(answers[(n // k + k) % len(answers)] for k in (1, 5)), "12"[n % 2]]
        for n in range(24)
    ]
    rows = [row for row in rows if row[2] != row[3]]
    file = tmp_path / "table.csv"

    def written(pair: tuple[str, str], cells: Mapping[str, str]) -> None:
        lines = [["case", "rater", *pair, "winner"]]
        lines += [[*row[:2], *(cells.get(cell, cell) for cell in row[2:4]), row[4]] for row in rows]
        file.write_text("\n".join(",".join(line) for line in lines) + "\n")

    written(names, {})
    code, out, err = call("preference", file)
    assert (code, out) == (2, "")
    assert f"{names[0]} and {names[1]} are read as the systems, but are named like answers" in err
    # The statement of both columns settles it; names of systems do, and of known models, too.
    stated = ("preference", file, "--first", names[0], "--second", names[1], "--resamples", "100")
    assert call(*stated)[0] == 0
    written(("model_a", "model_b"), {})
    assert call("preference", file, "--resamples", "100")[0] == 0
    written(names, dict(zip(answers, ("gpt-4", "claude-3", "llama-3", "qwen"), strict=False)))
    assert call("preference", file, "--resamples", "100")[0] == 0


def test_empty_sheets_beside_a_table_are_no_question(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "book.xlsx"
    rated = pd.DataFrame({"case": range(8), "dr_a": LABELS[:, 0], "dr_b": LABELS[:, 1]})
    with pd.ExcelWriter(file) as book:
        rated.to_excel(book, sheet_name="Tabelle1", index=False)
        for name in ("Tabelle2", "Tabelle3"):
            pd.DataFrame().to_excel(book, sheet_name=name, index=False)
    code, out, _ = call("agreement", file, "--resamples", "100")
    assert (code, "8 units in case; raters dr_a, dr_b" in out) == (0, True)
    with pd.ExcelWriter(file, mode="a") as book:
        rated.rename(columns={"dr_b": "dr_c"}).to_excel(book, sheet_name="More", index=False)
    code, _, err = call("agreement", file, "--resamples", "100")
    assert (code, "--sheet Tabelle1" in err) == (2, True)
