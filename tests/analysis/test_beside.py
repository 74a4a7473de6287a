"""What stands beside a number: chance levels, intervals of shares, and the sentences a reader must
not miss."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint
from tests.analysis.running.test_run import ALL, DATA, ask, results, rows, told, used

import konsil
from konsil.analysis import Analysis, Row


def companions(analysis: Analysis) -> list[Row]:
    return [r for r in results(analysis).rows if r.kind == "companion"]


@pytest.mark.parametrize("against", [None, "rest"])
def test_chance_stands_beside_agreement_within_one_step(against: str | None) -> None:
    labels = ("poor", "fair", "good", "best")
    counts = Counter(labels.index(str(r.label)) for r in used("grade"))
    n = counts.total()
    expected = sum(counts[a] * counts[b] for a in counts for b in counts if abs(a - b) <= 1) / n**2
    (chance,) = [
        r
        for r in companions(ask("within_one", "grade", against=against))
        if "chance" in r.estimate.method
    ]
    assert chance.estimate.value == pytest.approx(expected)
    assert chance.estimate.low < expected < chance.estimate.high
    assert not [
        r for r in companions(ask("percent_agreement", "grade")) if "chance" in r.estimate.method
    ]


def test_two_raters_without_clusters_agree_in_a_share_with_wilsons_interval() -> None:
    table = pl.DataFrame({"ann": ["a"] * 20 + ["b"] * 10, "ben": ["a"] * 18 + ["b"] * 12})
    alone = konsil.agreement(table, labels=["a", "b"], resamples=200)
    found = alone["percent_agreement"]
    assert (found.method, found.n_clusters) == ("Wilson", 30)
    assert (found.low, found.high) == pytest.approx(proportion_confint(28, 30, method="wilson"))


def test_full_agreement_on_few_units_is_not_certainty() -> None:
    two = konsil.agreement(
        pl.DataFrame({"ann": ["a", "b"], "ben": ["a", "b"]}), labels=["a", "b"], resamples=200
    )
    found = two["percent_agreement"]
    assert (found.value, found.high, found.method) == (1.0, 1.0, "Clopper-Pearson")
    assert found.low == pytest.approx(0.025**0.5)


def test_unclustered_shares_of_several_raters_have_the_two_way_interval_beside() -> None:
    # One label an item, but ten items a rater: nothing is clustered in items, much in raters.
    one_each = [r for n, r in enumerate(used("correct")) if r.answers == (f"{r.item}:one",)]
    seen: set[str | None] = set()
    kept = [r for r in one_each if r.item not in seen and not seen.add(r.item)]  # type: ignore[func-returns-value]
    owner = {r.item: ("ann", "ben", "cem")[n % 3] for n, r in enumerate(kept)}
    only = replace(
        DATA, ratings=[r for r in DATA.ratings if r.item in owner and r.rater == owner[r.item]]
    )
    analysis = ask("share", of=("yes",), where={"system": ("one",)})
    found = results(analysis, data=only).rows
    assert found[0].estimate.method == "Wilson"
    assert [r.estimate.method.split(" (")[0] for r in found[1:]] == ["two-way cluster-robust Wald"]
    assert any("With 3 raters (fewer than 30)" in w for w in found[0].warnings)


def test_few_raters_are_told_where_they_are_averaged_over_and_only_there() -> None:
    (share,) = rows(ask("share", of=("yes",)))
    assert any("With 4 raters (fewer than 30)" in w for w in share.warnings)
    (alone,) = rows(ask("share", of=("yes",), where={"rater": ("ann",)}))
    assert not any("raters" in w for w in alone.warnings)


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_a_very_common_label_is_told_on_any_scale(labels: list[str]) -> None:
    rng = np.random.default_rng(1)
    x = np.where(rng.random((100, 2)) < 0.05, "b", "a")
    found = konsil.agreement(
        pl.DataFrame({"ann": x[:, 0], "ben": x[:, 1]}), labels=labels, resamples=200
    )
    (note,) = [w for w in found.warnings if "of ratings are in one" in w]
    assert "cohen_kappa" in note
    assert "percent_agreement" not in note


def test_pairs_of_raters_without_a_value_are_counted() -> None:
    table = pl.DataFrame(
        {"ann": ["a", "b", "a", "b"], "ben": ["a", "b", "b", "b"], "cem": ["a", "a", "a", "a"]}
    )
    three = konsil.agreement(
        table.with_columns(dee=pl.lit("a")), layout="wide", labels=["a", "b"], resamples=200
    )
    (note,) = [w for w in three.warnings if "pairs of raters" in w]
    assert (
        note
        == "cohen_kappa, scott_pi: not estimable for 1 of 6 pairs of raters, which are excluded from the"
        " mean"
    )


def test_too_few_clusters_are_told_of_the_statistics_they_concern() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(1, 4, (60, 3)).astype(str)
    x[:20, 2] = ""
    table = pl.DataFrame({name: x[:, n] for n, name in enumerate(("ann", "ben", "cem"))})
    found = konsil.agreement(table, labels=["1", "2", "3"], level="ordinal", resamples=200)
    (note,) = [w for w in found.warnings if "clusters (fewer" in w]
    assert note.startswith("icc2, ")
    assert "cohen_kappa" not in note


def test_renaming_raters_changes_no_number_but_in_the_last_digits() -> None:
    def other(name: str) -> str:
        return "Ü " + name[::-1]

    data = replace(
        DATA,
        raters=[replace(r, id=other(r.id)) for r in DATA.raters],
        tasks=[replace(t, rater=other(t.rater)) for t in DATA.tasks],
        ratings=[replace(r, rater=other(r.rater)) for r in DATA.ratings],
    )
    was, now = told(results(*ALL)), told(results(*ALL, data=data))
    assert np.array(now) == pytest.approx(np.array(was), rel=1e-6, nan_ok=True)


@pytest.mark.slow
def test_the_methods_say_how_differences_were_tested_and_which_metric_alpha_has() -> None:
    def words(**more: object) -> str:
        found = ask("krippendorff_alpha", "grade", by=("system",), compare="system", **more)
        return " ".join(results(found).methods)

    assert "not Gwet's ordinal weights" in words()
    assert "the test that its CI inverts" in words()
    assert "Holm" in words()
    flipped = words(test="flip")
    assert "studentised permutation" in flipped
    untested = words(test="none")
    assert not [w for w in ("invert", "fair coins", "Holm", "t distribution") if w in untested]
    assert "t distribution" in words(cluster="rater")
    assert "t distribution" not in words(cluster="rater", test="none")


@pytest.mark.parametrize("statistic", ["cohen_kappa", "percent_agreement"])
@pytest.mark.parametrize("against", ["rest", "experts"])
def test_a_very_common_label_is_told_against_a_consensus(statistic: str, against: str) -> None:
    common = replace(
        DATA,
        ratings=[
            replace(r, label="yes") if n % 8 and r.label == "no" else r
            for n, r in enumerate(DATA.ratings)
        ],
    )
    raters = "experts" if against == "rest" else "judges"
    (row,) = rows(ask(statistic, raters=raters, against=against), data=common)
    assert any("of ratings are in one" in w for w in row.warnings) == (statistic == "cohen_kappa")
