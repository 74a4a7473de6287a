"""`konsil agreement` of measured values: bounded cost, and no coefficient of equal labels."""

import json
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import konsil
from konsil.analysis.agreement.agreement_statistics import EQUAL_LABELS

N_EQUAL = "equal labels are not computed"


def measurements(n_units: int, n_raters: int = 2, seed: int = 1) -> pl.DataFrame:
    """Units with measured values of correlated raters."""
    rng = np.random.default_rng(seed)
    x = rng.normal(50, 15, (n_units, 1)) + rng.normal(0, 5, (n_units, n_raters))
    names = [f"r{n}" for n in range(n_raters)]
    columns = {name: [f"{v:.6f}" for v in column] for name, column in zip(names, x.T, strict=True)}
    return pl.DataFrame({"unit": [f"u{n}" for n in range(n_units)], **columns})


Call = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_coefficients_of_equal_labels_are_left_out_with_a_sentence(level):
    result = konsil.agreement(measurements(60), unit="unit", level=level, resamples=100)
    names = {s.name for s in result.statistics}
    assert not names & EQUAL_LABELS
    assert {"krippendorff_alpha", "cohen_kappa_linear", "gwet_ac2", "icc2", "spearman"} <= names
    note = next(text for text in result.warnings if N_EQUAL in text)
    assert note.startswith("The 120 different numbers are taken for measured values")
    assert "cohen_kappa," in note and "icc2" not in note


def test_a_hundred_values_are_categories_and_so_are_declared_ones():
    values = [f"{n / 10:.1f}" for n in range(100)]
    table = pl.DataFrame({"unit": values[:50], "a": values[:50], "b": values[50:]})
    names = {
        s.name
        for s in konsil.agreement(table, unit="unit", level="interval", resamples=100).statistics
    }
    assert "cohen_kappa" in names
    labels = [str(n) for n in range(101)]
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 101, (300, 2)).astype(str)
    frame = pl.DataFrame({"a": scores[:, 0], "b": scores[:, 1]})
    declared = konsil.agreement(frame, labels=labels, level="interval", resamples=100)
    assert EQUAL_LABELS & {s.name for s in declared.statistics} >= {"cohen_kappa", "gwet_ac1"}
    assert not any(N_EQUAL in text for text in declared.warnings)


@pytest.mark.parametrize(
    ("level", "name", "instead"),
    [
        ("interval", "cohen_kappa", "use cohen_kappa_quadratic or icc2"),
        ("ordinal", "gwet_ac1", "use gwet_ac2"),
        ("nominal", "krippendorff_alpha", "use --level interval"),
        ("nominal", "", "use --level interval"),
    ],
)
def test_a_coefficient_of_equal_labels_is_refused_by_name(
    tmp_path: Path, call: Call, level: str, name: str, instead: str
):
    measurements(60).write_csv(tmp_path / "t.csv")
    asked = ["--statistic", name] if name else []
    options = ("--unit", "unit", "--level", level, *asked)
    status, _, message = call("agreement", tmp_path / "t.csv", *options)
    assert status == 2
    assert "the 120 different numbers are measured values" in message
    assert instead in message


def test_weights_make_distances_of_equal_labels():
    result = konsil.agreement(
        measurements(60),
        unit="unit",
        level="interval",
        statistics=["fleiss_kappa"],
        weights="quadratic",
        resamples=100,
    )
    alpha = konsil.agreement(
        measurements(60),
        unit="unit",
        level="interval",
        statistics=["krippendorff_alpha"],
        resamples=100,
    )
    n = 120
    # Fleiss' chance has n^2 pairs of labels, alpha's n (n - 1).
    expected = 1 - (1 - alpha["krippendorff_alpha"].value) * n / (n - 1)
    assert result["fleiss_kappa"].value == pytest.approx(expected, abs=1e-12)


def test_percent_agreement_is_given_on_request():
    result = konsil.agreement(
        measurements(60),
        unit="unit",
        level="interval",
        statistics=["percent_agreement"],
        resamples=100,
    )
    assert result["percent_agreement"].value == 0.0


@pytest.mark.parametrize(("n_units", "method"), [(199, "bootstrap"), (200, "Wald")])
def test_from_200_clusters_on_the_interval_is_linearised(n_units, method):
    """Both intervals of nearly the same study have nearly the same limits."""
    names = ["krippendorff_alpha", "cohen_kappa_linear", "gwet_ac2", "spearman", "kendall_w"]
    result = konsil.agreement(
        measurements(n_units), unit="unit", level="interval", statistics=names, resamples=400
    )
    for name in names:
        assert method in result[name].method
        assert 0.02 < result[name].high - result[name].low < 0.2
        assert result[name].low < result[name].value < result[name].high


