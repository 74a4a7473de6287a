"""Risk against coverage: the area against its own curve, ties, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from konsil.stats.inference.infer import infer
from konsil.stats.judges.risk import risk_coverage, risk_curve

UNITS = st.lists(
    st.tuples(st.sampled_from([0.2, 0.4, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=12
)


def area(units: list[tuple[float, bool]], weights: list[int] | None = None) -> list[float]:
    confidence = np.array([c for c, _ in units])
    wrong = np.array([float(w) for _, w in units])
    finalise = risk_coverage(confidence, wrong, np.arange(len(units)))
    return finalise(np.array(weights or [1.0] * len(units), dtype=np.float64)).tolist()


@settings(deadline=None)
@given(UNITS, st.randoms(use_true_random=False))
def test_order_changes_nothing_and_a_weight_of_two_is_two_units(units, random) -> None:
    shuffled = units.copy()
    random.shuffle(shuffled)
    assert area(units) == pytest.approx(area(shuffled))
    assert area(units, [2] + [1] * (len(units) - 1)) == pytest.approx(area([units[0], *units]))
    assert area(units, [0] + [1] * (len(units) - 1)) == pytest.approx(
        area(units[1:]) if units[1:] else [np.nan] * 2, nan_ok=True
    )


@settings(deadline=None)
@given(UNITS)
def test_the_area_is_the_integral_of_the_curve(units) -> None:
    """Within a level of confidence errors come at their common rate."""
    ordered = sorted(units, key=lambda u: -u[0])
    steps = 400
    cumulated, levels = [], sorted({c for c, _ in units}, reverse=True)
    errors = 0.0
    for level in levels:
        group = [w for c, w in ordered if c == level]
        rate = sum(group) / len(group)
        for _ in range(steps * len(group)):
            errors += rate / steps
            cumulated.append(errors * steps / (len(cumulated) + 1))
    assert area(units)[0] == pytest.approx(float(np.mean(cumulated)), abs=0.01)
    assert area(units)[1] == pytest.approx(np.mean([w for _, w in units]))


def test_confidence_that_says_nothing_has_the_risk_itself() -> None:
    assert area([(0.5, True), (0.5, False), (0.5, False)]) == pytest.approx([1 / 3, 1 / 3])
    best, worst = area([(0.9, False), (0.1, True)])[0], area([(0.9, True), (0.1, False)])[0]
    assert best < 0.5 < worst


def test_the_curve_ends_at_the_risk() -> None:
    coverage, risk = risk_curve(np.array([0.9, 0.9, 0.3]), np.array([0.0, 1.0, 1.0]))
    assert coverage == pytest.approx([2 / 3, 1])
    assert risk == pytest.approx([0.5, 2 / 3])
    assert risk_curve(np.array([]), np.array([]))[0].size == 0


def test_it_takes_the_engines_intervals() -> None:
    rng = np.random.default_rng(2)
    confidence, wrong = rng.random(120), (rng.random(120) < 0.3).astype(float)
    finalise = risk_coverage(confidence, wrong, np.arange(120))
    found = infer(sparse.identity(120, format="csr"), finalise, draws=300, key=1)
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()
