"""konsil preference: counts of wins, groups and their differences, pooled criteria, columns without
a name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, SourceError, options_as_flags

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "200")


def comparisons(n: int = 240, seed: int = 1, shift: float = 0.0) -> pl.DataFrame:
    g = np.random.default_rng(seed)
    systems = np.array(["amber", "birch", "cedar"])
    first = g.integers(0, 3, n)
    second = (first + g.integers(1, 3, n)) % 3
    worth = np.array([0.6 + shift, 0.0, -0.4])
    lean = worth[first] - worth[second] + g.normal(0, 1, n)
    winner = np.where(lean > 0.3, systems[first], np.where(lean < -0.3, systems[second], "tie"))
    # No rater compares the answers to one question twice.
    items, raters = divmod(g.choice(90 * 40, n, replace=False), 40)
    return pl.DataFrame(
        {
            "item": [f"q{i}" for i in items],
            "rater": [f"r{i}" for i in raters],
            "model_a": systems[first],
            "model_b": systems[second],
            "winner": winner,
        }
    )


def json_of(call: Call, file: Path, *flags: str) -> dict[str, Any]:
    code, out, err = call("preference", file, "--json", *FEW, *flags)
    assert (code, err) == (0, "")
    parsed: dict[str, Any] = json.loads(
        out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON")
    )
    return parsed


# ---------------------------------------------------------------- counts of wins


def numbers(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the reading of its table."""
    return {name: value for name, value in result.items() if name != "reading"}


def counted(table: pl.DataFrame, *keys: str) -> pl.DataFrame:
    won = (pl.col("winner") == pl.col("model_a")).sum().alias("win_i")
    lost = (pl.col("winner") == pl.col("model_b")).sum().alias("win_j")
    tied = (pl.col("winner") == "tie").sum().alias("tie")
    return (
        table.group_by(*keys, "model_a", "model_b", maintain_order=True)
        .agg(won, lost, tied)
        .rename({"model_a": "i", "model_b": "j"})
    )


def test_a_table_of_wins_is_the_comparisons_that_it_counts(call: Call, tmp_path: Path) -> None:
    table = comparisons()
    table.write_csv(tmp_path / "votes.csv")
    counts = counted(table)
    counts.write_csv(tmp_path / "counts.csv")
    each = json_of(call, tmp_path / "votes.csv", "--item", "-", "--rater", "-")
    of_counts = json_of(call, tmp_path / "counts.csv")
    assert counts.height == 6
    assert of_counts["n_comparisons"] == 240
    assert (of_counts["n_items"], of_counts["n_raters"]) == (240, None)
    for entry, other in zip(each["win_difference"], of_counts["win_difference"], strict=True):
        for key in ("value", "low", "high", "se", "p"):
            assert entry[key] == pytest.approx(other[key], abs=1e-9), key
    for model in ("davidson", "bradley_terry"):
        for entry, other in zip(each[model]["worths"], of_counts[model]["worths"], strict=True):
            assert entry["log_worth"] == pytest.approx(other["log_worth"], abs=1e-7)
    assert each["position"]["value"] == pytest.approx(of_counts["position"]["value"], abs=1e-12)
    assert sum("are unknown" in w for w in of_counts["warnings"]) == 2


def test_wins_counted_by_item_keep_their_items(call: Call, tmp_path: Path) -> None:
    table = comparisons()
    table.write_csv(tmp_path / "votes.csv")
    counted(table, "item", "rater").write_csv(tmp_path / "counts.csv")
    each, of_counts = (json_of(call, tmp_path / name) for name in ("votes.csv", "counts.csv"))
    assert each["win_difference"] == of_counts["win_difference"]
    assert (of_counts["n_items"], of_counts["n_raters"]) == (each["n_items"], each["n_raters"])


def test_one_column_for_each_outcome(call: Call, tmp_path: Path) -> None:
    table = comparisons().unique(maintain_order=True)
    table.write_csv(tmp_path / "votes.csv")
    wanted = numbers(json_of(call, tmp_path / "votes.csv"))
    flags = [
        pl.col("winner") == pl.col("model_a"),
        pl.col("winner") == pl.col("model_b"),
        pl.col("winner") == "tie",
    ]
    base = table.drop("winner")
    one_hot = base.with_columns(
        table.select(
            f.cast(pl.Int64).alias(n) for f, n in zip(flags, ("win1", "win2", "tied"), strict=True)
        )
    )
    truth = base.with_columns(
        table.select(
            f.alias(n)
            for f, n in zip(flags, ("winner_model_a", "winner_model_b", "winner_tie"), strict=True)
        )
    )
    for frame in (one_hot, truth, truth.to_pandas()):
        with options_as_flags():
            assert numbers(konsil.preference(frame, resamples=200).to_dict()) == wanted
    named = one_hot.rename({"win1": "x1", "win2": "x2", "tied": "x3"})
    named.write_csv(tmp_path / "named.csv")
    assert (
        numbers(
            json_of(call, tmp_path / "named.csv", "--won", "x1", "--lost", "x2", "--tied", "x3")
        )
        == wanted
    )
    # A row without any is a row without an outcome.
    some = one_hot.with_columns(
        pl.when(pl.int_range(pl.len()) < 5).then(0).otherwise(c).alias(c)
        for c in ("win1", "win2", "tied")
    )
    result = konsil.preference(some, resamples=100)
    assert (result.n_comparisons, result.n_missing) == (table.height - 5, 5)
    assert "5 rows without an outcome are excluded" in result.warnings


