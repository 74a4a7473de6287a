"""The family of all prespecified win differences, beside a plain computation of its covariance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.pairs.test_pairs import ASKED, DATA, FORM, LABELS, SYSTEMS

from konsil.analysis import Analysis, Results
from konsil.analysis.model.spec import Exclusions, Resampling
from konsil.analysis.running.run import run
from konsil.analysis.running.run_settings import RunSettings
from konsil.analysis.table.frame import Data
from konsil.stats.inference.joint import joint_p

KEPT = sorted({i.id for i in DATA.items})[:12]
SMALL = replace(
    DATA, ratings=tuple(r for r in DATA.ratings if r.item in KEPT and r.rater.startswith("r"))
)
ACCURACY, UTILITY = (replace(ASKED, name=c, criterion=c) for c in ("accuracy", "utility"))


def results(data: Data, *asked: Analysis, draws: int = 500) -> Results:
    return run(
        asked,
        data,
        RunSettings(
            instruments=[FORM],
            seed=1,
            resampling=Resampling(draws),
            exclusions=Exclusions(),
        ),
    )


def told(found: Results) -> dict[tuple[str, ...], float]:
    return {(r.analysis, *r.group.values()): r.p_max_t for r in found.rows if r.kind == "estimate"}


def covariance(data: Data, of: list[tuple[str, str]]) -> np.ndarray:
    """The two-way covariance of win differences (criterion, system), sum by sum."""
    by_criterion: dict[str, list[tuple[str, str, str, str, float]]] = {}
    for r in data.ratings:
        a, b = (answer.split(" ")[1] for answer in r.answers)
        win = float(np.sign(2 - LABELS.index(str(r.label))))
        by_criterion.setdefault(r.criterion, []).extend(
            [(a, b, r.item, r.rater, win), (b, a, r.item, r.rater, -win)]
        )
    influences: list[dict[tuple[str, str], float]] = []
    for criterion, system in of:
        of_system = [s for s in by_criterion.get(criterion, []) if s[0] == system]
        rivals = {s[1] for s in of_system}
        means = {b: np.mean([s[4] for s in of_system if s[1] == b]) for b in rivals}
        n = {b: sum(s[1] == b for s in of_system) for b in rivals}
        added: dict[tuple[str, str], float] = {}
        for _, b, item, rater, win in of_system:
            added[item, rater] = added.get((item, rater), 0.0) + (win - means[b]) / n[b] / len(
                rivals
            )
        influences.append(added)

    def product(
        x: dict[tuple[str, str], float], y: dict[tuple[str, str], float], place: tuple[int, ...]
    ) -> float:
        sums: list[dict[tuple[str, ...], float]] = [{}, {}]
        for sums_by_cluster, part in zip(sums, (x, y), strict=True):
            for cell, value in part.items():
                name = tuple(cell[n] for n in place)
                sums_by_cluster[name] = sums_by_cluster.get(name, 0.0) + value
        return sum(value * sums[1].get(name, 0.0) for name, value in sums[0].items())

    return np.array(
        [
            [product(x, y, (0,)) + product(x, y, (1,)) - product(x, y, (0, 1)) for y in influences]
            for x in influences
        ]
    )


@pytest.mark.slow
def test_it_is_the_largest_of_normal_variables_with_the_two_way_correlations() -> None:
    data = replace(
        SMALL, ratings=tuple(r for n, r in enumerate(SMALL.ratings) if n % 7)
    )  # criteria lack others
    rows = results(data, ACCURACY, UTILITY)
    joint = told(rows)
    names = [(c, s) for c in ("accuracy", "utility") for s in SYSTEMS]
    single_p = {
        (r.analysis, *r.group.values()): r.estimate.p for r in rows.rows if r.kind == "estimate"
    }
    p = np.array([single_p[name] for name in names])
    for df in (1.0, 3.0, 20.0):
        adjusted = joint_p(p, covariance(data, names), df)
        assert (p <= adjusted).all() and (adjusted <= 1 - (1 - p) ** len(p) + 1e-12).all()
    close = [joint_p(p, covariance(data, names), df) for df in np.arange(1, 12, 0.25)]
    assert any(
        np.allclose(adjusted, [joint[name] for name in names], atol=0.01) for adjusted in close
    )


def test_adjusted_for_correlated_tests_as_for_one_and_for_unrelated_ones_as_sidak() -> None:
    p = np.array([0.01, 0.2, 0.03])
    alike = joint_p(p, np.ones((3, 3)), 1e9)
    np.testing.assert_allclose(alike, p, atol=0.006)
    apart = joint_p(p, np.diag([1.0, 4.0, 9.0]), 1e9)
    np.testing.assert_allclose(apart, 1 - (1 - p) ** 3, atol=0.006)
    few = joint_p(p, np.ones((3, 3)), 2)
    assert (alike <= few + 1e-12).all() and few[0] > 0.015
    undefined = joint_p(np.array([0.01, math.nan]), np.eye(2), 10)
    assert undefined[0] == pytest.approx(0.01, abs=0.003) and math.isnan(undefined[1])
    assert joint_p(np.array([1e-12, 0.5]), np.eye(2), 10)[0] <= 2e-12


@pytest.mark.slow
def test_a_larger_family_asks_more_and_single_tests_less() -> None:
    alone, both = results(SMALL, ACCURACY), results(SMALL, ACCURACY, UTILITY)
    one, two = told(alone), told(both)
    assert all(one[key] <= two[key] for key in one)
    single_p = {r.group["system"]: r.estimate.p for r in alone.rows if r.kind == "estimate"}
    assert all(single_p[s] <= p for (_, s), p in one.items())
    assert "the 8 declared tests of win differences are adjusted" in " ".join(both.methods)


@pytest.mark.slow
def test_order_and_further_analyses_that_are_not_tested_change_nothing() -> None:
    found = told(results(SMALL, ACCURACY, UTILITY))
    others = (
        replace(ASKED, name="late", prespecified=False),
        replace(ASKED, name="plain", test="none"),
        replace(ASKED, name="paper", mode="paper"),
        replace(ASKED, name="raters", cluster="rater"),
        replace(ASKED, name="rates", statistic="win_rate"),
        replace(ASKED, name="worths", statistic="davidson"),
        replace(ASKED, name="side", statistic="position_bias"),
    )
    again = told(results(SMALL, *others, UTILITY, ACCURACY))
    assert {k: v for k, v in again.items() if k[0] in ("accuracy", "utility")} == found
    assert all(math.isnan(v) for k, v in again.items() if k[0] not in ("accuracy", "utility"))


@pytest.mark.slow
def test_lengths_and_groups_are_members_too() -> None:
    found = told(results(SMALL, replace(ACCURACY, by=("length",)), replace(UTILITY, by=("theme",))))
    assert len({key[0] for key, p in found.items() if math.isfinite(p)}) == 2
    assert all(0 < p <= 1 for p in found.values() if math.isfinite(p))


@pytest.mark.parametrize("seed", range(5))
def test_the_last_bits_of_a_covariance_change_no_adjusted_p(seed: int) -> None:
    """With equal eigenvalues the eigenvectors turn at will, and with them what each normal vector
    drawn becomes."""
    covariance = np.full((4, 4), 0.3) + 0.7 * np.eye(4)
    noise = np.random.default_rng(seed).normal(0, 1e-16, (4, 4))
    p = np.array([0.01, 0.2, 0.5, 0.7])
    assert (
        joint_p(p, covariance + noise + noise.T, 5.0).tolist()
        == joint_p(p, covariance, 5.0).tolist()
    )
