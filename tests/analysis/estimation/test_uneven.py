"""Agreement where one cluster holds much of the units: no interval is too sure of it, and the row
names the rule."""

from __future__ import annotations

import math
import re

import numpy as np
import polars as pl
import pytest
from scipy import stats

import konsil
from konsil.analysis import Analysis
from konsil.analysis.estimation.estimate import estimate
from konsil.analysis.estimation.measure import Measure
from konsil.analysis.model.interval_methods import name_of
from konsil.analysis.model.spec import AsPublished, Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Item, Rater, Rating, Task
from konsil.stats.agreement.kappa import cohen_kappa
from konsil.stats.engine.contract import Codes
from konsil.stats.shares.uneven_clusters import uneven_clusters

SIZES = [3] * 59 + [118]
FEW = [1, 1, 1, 1, 1, 2, 2, 3, 6, 12]
EFFECTIVE = r"t with ([\d.]+) effective degrees of freedom"


def table(sizes: list[int], raters: int = 2, cut: float = 0.0, seed: int = 3) -> pl.DataFrame:
    """Units that share a trait with those of their cluster; `cut`: above it a unit is a yes."""
    g = np.random.default_rng(seed)
    of = np.repeat(np.arange(len(sizes)), sizes)
    trait = np.sqrt(0.5) * (g.standard_normal(len(sizes))[of] + g.standard_normal(len(of)))
    labels = trait[:, None] + 0.7 * g.standard_normal((len(of), raters)) > cut
    return pl.DataFrame(
        {
            "case": [f"c{n:02}" for n in of],
            **{f"r{n}": np.where(labels[:, n], "y", "n") for n in range(raters)},
        }
    )


def asked(sizes: list[int], raters: int = 2, cut: float = 0.0) -> konsil.Agreement:
    return konsil.agreement(
        table(sizes, raters, cut), cluster="case", labels=["n", "y"], resamples=400
    )


@pytest.mark.parametrize("raters", [2, 3])
def test_a_large_cluster_leaves_few_degrees_of_freedom(raters: int) -> None:
    result = asked(SIZES, raters)
    for name in (
        "percent_agreement",
        "pabak",
        "cohen_kappa",
        "fleiss_kappa",
        "krippendorff_alpha",
        "gwet_ac1",
    ):
        e = result[name]
        freedom = re.search(EFFECTIVE, e.method)
        assert freedom and "bias-reduced variance" in e.method, (name, e.method)
        assert 4 < float(freedom[1]) < 6
    kappa = result["cohen_kappa"]
    df = float(re.search(EFFECTIVE, kappa.method)[1])  # type: ignore[index]
    centre, reach = (
        math.atanh(kappa.value),
        stats.t.ppf(0.975, df) * kappa.se / (1 - kappa.value**2),
    )
    assert (kappa.low, kappa.high) == pytest.approx(
        (math.tanh(centre - reach), math.tanh(centre + reach)), rel=1e-3
    )
    assert not [c for c in result.companions if "bootstrap" in c.estimate.method]
    [note] = [w for w in result.warnings if "very unequal size" in w]
    assert note.endswith(
        "The 60 case clusters are of very unequal size; the effective number of clusters is 6.0."
    )


def test_where_labels_are_rare_the_posterior_has_wider_tails() -> None:
    method = asked(SIZES, cut=1.6)["cohen_kappa"].method
    assert "posterior of the rating patterns" in method
    assert re.search("tails of " + EFFECTIVE, method)


def test_ten_uneven_clusters_keep_the_posterior_as_it_is() -> None:
    result = asked(FEW)
    assert result["cohen_kappa"].method.endswith("400 posterior samples")
    assert "bias-reduced" in result["percent_agreement"].method


def test_pabak_still_follows_percent_agreement() -> None:
    result = asked(SIZES)
    share, other = result["percent_agreement"], result["pabak"]
    assert (other.low, other.high, other.se) == pytest.approx(
        (2 * share.low - 1, 2 * share.high - 1, 2 * share.se)
    )


def test_agreement_everywhere_is_exact_at_the_clusters_worth() -> None:
    frame = table(SIZES).with_columns(pl.col("r0").alias("r1"))
    share = konsil.agreement(frame, cluster="case", labels=["n", "y"], resamples=400)[
        "percent_agreement"
    ]
    worth = 1 / (0.4**2 + 0.6**2 / 59)
    assert share.high == 1
    assert share.low == pytest.approx(0.025 ** (1 / worth))
    assert "6.02 effective" in share.method


def test_clusters_of_one_size_are_as_before() -> None:
    result = konsil.agreement(table([3] * 100), cluster="case", labels=["n", "y"], resamples=400)
    assert "BCa" in result["cohen_kappa"].method
    assert not [w for w in result.warnings if "very unequal" in w]


@pytest.mark.parametrize("statistic", ["percent_agreement", "cohen_kappa"])
def test_a_study_says_the_rule_and_its_two_way_interval_follows_it(statistic: str) -> None:
    frame = table(SIZES, raters=5)
    items = tuple(Item(f"i{n:03}", "?", case=case) for n, case in enumerate(frame["case"]))
    people = tuple(Rater(f"r{n}", "experts") for n in range(5))
    tasks = tuple(Task(f"{r.id}{i.id}", "p", r.id, "form", i.id, ()) for r in people for i in items)
    ratings = tuple(
        Rating(f"{r.id}{i.id}", r.id, "good", i.id, (), None, "rated", label)
        for r in people
        for i, label in zip(items, frame[r.id], strict=True)
    )
    form = Instrument("form", (Criterion("good", "?", Scale(("n", "y")), "item"),), unit="item")
    results = run(
        [Analysis("k", statistic, "good", "experts", cluster="case")],
        Data(items, (), people, tasks, ratings),
        RunSettings(
            instruments=[form],
            seed=1,
            resampling=Resampling(200),
            exclusions=Exclusions(),
        ),
    )
    methods = [r.estimate.method for r in results.rows]
    assert any("bias-reduced variance" in m for m in methods)
    two = next(r.estimate for r in results.rows if "two-way" in r.estimate.method)
    by_items = next(
        r.estimate for r in results.rows if "bias-reduced variance" in r.estimate.method
    )
    assert two.se >= by_items.se
    assert any(
        "bias-reduced variance and effective degrees of freedom" in m for m in results.methods
    )
    assert not any(name_of(m) == "methods.rare_outcomes" for m in results.methods)


def test_paper_mode_keeps_the_bootstrap() -> None:
    frame = table(SIZES)
    codes = Codes(
        (frame.select("r0", "r1") == "y").to_numpy().astype(np.int64),
        np.repeat(np.arange(60), SIZES),
        2,
    )
    statistic = cohen_kappa(2, 2)
    uneven = uneven_clusters(codes, statistic.tally, statistic.finalise)
    names = tuple(f"c{n:02}" for n in range(60))
    measure = Measure(
        statistic.tally(codes), statistic.finalise, names, 295, 2, 590, scale="atanh", uneven=uneven
    )
    assert (
        "BCa"
        in estimate(measure, key=1, resampling=AsPublished(200), cluster="case").headline.method
    )
    valid = estimate(measure, key=1, resampling=Resampling(200), cluster="case")
    assert "bias-reduced" in valid.headline.method
    assert valid.headline.high - valid.headline.low > 0.1