def test_differences_of_groups_are_those_of_linearised_parts():
    """Quadratic kappa of two groups beside ICC(2,1), which is bootstrapped from its few sums."""
    frame = measurements(600).with_columns(
        pl.Series("group", ["x", "y"] * 300),
    )
    frame = frame.with_columns(
        pl.when(pl.col("group") == "y")
        .then(pl.col("r1").cast(float) * 1.1)
        .otherwise(pl.col("r1").cast(float))
        .round(6)
        .cast(str)
        .alias("r1")
    )
    result = konsil.agreement(
        frame,
        unit="unit",
        level="interval",
        compare="group",
        resamples=500,
        statistics=["cohen_kappa_quadratic", "icc2"],
    )
    kappa, icc = (d.estimate for d in result.comparison.differences)
    assert kappa.value == pytest.approx(icc.value, abs=1e-3)
    assert (kappa.low, kappa.high) == pytest.approx((icc.low, icc.high), abs=5e-3)


def test_memory_follows_the_number_of_ratings():
    """Of 8,000 different values a table of labels by labels takes 512 MB."""
    frame = measurements(4000)
    konsil.agreement(measurements(60), unit="unit", level="interval", resamples=100)
    tracemalloc.start()
    result = konsil.agreement(frame, unit="unit", level="interval", resamples=100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.n_units == 4000
    assert peak < 60e6


def oneway(lists: list[list[float]]) -> float:
    """ICC(1,1) of lists of any lengths, from an analysis of variance by hand."""
    sizes = np.array([len(x) for x in lists])
    means, total, n = np.array([np.mean(x) for x in lists]), sizes.sum(), len(lists)
    grand = sum(map(sum, lists)) / total
    between = (sizes * (means - grand) ** 2).sum() / (n - 1)
    within = sum(((np.array(x) - m) ** 2).sum() for x, m in zip(lists, means, strict=True)) / (
        total - n
    )
    usual = (total - (sizes**2).sum() / total) / (n - 1)
    return float((between - within) / (between + (usual - 1) * within))


def test_lists_of_unequal_length_have_one_icc(tmp_path):
    lists = [[1, 2, 2], [4, 4], [5, 5, 4, 5], [2, 3], [1, 1, 3]]
    lines = [json.dumps({"item": f"i{n}", "scores": scores}) for n, scores in enumerate(lists)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    frame = pl.read_ndjson(tmp_path / "t.jsonl")
    options = {"unit": "item", "label": "scores", "level": "interval", "resamples": 100}
    result = konsil.agreement(frame, statistics=["icc1", "icc1k", "icc1_incomplete"], **options)
    assert result["icc1"].value == pytest.approx(oneway(lists), abs=1e-12)
    assert result["icc1_incomplete"].value == result["icc1"].value
    assert (result["icc1_incomplete"].low, result["icc1_incomplete"].high) == (
        result["icc1"].low,
        result["icc1"].high,
    )
    assert result["icc1"].n_clusters == 5
    assert not any("every rater rated" in note for note in result.warnings)
    even = pl.DataFrame({"item": list("abcde"), "scores": [[1, 2], [4, 4], [2, 3], [5, 5], [1, 1]]})
    assert konsil.agreement(even, statistics=["icc1"], **options)["icc1"].value > 0


@pytest.mark.parametrize("n_units", [4, 5])
def test_one_way_icc_needs_five_units_with_two_ratings(n_units):
    lists = [*[[1, 2], [4, 4], [5, 5], [2, 3], [1, 3]][:n_units], [3], [4], [5]]
    frame = pl.DataFrame({"item": [f"i{n}" for n in range(len(lists))], "scores": lists})
    result = konsil.agreement(
        frame, unit="item", label="scores", level="interval", statistics=["icc1"], resamples=100
    )
    if n_units == 5:
        assert result["icc1"].value == pytest.approx(oneway(lists), abs=1e-12)
    else:
        assert np.isnan(result["icc1"].value)
        assert result["icc1"].reason == (
            "needs at least 5 units with two ratings or more; there are 4"
        )


def test_percent_agreement_of_unequal_numbers_of_raters_uses_all_units():
    """Units of two to four raters: each pair of raters counts all units that both rated."""
    rng = np.random.default_rng(4)
    cells = rng.integers(1, 4, (40, 4)).astype(object)
    for unit in range(30):
        cells[unit, rng.permutation(4)[: 1 + unit % 2]] = None
    table = pl.DataFrame(cells.tolist(), schema=list("abcd"), orient="row", strict=False)
    result = konsil.agreement(
        table, statistics=["percent_agreement"], labels=[1, 2, 3], layout="wide", resamples=100
    )
    shares = []
    for first, second in combinations(range(4), 2):
        both = [row for row in cells if row[first] is not None and row[second] is not None]
        shares.append(np.mean([row[first] == row[second] for row in both]))
    assert result["percent_agreement"].value == pytest.approx(np.mean(shares), abs=1e-12)
    assert result["percent_agreement"].n_clusters == 40
