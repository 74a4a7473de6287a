"""The blinding indices: published values, the definitions written out, and what they mean at their
ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.stats.inference.infer import infer
from konsil.stats.judges.blinding import bang_index, blinding_sums, james_index

CRISP = np.array([82.0, 25, 170, 27, 29, 83])
"""Bang, Ni and Davis 2004, table 7: lovastatin and placebo, each guessed as lovastatin, as placebo,
do not know."""
tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.integers(0, 30), min_size=k * (k + 1), max_size=k * (k + 1)).map(np.array)
)


def test_published_values() -> None:
    assert james_index(CRISP).round(2) == [0.75]
    assert bang_index(CRISP).round(2).tolist() == [0.21, 0.01]


@given(tables)
def test_james_is_its_definition(totals: np.ndarray) -> None:
    """As the paper writes it: joint shares, weights 0 for right, 1/2 for wrong, kappa of weighted
    disagreement."""
    k = int((np.sqrt(4 * totals.size + 1) - 1) / 2)
    table = totals.reshape(k, k + 1)
    [found] = james_index(totals.astype(float))
    n = table.sum()
    if not n:
        assert np.isnan(found)
        return
    share = table / n
    unable = share[:, k].sum()
    if table[:, :k].sum() == 0:
        assert found == 1
        return
    observed = expected = 0.0
    for truth in range(k):
        for guess in range(k):
            if truth != guess:
                observed += 0.5 * share[truth, guess] / (1 - unable)
                expected += 0.5 * share[:, guess].sum() * share[truth, :k].sum() / (1 - unable) ** 2
    if expected < 1e-12:
        assert np.isnan(found)
        return
    assert found == pytest.approx(
        (1 + unable + (1 - unable) * (observed - expected) / expected) / 2
    )


@given(tables)
def test_bang_is_right_minus_wrong(totals: np.ndarray) -> None:
    k = int((np.sqrt(4 * totals.size + 1) - 1) / 2)
    for truth, (row, found) in enumerate(
        zip(totals.reshape(k, k + 1), bang_index(totals.astype(float)), strict=True)
    ):
        if not row.sum():
            assert np.isnan(found)
            continue
        wrong = sum(row[guess] for guess in range(k) if guess != truth)
        assert found == pytest.approx((row[truth] - wrong / (k - 1)) / row.sum())
        assert -1 <= found <= 1


def test_ends_and_middle() -> None:
    know, nobody, swapped = ([10.0, 0, 0, 0, 10, 0], [0.0, 0, 7, 0, 0, 9], [0.0, 10, 0, 10, 0, 0])
    assert james_index(np.array([know, nobody])).ravel().tolist() == [0, 1]
    assert bang_index(np.array([know, nobody, swapped])).tolist() == [[1, 1], [0, 0], [-1, -1]]
    chance = np.array([5.0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5])
    assert bang_index(chance).tolist() == pytest.approx([0, 0, 0])
    assert james_index(np.array([5.0, 5, 0, 5, 5, 0])) == [0.5]
    assert np.isnan(james_index(np.zeros(6))).all()
    assert np.isnan(bang_index(np.zeros(2))).all()


def test_the_interval_is_that_of_the_formula() -> None:
    """Bang's variance of a treatment: (p + q - (p - q)^2) / n, as the linearised interval has
    it."""
    truth = np.repeat([0, 0, 0, 1, 1, 1], CRISP.astype(int))
    guess = np.repeat([0, 1, 2, 0, 1, 2], CRISP.astype(int))
    sums = blinding_sums(truth, guess, np.arange(truth.size), 2)
    assert sums.sum(0).tolist() == CRISP.tolist()
    found = infer(sums, bang_index, draws=400, level=0.95, key=1)
    for treatment, row in enumerate(CRISP.reshape(2, 3)):
        n = row.sum()
        p, q = row[treatment] / n, row[1 - treatment] / n
        assert found.se[treatment] == pytest.approx(np.sqrt((p + q - (p - q) ** 2) / n), rel=0.1)
    # The paper's interval of James' index in the same trial, (0.71, 0.78) from its own variance:
    # about the same.
    found = infer(sums, james_index, draws=1000, level=0.95, key=1)
    assert found.low[0] == pytest.approx(0.71, abs=0.01)
    assert found.high[0] == pytest.approx(0.79, abs=0.01)
