"""Differences of win differences: by hand from single comparisons, and whether several groups
differ."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.analyses import restated
from tests.analysis.pairs.test_pairs import (
    ASKED,
    DATA,
    FORM,
    LABELS,
    SYSTEMS,
    against_rest,
    outcomes,
    rows_of,
)

from konsil.analysis import contradictions
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.pairs.pair_rules import criteria_problems
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.errors import AnalysisError
from konsil.stats.inference.heterogeneity import Influences, heterogeneity

EXPOSURE = replace(ASKED, by=("user",), compare="user")


def value(system: str, user: str) -> float:
    """The win difference in one group of experts."""
    of_user = {r.id: r.strata.get("user") for r in DATA.raters}
    return against_rest(
        outcomes(lambda r: of_user[r.rater] == user), lambda y: int(y > 0) - int(y < 0)
    )[system]


@pytest.mark.slow
def test_a_difference_is_that_of_the_groups_with_both_influences_in_its_error() -> None:
    by_system = {r.group["system"]: r for r in rows_of(EXPOSURE, "difference")}
    alone = {(r.group["system"], r.group["user"]): r for r in rows_of(EXPOSURE)}
    assert set(by_system) == set(SYSTEMS)
    for system, r in by_system.items():
        assert {r.group["user"], r.versus["user"]} == {"no", "yes"}
        here, there = (value(system, user) for user in (r.group["user"], r.versus["user"]))
        assert r.estimate.value == pytest.approx(here - there)
        # Raters are of one group each: their variances add, and what items share takes little away.
        apart = math.hypot(*(alone[system, user].estimate.se for user in ("no", "yes")))
        assert r.estimate.se == pytest.approx(apart, rel=0.15)
        df = float(r.estimate.method.split("t with ")[1].split()[0])
        assert r.estimate.p == pytest.approx(
            2 * stats.t.sf(abs(r.estimate.value) / r.estimate.se, df), rel=0.01
        )
        assert (r.estimate.p < 0.05) == (not r.estimate.low <= 0 <= r.estimate.high)
        assert r.n_raters == 40


def test_systems_are_compared_with_one_another() -> None:
    differences = rows_of(replace(ASKED, compare="system"), "difference")
    assert len(differences) == 6
    win_differences = {r.group["system"]: r.estimate.value for r in rows_of(ASKED)}
    for r in differences:
        assert r.estimate.value == pytest.approx(
            win_differences[r.group["system"]] - win_differences[r.versus["system"]]
        )
    big = next(
        r for r in differences if (r.group["system"], r.versus["system"]) == ("east", "west")
    )
    assert big.estimate.low > 0


@pytest.mark.slow
def test_groups_of_items_lengths_and_judges_have_differences_and_more_than_two_a_test() -> None:
    themes = rows_of(replace(ASKED, by=("theme",), compare="theme"), "difference")
    assert {(r.group["theme"], r.versus["theme"]) for r in themes} == {("drugs", "signs")}
    lengths = rows_of(replace(ASKED, by=("length",), compare="length"), "difference")
    assert all(math.isfinite(r.estimate.low) for r in lengths) and lengths
    judges = rows_of(replace(ASKED, raters="judges", by=("rater",), compare="rater"), "difference")
    together = [r for r in judges if not r.versus]
    assert {r.group["rater"] for r in together} == {"all_groups:3"}
    assert len(together) == 4 and len(judges) == 4 + 3 * 4
    assert all("item-cluster" in r.estimate.method for r in judges if r.versus)
    # East's own judge prefers it, and the test of all says so.
    assert next(r for r in together if r.group["system"] == "east").estimate.p < 0.01


def test_of_two_groups_the_test_of_all_is_that_of_the_difference() -> None:
    g = np.random.default_rng(5)
    items, raters = g.integers(0, 40, 400), g.integers(0, 15, 400)
    noise = g.normal(size=(2, 400)) / 400
    noise -= noise.mean(axis=1, keepdims=True)
    strata = np.zeros(400, dtype=int)
    halves = [Influences(v, noise[n], items, raters, strata) for n, v in enumerate((0.1, 0.25))]
    result = heterogeneity(halves)
    assert result.df == 1
    swapped = heterogeneity(halves[::-1])
    assert result.p == pytest.approx(swapped.p)
    assert result.p == pytest.approx(stats.f.sf(result.statistic, 1, result.df_error))
    three = [*halves, Influences(0.1, noise[1][::-1].copy(), items, raters, strata)]
    assert 0 < heterogeneity(three).p < 1
    assert math.isnan(heterogeneity(halves[:1]).p)


@pytest.mark.slow
def test_the_test_of_several_groups_keeps_its_level() -> None:
    """Three groups of items, twelve raters with tastes: no group differs from another."""
    g = np.random.default_rng(8)
    hits, sets = 0, 600
    for _ in range(sets):
        raters = np.repeat(np.arange(12), 40)
        items = g.integers(0, 150, 480)
        taste, effect = g.normal(0, 0.5, (3, 12)), g.normal(0, 0.5, 150)
        y = taste[items % 3, raters] + effect[items] + g.normal(size=480)
        groups = []
        for n in range(3):
            of_group = items % 3 == n
            mean = y[of_group].mean()
            rows = Influences(
                mean,
                (y[of_group] - mean) / of_group.sum(),
                items[of_group],
                raters[of_group],
                np.zeros(of_group.sum(), int),
            )
            groups.append(rows)
        hits += heterogeneity(groups).p <= 0.05
    assert 0.01 < hits / sets < 0.075


CRITERIA = restated(ASKED, compare="criterion", criteria=("utility",))


def test_criteria_are_compared_on_the_same_comparisons() -> None:
    """By hand: each vote's influence on both numbers, summed over items and over raters."""
    by_system = {r.group["system"]: r for r in rows_of(CRITERIA, "difference")}
    assert set(by_system) == set(SYSTEMS)
    sign = lambda y: int(y > 0) - int(y < 0)  # noqa: E731
    by_criterion = {c: against_rest(outcomes(criterion=c), sign) for c in ("accuracy", "utility")}
    for system, r in by_system.items():
        assert (r.group["criterion"], r.versus["criterion"]) == ("accuracy", "utility")
        assert r.estimate.value == pytest.approx(
            by_criterion["accuracy"][system] - by_criterion["utility"][system]
        )
        influence: dict[tuple[str, str], float] = {}
        for c, factor in (("accuracy", 1), ("utility", -1)):
            of_system = [(b, y, rating) for a, b, y, rating in outcomes(criterion=c) if a == system]
            for rival in {b for b, _, _ in of_system}:
                of_pair = [(sign(y), rating) for b, y, rating in of_system if b == rival]
                mean = sum(y for y, _ in of_pair) / len(of_pair)
                for y, rating in of_pair:
                    key = (rating.item, rating.rater)
                    influence[key] = influence.get(key, 0) + factor * (y - mean) / len(of_pair) / 3
        variance = sum(v**2 for v in influence.values())
        # Raters and items beside single votes; the corrections for few of them are small here.
        assert r.estimate.se == pytest.approx(math.sqrt(variance), rel=0.25)
        assert (r.estimate.p < 0.05) == (not r.estimate.low <= 0 <= r.estimate.high)
    assert [r.estimate for r in rows_of(CRITERIA)] == [r.estimate for r in rows_of(ASKED)]


