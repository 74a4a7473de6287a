"""Brent's method against SciPy's, to the bit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from konsil.stats.engine.roots import root

FUNCTIONS = (
    lambda x, at: x - at,
    lambda x, at: math.tanh(5 * (x - at)),
    lambda x, at: (x - at) ** 3,
    lambda x, at: min(max((at - x) * 1e12, -1e9), 1e9),
    lambda x, at: math.copysign(math.sqrt(abs(x - at)), x - at),
    lambda x, at: math.exp(x) - math.exp(at),
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(FUNCTIONS), st.floats(-1, 1), st.floats(-3, -1.01), st.floats(1.01, 3))
def test_roots_are_those_of_scipy_to_the_bit(function, at, low, high) -> None:
    expected, course = brentq(
        function, low, high, args=(at,), xtol=1e-12, full_output=True, disp=False
    )
    if course.converged:
        assert root(lambda x: function(x, at), low, high, tolerance=1e-12) == expected
    else:
        with pytest.raises(RuntimeError, match="no root"):
            root(lambda x: function(x, at), low, high, tolerance=1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 0.0)])
def test_an_end_that_is_zero_is_the_root(low: float, high: float) -> None:
    assert root(lambda x: x, low, high, tolerance=1e-12) == 0.0


def test_ends_of_one_sign_are_refused() -> None:
    with pytest.raises(ValueError, match="different signs"):
        root(lambda x: x * x + 1, -1.0, 1.0, tolerance=1e-12)
