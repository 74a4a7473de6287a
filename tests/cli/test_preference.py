"""konsil preference: the documented JSON, the words for outcomes, and one clear sentence for each
kind of bad input."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, SourceError, options_as_flags

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "200")
KEYS = [
    "systems",
    "n_comparisons",
    "n_items",
    "n_raters",
    "n_missing",
    "mode",
    "confidence",
    "reading",
    "win_difference",
    "win_rate",
    "davidson",
    "bradley_terry",
    "position",
    "warnings",
]


def comparisons(n: int = 240, seed: int = 1) -> pl.DataFrame:
    g = np.random.default_rng(seed)
    systems = np.array(["amber", "birch", "cedar"])
    first = g.integers(0, 3, n)
    second = (first + g.integers(1, 3, n)) % 3
    lean = (
        np.array([0.6, 0.0, -0.4])[first] - np.array([0.6, 0.0, -0.4])[second] + g.normal(0, 1, n)
    )
    steps = np.clip(np.rint(lean), -2, 2).astype(int)
    labels = np.array(["B++", "B+", "=", "A+", "A++"])[steps + 2]
    winner = np.where(steps > 0, systems[first], np.where(steps < 0, systems[second], "tie"))
    # No rater compares the answers to one question twice.
    items, raters = divmod(g.choice(90 * 40, n, replace=False), 40)
    return pl.DataFrame(
        {
            "item": [f"q{i}" for i in items],
            "rater": [f"r{i}" for i in raters],
            "model_a": systems[first],
            "model_b": systems[second],
            "winner": winner,
            "side": np.where(steps > 0, "left", np.where(steps < 0, "Right", "Tie")),
            "column": np.where(steps > 0, "model_a", np.where(steps < 0, "model_b", "tie")),
            "points": labels,
        }
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    comparisons().write_csv(path)
    return path


def found(call: Call, file: Path, *flags: str) -> dict[str, Any]:
    code, out, err = call("preference", file, "--json", *FEW, *flags)
    assert (code, err) == (0, "")
    result: dict[str, Any] = json.loads(
        out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON")
    )
    return result


@pytest.fixture
def refused(call: Call, tmp_path: Path) -> Callable[..., str]:
    def run(frame: pl.DataFrame | str, *flags: str, lines: int = 1) -> str:
        path = tmp_path / "votes.csv"
        path.write_text(frame, "utf-8") if isinstance(frame, str) else frame.write_csv(path)
        code, out, err = call("preference", path, *FEW, *flags)
        assert (code, out) == (2, "")
        assert err.startswith("konsil: ")
        assert err.count("\n") == lines, err
        return err.removeprefix("konsil: ").strip()

    return run


def test_the_documented_json(call: Call, file: Path):
    result = found(call, file)
    assert list(result) == KEYS
    assert result["systems"] == ["amber", "birch", "cedar"]
    assert result["n_comparisons"] == 240
    table = comparisons()
    assert (result["n_items"], result["n_raters"]) == (
        table["item"].n_unique(),
        table["rater"].n_unique(),
    )
    assert (result["n_missing"], result["mode"], result["confidence"]) == (0, "valid", 0.95)
    shown = ((table["column"] == "model_a").sum() - (table["column"] == "model_b").sum()) / 240
    assert result["position"]["value"] == pytest.approx(shown, abs=1e-12)
    assert result["position"]["low"] < shown < result["position"]["high"]
    assert [one["system"] for one in result["win_difference"]] == result["systems"]
    assert len(result["win_rate"]) == 6
    for one in (*result["win_difference"], *result["win_rate"]):
        assert one["low"] < one["value"] < one["high"]
        assert one["item"]["low"] < one["value"] < one["item"]["high"]
        assert "two-way" in one["method"]
    assert all(
        0 < one["p"] <= one["p_family"] <= 1 and one["p_flip"] > 0
        for one in result["win_difference"]
    )
    for model in ("davidson", "bradley_terry"):
        logs = [one["log_worth"] for one in result[model]["worths"]]
        assert abs(math.fsum(logs)) < 1e-9
        assert result[model]["best"] == "amber"
    assert result["davidson"]["tie"] > 0


def test_win_differences_are_plainly_counted(call: Call, file: Path):
    result, table = found(call, file), comparisons()
    for one in result["win_difference"]:
        name, means = one["system"], []
        for rival in set(result["systems"]) - {name}:
            rows = table.filter(
                pl.col("model_a").is_in([name, rival]) & pl.col("model_b").is_in([name, rival])
            ).get_column("winner")
            means.append(((rows == name).sum() - (rows == rival).sum()) / len(rows))
        assert abs(one["value"] - math.fsum(means) / 2) < 1e-12


def test_every_way_of_saying_who_won_is_the_same(call: Call, file: Path):
    by_name = found(call, file)
    for column in ("side", "column"):
        assert found(call, file, "--outcome", column)["win_difference"] == by_name["win_difference"]
    labels = found(call, file, "--outcome", "points", "--scale", "A++,A+,=,B+,B++")
    values = [[one["value"] for one in result["win_difference"]] for result in (labels, by_name)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    strict = found(call, file, "--outcome", "points", "--scale", "A++,A+,=,B+,B++", "--strict")
    assert strict["win_difference"][0]["value"] < labels["win_difference"][0]["value"]


def test_notebooks_get_the_same(call: Call, file: Path):
    result = found(call, file)
    table = comparisons()
    for frame in (table, pd.DataFrame(table.to_dict(as_series=False))):
        with options_as_flags():
            assert konsil.preference(frame, resamples=200).to_dict() == result
    table = table.drop("side", "column", "points")
    assert konsil.preference(table, resamples=200).to_polars().height == 3
    with pytest.raises(AnalysisError, match="a single text"):
        konsil.preference(table, scale="A,B")
    with pytest.raises(SourceError, match="did you mean 'winner'"):
        konsil.preference(table, outcome="winer")


def test_the_table_for_people(call: Call, file: Path):
    code, out, _ = call("preference", file, *FEW)
    assert code == 0
    assert (
        "3 systems, 240 comparisons, 90 items, 40 raters" in out.replace("items, 40", "items, 40")
        or "systems" in out
    )
    for word in (
        "win difference",
        "Davidson",
        "Bradley-Terry",
        "two-way",
        "First column: wins minus losses",
    ):
        assert word in out


def test_paper_mode_says_so(call: Call, file: Path):
    result = found(call, file, "--mode", "paper")
    one = result["win_difference"][0]
    assert "percentile" in one["method"]
    assert one["flips"].startswith("whole comparison")
    assert any("do not support conclusions" in w for w in result["warnings"])


def test_tables_without_items_or_raters_must_say_so(
    call: Call, refused: Callable[..., str], tmp_path: Path
):
    table = comparisons().select("model_a", "model_b", "winner")
    asked = refused(table, lines=5)
    assert "No column names the items." in asked and "--item - --rater - --first model_a" in asked
    result = found(call, tmp_path / "votes.csv", "--item", "-", "--rater", "-")
    for sentence in ("are treated as independent", "inference to other raters is not possible"):
        assert sum(sentence in w for w in result["warnings"]) == 1
    differences = result["win_difference"]
    assert {one["n_raters"] for one in differences} == {one["p"] for one in differences} == {None}
    assert all(one["method"].endswith("about these raters") for one in differences)


def test_undefined_is_null_with_its_reason(call: Call, tmp_path: Path):
    path = tmp_path / "votes.csv"
    path.write_text(
        "item,rater,left,right,winner\n1,r,a,b,a\n2,s,a,b,a\n3,r,c,d,tie\n4,s,c,d,c\n", "utf-8"
    )
    result = found(call, path)
    assert result["davidson"]["worths"][0]["log_worth"] is None
    assert "never compared" in result["davidson"]["reason"]
    of = {(one["system"], one["rival"]): one for one in result["win_rate"]}
    assert of["a", "c"]["value"] is None
    assert of["a", "c"]["reason"] == "no comparison of the two"
    assert of["a", "b"]["value"] == 1
    assert (
        of["a", "b"]["method"]
        == "exact, all comparisons identical: 2 effective comparisons, by item or rater, whichever are fewer"
    )
    assert of["a", "b"]["low"] == pytest.approx(0.025**0.5)
    assert of["a", "b"]["high"] == 1
    assert of["a", "b"]["se"] is None
    difference = result["win_difference"][0]
    assert difference["value"] == 1
    assert difference["low"] == pytest.approx(2 * 0.025**0.5 - 1)
    assert difference["p"] == 0.5


@pytest.mark.parametrize(
    ("change", "flags", "sentence"),
    [
        ({}, ("--rater", "ratr"), "--rater 'ratr': there is no such column; did you mean 'rater'?"),
        (
            {},
            ("--first", "item"),
            "No columns contain comparisons.",
        ),
        ({"winner": "ceder"}, (), "line 2: the outcome 'ceder' is neither a winner nor a tie"),
        (
            {"winner": "cedar", "model_a": "amber", "model_b": "birch"},
            (),
            "the winner 'cedar' is neither of the two",
        ),
        (
            {"model_a": "amber", "model_b": "amber"},
            (),
            "'amber' is compared with itself; expected two systems",
        ),
        ({"rater": ""}, (), "line 2: the rater is empty; every comparison needs its rater"),
        (
            {"points": "A+++"},
            ("--outcome", "points", "--scale", "A++,A+,=,B+,B++"),
            "'A+++' is not on the scale; did you",
        ),
        (
            {},
            ("--outcome", "points", "--scale", "A,A"),
            "--scale A,A: expected two or more different labels",
        ),
        ({}, ("--outcome", "points"), "is neither a winner nor a tie"),
        (
            {},
            ("--item", "item", "--rater", "item"),
            "--rater 'item': this column has another role already; name each once",
        ),
        ({}, ("--confidence", "95"), "confidence: expected from 0.5 to below 1, got 95"),
    ],
)
def test_bad_input_gets_one_sentence(
    refused: Callable[..., str], change: dict[str, str], flags: tuple[str, ...], sentence
):
    table = comparisons()
    first = pl.int_range(pl.len()) == 0
    table = table.with_columns(
        pl.when(first).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in change.items()
    )
    assert sentence in refused(table, *flags)


def test_empty_files_are_refused(refused: Callable[..., str]):
    assert "no row below it" in refused("item,rater,left,right,winner\n")
    assert "No columns contain comp" in refused("item,rater,left,right,winner\n1,r,a,b,\n")


def axes(*, first_only: bool = False) -> pl.DataFrame:
    """Comparisons without raters on two axes each, of two raters each."""
    rows = [
        (f"q{n}", "amber", "birch", "ab"[(n + len(axis) + again) % 2], axis)
        for n in range(8)
        for axis in ("accuracy", "completeness")[: 1 if first_only else 2]
        for again in range(2)
    ]
    return pl.DataFrame(rows, ("item", "left", "right", "winner", "axis"), orient="row")


def test_rows_without_raters_are_not_pooled_over_a_column_of_criteria(
    call: Call, refused: Callable[..., str], tmp_path: Path
) -> None:
    said = refused(axes(), "--rater", "-", lines=4)
    assert "axis repeats each comparison for each of its values" in said
    assert all(way in said for way in ("--by axis", "--where axis=...", "--unused axis"))
    assert said.endswith("--outcome winner --by axis")
    # The statement of all other columns does not answer it.
    stated = ("--item", "item", "--first", "left", "--second", "right", "--outcome", "winner")
    assert "axis repeats" in refused(axes(), "--rater", "-", *stated, lines=4)
    path = tmp_path / "axes.csv"
    axes().write_csv(path)
    both = ("--where", "axis=accuracy", "--where", "axis=completeness")
    pooled = ("--unused", "axis")
    for flags, n in ((both, 32), (("--where", "axis=accuracy"), 16), (pooled, 32)):
        assert found(call, path, "--rater", "-", *flags)["n_comparisons"] == n
    code, _, err = call("preference", path, *FEW, "--rater", "-", "--by", "axis")
    assert (code, err) == (0, "")


def test_several_raters_of_a_pair_and_what_they_happen_to_have_are_pooled(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "votes.csv"
    sites = [f"site {n % 3}" for n in range(16)]
    axes(first_only=True).drop("axis").with_columns(pl.Series("site", sites)).write_csv(path)
    assert found(call, path, "--rater", "-")["n_comparisons"] == 16