def test_a_criterion_that_is_rated_alike_has_no_difference_and_one_turned_round_has_twice_it() -> (
    None
):
    """Utility as a copy of accuracy, and as its mirror image: the covariance enters whole."""

    def with_utility(label) -> Data:
        of = {(r.task, r.rater): r.label for r in DATA.ratings if r.criterion == "accuracy"}
        changed = (
            replace(r, label=label(of[r.task, r.rater])) if r.criterion == "utility" else r
            for r in DATA.ratings
        )
        return replace(DATA, ratings=tuple(changed))

    for r in rows_of(CRITERIA, "difference", with_utility(lambda label: label)):
        assert r.estimate.value == 0
        assert math.isnan(r.estimate.low) and r.estimate.reason
    single = {r.group["system"]: r.estimate for r in rows_of(ASKED)}
    for r in rows_of(
        CRITERIA, "difference", with_utility(lambda label: LABELS[4 - LABELS.index(label)])
    ):
        alone = single[r.group["system"]]
        assert r.estimate.value == pytest.approx(2 * alone.value)
        assert r.estimate.se == pytest.approx(2 * alone.se, rel=0.02)


def test_criteria_are_compared_within_groups_and_judges() -> None:
    users = rows_of(replace(CRITERIA, by=("user",)), "difference")
    assert {(r.group["user"], r.versus["user"]) for r in users} == {("yes", "yes"), ("no", "no")}
    judges = rows_of(replace(CRITERIA, raters="judges", by=("rater",)), "difference")
    assert all("item-cluster" in r.estimate.method for r in judges if r.estimate.method)
    rates = rows_of(replace(CRITERIA, statistic="win_rate"), "difference")
    assert {
        (r.group["system"], r.group["rival"]) == (r.versus["system"], r.versus["rival"])
        for r in rates
    } == {True}


def test_only_criteria_of_one_scale_are_compared() -> None:
    first, second = FORM.criteria
    narrow = replace(second, scale=replace(second.scale, labels=("A", "B")))
    assert list(criteria_problems(CRITERIA, first, [narrow])) == [
        "criteria: 'utility' has other labels than 'accuracy'; only criteria with the same"
        " scale can be compared"
    ]
    assert not list(criteria_problems(CRITERIA, first, [second]))
    assert not list(criteria_problems(replace(CRITERIA, compare=""), first, [narrow]))
    with pytest.raises(AnalysisError, match="only criteria with the same scale"):
        run(
            [CRITERIA],
            replace(DATA, ratings=tuple(r for r in DATA.ratings if r.criterion == "accuracy")),
            RunSettings(
                instruments=[replace(FORM, criteria=(first, narrow))],
                seed=1,
                resampling=Resampling(100),
                exclusions=Exclusions(),
            ),
        )


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"compare": "criterion"}, "criteria: is empty; compare = 'criterion' needs the criteria"),
        (
            {"criteria": ("utility",)},
            "criteria: those of 'win_difference' are compared with the first",
        ),
        (
            {"compare": "criterion", "criteria": ("accuracy",)},
            "criteria: a criterion is named twice",
        ),
        (
            {"statistic": "davidson", "compare": "criterion", "criteria": ("utility",)},
            "belongs to statistics such as",
        ),
        (
            {"statistic": "davidson", "by": ("user",), "compare": "user"},
            "does not support this option",
        ),
        (
            {"by": ("user",), "compare": "user", "mode": "paper"},
            "paper mode does not estimate differences",
        ),
        ({"by": ("user",), "compare": "user", "test": "flip"}, "tested by t"),
        ({"compare": "user"}, "is not one of by"),
        ({"statistic": "win_rate", "compare": "system"}, "is not one of by"),
    ],
)
def test_what_cannot_be_compared_is_refused(changed, sentence: str) -> None:
    assert any(sentence in problem for problem in contradictions(restated(ASKED, **changed)))


def test_without_a_test_a_difference_has_no_p() -> None:
    results = run(
        [replace(EXPOSURE, test="none")],
        DATA,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(100),
            exclusions=Exclusions(),
        ),
    )
    assert all(math.isnan(r.estimate.p) for r in results.rows)
