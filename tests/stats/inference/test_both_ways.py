"""Agreement about comparisons does not depend on which of two answers is called the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from konsil.stats.agreement.registry import STATISTICS, statistic
from konsil.stats.engine.contract import Codes
from konsil.stats.inference.both_ways import both_ways, exchanged, tallied_both_ways

REVERSE = (2, 1, 0)
LABELS = hnp.arrays(
    np.int64, st.tuples(st.integers(2, 12), st.integers(2, 4)), elements=st.integers(-1, 2)
)


def value(name: str, codes: Codes) -> float:
    level = "ordinal" if "ordinal" in STATISTICS[name].levels else "nominal"
    chosen = both_ways(statistic(name, codes, level=level), codes)
    return float(np.ravel(chosen.finalise(chosen.tally(codes).sum(axis=0)))[0])


@pytest.mark.slow
@given(LABELS, st.integers(0, 2**12 - 1))
def test_any_comparison_may_be_read_the_other_way_round(labels: np.ndarray, bits: int) -> None:
    codes = Codes(labels, np.arange(len(labels)) // 2, 3, reverse=REVERSE)
    turned = np.array([bits >> n & 1 for n in range(len(labels))], dtype=bool)
    other = replace(codes, labels=np.where(turned[:, None], exchanged(codes).labels, labels))
    for name in STATISTICS:
        assert value(name, other) == pytest.approx(value(name, codes), abs=1e-9, nan_ok=True), name


@given(LABELS)
def test_shares_of_agreement_stay_as_they_are(labels: np.ndarray) -> None:
    codes = Codes(labels, np.arange(len(labels)), 3, reverse=REVERSE)
    for name in (
        "percent_agreement",
        "multirater_percent_agreement",
        "unanimity",
        "pabak",
        "randolph_kappa",
    ):
        assert value(name, codes) == pytest.approx(
            value(name, replace(codes, reverse=None)), abs=1e-12, nan_ok=True
        )


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_the_table_with_every_comparison_twice(weights: str | None) -> None:
    """The independent implementation sees both ways round as rows of their own."""
    metrics = pytest.importorskip("sklearn.metrics")
    labels = np.random.default_rng(4).integers(0, 3, (60, 2))
    labels[:25, 1] = labels[:25, 0]
    codes = Codes(labels, np.arange(60), 3, reverse=REVERSE)
    twice = np.concatenate([labels, 2 - labels])
    expected = metrics.cohen_kappa_score(twice[:, 0], twice[:, 1], weights=weights)
    assert value(
        "cohen_kappa" if weights is None else f"cohen_kappa_{weights}", codes
    ) == pytest.approx(expected)


def test_raters_who_always_prefer_the_same_answer_agree_whatever_it_is_called() -> None:
    """Had every second comparison been stored the other way round, nobody would doubt their kappa
    of 1."""
    all_first = Codes(np.zeros((20, 2), dtype=np.int64), np.arange(20), 3, reverse=REVERSE)
    assert value("cohen_kappa", all_first) == pytest.approx(1.0)
    assert np.isnan(value("cohen_kappa", replace(all_first, reverse=None)))


def test_other_codes_are_tallied_as_ever() -> None:
    codes = Codes(np.array([[0, 1], [2, 2]]), np.arange(2), 3)
    plain = statistic("cohen_kappa", codes)
    assert both_ways(plain, codes) is plain
    assert (tallied_both_ways(plain.tally)(codes) == plain.tally(codes)).all()
    with pytest.raises(ValueError, match="do not contain the label"):
        exchanged(codes)
