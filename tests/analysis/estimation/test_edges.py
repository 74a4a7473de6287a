"""Intervals where raters agree nearly always, labels are rare, or clusters few and unequal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import konsil
from konsil.analysis.estimation.estimate import estimate
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.estimation.rare_events import is_sparse
from konsil.analysis.model.spec import AsPublished, Resampling
from konsil.stats.agreement.kappa import cohen_kappa
from konsil.stats.engine.contract import Codes
from konsil.stats.shares.shares import degrees_of_freedom

BOTH = ["y"] * 12 + ["n"] * 8
MANY = ["y"] * 18 + ["n"] * 12
CLUSTERS = [str(n // 3) for n in range(30)]

TABLES: dict[str, tuple[Mapping[str, Sequence[str]], str | None]] = {
    "two raters agree everywhere": ({"a": BOTH, "b": BOTH}, None),
    "one rater never uses a label": ({"a": ["n"] * 50, "b": ["n"] * 46 + ["y"] * 4}, None),
    "three raters agree everywhere": ({"a": BOTH, "b": BOTH, "c": BOTH}, None),
    "three raters, one disagreement": ({"a": BOTH, "b": BOTH, "c": ["n", *BOTH[1:]]}, None),
    "clusters, all agree": ({"of": CLUSTERS, "a": MANY, "b": MANY}, "of"),
    "clusters, one disagreement": ({"of": CLUSTERS, "a": MANY, "b": ["n", *MANY[1:]]}, "of"),
    "nobody agrees": ({"a": ["y", "n"] * 10, "b": ["n", "y"] * 10}, None),
}


def asked(name: str) -> konsil.Agreement:
    columns, cluster = TABLES[name]
    raters = [name for name in columns if name != cluster]
    return konsil.agreement(
        pl.DataFrame(columns), rater=raters, cluster=cluster, labels=["n", "y"], resamples=400
    )


@pytest.mark.parametrize("name", TABLES)
def test_no_estimated_quantity_has_an_interval_without_width(name: str) -> None:
    result = asked(name)
    for statistic in (*result.statistics, *result.companions):
        e = statistic.estimate
        if math.isfinite(e.value):
            assert math.isnan(e.low) or e.high - e.low > 1e-6, (statistic.name, e)
            assert e.se != 0, (statistic.name, e)
            assert math.isfinite(e.low) or e.reason, (statistic.name, e)
    assert not [w for w in result.warnings if "no width" in w]


@pytest.mark.parametrize("name", TABLES)
def test_what_is_linear_in_percent_agreement_has_its_limits(name: str) -> None:
    result = asked(name)
    share = result["percent_agreement"]
    for other in ("pabak", "randolph_kappa"):
        assert result[other].value == pytest.approx(2 * share.value - 1)
        assert result[other].low == pytest.approx(2 * share.low - 1)
        assert result[other].high == pytest.approx(2 * share.high - 1)
        assert "from the proportion of agreement" in result[other].method
    beside = {c.name: c.estimate for c in result.companions if "logit" in c.estimate.method}
    if "percent_agreement" in beside:
        assert beside["pabak"].low == pytest.approx(2 * beside["percent_agreement"].low - 1)


def test_with_five_labels_pabak_still_follows_percent_agreement() -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 5, 40)
    second = np.where(rng.random(40) < 0.3, rng.integers(0, 5, 40), first)
    table = pl.DataFrame({"a": first.astype(str), "b": second.astype(str)})
    result = konsil.agreement(table, labels=list("01234"), resamples=200)
    share, other = result["percent_agreement"], result["pabak"]
    assert (other.low, other.high) == pytest.approx(
        (1.25 * share.low - 0.25, 1.25 * share.high - 0.25)
    )


def test_three_raters_who_agree_everywhere_have_the_exact_interval_of_as_many_units() -> None:
    agreement = asked("three raters agree everywhere")["percent_agreement"]
    assert (agreement.low, agreement.high) == pytest.approx(
        proportion_confint(20, 20, method="beta")
    )


def test_agreement_of_clusters_is_wilsons_at_their_effective_sample_size() -> None:
    agreement = asked("clusters, one disagreement")["percent_agreement"]
    each = np.array([2 / 3, *[1.0] * 9])
    p, variance = each.mean(), each.var(ddof=1) / 10
    n, z = p * (1 - p) / variance, stats.t.ppf(0.975, 9)
    shrink = 1 + z * z / n
    centre, reach = (
        (p + z * z / (2 * n)) / shrink,
        z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / shrink,
    )
    assert (agreement.low, agreement.high) == pytest.approx((centre - reach, centre + reach))


def test_unequal_clusters_have_fewer_degrees_of_freedom() -> None:
    sizes = np.array([1.0, 1, 1, 1, 1, 2, 2, 3, 6, 12])
    # The moments of the quadratic form itself, from a simulation of independent outcomes.
    rng = np.random.default_rng(1)
    sums = rng.standard_normal((200_000, 10)) * np.sqrt(sizes)
    forms = ((sums - sizes * sums.sum(1, keepdims=True) / sizes.sum()) ** 2).sum(1)
    assert degrees_of_freedom(sizes) == pytest.approx(2 * forms.mean() ** 2 / forms.var(), rel=0.02)
    assert degrees_of_freedom(np.full(10, 3.0)) == 9


def test_chance_corrected_agreement_has_a_posterior_where_labels_are_sparse() -> None:
    for name in (
        "two raters agree everywhere",
        "one rater never uses a label",
        "clusters, one disagreement",
    ):
        result = asked(name)
        for statistic in ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
            e = result[statistic]
            assert "posterior of the rating patterns" in e.method
            assert e.low <= e.value <= e.high
            assert e.se > 0


def test_a_bootstrap_stays_where_labels_and_disagreements_are_many() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 2, 200)
    table = pl.DataFrame({"a": first, "b": np.where(rng.random(200) < 0.2, 1 - first, first)}).cast(
        pl.String
    )
    assert "BCa" in konsil.agreement(table, labels=["0", "1"], resamples=200)["cohen_kappa"].method
    rare = table.with_columns(
        pl.when(pl.int_range(200) < 190).then(pl.lit("0")).otherwise("b").alias("b"), a=pl.lit("0")
    )
    assert (
        "posterior" in konsil.agreement(rare, labels=["0", "1"], resamples=200)["gwet_ac1"].method
    )


@pytest.mark.parametrize(
    ("other", "disagree", "sparse"), [(50, 20, False), (49, 20, True), (60, 19, True)]
)
def test_labels_are_sparse_below_fifty_clusters_with_another_label_or_twenty_with_a_disagreement(
    other: int, disagree: int, sparse: bool
) -> None:
    labels = np.zeros((200, 2), np.int64)
    labels[:other] = 1
    labels[:disagree, 1] = 0
    assert is_sparse(Codes(labels, np.arange(200), 2)) == sparse


def test_paper_mode_keeps_the_bootstrap_as_it_is() -> None:
    clusters = tuple(str(n) for n in range(12))
    sums = np.tile([1.0, 0, 0, 1], (12, 1))
    measure = Measure(sums, cohen_kappa(2, 2).finalise, clusters, 24, 2, 48, scale="atanh")
    paper = estimate(measure, key=1, resampling=AsPublished(200), cluster="item")
    assert (paper.headline.low, paper.headline.high, paper.headline.se) == (1, 1, 0)
    assert [c.code for c in paper.cautions] == ["few-clusters", "no-variation"]
    valid = estimate(measure, key=1, resampling=Resampling(200), cluster="item")
    assert math.isnan(valid.headline.low)
    assert valid.headline.reason == "no CI: all resamples gave the same value"
    assert valid.cautions == ()
