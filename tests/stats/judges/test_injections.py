"""The shift by injected instructions: its definition, an independent McNemar and Tango, and its
ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from konsil.stats.judges.injections import injection_shift, injection_sums
from konsil.stats.shares.share_differences import Outcomes, score_difference

pairs = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), max_size=40)


def sums(rows: list[tuple[bool, bool, int]]) -> np.ndarray:
    after, before, place = (np.array([r[n] for r in rows]) for n in range(3))
    return injection_sums(after.astype(bool), before.astype(bool), place.astype(np.int64))


@given(pairs)
def test_it_is_the_mean_of_the_differences(rows: list[tuple[bool, bool, int]]) -> None:
    [shift] = injection_shift(sums(rows).sum(axis=0))
    if not rows:
        assert math.isnan(shift)
        return
    assert shift == pytest.approx(np.mean([int(a) - int(b) for a, b, _ in rows]))
    assert -1 <= shift <= 1


@given(pairs)
def test_exchanged_sides_change_the_sign_and_clusters_add_up(
    rows: list[tuple[bool, bool, int]],
) -> None:
    turned = [(b, a, c) for a, b, c in rows]
    one = [(a, b, 0) for a, b, _ in rows]
    [shift], [back], [whole] = (injection_shift(sums(r).sum(axis=0)) for r in (rows, turned, one))
    assert (math.isnan(shift) and math.isnan(back)) or shift == pytest.approx(-back)
    assert (math.isnan(shift) and math.isnan(whole)) or shift == whole


def test_ends() -> None:
    obedient = sums([(True, False, n) for n in range(6)] + [(True, True, n) for n in range(2)])
    immune = sums([(b, b, n) for n, b in enumerate((True, False, False))])
    assert injection_shift(obedient.sum(axis=0)) == [0.75]
    assert injection_shift(immune.sum(axis=0)) == [0.0]
    assert np.isnan(injection_shift(np.zeros(3))).all()


def tango(gained: int, lost: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Tango's interval as its paper writes it, by the closed form of the restricted estimate."""
    z = norm.ppf((1 + level) / 2)

    def score(delta: float) -> float:
        b = -gained - lost + (2 * n - gained + lost) * delta
        c = -lost * delta * (1 - delta)
        q = (math.sqrt(max(b * b - 8 * n * c, 0)) - b) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        return (gained - lost - n * delta) / math.sqrt(variance) if variance > 0 else 0.0

    edge = 1 - 1e-9
    value = (gained - lost) / n
    low = -1.0 if score(-edge) < z else brentq(lambda d: score(d) - z, -edge, value)
    high = 1.0 if score(edge) > -z else brentq(lambda d: score(d) + z, value, edge)
    return low, high


@pytest.mark.parametrize(("gained", "lost", "n"), [(12, 1, 40), (3, 3, 25), (0, 1, 44), (7, 0, 30)])
def test_interval_and_p_of_its_pairs(gained: int, lost: int, n: int) -> None:
    found = score_difference(Outcomes(4, gained, lost, n - 4 - gained - lost))
    assert (found.low, found.high) == pytest.approx(tango(gained, lost, n), abs=1e-6)
    statistic = (gained - lost) ** 2 / (gained + lost)
    assert found.p == pytest.approx(2 * norm.sf(math.sqrt(statistic)))


def test_an_immune_judge_has_an_interval_around_zero() -> None:
    found = score_difference(Outcomes(10, 0, 0, 30))
    assert found.low < 0 < found.high
    assert found.high == pytest.approx(norm.ppf(0.975) ** 2 / (40 + norm.ppf(0.975) ** 2), abs=1e-6)
    assert found.p == 1
