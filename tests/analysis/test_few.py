"""Which interval a number has where there are few clusters, or few that hold an outcome."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Exclusions, Resampling
from konsil.analysis.estimation.estimate import EstimateSummary, estimate
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.model.interval_methods import has
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Item, Rater, Rating, Task
from konsil.stats.engine.contract import Estimate
from konsil.stats.inference.infer import FEW_CLUSTERS

FORM = Instrument("form", (Criterion("correct", "?", Scale(("no", "yes"))),))


def share(hits: int, n_items: int = 120) -> Estimate:
    """The share of "yes" where two answers of each of so many items are alike."""
    items = [Item(f"q{n:03}", "?") for n in range(n_items)]
    answers = [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in ("one", "two")]
    tasks = [Task(i.id, "p 1", "ann", "form", i.id, (f"{i.id}:one", f"{i.id}:two")) for i in items]
    ratings = [
        Rating(
            a.item,
            "ann",
            "correct",
            a.item,
            (a.id,),
            label="yes" if int(a.item[1:]) < hits else "no",
        )
        for a in answers
    ]
    data = Data(items, answers, [Rater("ann", "panel")], tasks, ratings)
    results = run(
        [flat_analysis("a", "share", "correct", raters="panel", of=("yes",))],
        data,
        RunSettings(
            instruments=(FORM,),
            seed=5,
            resampling=Resampling(500),
            exclusions=Exclusions(),
        ),
    )
    [row] = [r for r in results.rows if r.kind == "estimate"]
    assert row.estimate.value == pytest.approx(hits / n_items)
    return row.estimate


def test_shares_of_which_many_clusters_hold_both_outcomes_are_resampled() -> None:
    assert "bootstrap" in share(60).method


@pytest.mark.parametrize("hits", [3, 30, 90, 117])
def test_shares_of_which_few_clusters_hold_one_outcome_are_not(hits: int) -> None:
    assert "bootstrap" not in share(hits).method


def mean_of(n_cases: int) -> EstimateSummary:
    """The mean of scores, one a case."""
    scores = np.random.default_rng(4).normal(size=n_cases)
    sums = np.column_stack([scores, np.ones(n_cases)])
    names = tuple(f"{n:03}" for n in range(n_cases))
    measure = Measure(sums, quotient, names, n_cases, 1, n_cases)
    return estimate(measure, key=1, resampling=Resampling(300), cluster="case")


def test_means_of_few_clusters_have_a_jackknife_and_the_bootstrap_beside_it() -> None:
    few, many = mean_of(FEW_CLUSTERS - 1), mean_of(FEW_CLUSTERS)
    assert has(few.headline.method, "cluster_jackknife")
    assert [has(c.method, "bootstrap") for c in few.companions] == [True]
    assert has(many.headline.method, "bootstrap")
    assert few.headline.high - few.headline.low > few.companions[0].high - few.companions[0].low
    # A mean is compared with nothing.
    assert math.isnan(few.headline.p)


def test_a_number_that_rests_on_one_case_has_no_interval() -> None:
    """Its resamples vary, but only in whether they hold the case."""
    sums = np.column_stack([np.arange(12.0), np.eye(12)[0]])
    names = tuple(f"{n:02}" for n in range(12))
    measure = Measure(sums, quotient, names, 12, 1, 12)
    headline = estimate(measure, key=1, resampling=Resampling(300), cluster="case").headline
    assert math.isnan(headline.low)
    assert headline.reason.startswith(
        "no CI: the estimate is not estimable without one of the clusters"
    )
