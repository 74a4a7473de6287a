"""From records to rows: CLExEval's statistics of masked cases, with the paper's counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analyses import flat_analysis, restated
from tests.clexeval_tables import LEVELS, answer, published, results

from konsil.analysis import Analysis, Results, contradictions
from konsil.analysis.model.options import CaseOptions
from konsil.errors import AnalysisError
from konsil.stats.shares.shares import wilson

ISS = flat_analysis(
    "a", "information_sensitivity", "diagnostic_precision", "experts", levels=LEVELS
)


def values(found: Results) -> dict[str, float]:
    return {r.group["system"]: r.estimate.value for r in found.rows if r.kind == "estimate"}


@pytest.mark.parametrize(
    ("asked", "generalist", "specialist"),
    [
        (ISS, 0.625, 0.55),
        (replace(ISS, statistic="monotonicity_violation"), 0.275, 0.25),
        (restated(ISS, statistic="monotonicity_violation", denominator="recovered"), 5 / 13, 3 / 9),
        (replace(ISS, statistic="diagnostic_potential"), 0.95, 0.925),
        (replace(ISS, statistic="stability"), 2.55, 2.15),
    ],
    ids=lambda a: a.statistic if isinstance(a, Analysis) else None,
)
def test_the_papers_figures(asked: Analysis, generalist: float, specialist: float) -> None:
    found = results(published(), asked)
    assert values(found) == pytest.approx({"generalist": generalist, "specialist": specialist})
    rows = [r for r in found.rows if r.kind == "estimate"]
    assert all(r.estimate.low < r.estimate.value < r.estimate.high for r in rows)
    if asked.options_as(CaseOptions).denominator == "cases":
        assert {r.estimate.n_clusters for r in rows} == {40}  # and not 400 ratings
        assert {r.estimate.n_ratings for r in rows} == {400}


def test_shares_of_cases_have_intervals_of_shares() -> None:
    found = results(published(), replace(ISS, statistic="monotonicity_violation"))
    [row] = [r for r in found.rows if r.kind == "estimate" and r.group["system"] == "generalist"]
    assert row.estimate.method == "Wilson"
    assert (row.estimate.low, row.estimate.high) == pytest.approx(
        tuple(float(x) for x in wilson(11, 40))
    )


def test_systems_are_compared_on_the_same_cases() -> None:
    found = results(published(), replace(ISS, compare="system"))
    [row] = [r for r in found.rows if r.kind == "difference"]
    assert row.estimate.value == pytest.approx(0.075)
    assert row.estimate.low < 0 < row.estimate.high
    assert (row.group, row.versus) == ({"system": "generalist"}, {"system": "specialist"})


def test_the_reasoning_gap_is_of_the_scores() -> None:
    found = values(results(published(), replace(ISS, statistic="reasoning_gap")))
    assert found == pytest.approx({"generalist": 0.625 * 0.75, "specialist": 0.55 * 0.75})


def test_right_is_the_mean_of_the_panel() -> None:
    data = published()
    about = answer("generalist", 39, 0)  # 0.25 by both experts
    ratings = tuple(
        replace(r, label="1") if r.answers == (about,) and r.rater == "e3" else r
        for r in data.ratings
    )
    once = replace(data, ratings=ratings)  # a mean of 0.625
    assert values(results(once, ISS))["generalist"] == pytest.approx(0.625)
    assert values(results(once, restated(ISS, correct=0.625)))["generalist"] == pytest.approx(0.65)


def test_a_missing_level_is_told_and_left_out() -> None:
    data = published()
    gone = answer("generalist", 0, 2)
    less = replace(data, ratings=tuple(r for r in data.ratings if r.answers != (gone,)))
    found = results(less, replace(ISS, statistic="monotonicity_violation"), ISS)
    rows = {
        r.statistic: r
        for r in found.rows
        if r.kind == "estimate" and r.group["system"] == "generalist"
    }
    assert rows["monotonicity_violation"].estimate.value == pytest.approx(10 / 39)
    assert rows["information_sensitivity"].estimate.value == pytest.approx(0.625)
    assert (
        "1 of 40 cases lack an information level and may be excluded."
        in rows["monotonicity_violation"].warnings
    )


def test_order_and_names_change_nothing() -> None:
    data = published()
    turned = replace(data, ratings=data.ratings[::-1], items=data.items[::-1])
    asked = replace(ISS, statistic="stability", compare="system")
    a, b = results(data, asked), results(turned, asked)
    for one, other in zip(a.rows, b.rows, strict=True):
        assert one.group == other.group
        for name in ("value", "low", "high", "p"):
            assert getattr(one.estimate, name) == pytest.approx(
                getattr(other.estimate, name), nan_ok=True
            )


def test_levels_that_no_item_has() -> None:
    with pytest.raises(
        AnalysisError,
        match=r"a: levels\[0\]: no item has the level 'narativ'; did you mean 'narrative'\?",
    ):
        results(published(), restated(ISS, levels=("narativ", "3")))


def test_items_without_levels() -> None:
    data = published()
    bare = replace(data, items=tuple(replace(i, strata={}) for i in data.items))
    with pytest.raises(AnalysisError, match="no column 'level'"):
        results(bare, ISS)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"levels": ()}, "levels: is empty; 'information_sensitivity' needs"),
        ({"levels": ("a", "a")}, "levels: expected two or more different values"),
        ({"by": ("level",)}, "by: 'information_sensitivity' uses all levels jointly"),
        ({"cluster": "rater"}, "cluster: 'information_sensitivity' resamples cases"),
        (
            {"denominator": "recovered"},
            "denominator: belongs to the statistic 'monotonicity_violation'",
        ),
        (
            {"statistic": "accuracy"},
            (
                "levels: belongs to statistics such as 'information_sensitivity',"
                " 'monotonicity_violation'"
            ),
        ),
        ({"against": "judges"}, "against: 'information_sensitivity' does not support this option"),
    ],
)
def test_settings_that_do_not_fit(change: dict[str, object], told: str) -> None:
    assert [p for p in contradictions(restated(ISS, **change)) if p.startswith(told)]  # type: ignore[arg-type]


def test_resamples_are_of_cases() -> None:
    data = published()
    [row] = [
        r
        for r in results(data, ISS, draws=4000).rows
        if r.kind == "estimate" and r.group["system"] == "generalist"
    ]
    drops = np.repeat([1, 0, -1], [30, 5, 5])[
        :40
    ]  # any 25 net drops: the width is near that of 40 numbers
    assert row.estimate.high - row.estimate.low == pytest.approx(
        4 * drops.std() / np.sqrt(40), rel=0.35
    )
