"""konsil agreement of shapes of tables: nested JSON, codes with words, cross tables with headings."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

import konsil

Call = Callable[..., tuple[int, str, str]]
RATINGS = {"ann@a.org": "1122331221", "ben@b.org": "1223331211", "cem@c.org": "1122231222"}
ONE = ("--statistic", "krippendorff_alpha", "--resamples", "100", "--level", "ordinal")


def alpha(frame: pl.DataFrame, **options: Any) -> Any:
    name = "krippendorff_alpha"
    result = konsil.agreement(frame, statistics=[name], resamples=100, level="ordinal", **options)
    return pytest.approx(result[name].value, rel=1e-11)


ALPHA = alpha(pl.DataFrame({n: list(v) for n, v in RATINGS.items()}), rater=[*RATINGS])


def result_of(call: Call, *arguments: object, is_asked: bool = False) -> dict[str, Any]:
    """The result, by the printed command where the table is asked about."""
    code, out, err = call("agreement", *arguments, *ONE, *(() if is_asked else ("--json",)))
    if is_asked:
        assert code == 2
        (command,) = re.findall(r"^If so: konsil agreement (.*)$", err, re.MULTILINE)
        code, out, err = call("agreement", *shlex.split(command), "--json")
    assert code == 0, err
    result: dict[str, Any] = json.loads(out)
    return result


def value(result: dict[str, Any]) -> float:
    (statistic,) = result["statistics"]
    return float(statistic["value"])


def records() -> list[dict[str, Any]]:
    return [
        {
            "case_id": f"c{n}",
            "scores": {
                "harm": {rater: int(labels[n]) for rater, labels in RATINGS.items()},
                "tone": dict.fromkeys(RATINGS, "fine"),
            },
        }
        for n in range(10)
    ]


def test_nested_ratings_are_columns(call: Call, tmp_path: Path) -> None:
    """The joint of the names is in them twice; the addresses have dots."""
    path = tmp_path / "ratings.jsonl"
    path.write_text("\n".join(map(json.dumps, records())))
    for flags in ((), ("--path", ".")):
        result = result_of(call, path, *flags)
        harm, tone = result["groups"]
        assert (harm["group"], tone["group"]) == ("harm", "tone")
        assert value(harm) == ALPHA and tone["statistics"][0]["value"] is None
        assert (harm["n_raters"], harm["n_units"]) == (3, 10)


def test_records_inside_an_object(call: Call, tmp_path: Path) -> None:
    """The longest list of objects is proposed; ratings in a list have no raters."""
    lists = [
        {"id": n, "given": {"scores": [int(v[n]) for v in RATINGS.values()]}} for n in range(10)
    ]
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps({"scales": [{"best": 3}], "data": {"cases": lists}}))
    assert value(result_of(call, path, is_asked=True)) == ALPHA


@pytest.mark.parametrize("path", ["case", "data"])
def test_a_wrong_path_is_refused(path: str, call: Call, tmp_path: Path) -> None:
    file = tmp_path / "ratings.json"
    file.write_text(json.dumps({"data": {"cases": records()}}))
    code, _, err = call("agreement", file, *ONE, "--path", path)
    assert code == 2 and "data/cases" in err
    (tmp_path / "t.csv").write_text("a,b\n1,1\n2,1\n")
    code, _, err = call("agreement", tmp_path / "t.csv", *ONE, "--path", path)
    assert code == 2 and "has no effect on .csv files" in err


def test_numbers_before_words_are_the_labels(call: Call, tmp_path: Path) -> None:
    """A number may have other words for another unit, as questions of a survey have."""
    words = {"1": "not", "2": "hardly", "3": "quite"}
    lines = ["unit,rater,label"]
    for n in range(10):
        lines += [f"u{n},{r},{v[n]} : {words[v[n]]} q{n % 2}" for r, v in RATINGS.items()]
    (path := tmp_path / "t.csv").write_text("\n".join(lines))
    result = result_of(call, path)
    assert value(result) == ALPHA and result["labels"] == ["1", "2", "3"]


def test_a_number_with_two_words_is_no_label(call: Call, tmp_path: Path) -> None:
    lines = ["unit,rater,label", "a,x,1 : no", "a,y,1 : yes", "b,x,2 : yes", "b,y,2 : yes"]
    (path := tmp_path / "t.csv").write_text("\n".join(lines))
    code, _, err = call("agreement", path, *ONE)
    assert code == 2 and "'1 : no'" in err


def test_a_cross_table_under_a_heading(call: Call, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    rows = [[None, "Ben", None, None], ["Ann", "no", "unsure", "yes"]]
    counts = {"no": [9, 2, 1], "unsure": [3, 8, 2], "yes": [0, 1, 7]}
    for row in (*rows, *([name, *numbers] for name, numbers in counts.items())):
        sheet.append(row)
    book.save(path := tmp_path / "t.xlsx")
    pairs = [
        (a, b)
        for a, n in counts.items()
        for b, times in zip(counts, n, strict=True)
        for _ in range(times)
    ]
    frame = pl.DataFrame(pairs, schema=["Ann", "Ben"], orient="row")
    labels = [*counts]
    code, _, err = call("agreement", path, *ONE)
    (command,) = re.findall(r"^If so: konsil agreement (.*)$", err, re.MULTILINE)
    code, out, err = call("agreement", *shlex.split(command), "--json")
    assert code == 0, err
    result = json.loads(out)
    assert value(result) == alpha(frame, rater=["Ann", "Ben"], labels=labels)
    assert result["labels"] == labels and {r["name"] for r in result["raters"]} == {"Ann", "Ben"}


@pytest.mark.parametrize("margins", ["both", "row", "column"])
def test_totals_of_a_cross_table_are_no_label(call: Call, tmp_path: Path, margins: str) -> None:
    lines = [[",no,unsure,yes", "no,9,2,1", "unsure,3,8,2", "yes,0,1,7"]]
    lines.append([*lines[0], "Summe,12,11,10"] if margins != "column" else [*lines[0]])
    if margins != "row":
        ends = ["Summe", 12, 13, 8, 33]
        lines[1] = [f"{line},{end}" for line, end in zip(lines[1], ends, strict=False)]
    results = []
    for n, table in enumerate(lines):
        (path := tmp_path / f"{n}.csv").write_text("\n".join(table))
        results.append(result_of(call, path))
    assert value(results[0]) == value(results[1])
    assert results[1]["labels"] == ["no", "unsure", "yes"]


@pytest.mark.parametrize("word", ["Total", "Mittelwert"])
def test_a_row_of_totals_is_asked_about(call: Call, tmp_path: Path, word: str) -> None:
    rows = [
        f"c{n},{','.join(labels)}" for n, labels in enumerate(zip(*RATINGS.values(), strict=True))
    ]
    text = "\n".join(["case,ann,ben,cem", *rows, f"{word},2,3,1"])
    (path := tmp_path / "t.csv").write_text(text)
    result = result_of(call, path, is_asked=True)
    assert value(result) == ALPHA and result["n_units"] == 10
    # Elsewhere it is a name like others.
    path.write_text(text.replace("c3,", f"{word},").rpartition("\n")[0])
    assert value(result_of(call, path)) == ALPHA


def test_a_call_without_a_row_of_totals() -> None:
    columns = {"case": [*(f"c{n}" for n in range(10)), "sum"]}
    columns |= {name: [*labels, "3"] for name, labels in RATINGS.items()}
    with pytest.raises(konsil.errors.UnclearTableError) as refusal:
        konsil.agreement(pl.DataFrame(columns))
    assert "(frame[:-1], " in refusal.value.call


def test_no_call_is_printed_for_ratings_without_a_second_rater() -> None:
    frame = pl.DataFrame({"id": range(20), "rating": [n % 3 for n in range(20)]})
    with pytest.raises(konsil.errors.UnclearTableError) as refusal:
        konsil.agreement(frame)
    assert not refusal.value.call
