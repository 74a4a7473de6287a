"""Numbers without gaps, as NumPy's sorting makes them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from konsil.stats.engine.renumbering import renumbered


@given(
    st.lists(
        st.one_of(st.integers(0, 5), st.integers(-3, 60), st.integers(-(2**62), 2**62)), max_size=40
    )
)
def test_the_same_as_by_sorting(numbers: list[int]) -> None:
    column = np.array(numbers, dtype=np.int64)
    different, places = renumbered(column)
    expected, inverse = np.unique(column, return_inverse=True)
    np.testing.assert_array_equal(different, expected)
    np.testing.assert_array_equal(places, inverse)
    assert different.dtype == places.dtype == np.int64
    np.testing.assert_array_equal(different[places], column)


def test_narrow_numbers_too() -> None:
    for dtype in (np.int8, np.uint32):
        _, places = renumbered(np.array([4, 4, 0], dtype=dtype))
        assert (places.tolist(), places.dtype) == ([1, 1, 0], np.int64)
