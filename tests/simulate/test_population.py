"""The simulator's own formulas against the engine's: two implementations, one number."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.simulate import population
from konsil.stats.agreement.consensus import judge_and_ceiling, leave_one_out_agreement
from konsil.stats.agreement.registry import statistic
from konsil.stats.engine.contract import Codes


def matrix(k, seed, n=400, raters=5, missing=0.15):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, k, size=(n, 1))
    labels = np.where(rng.random((n, raters)) < 0.6, base, rng.integers(0, k, size=(n, raters)))
    labels[rng.random((n, raters)) < missing] = -1
    return labels.astype(np.int64)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", population.PAIRWISE + population.PANEL)
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_both_ways_give_the_same_number(name, k, missing):
    labels = matrix(k, k, missing=missing)
    codes = Codes(labels, np.arange(len(labels)), k)
    level = "nominal" if k == 2 else "ordinal"
    engine = statistic(name, codes, level=level)
    expected = float(np.ravel(engine.finalise(np.asarray(engine.tally(codes)).sum(0)))[0])
    values = np.arange(k, dtype=float)
    if name in population.PAIRWISE:
        found = population.pairwise(name, labels, k, values)
    else:
        found = population.of_panel(name, labels, k, values, level)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["percent_agreement", "cohen_kappa", "pabak"])
def test_leave_one_out_and_judges_agree_with_the_engine(name):
    labels = matrix(3, 11)
    values = np.arange(3.0)
    judge = matrix(3, 12, raters=1)
    codes = Codes(labels, np.arange(len(labels)), 3)
    rest = leave_one_out_agreement(5, 3, name)
    assert population.against_rest(name, labels, 3, values) == pytest.approx(
        float(rest.finalise(rest.tally(codes).sum(0))[0]), abs=1e-12
    )
    both = Codes(np.hstack([labels, judge]), np.arange(len(labels)), 3)
    found = population.judge_and_ceiling(name, labels, judge[:, 0], 3, values)
    for n, part in enumerate(("judge", "ceiling")):
        one = judge_and_ceiling(5, 1, 3, name, part)
        assert found[n] == pytest.approx(float(one.finalise(one.tally(both).sum(0))[0]), abs=1e-12)


def test_undefined_is_nan():
    assert np.isnan(
        population.pairwise("cohen_kappa", np.zeros((5, 2), dtype=np.int64), 2, np.arange(2.0))
    )
    assert np.isnan(
        population.of_panel(
            "krippendorff_alpha", np.zeros((5, 2), dtype=np.int64), 2, np.arange(2.0), "nominal"
        )
    )
