"""Raters who rated little, or who all agree: no interval is narrower than their own units allow."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Inference, Results, Row
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Item, Rater, Rating, Task

FORM = Instrument("form", (Criterion("good", "?", Scale(("no", "yes")), "item"),), unit="item")
AGAINST = Analysis(
    "against", "percent_agreement", "good", "judges", against="people", by=("rater",)
)
REST = Analysis("rest", "percent_agreement", "good", "people", against="rest", by=("rater",))
CEILING = Analysis("ceiling", "percent_agreement", "good", "people", against="rest")
KAPPA = Analysis("kappa", "cohen_kappa", "good", "judges", against="people", by=("rater",))
ENSEMBLES = flat_analysis(
    "ensembles", "ensembles_percent_agreement", "good", "judges", against="people", coverage=0
)


@cache
def ratings(*, all_agree: bool = False, people: int = 4, few: int = 8) -> Data:
    """Sixty items: people and judge j1 rate all of them, person p0 and judge j2 the first few,
    always like the rest."""
    generator = np.random.default_rng(3)
    raters = [
        *(Rater(f"p{n}", "people") for n in range(people)),
        *(Rater(f"j{n}", "judges", "llm") for n in (1, 2)),
    ]
    items = [Item(f"i{n:02}", "?") for n in range(60)]
    tasks, records = [], []
    for n, item in enumerate(items):
        true = n % 2
        for r in raters:
            if r.id in {"p0", "j2"} and n >= few and not all_agree:
                continue
            errs = (
                not all_agree and r.id not in {"p0", "j2"} and n >= few and generator.random() < 0.1
            )
            tasks.append(Task(f"{r.id}-{item.id}", "p", r.id, "form", item.id, ()))
            label = ("no", "yes")[true ^ errs]
            records.append(
                Rating(f"{r.id}-{item.id}", r.id, "good", item.id, (), None, "rated", label)
            )
    return Data(items=items, raters=raters, tasks=tasks, ratings=records)


def results(data: Data, *asked: Analysis) -> Results:
    """The analyses with few draws."""
    return run(
        asked,
        data,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(400),
            exclusions=Exclusions(),
            inference=Inference("like these"),
        ),
    )


def rows(of: Results, analysis: str, rater: str, kind: str = "estimate") -> list[Row]:
    """An analysis's rows of one rater."""
    return [
        r
        for r in of.rows
        if r.analysis == analysis and r.group.get("rater", "") == rater and r.kind == kind
    ]


@pytest.mark.parametrize(
    ("asked", "rater", "n_ratings"), [(AGAINST, "j2", 5 * 8), (REST, "p0", 4 * 8)]
)
def test_who_rated_few_units_has_the_interval_of_these_units(
    asked: Analysis, rater: str, n_ratings: int
) -> None:
    """The ratings of the panel on these units enter, too: they are what the majority is of."""
    found = results(ratings(), asked)
    (row,) = rows(found, asked.name, rater)
    assert (row.n_units, row.estimate.n_ratings, row.estimate.n_clusters) == (8, n_ratings, 8)
    assert row.estimate.value == 1
    assert (row.estimate.low, row.estimate.high) == pytest.approx(
        proportion_confint(8, 8, method="beta")
    )
    (other,) = rows(found, asked.name, {"j2": "j1", "p0": "p1"}[rater])
    assert other.estimate.n_clusters == 60
    alone = results(ratings(), asked)
    assert [r.group for r in alone.rows] == [r.group for r in found.rows]


def test_the_ceiling_has_one_interval_whichever_judge_stands_beside_it() -> None:
    found = results(ratings(), CEILING, AGAINST, KAPPA)
    (ceiling,) = (
        r.estimate for r in found.rows if r.analysis == "ceiling" and r.kind == "estimate"
    )
    beside = [r.estimate for r in rows(found, "against", "leave_one_out:people", "companion")]
    first, second = beside
    assert first.value == pytest.approx(ceiling.value)
    assert (first.low, first.high) == pytest.approx((ceiling.low, ceiling.high), abs=0.002)
    assert second.n_clusters == 8 and second.high - second.low > first.high - first.low
    kappa = rows(found, "kappa", "j2")[0].estimate
    assert kappa.n_clusters == 8 and kappa.low < 0.6


def test_ensembles_that_never_err_have_no_interval_without_width() -> None:
    found = results(ratings(), ENSEMBLES)
    for row in found.rows:
        e = row.estimate
        assert not (math.isfinite(e.low) and e.low == e.high), row.group
    best = next(r.estimate for r in found.rows if r.group["ensemble"] == "j2")
    assert (best.value, best.n_clusters) == (1, 8)
    assert (best.low, best.high) == pytest.approx(proportion_confint(8, 8, method="beta"))
    kappas = results(
        ratings(all_agree=True),
        flat_analysis("e", "ensembles_cohen_kappa", "good", "judges", against="people", coverage=0),
    )
    for row in kappas.rows[:-1]:
        assert row.estimate.value == 1 and row.estimate.low < 0.99


@pytest.mark.parametrize(
    "statistic",
    ["percent_agreement", "pabak", "cohen_kappa", "gwet_ac1", "krippendorff_alpha", "unanimity"],
)
def test_full_agreement_of_many_raters_has_no_two_way_interval_without_width(
    statistic: str,
) -> None:
    found = results(
        ratings(all_agree=True, people=6), Analysis("full", statistic, "good", "people")
    )
    assert found.target == "like these"
    first, *others = (r.estimate for r in found.rows)
    assert (first.value, first.raters) == (1, "these")
    assert first.low < 0.99 and first.high == 1
    assert not [e for e in others if math.isfinite(e.low) and e.low == e.high]
