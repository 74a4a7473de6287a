"""konsil agreement: groups, comparisons, chosen statistics, pairs of raters and their weights,
intervals beside."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pingouin
import polars as pl
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import cohens_kappa

import konsil
from konsil.analysis import Analysis, Exclusions, Resampling
from konsil.analysis.model.rows import Row
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError, SourceError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, System
from konsil.records.digits import written
from konsil.stats.agreement.registry import STATISTICS

Call = Callable[..., tuple[int, str, str]]
FEW = ("--resamples", "200")


def ratings(n: int = 60, seed: int = 1, labels: int = 4) -> pl.DataFrame:
    """Three raters' steps on n units, in two arms, with a second criterion on the same units."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, n)
    columns = {
        name: np.clip(truth + rng.integers(-1, 2, n), 0, labels - 1)
        for name in ("ann", "ben", "cem")
    }
    return pl.DataFrame(
        {"unit": [f"u{i:03d}" for i in range(n)], "arm": np.where(truth % 2, "b", "a"), **columns}
    )


def long(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.unpivot(index=["unit", "arm"], variable_name="rater", value_name="label")


def json_of(call: Call, file: Path, *flags: str) -> dict[str, Any]:
    code, out, err = call("agreement", file, "--json", *FEW, *flags)
    assert (code, err) == (0, "")
    parsed: dict[str, Any] = json.loads(
        out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON")
    )
    return parsed


# ---------------------------------------------------------------- what stands beside


def test_everything_that_is_warned_of_is_in_the_json(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    cells = ratings().with_columns(pl.all().cast(pl.String))
    cells = cells.with_columns(
        pl.when(pl.int_range(pl.len()) < 9).then(pl.lit("?")).otherwise("cem").alias("cem"),
        pl.when(pl.int_range(pl.len()) > 40).then(pl.lit("")).otherwise("ben").alias("ben"),
    )
    cells.drop("arm").write_csv(file)
    result = json_of(
        call, file, "--level", "ordinal", "--abstain", "?", "--labels", "0,1,2,3,4", "--wide"
    )
    assert (result["level"], result["labels"], result["n_abstained"]) == (
        "ordinal",
        list("01234"),
        9,
    )
    assert result["raters"] == [
        {"name": "ann", "n_ratings": 60, "n_abstained": 0},
        {"name": "ben", "n_ratings": 41, "n_abstained": 0},
        {"name": "cem", "n_ratings": 51, "n_abstained": 9},
    ]
    shared = {tuple(pair["raters"]): pair["n_units"] for pair in result["overlap"]["pairs"]}
    assert shared == {("ann", "ben"): 41, ("ann", "cem"): 51, ("ben", "cem"): 32}
    assert [result["overlap"][k] for k in ("smallest", "median", "largest", "n_without")] == [
        32,
        41,
        51,
        0,
    ]
    of = {statistic["name"]: statistic for statistic in result["statistics"]}
    for name in ("cohen_kappa", "krippendorff_alpha", "icc2"):
        methods = [c["method"] for c in of[name]["companions"]]
        assert any("cluster-robust Wald" in m for m in methods), name
    assert any("F interval" in c["method"] for c in of["icc2"]["companions"])
    assert {"multirater_percent_agreement", "icc1"} <= of.keys()
    assert not {"multirater_percent_agreement", "icc1_incomplete"} & {
        statistic.name
        for statistic in konsil.agreement(
            ratings().drop("arm"), level="ordinal", resamples=100
        ).statistics
    }


def test_the_table_prints_the_other_intervals(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    ratings(20).drop("arm").write_csv(file)
    code, out, _ = call("agreement", file, "--level", "ordinal", *FEW)
    assert code == 0
    assert "pairs of raters share 20 units" in out
    assert (
        "Other interval a: cluster-robust Wald (unit-clustered) on the logit scale of the proportion."
        in out
    )
    assert "Other interval b: cluster-robust Wald (unit-clustered) on the atanh scale." in out
    assert "Other interval c: F interval of Shrout and Fleiss" in out
    result = json_of(call, file, "--level", "ordinal")
    of = {statistic["name"]: statistic for statistic in result["statistics"]}
    wald = next(c for c in of["cohen_kappa"]["companions"] if "Wald" in c["method"])
    line = next(line for line in out.splitlines() if line.startswith("Cohen's kappa "))
    assert f"b [{wald['low']:.3f}, {wald['high']:.3f}]".replace("-", "−") in line
    assert "chance level" in next(
        line for line in out.splitlines() if line.startswith("Agreement to within one")
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_closed_form_errors_are_those_of_other_programs() -> None:
    frame = ratings(80, seed=3).select("ann", "ben")
    result = konsil.agreement(frame, level="ordinal", resamples=100)
    table = np.zeros((4, 4))
    np.add.at(table, (frame["ann"].to_numpy(), frame["ben"].to_numpy()), 1)
    beside = {
        c.name: c.estimate for c in result.companions if c.estimate.method.startswith("closed-form")
    }
    for name, weights in (
        ("cohen_kappa", None),
        ("cohen_kappa_linear", "linear"),
        ("cohen_kappa_quadratic", "fc"),
    ):
        peer = cohens_kappa(table, wt=weights)
        kappa, se = (peer.kappa, peer.std_kappa)
        assert result[name].value == pytest.approx(kappa, abs=1e-12)
        assert beside[name].se == pytest.approx(se, rel=1e-9), name
        assert beside[name].high - kappa == pytest.approx(1.959963984540054 * se, rel=1e-9)
    # Raters who never differ have no spread that a closed form could use.
    same = konsil.agreement(pl.DataFrame({"a": list("xyxyxy"), "b": list("xyxyxy")}), resamples=100)
    assert not [c for c in same.companions if c.estimate.method.startswith("closed-form")]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_the_f_interval_is_that_of_other_programs() -> None:
    frame = ratings(25, seed=4)
    result = konsil.agreement(frame.drop("arm"), level="interval", resamples=100)
    melted = long(frame).to_pandas()
    peer = pingouin.intraclass_corr(
        data=melted, targets="unit", raters="rater", ratings="label"
    ).set_index("Type")
    names = {
        "icc1": "1,1",
        "icc2": "A,1",
        "icc3": "C,1",
        "icc1k": "1,k",
        "icc2k": "A,k",
        "icc3k": "C,k",
    }
    beside = {
        c.name: c.estimate for c in result.companions if c.estimate.method.startswith("F interval")
    }
    for name, kind in names.items():
        low, high = peer.loc[f"ICC({kind})", "CI95"]
        assert (round(beside[name].low, 2), round(beside[name].high, 2)) == (
            round(low, 2),
            round(high, 2),
        ), kind


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_statistics_of_tables_against_other_programs() -> None:
    frame = ratings(50, seed=5)
    result = konsil.agreement(frame.drop("arm"), level="ordinal", resamples=100)
    columns = [frame[c].to_numpy() for c in ("ann", "ben", "cem")]
    pairs = list(combinations(columns, 2))
    wanted = {
        "spearman": np.mean([scipy_stats.spearmanr(a, b).statistic for a, b in pairs]),
        "kendall_tau_b": np.mean([scipy_stats.kendalltau(a, b).statistic for a, b in pairs]),
        "within_one": np.mean([np.mean(np.abs(a - b) <= 1) for a, b in pairs]),
    }
    for name, value in wanted.items():
        assert result[name].value == pytest.approx(value, abs=1e-5), name
    weighted = konsil.agreement(
        frame.drop("arm"),
        level="ordinal",
        statistics=["cohen_kappa"],
        weights="linear",
        resamples=100,
    )
    assert weighted["cohen_kappa"].value == pytest.approx(
        result["cohen_kappa_linear"].value, abs=1e-12
    )
    # Scott's own example is in the tests of the statistic; here: two raters' pi is Fleiss' kappa of
    # the two.
    two = konsil.agreement(frame.select("ann", "ben"), resamples=100)
    assert two["scott_pi"].value == pytest.approx(two["fleiss_kappa"].value, abs=1e-12)


@pytest.mark.slow  # The fast tests do without this peer, which no extra can name.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_statistics_and_closed_form_errors_are_those_of_irrcac() -> None:
    peer = pytest.importorskip("irrCAC.raw", reason="irrCAC is not installed; .ci/run installs it")
    frame = ratings(50, seed=5).select("ann", "ben", "cem")
    data = frame.to_pandas()
    result = konsil.agreement(frame, level="ordinal", resamples=100)
    asked = ["brennan_prediger"]
    weighted = konsil.agreement(
        frame, level="ordinal", statistics=asked, weights="linear", resamples=100
    )
    linear = peer.CAC(data, weights="linear")
    for value, theirs in (
        (result["conger_kappa"].value, peer.CAC(data).conger()),
        (result["gwet_ac2_linear"].value, linear.gwet()),
        (weighted["brennan_prediger"].value, linear.bp()),
    ):
        assert value == pytest.approx(theirs["est"]["coefficient_value"], abs=1e-5)
    two = ratings(80, seed=3).select("ann", "ben")
    beside = {
        c.name: c.estimate
        for c in konsil.agreement(two, level="ordinal", resamples=100).companions
        if c.estimate.method.startswith("closed-form")
    }
    plain = peer.CAC(two.to_pandas())
    for name, theirs in (
        ("fleiss_kappa", plain.fleiss()),
        ("gwet_ac1", plain.gwet()),
        ("conger_kappa", plain.conger()),
    ):
        assert beside[name].se == pytest.approx(theirs["est"]["se"], abs=1e-5), name


WEIGHTS = {
    "1": {"1": 1, "2": 0.6, "3": 0.1},
    "2": {"1": 0.6, "2": 1, "3": 0.3},
    "3": {"1": 0.1, "2": 0.3, "3": 1},
}
"""Weights that no name has: the step from 1 to 2 is smaller than that from 2 to 3."""
WEIGHTED = (
    "cohen_kappa",
    "fleiss_kappa",
    "conger_kappa",
    "gwet_ac2",
    "brennan_prediger",
    "krippendorff_alpha",
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_own_weights_are_those_of_irrcac() -> None:
    peer = pytest.importorskip("irrCAC.raw", reason="irrCAC is not installed; .ci/run installs it")
    frame = ratings(60, seed=7).select("ann", "ben", "cem")
    labels = sorted({label for column in frame for label in column})
    weights = {
        a: {b: 1 - abs(n - m) ** 1.3 / 9 if n != m else 1.0 for m, b in enumerate(labels)}
        for n, a in enumerate(labels)
    }
    matrix = np.array([[weights[a][b] for b in labels] for a in labels])
    ours = konsil.agreement(
        frame, level="ordinal", statistics=WEIGHTED, weights=weights, resamples=100
    )
    theirs = peer.CAC(frame.to_pandas(), weights=matrix, categories=labels)
    for name, other in (
        ("fleiss_kappa", theirs.fleiss()),
        ("conger_kappa", theirs.conger()),
        ("gwet_ac2", theirs.gwet()),
        ("brennan_prediger", theirs.bp()),
        ("krippendorff_alpha", theirs.krippendorff()),
    ):
        assert ours[name].value == pytest.approx(other["est"]["coefficient_value"], abs=1e-5), name
    plain = konsil.agreement(frame, level="ordinal", statistics=WEIGHTED, resamples=100)
    assert all(ours[name].value != pytest.approx(plain[name].value, abs=1e-3) for name in WEIGHTED)


def test_own_weights_come_from_a_file_in_any_order(call: Call, tmp_path: Path) -> None:
    table = pl.DataFrame({"ann": list("112233123321"), "ben": list("123233121322")})
    table.write_csv(tmp_path / "r.csv")
    (tmp_path / "w.csv").write_text("label,3,1,2\n2,0.3,0.6,1\n3,1,0.1,0.3\n1,0.1,1,0.6\n", "utf-8")
    flags = (
        "--wide",
        "--level",
        "ordinal",
        "--statistic",
        "cohen_kappa",
        "--json",
        "--resamples",
        "100",
    )
    code, out, _ = call("agreement", tmp_path / "r.csv", *flags, "--weights", tmp_path / "w.csv")
    assert code == 0
    [statistic] = json.loads(out)["statistics"]
    counts = np.zeros((3, 3))
    for a, b in table.iter_rows():
        counts[int(a) - 1, int(b) - 1] += 1 / 12
    w = np.array([[WEIGHTS[a][b] for b in "123"] for a in "123"])
    chance = (w * np.outer(counts.sum(1), counts.sum(0))).sum()
    assert statistic["value"] == pytest.approx(((w * counts).sum() - chance) / (1 - chance))
    weighted = konsil.agreement(
        table, level="ordinal", statistics=["cohen_kappa"], weights=WEIGHTS, resamples=100
    )
    assert weighted["cohen_kappa"].value == pytest.approx(statistic["value"])
    # Groups and pairs have the same weights.
    pair = konsil.agreement(
        table,
        level="ordinal",
        statistics=["cohen_kappa"],
        weights=WEIGHTS,
        resamples=100,
        pairs=True,
    )
    assert pair.pairs[0].statistics[0].estimate.value == pytest.approx(statistic["value"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("label,1,2\n1,1,0.5\n2,0.5,1\n", "--weights: there is no row for the label '3'"),
        (
            "label,1,2,3\n1,1,0,0\n2,0.5,1,0\n3,0,0,1\n",
            "'1' and '2' have 0, '2' and '1' 0.5; expected the same",
        ),
        ("label,1,2,3\n1,0.9,0,0\n2,0,1,0\n3,0,0,1\n", "'1' with itself has 0.9; expected 1"),
        ("label,1,2,3\n1,1,2,0\n2,2,1,0\n3,0,0,1\n", "'1' and '2' have 2; expected from 0 to 1"),
        (
            "label,1,2\n1,1,0\n2,0,1\n3,0,0\n",
            "there is no weight of '1' and '3'; expected one for every two labels",
        ),
        ("label,1,2,3\n1,1,0\n", "row 2 has 2 weights, expected 3"),
        ("label,1,2,3\n1,1,x,0\n", "row 2: expected numbers from 0 to 1"),
        ("label,1\n1,1\n1,1\n", "the label '1' has two rows"),
    ],
)
def test_weights_that_are_none_are_refused(
    call: Call, tmp_path: Path, text: str, says: str
) -> None:
    pl.DataFrame({"ann": list("112233"), "ben": list("123231")}).write_csv(tmp_path / "r.csv")
    (tmp_path / "w.csv").write_text(text, "utf-8")
    flags = ("--wide", "--level", "ordinal", "--resamples", "100", "--weights", tmp_path / "w.csv")
    code, _, err = call("agreement", tmp_path / "r.csv", *flags)
    assert code == 2
    assert says in err


# ---------------------------------------------------------------- incomplete designs


def incomplete() -> pl.DataFrame:
    """Three pairs of raters share 50 units each; three units are rated by all six, and alike."""
    rng = np.random.default_rng(2)
    rows: list[list[str | None]] = []
    for pair in ((0, 1), (2, 3), (4, 5)):
        for _ in range(50):
            row: list[str | None] = [None] * 6
            truth = rng.random() < 0.5
            for rater in pair:
                row[rater] = "yes" if (rng.random() < 0.8) == truth else "no"
            rows.append(row)
    rows += [["yes"] * 6, ["no"] * 6, ["yes"] * 6]
    return pl.DataFrame(rows, schema={f"r{n}": pl.String for n in range(6)}, orient="row")


def test_uneven_overlaps_are_told_and_pairs_can_be_weighted(call: Call, tmp_path: Path) -> None:
    frame = incomplete()
    alike = konsil.agreement(frame, labels=["no", "yes"], resamples=200)
    note = next(w for w in alike.warnings if w.startswith("Pairs of raters share"))
    assert "share 3 to 53 units but have equal weight in percent_agreement, cohen_kappa" in note
    by_units = konsil.agreement(frame, labels=["no", "yes"], pair_weights="units", resamples=200)
    values = [[x for x in row if x] for row in frame.rows()]
    by_unit = np.mean([np.mean([a == b for a, b in combinations(v, 2)]) for v in values])
    agreeing = [a == b for v in values for a, b in combinations(v, 2)]
    assert by_units["percent_agreement"].value == pytest.approx(np.mean(agreeing), abs=1e-12)
    assert alike["multirater_percent_agreement"].value == pytest.approx(by_unit, abs=1e-12)
    assert alike["percent_agreement"].value > 0.9 > by_units["percent_agreement"].value > by_unit
    kappas = {
        pair.raters: (pair.n_units, pair.statistics)
        for pair in konsil.agreement(
            frame, labels=["no", "yes"], pairs=True, statistics=["cohen_kappa"], resamples=100
        ).pairs
    }
    each = [(n, s[0].estimate.value) for n, s in kappas.values()]
    assert len(each) == 15
    assert alike["cohen_kappa"].value == pytest.approx(np.mean([v for _, v in each]), abs=1e-12)
    assert by_units["cohen_kappa"].value == pytest.approx(
        sum(n * v for n, v in each) / sum(n for n, _ in each), abs=1e-12
    )
    assert by_units["fleiss_kappa"].value == alike["fleiss_kappa"].value
    frame.write_csv(tmp_path / "t.csv")
    result = json_of(call, tmp_path / "t.csv", "--pair-weights", "units", "--labels", "no,yes")
    assert result["pair_weights"] == "units"
    assert any("weighted by the units they share" in w for w in result["warnings"])
    complete = konsil.agreement(ratings().drop("arm"), resamples=100)
    assert not any(w.startswith("Pairs of raters share") for w in complete.warnings)


def test_ordered_statistics_of_pairs_are_weighted_too() -> None:
    frame = (
        ratings(40, seed=8)
        .drop("arm")
        .with_columns(pl.when(pl.int_range(pl.len()) < 12).then("cem").otherwise(None).alias("cem"))
    )
    alike, units = (
        konsil.agreement(frame, level="ordinal", pairs=True, pair_weights=how, resamples=100)  # type: ignore[arg-type]
        for how in ("alike", "units")
    )
    for name in ("spearman", "kendall_tau_b", "within_one"):
        each = [
            (pair.n_units, next(s.estimate.value for s in pair.statistics if s.name == name))
            for pair in alike.pairs
        ]
        assert alike[name].value == pytest.approx(np.mean([v for _, v in each]), abs=1e-12), name
        weighted = sum(n * v for n, v in each) / sum(n for n, _ in each)
        assert units[name].value == pytest.approx(weighted, abs=1e-12), name


@pytest.mark.slow
def test_each_pair_of_raters_is_that_of_a_table_of_two(call: Call, tmp_path: Path) -> None:
    frame = ratings(30, seed=6).drop("arm")
    frame.write_csv(tmp_path / "t.csv")
    result = json_of(
        call, tmp_path / "t.csv", "--pairs", "--level", "ordinal", "--labels", "0,1,2,3"
    )
    assert [pair["raters"] for pair in result["pairs"]] == [
        ["ann", "ben"],
        ["ann", "cem"],
        ["ben", "cem"],
    ]
    alone = konsil.agreement(
        frame.select("unit", "ann", "cem"),
        unit="unit",
        level="ordinal",
        labels=list("0123"),
        resamples=200,
    )
    for statistic in result["pairs"][1]["statistics"]:
        e = alone[statistic["name"]]
        assert [statistic["value"], statistic["low"], statistic["high"]] == written(
            [e.value, e.low, e.high]
        ), statistic["name"]
    assert result["pairs"][1]["n_units"] == 30
    out = call("agreement", tmp_path / "t.csv", "--pairs", *FEW)[1]
    assert "ann and cem" in out
    with pytest.raises(AnalysisError, match="raters are not identified"):
        konsil.agreement(
            pl.DataFrame({"yes": [3, 1], "no": [0, 2]}), layout="counts", pairs=True, resamples=100
        )
    crowd = pl.DataFrame({f"r{n}": list("abab") for n in range(30)})
    with pytest.raises(AnalysisError, match="30 raters make 435 pairs; expected at most 300"):
        konsil.agreement(crowd, pairs=True, resamples=100)


# ---------------------------------------------------------------- groups


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["wide", "long"])
def test_groups_are_tables_of_their_rows(call: Call, tmp_path: Path, shape: str) -> None:
    frame = ratings()
    table = frame if shape == "wide" else long(frame)
    table.write_csv(tmp_path / "t.csv")
    flags = ("--level", "ordinal", "--labels", "0,1,2,3")
    result = json_of(call, tmp_path / "t.csv", "--by", "arm", *flags)
    assert [group["group"] for group in result["groups"]] == ["a", "b"]
    assert (result["by"], result["n_units"], result["n_raters"]) == ("arm", 60, 3)
    for group in result["groups"]:
        only = table.filter(pl.col("arm") == group["group"]).drop("arm")
        alone = konsil.agreement(only, level="ordinal", labels=list("0123"), resamples=200)
        assert group["statistics"] == alone.to_dict()["statistics"]
        where = json_of(call, tmp_path / "t.csv", "--where", f"arm={group['group']}", *flags)
        assert where["statistics"] == group["statistics"]


def test_groups_share_one_scale() -> None:
    frame = pl.DataFrame(
        {"g": ["x"] * 6 + ["y"] * 6, "a": [*"aabbab", *"abcabc"], "b": [*"abbbab", *"abcacc"]}
    )
    result = konsil.agreement(frame, by="g", resamples=100)
    assert {group.labels for group in result.groups.values()} == {("a", "b", "c")}
    alone = konsil.agreement(
        frame.filter(pl.col("g") == "x").drop("g"), labels=list("abc"), resamples=100
    )
    assert result.groups["x"]["pabak"].value == alone["pabak"].value
    with pytest.raises(AnalysisError, match=r"of all rows; choose a group: groups\['x'\]"):
        result["pabak"]
    assert result.to_polars().get_column("group").unique().sort().to_list() == ["x", "y"]
    assert list(result.to_pandas().columns)[:2] == ["group", "name"]


def test_two_groups_are_compared(call: Call, tmp_path: Path) -> None:
    frame = ratings(200, seed=7)
    worse = frame.with_columns(
        pl.when((pl.col("arm") == "b") & (pl.int_range(pl.len()) % 2 == 0))
        .then(3 - pl.col("ben"))
        .otherwise("ben")
        .alias("ben")
    )
    worse.write_csv(tmp_path / "t.csv")
    result = json_of(call, tmp_path / "t.csv", "--compare", "arm", "--statistic", "cohen_kappa")
    (difference,) = result["comparison"]["differences"]
    a, b = (group["statistics"][0]["value"] for group in result["groups"])
    assert result["comparison"]["groups"] == ["a", "b"]
    assert result["comparison"]["n_shared"] == 0
    assert difference["value"] == pytest.approx(a - b, abs=1e-12)
    assert difference["low"] < difference["value"] < difference["high"]
    assert 0 < difference["p"] < 0.05
    assert difference["method"].startswith("difference of independent groups")
    assert any("independent samples" in w for w in result["warnings"])
    out = call("agreement", tmp_path / "t.csv", "--compare", "arm", *FEW)[1]
    assert "a minus b" in out
    assert "not adjusted for multiple testing" in " ".join(out.split())


def test_groups_of_the_same_units_are_compared_on_them() -> None:
    """Two criteria on the same units: a unit's difficulty is in both, and the difference is
    narrower for it."""
    frame = ratings(120, seed=9)
    second = frame.with_columns(pl.col("cem").alias("ben"))
    stacked = pl.concat(
        [frame.with_columns(axis=pl.lit("one")), second.with_columns(axis=pl.lit("two"))]
    ).drop("arm")
    options: dict[str, Any] = {
        "unit": "unit",
        "statistics": ["percent_agreement"],
        "resamples": 500,
    }
    paired = konsil.agreement(stacked, compare="axis", **options)
    assert paired.comparison is not None
    assert paired.comparison.n_shared == 120
    assert paired.comparison.differences[0].estimate.method.startswith("paired difference")
    apart = konsil.agreement(
        stacked.with_columns(pl.concat_str("unit", "axis").alias("unit")), compare="axis", **options
    )
    assert apart.comparison is not None
    assert apart.comparison.n_shared == 0
    assert (
        paired.comparison.differences[0].estimate.value
        == apart.comparison.differences[0].estimate.value
    )


def test_groups_of_other_raters_are_compared_by_raters() -> None:
    """Two raters a group: nothing is known of how raters vary."""
    table = long(ratings(40)).with_columns(
        pl.col("rater")
        .replace_strict({"ann": "MD", "ben": "MD", "cem": "RN", "dan": "RN"}, default="RN")
        .alias("job")
    )
    fourth = table.filter(pl.col("rater") == "ann").with_columns(
        rater=pl.lit("dan"), job=pl.lit("RN")
    )
    result = konsil.agreement(
        pl.concat([table, fourth]), compare="job", statistics=["cohen_kappa"], resamples=100
    )
    assert result.comparison is not None
    assert result.comparison.n_shared == 40
    (difference,), (companion,) = result.comparison.differences, result.comparison.companions
    assert np.isnan([difference.estimate.low, difference.estimate.p]).all()
    assert "not estimable from 2 raters" in difference.estimate.reason
    assert companion.estimate.raters == "these"
    assert companion.estimate.low < companion.estimate.high
    assert not any("not to raters in general" in w for w in result.warnings)


def two_systems(n_raters: int, n_items: int = 40) -> pl.DataFrame:
    """Raters with tastes for two systems, all of whose answers they rated."""
    g = np.random.default_rng(n_raters)
    taste = g.normal(0, 0.6, (n_raters, 2))
    return pl.DataFrame(
        [
            (f"i{n:02}", f"r{r}", system, "yes" if quality + lean + g.normal() > 0 else "no")
            for n in range(n_items)
            for s, system in enumerate("ab")
            for quality in [g.normal(0, 1.5)]
            for r, lean in enumerate(taste[:, s])
        ],
        schema=["item", "rater", "system", "label"],
        orient="row",
    )


def of_a_study(table: pl.DataFrame, statistic: str) -> list[Row]:
    """The rows of a difference in a study without a plan that has the same ratings."""
    scale = Scale(("no", "yes"))
    form = Instrument("form", (Criterion("correct", "?", scale),))
    items = sorted(set(table["item"]))
    return [
        row
        for row in run(
            [Analysis("x", statistic, "correct", "raters", by=("system",), compare="system")],
            Data(
                [Item(item, "") for item in items],
                [Answer(f"{item}:{s}", item, s) for item in items for s in "ab"],
                [Rater(name, "raters") for name in sorted(set(table["rater"]))],
                (),
                [
                    Rating(f"{i}:{s}:{r}", r, "correct", i, (f"{i}:{s}",), label=label)
                    for i, r, s, label in table.rows()
                ],
            ),
            RunSettings(
                instruments=[form],
                seed=0,
                resampling=Resampling(200),
                exclusions=Exclusions(),
                systems=[System("a"), System("b")],
            ),
        ).rows
        if row.versus
    ]


STATED = {"unit": "item", "rater": "rater", "label": "label", "compare": "system"}


@pytest.mark.parametrize("n_raters", [6, 4, 2])
def test_differences_have_the_target_and_intervals_of_a_study_without_a_plan(
    n_raters: int,
) -> None:
    table = two_systems(n_raters)
    names = ["percent_agreement", "cohen_kappa", "gwet_ac1"]
    result = konsil.agreement(
        table, statistics=names, labels=["no", "yes"], resamples=200, **STATED
    )
    comparison = result.comparison
    assert comparison is not None
    assert comparison.target == ("like these" if n_raters == 6 else "these")
    for difference in comparison.differences:
        others = [c.estimate for c in comparison.companions if c.name == difference.name]
        rows = of_a_study(table, difference.name)
        assert len(rows) == 1 + len(others) == (2 if n_raters > 2 else 1)
        for e, row in zip((difference.estimate, *others), rows, strict=True):
            assert e.raters == row.estimate.raters
            assert [e.value, e.low, e.high, e.p] == pytest.approx(
                [row.estimate.value, row.estimate.low, row.estimate.high, row.estimate.p], abs=1e-12
            )
        assert difference.estimate.raters == comparison.target


def test_the_target_of_differences_can_be_stated(call: Call, tmp_path: Path) -> None:
    two_systems(4).write_csv(tmp_path / "t.csv")
    flags = [f for name, value in STATED.items() for f in (f"--{name}", value)]
    flags += ["--statistic", "cohen_kappa"]
    plain = json_of(call, tmp_path / "t.csv", *flags)["comparison"]
    stated = json_of(call, tmp_path / "t.csv", *flags, "--target", "like these")["comparison"]
    assert (plain["target"], stated["target"]) == ("these raters", "raters like these")
    (before,), (after,) = plain["differences"], stated["differences"]
    assert after["target"] == before["companions"][0]["target"] == "raters like these"
    assert after["companions"][0]["target"] == before["target"] == "these raters"
    assert (after["low"], after["p"]) == (
        before["companions"][0]["low"],
        before["companions"][0]["p"],
    )
    out = " ".join(call("agreement", tmp_path / "t.csv", *flags, *FEW)[1].split())
    assert "Target of the differences: these raters, as the table has 4 raters" in out
    assert "Other intervals (raters like these): two-way cluster-robust Wald (unit and" in out
    with pytest.raises(AnalysisError, match="target: has no effect without compare"):
        konsil.agreement(two_systems(4), target="these")


def test_differences_that_are_not_estimable_for_other_raters_have_no_interval() -> None:
    """Raters who all agree on everything differ in nothing."""
    label = pl.when(pl.col("item") < "i20").then(pl.lit("yes")).otherwise(pl.lit("no"))
    table = two_systems(5).with_columns(label=label)
    result = konsil.agreement(table, statistics=["percent_agreement"], resamples=200, **STATED)
    assert result.comparison is not None
    (difference,), (companion,) = result.comparison.differences, result.comparison.companions
    assert np.isnan([difference.estimate.low, difference.estimate.p]).all()
    assert "not estimable for raters like these" in difference.estimate.reason
    assert companion.estimate.raters == "these"


def test_unknown_raters_have_no_target() -> None:
    counts = pl.DataFrame({"arm": ["x", "y"] * 20, "no": [2, 3] * 20, "yes": [3, 2] * 20})
    result = konsil.agreement(
        counts, layout="counts", labels=["no", "yes"], compare="arm", resamples=200
    )
    assert result.comparison is not None
    assert (result.comparison.target, result.comparison.target_sentence) == (None, "")
    assert result.to_dict()["comparison"]["target"] is None


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--by", "amr"), "--by 'amr': there is no such column; did you mean 'arm'?"),
        (("--where", "arm=c"), "--where arm=c: no row has this value; known: a, b"),
        (("--where", "arm"), "--where 'arm': expected COLUMN=VALUE"),
        (
            ("--compare", "ann"),
            (
                "--compare ann: expected two values, got 4 ('0', '1', '2', '3'); choose two with"
                " --where"
            ),
        ),
        (("--by", "arm", "--compare", "arm"), "expected one of the two"),
        (
            ("--statistic", "cohens_kappa"),
            "there is no statistic 'cohens_kappa'; did you mean 'cohen_kappa'?",
        ),
        (
            ("--statistic", "icc2"),
            "'icc2' needs a scale of level ordinal, interval, ratio; this one is nominal",
        ),
        (("--weights", "square"), "--weights 'square'"),
    ],
)
def test_flags_that_do_not_fit_the_table(
    call: Call, tmp_path: Path, flags: tuple[str, ...], says: str
) -> None:
    ratings(20).write_csv(tmp_path / "t.csv")
    code, out, err = call("agreement", tmp_path / "t.csv", *FEW, *flags)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_rows_without_a_group_are_excluded_and_told() -> None:
    frame = ratings(20).with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("arm").alias("arm")
    )
    result = konsil.agreement(frame, by="arm", resamples=100)
    assert result.n_units == 17
    assert "3 rows without a value of arm are excluded." in result.warnings
    with pytest.raises(SourceError, match="table, a: only one rater"):
        konsil.agreement(
            pl.DataFrame({"g": list("aab"), "x": ["1", "2", "1"], "y": [None, None, "2"]}),
            by="g",
            layout="wide",
        )


def test_two_values_can_be_chosen_of_many() -> None:
    frame = ratings(60).with_columns(pl.Series("arm", ["a", "b", "c"] * 20))
    result = konsil.agreement(
        frame.to_pandas(),
        where={"arm": ["a", "c"]},
        compare="arm",
        statistics=["percent_agreement"],
        resamples=100,
    )
    assert tuple(result.groups) == ("a", "c")
    assert math.isfinite(result.comparison.differences[0].estimate.p)  # type: ignore[union-attr]
    assert isinstance(result.to_pandas(), pd.DataFrame)


def test_rank_correlations_of_a_crowd_are_computed_on_request_only() -> None:
    rng = np.random.default_rng(1)
    crowd = pl.DataFrame({f"r{n:02d}": rng.integers(1, 4, 12) for n in range(11)})
    result = konsil.agreement(crowd, level="ordinal", resamples=100)
    assert not {"spearman", "kendall_tau_b"} & {statistic.name for statistic in result.statistics}
    assert any("of 55 pairs of raters are computed on request only" in w for w in result.warnings)
    asked = konsil.agreement(crowd, level="ordinal", statistics=["spearman"], resamples=100)
    wanted = [
        scipy_stats.spearmanr(crowd[a].to_numpy(), crowd[b].to_numpy()).statistic
        for a, b in combinations(crowd.columns, 2)
    ]
    assert asked["spearman"].value == pytest.approx(np.mean(wanted), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_no_limit_leaves_the_range_of_its_statistic(level: str) -> None:
    """Few units in two groups: permutation and linearised intervals are wider than a difference can
    be."""
    generator, n_cut = np.random.default_rng(1), 0
    for n in (4, 4, 5, 6, 8):
        n_labels, n_raters = (int(generator.integers(2, 5)) for _ in range(2))
        columns = {
            f"r{j}": [str(label) for label in generator.integers(1, n_labels + 1, 2 * n)]
            for j in range(n_raters)
        }
        labels = [str(label) for label in range(1, n_labels + 1)]
        table = pl.DataFrame({"group": ["a"] * n + ["b"] * n, **columns})
        result = konsil.agreement(table, labels=labels, level=level, resamples=100, compare="group")
        assert result.comparison is not None
        single = [
            e for group in result.groups.values() for e in (*group.statistics, *group.companions)
        ]
        double = [*result.comparison.differences, *result.comparison.companions]
        for entry, is_difference in [*((e, False) for e in single), *((e, True) for e in double)]:
            low, high = STATISTICS[entry.name].range
            reach = (low - high, high - low) if is_difference else (low, high)
            estimate = entry.estimate
            if np.isfinite(estimate.low):
                assert reach[0] <= estimate.low <= estimate.high <= reach[1], entry
                n_cut += "possible" in estimate.method
                assert ("possible" in estimate.method) <= bool(
                    {estimate.low, estimate.high} & set(reach)
                ), entry
    assert n_cut or level == "nominal"
