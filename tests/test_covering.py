"""Which of a test's sets of parameters are tried at every run."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from covering import covering


def test_every_value_occurs_and_most_combinations_do_not() -> None:
    """Two colours, two languages and three widths: three of twelve."""
    sets = [
        dict(zip(("colour", "language", "width"), values, strict=True))
        for values in itertools.product(range(2), range(2), range(3))
    ]
    chosen = covering(sets, 0)
    assert [tuple(sets[n].values()) for n in chosen] == [(0, 0, 0), (0, 0, 2), (1, 1, 1)]


def test_as_many_as_are_wanted() -> None:
    sets = [{"page": n} for n in range(20)]
    assert covering(sets, 2) == [0, 1]
    assert covering(sets, 99) == list(range(20))
    assert covering(sets, 0) == list(range(20))
    assert covering([], 2) == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), unique=True))
def test_no_value_is_left_out(values: list[tuple[int, int]]) -> None:
    sets = [{"a": a, "b": b} for a, b in values]
    chosen = [values[n] for n in covering(sets, 0)]
    for column in (0, 1):
        assert {v[column] for v in chosen} == {v[column] for v in values}
