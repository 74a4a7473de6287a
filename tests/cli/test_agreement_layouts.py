"""konsil agreement: tables of counts, lists in a cell, minus zero and truth values, the order of
rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import konsil
from konsil.errors import AnalysisError, SourceError, UnclearTableError
from konsil.records.digits import written

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "200")

# Fleiss' example of 14 psychiatrists, as Wikipedia's article on Fleiss' kappa prints it: kappa
# .210.
WIKIPEDIA = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def counts(rows: list[list[int]], names: str = "12345") -> pl.DataFrame:
    units = [f"s{n}" for n in range(len(rows))]
    return pl.DataFrame(
        {
            "subject": units,
            **{name: list(c) for name, c in zip(names, zip(*rows, strict=True), strict=True)},
        }
    )


def values(result: konsil.analysis.standalone.agreement.Agreement) -> dict[str, float]:  # type: ignore[name-defined]
    return {statistic.name: statistic.estimate.value for statistic in result.statistics}


def written_out(rows: list[list[int]]) -> pl.DataFrame:
    """The same ratings with raters, whose places say nothing."""
    labels = [[str(label + 1) for label, n in enumerate(row) for _ in range(n)] for row in rows]
    return pl.DataFrame(labels, schema=[f"r{n}" for n in range(len(labels[0]))], orient="row")


def test_counts_of_labels_give_the_published_kappa() -> None:
    result = konsil.agreement(counts(WIKIPEDIA), layout="counts", resamples=100)
    assert result["fleiss_kappa"].value == pytest.approx(0.210, abs=5e-4)
    assert (result.n_units, result.n_raters, result.n_ratings) == (10, None, 140)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_counts_are_the_ratings_without_their_raters(level: str) -> None:
    # The last rows were rated by fewer, so that units differ in their number of labels.
    rows = [*WIKIPEDIA[:8], [1, 2, 0, 0, 0], [0, 0, 0, 4, 1]]
    labels = [[str(label + 1) for label, n in enumerate(row) for _ in range(n)] for row in rows]
    table = pl.DataFrame(
        [[*row, *[None] * (14 - len(row))] for row in labels],
        schema=[f"r{n}" for n in range(14)],
        orient="row",
    )
    named = konsil.agreement(table, level=level, labels=list("12345"), layout="wide", resamples=100)
    counted = konsil.agreement(counts(rows), layout="counts", level=level, resamples=100)
    assert {"krippendorff_alpha", "multirater_percent_agreement", "gwet_ac1"} <= values(
        counted
    ).keys()
    assert not {"cohen_kappa", "conger_kappa", "percent_agreement", "icc2"} & values(counted).keys()
    for name, value in values(counted).items():
        assert value == pytest.approx(values(named)[name], abs=1e-12), name
    assert any("Raters are not identified" in w and "cohen_kappa" in w for w in counted.warnings)


def test_a_table_of_counts_is_not_read_as_raters(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    rng = np.random.default_rng(1)
    rows = rng.multinomial(18, [0.6, 0.3, 0.1], 12)
    file.write_text(
        "item,mild,moderate,severe\n"
        + "\n".join(f"{n},{a},{b},{c}" for n, (a, b, c) in enumerate(rows))
    )
    code, out, err = call("agreement", file, *FEW)
    assert (code, out) == (2, "")
    assert "numbers of raters for the labels" in err
    code, out, _ = call("agreement", file, "--counts", *FEW)
    assert code == 0
    assert "12 units, raters unknown, 216 ratings" in out
    assert "not of raters" not in out
    assert "3 raters" in call("agreement", file, "--wide", *FEW)[1]


def test_counts_are_recognised_by_their_constant_sum_or_by_their_names() -> None:
    rng = np.random.default_rng(2)
    rows = rng.multinomial(6, [0.5, 0.3, 0.2], 8).tolist()
    unnamed = counts(rows, "xyz").rename({"subject": "case"})
    for frame in (
        unnamed,
        unnamed.select(pl.col("x").alias("yes"), pl.col("y").alias("no")),
    ):
        try:
            result = konsil.agreement(frame, resamples=100)
        except UnclearTableError as error:
            assert error.call.startswith("konsil.agreement(frame, ")
        else:
            assert result.n_raters is None


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"r1": [1, 2, 3, 1, 2, 3], "r2": [3, 2, 1, 3, 2, 1]}),
        pl.DataFrame({"ann": [1, 1, 1, 1, 1, 1], "ben": [1, 1, 1, 1, 1, 1]}),
        pl.DataFrame({"ann": [0, 1, 0, 1, 0, 1], "ben": [1, 0, 1, 0, 1, 0]}),
        pl.DataFrame({"ann": [1, 2, 3, 1, 2], "ben": [3, 2, 1, 3, 1]}),
    ],
)
def test_raters_are_not_taken_for_labels(frame: pl.DataFrame) -> None:
    assert konsil.agreement(frame, resamples=100).n_raters == 2


def test_counts_that_are_none_are_refused_by_line(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_text("unit,yes,no\na,3,2\nb,4,-1\n")
    assert "line 3, column 'no': '-1' is not a count" in call("agreement", file, "--counts")[2]
    file.write_text("unit,yes,no\na,3,2\nb,4,1\n")
    assert (
        "--labels: no column 'maybe'; known: no, unit, yes"
        in call("agreement", file, "--counts", "--labels", "yes,maybe")[2]
    )
    err = call("agreement", file, "--counts", "--statistic", "cohen_kappa")[2]
    assert "need the rater of each label" in err
    assert "fleiss_kappa" in err
    file.write_text("unit,yes,no\na,1,0\nb,0,1\n")
    assert "no unit has two labels" in call("agreement", file, "--counts")[2]


def test_an_abstention_is_a_column_of_counts_too() -> None:
    table = pl.DataFrame(
        {"unit": list("abcd"), "yes": [3, 0, 2, 1], "no": [0, 3, 1, 1], "unsure": [0, 0, 0, 1]}
    )
    result = konsil.agreement(table, layout="counts", abstain="unsure", resamples=100)
    assert (result.n_ratings, result.n_abstained, result.labels) == (11, 1, ("yes", "no"))


def test_lists_of_labels_are_counts(tmp_path: Path, call: Call) -> None:
    labels = [["1"] * 2 + ["2"], ["2"] * 3, ["1", "3", "3"], ["3"] * 3]
    table = pl.DataFrame({"q": list("abcd"), "found": labels})
    wanted = values(
        konsil.agreement(
            counts([[2, 1, 0], [0, 3, 0], [1, 0, 2], [0, 0, 3]], "123"),
            layout="counts",
            resamples=100,
        )
    )
    ways: list[Any] = [
        table,
        table.to_pandas(),
        table.with_columns(pl.Series("found", [json.dumps(cell) for cell in labels])),
        table.with_columns(
            pl.Series("found", [[int(v) for v in reversed(cell)] for cell in labels])
        ),
    ]
    for frame in ways:
        assert values(konsil.agreement(frame, unit="q", label="found", resamples=100)) == wanted
    split = table.with_columns(pl.col("found").list.join(" ; "))
    assert (
        values(konsil.agreement(split, unit="q", label="found", split=";", resamples=100)) == wanted
    )
    table.write_ndjson(tmp_path / "t.jsonl")
    code, out, _ = call(
        "agreement", tmp_path / "t.jsonl", "--unit", "q", "--label", "found", "--json", *FEW
    )
    assert code == 0
    assert {
        statistic["name"]: statistic["value"] for statistic in json.loads(out)["statistics"]
    } == written(wanted)
    for cells, sentence in (
        (["a;b", "b"], "several labels, with ';' between them"),
        (["a/b", "b"], "row 0: 'a/b' is not a list of labels"),
    ):
        with pytest.raises(SourceError, match=sentence):
            konsil.agreement(
                pl.DataFrame({"q": ["x", "y"], "v": cells}), layout="lists", unit="q", label="v"
            )
    with pytest.raises(SourceError, match="No columns contain ratings"):
        konsil.agreement(table.drop("found"), layout="lists")


def test_minus_zero_is_zero_at_every_level(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "z.csv"
    file.write_text("a,b\n-0.0,0\n1,1\n-1,0\n-0,1\n")
    for level in ("nominal", "ordinal", "interval"):
        code, out, err = call("agreement", file, "--level", level, "--json", *FEW)
        assert (code, err) == (0, "")
        result = json.loads(out)
        assert result["labels"] == ["-1", "0", "1"]
        assert result["statistics"][0]["value"] == 0.5
    as_frame = pl.DataFrame({"a": [-0.0, 1.0, -1.0, -0.0], "b": [0.0, 1.0, 0.0, 1.0]})
    for frame in (
        as_frame,
        as_frame.to_pandas(),
        as_frame.to_pandas().astype(object),
        as_frame.cast(pl.String),
    ):
        assert konsil.agreement(frame, resamples=100).labels == ("-1", "0", "1")
    declared = konsil.agreement(as_frame, labels=[-1.0, -0.0, 1.0], resamples=100)
    assert declared.labels == ("-1", "0", "1")


def test_truth_values_are_two_labels_however_they_are_written() -> None:
    spelled = pl.DataFrame(
        {"ann": ["TRUE", "false", "True", "FALSE"], "ben": ["true", "False", "false", "FALSE"]}
    )
    plain = pl.DataFrame({"ann": [True, False, True, False], "ben": [True, False, False, False]})
    mixed = pd.DataFrame({"ann": [True, False, True, False], "ben": [1, 0, 0, 0]}, dtype=object)
    results = [
        konsil.agreement(frame, layout="wide", resamples=100)
        for frame in (spelled, plain, plain.to_pandas(), mixed)
    ]
    assert {tuple(values(result).items()) for result in results} == {
        tuple(values(results[0]).items())
    }
    assert [result.labels for result in results] == [("false", "true")] * 3 + [("0", "1")]
    ordinal = konsil.agreement(spelled, level="ordinal", layout="wide", resamples=100)
    assert ordinal.labels == ("false", "true")
    assert konsil.agreement(spelled, level="interval", layout="wide", resamples=100).labels == (
        "0",
        "1",
    )
    assert konsil.agreement(
        spelled, labels=["FALSE", "TRUE"], layout="wide", resamples=100
    ).labels == (
        "false",
        "true",
    )
    with pytest.raises(SourceError, match="'TRUE' is not one of the declared labels"):
        konsil.agreement(spelled, labels=["no", "yes"], layout="wide", resamples=100)


def test_the_order_of_the_rows_changes_nothing_where_units_are_named() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(40) < 0.4
    columns = {
        name: np.where(truth ^ (rng.random(40) < 0.2), "y", "n") for name in ("ann", "ben", "cem")
    }
    table = pl.DataFrame({"case": [f"c{n}" for n in range(40)], **columns})
    twice = table.with_columns(pl.Series("case", [f"c{n // 2}" for n in range(40)]))
    for frame in (table, twice):
        results = [
            konsil.agreement(ordered, unit="case", resamples=300).to_json()
            for ordered in (frame, frame.sample(fraction=1, shuffle=True, seed=3), frame.reverse())
        ]
        assert len({*results}) == 1
    long = table.unpivot(index="case", variable_name="rater", value_name="label")
    of_long = konsil.agreement(long, unit="case", resamples=300)
    of_wide = konsil.agreement(table, unit="case", resamples=300)
    assert [s.estimate for s in of_long.statistics] == [s.estimate for s in of_wide.statistics]


def test_layouts_that_are_none_are_refused() -> None:
    with pytest.raises(
        AnalysisError, match="layout: 'tall' is not one of 'wide', 'long', 'counts', 'lists'"
    ):
        konsil.agreement(pl.DataFrame({"a": [1], "b": [1]}), layout="tall")  # type: ignore[arg-type]