def test_published_worths_from_a_table_of_wins() -> None:
    """Agresti's baseball teams of 1987 (Categorical Data Analysis, table 10.10): wins of the home
    and the away team."""
    teams = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
    wins = [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
    rows = [
        (a, b, wins[n][m], wins[m][n])
        for n, a in enumerate(teams)
        for m, b in enumerate(teams)
        if n < m
    ]
    frame = pl.DataFrame(rows, schema=["i", "j", "win_i", "win_j"], orient="row")
    worths = {
        entry["system"]: entry["log_worth"]
        for entry in konsil.preference(frame, resamples=100).bradley_terry["worths"]
    }
    # Agresti's estimates with Baltimore as the reference.
    published = {
        "Milwaukee": 1.58,
        "Detroit": 1.44,
        "Toronto": 1.29,
        "New York": 1.25,
        "Boston": 1.11,
        "Cleveland": 0.68,
    }
    for team, value in published.items():
        assert worths[team] - worths["Baltimore"] == pytest.approx(value, abs=0.006), team


def test_counts_that_are_none_are_refused_by_line() -> None:
    frame = pl.DataFrame({"i": ["a", "a"], "j": ["b", "b"], "win_i": ["3", "x"], "win_j": [1, 2]})
    with pytest.raises(
        SourceError, match="line 3, column 'win_i': 'x' is not a count; expected a whole number"
    ):
        konsil.preference(frame)
    with pytest.raises(
        AnalysisError, match="won and lost: expected both columns; name the other one with lost"
    ):
        konsil.preference(frame.drop("win_j"), won="win_i")
    with pytest.raises(SourceError, match="No columns contain comparisons"):
        konsil.preference(frame.drop("win_j"), item="-", rater="-")


# ---------------------------------------------------------------- criteria and groups


def criteria() -> pl.DataFrame:
    return pl.concat(
        comparisons(120, seed=3, shift=shift)
        .unique(["item", "rater", "model_a", "model_b"], maintain_order=True)
        .unique(["item", "rater"], maintain_order=True)
        .with_columns(axis=pl.lit(axis))
        for axis, shift in (("accuracy", 0.0), ("safety", 0.0))
    )


def test_pooled_criteria_are_told_with_the_way_out(call: Call, tmp_path: Path) -> None:
    table = criteria()
    half = table.height // 2
    file = tmp_path / "flat.csv"
    table.write_csv(file)
    code, _, err = call("preference", file, *FEW)
    assert code == 2 and err.splitlines()[-1].endswith("--outcome winner --by axis")
    pooled = json_of(call, file, "--unused", "axis")
    (note,) = [w for w in pooled["warnings"] if "are pooled" in w]
    assert (
        note
        == f"{half} of {2 * half} comparisons repeat an item, a rater and a pair of systems and are"
        " pooled; criteria are kept apart by --by axis or --where axis=...."
    )
    single = json_of(call, file, "--where", "axis=accuracy")
    assert single["n_comparisons"] == half
    assert not any("pooled" in w for w in single["warnings"])
    alone = konsil.preference(
        table.filter(pl.col("axis") == "accuracy").drop("axis"), resamples=200
    ).to_dict()
    assert numbers(single) == numbers(alone)
    by = json_of(call, file, "--by", "axis")
    assert [group["group"] for group in by["groups"]] == ["accuracy", "safety"]
    assert by["groups"][0]["win_difference"] == single["win_difference"]
    assert (by["n_comparisons"], by["n_items"], by["n_raters"]) == (
        2 * half,
        single["n_items"],
        single["n_raters"],
    )
    out = call("preference", file, "--by", "axis", *FEW)[1]
    assert "axis = accuracy" in out
    assert "axis = safety" in out


def test_the_difference_of_two_groups_is_that_of_their_win_differences(
    call: Call, tmp_path: Path
) -> None:
    table = pl.concat(
        [
            comparisons(seed=4).with_columns(arm=pl.lit("x")),
            comparisons(seed=5, shift=1.5).with_columns(arm=pl.lit("y")),
        ]
    )
    table.write_csv(tmp_path / "t.csv")
    result = json_of(call, tmp_path / "t.csv", "--compare", "arm")
    x, y = (
        {entry["system"]: entry for entry in group["win_difference"]} for group in result["groups"]
    )
    assert result["comparison"]["groups"] == ["x", "y"]
    assert result["comparison"]["n_shared_raters"] > 0
    for entry in result["comparison"]["differences"]:
        assert entry["value"] == pytest.approx(
            x[entry["system"]]["value"] - y[entry["system"]]["value"], abs=1e-12
        )
        assert entry["low"] < entry["value"] < entry["high"]
    of = {entry["system"]: entry for entry in result["comparison"]["differences"]}
    assert of["amber"]["p"] < 0.01
    assert of["amber"]["high"] < 0
    out = call("preference", tmp_path / "t.csv", "--compare", "arm", *FEW)[1]
    assert "x minus y" in out


def test_the_difference_of_a_group_and_its_copy_is_zero_and_of_strangers_adds_up() -> None:
    """What both groups share cancels; without anything shared the variances add up."""
    table = comparisons(300, seed=6)
    copy = pl.concat([table.with_columns(arm=pl.lit("x")), table.with_columns(arm=pl.lit("y"))])
    same = konsil.preference(copy, compare="arm", resamples=100)
    assert same.comparison is not None
    for entry in same.comparison["differences"]:
        assert entry["value"] == 0
        assert (entry["low"], entry["high"], entry["p"]) == (None, None, None)
        assert "no CI from" in entry["reason"]
    other = comparisons(300, seed=8).with_columns(
        arm=pl.lit("y"),
        item=pl.concat_str(pl.lit("z"), "item"),
        rater=pl.concat_str(pl.lit("z"), "rater"),
    )
    apart = konsil.preference(
        pl.concat([table.with_columns(arm=pl.lit("x")), other.select(*table.columns, "arm")]),
        compare="arm",
        resamples=100,
    )
    assert apart.comparison is not None
    assert (apart.comparison["n_shared_items"], apart.comparison["n_shared_raters"]) == (0, 0)
    assert any("independent samples" in w for w in apart.warnings)
    x, y = (entry.win_difference for entry in apart.groups.values())
    for entry, a, b in zip(apart.comparison["differences"], x, y, strict=True):
        assert entry["se"] == pytest.approx(np.hypot(a["se"], b["se"]), rel=0.02)


def test_comparisons_without_items_and_raters_share_none_between_groups() -> None:
    table = counted(comparisons()).with_columns(arm=pl.Series(["x", "y"] * 3))
    result = konsil.preference(table, compare="arm", resamples=100)
    assert result.comparison is not None
    assert (result.comparison["n_shared_items"], result.comparison["n_shared_raters"]) == (0, None)
    assert result.n_items == 240


def test_independent_votes_are_told_which_test_to_report() -> None:
    votes = [1] * 40 + [-1] * 24 + [0] * 16
    frame = pl.DataFrame(
        {
            "item": [f"q{n}" for n in range(80)],
            "rater": [f"r{n}" for n in range(80)],
            "left": ["a"] * 80,
            "right": ["b"] * 80,
            "winner": [{1: "a", -1: "b", 0: "tie"}[v] for v in votes],
        }
    )
    result = konsil.preference(frame, resamples=5000)
    assert any("p_flip in JSON), which then also applies" in w for w in result.warnings)
    # The sign test of 40 against 24 untied votes.
    assert result.win_difference[0]["p_flip"] == pytest.approx(0.060, abs=0.01)
    twice = pl.concat([frame, frame.with_columns(winner=pl.lit("tie"))])
    assert not any("p_flip" in w for w in konsil.preference(twice, resamples=100).warnings)


def test_a_column_without_a_name_does_not_matter_where_others_are_named(
    call: Call, tmp_path: Path
) -> None:
    table = comparisons(60)
    lines = table.write_csv(separator="\t").splitlines()
    file = tmp_path / "votes.tsv"
    file.write_text("\n".join([lines[0] + "\t", *(f"{line}\tseen" for line in lines[1:])]) + "\n")
    assert numbers(json_of(call, file)) == numbers(
        konsil.preference(table, resamples=200).to_dict()
    )
    long = tmp_path / "long.csv"
    long.write_text("unit,rater,,label\n1,a,x,y\n1,b,x,y\n2,a,x,n\n2,b,x,y\n")
    assert call("agreement", long, "--long", *FEW)[0] == 0
    wide = tmp_path / "wide.csv"
    wide.write_text("unit,a,,b\n1,y,x,y\n2,n,x,y\n")
    assert call("agreement", wide, "--rater", "a", "--rater", "b", *FEW)[0] == 0
