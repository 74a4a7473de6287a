"""Several labels of one rater for one unit as their sum, mean or maximum."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import konsil
from konsil.analysis.recoding.rewritten import combined_repeats
from konsil.errors import AnalysisError, UnclearTableError

ERRORS = pl.DataFrame(
    [
        (system, segment, rater, severity)
        for system, segment, rater, severities in [
            ("s1", "1", "ann", "Major Minor"),
            ("s1", "1", "ben", "Major Minor Minor"),
            ("s1", "2", "ann", "no-error"),
            ("s1", "2", "ben", "Minor"),
            ("s1", "3", "ann", "Minor Minor"),
            ("s1", "3", "ben", "Minor Minor"),
            ("s2", "1", "ann", "Major Major"),
            ("s2", "1", "ben", "Major"),
            ("s2", "2", "ann", "Minor"),
            ("s2", "2", "ben", "no-error"),
            ("s2", "3", "ann", "Major Minor Minor Minor"),
            ("s2", "3", "ben", "Major Minor Minor"),
        ]
        for severity in severities.split()
    ],
    schema=["system", "seg_id", "rater", "severity"],
    orient="row",
)
SCORES = pl.DataFrame({"ann": [6, 0, 2, 10, 1, 8], "ben": [7, 1, 2, 5, 0, 7]})


def test_errors_are_proposed_as_summed_weights() -> None:
    with pytest.raises(UnclearTableError) as caught:
        konsil.agreement(ERRORS, resamples=100)
    assert caught.value.call.startswith("konsil.agreement(frame, ")
    result = eval(caught.value.call, {"konsil": konsil, "frame": ERRORS})
    expected = konsil.agreement(SCORES, rater=["ann", "ben"], level="interval", resamples=100)
    # An answer of each system is a unit: errors of two systems are not added up.
    assert result.n_units == 6
    for name in ("krippendorff_alpha", "icc2"):
        assert result[name].value == pytest.approx(expected[name].value, rel=1e-12)


def test_other_labels_are_not_summed_without_a_statement() -> None:
    other = ERRORS.with_columns(pl.col("severity").replace({"Major": "good"}))
    with pytest.raises(UnclearTableError) as caught:
        konsil.agreement(other, resamples=100)
    assert "sum" not in caught.value.call


def test_words_are_refused() -> None:
    rows = pl.DataFrame({"unit": ["1"], "rater": ["a"], "label": ["Major"], "row": [0]})
    with pytest.raises(AnalysisError, match="'Major'"):
        combined_repeats(rows, "sum", "t")


@given(st.lists(st.tuples(st.sampled_from("uvw"), st.sampled_from("ab"), st.integers(-99, 99))))
def test_each_rule_is_that_of_exact_numbers(ratings: list[tuple[str, str, int]]) -> None:
    """Tenths, whose sums are not exact as floats; in any order of the rows."""
    rows = pl.DataFrame(
        [(u, r, f"{n / 10}", i) for i, (u, r, n) in enumerate(ratings)],
        schema={"unit": pl.String, "rater": pl.String, "label": pl.String, "row": pl.Int64},
        orient="row",
    )
    exact: dict[tuple[str, str], list[Fraction]] = {}
    for unit, rater, n in ratings:
        exact.setdefault((unit, rater), []).append(Fraction(n, 10))
    for rule in ("sum", "max", "mean"):
        combined = combined_repeats(rows, rule, "t")
        labels = zip(*(combined.get_column(c) for c in ("unit", "rater", "label")), strict=True)
        by_key = {(unit, rater): float(label) for unit, rater, label in labels}
        assert by_key == {
            key: float(max(v) if rule == "max" else sum(v) / (len(v) if rule == "mean" else 1))
            for key, v in exact.items()
        }
