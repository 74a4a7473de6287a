"""Which labels of a table are asked about: codes of missing values."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.analysis.roles.label_codes import codes_among
from konsil.analysis.roles.reading import Purpose, StatedRoles
from konsil.analysis.roles.recognition import recognise
from konsil.errors import UnclearTableError


@given(st.integers(2, 8), st.sets(st.sampled_from([-1, -9, -99, 99, 999])))
def test_codes_beside_a_scale_are_all_asked_about_and_no_label_is(n: int, codes: set[int]) -> None:
    """Kills: a code hidden by another one, a label of the scale among the codes."""
    words = codes_among([*map(str, range(1, n + 1)), *map(str, codes)])
    assert [int(word) for word in words] == sorted(codes)


@given(st.integers(-5, 1), st.integers(2, 10))
def test_a_scale_without_gaps_has_no_codes_but_a_lone_negative_number(low: int, n: int) -> None:
    """Kills: every negative label is a code, -1 beside 0 to 3 is none."""
    scale = range(low, low + n)
    expected = ("-1",) if low == -1 and scale[-1] > 1 else ()
    assert codes_among([str(label) for label in scale]) == expected


@pytest.mark.parametrize(
    "stated",
    [
        StatedRoles(scale=("-1", "1", "2", "3", "4", "99")),
        StatedRoles(missing=("", "99")),
        StatedRoles(recoded=("-1", "99")),
        StatedRoles(abstain="99", recoded=("-1",)),
    ],
)
def test_who_states_labels_or_codes_is_not_asked(stated: StatedRoles) -> None:
    """Kills: a question that its answer does not settle."""
    cells = [str(1 + n % 4) for n in range(12)]
    frame = pl.DataFrame(
        {"case": [f"c{n}" for n in range(12)], "ann": ["-1", *cells[1:]], "ben": [*cells[1:], "99"]}
    )
    with pytest.raises(UnclearTableError) as refused:
        recognise(frame, StatedRoles(), Purpose("ratings", "t"))
    assert ("missing", ("-1", "99")) in refused.value.arguments
    with pytest.raises(UnclearTableError):
        recognise(frame, StatedRoles(layout="wide"), Purpose("ratings", "t"))
    assert recognise(frame, stated, Purpose("ratings", "t")).reading.rated == ("ann", "ben")
