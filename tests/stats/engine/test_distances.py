"""Agreement weights against their formulas, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from konsil.stats.engine import distances


@pytest.mark.slow  # The fast tests do without this peer, which no extra can name.
@pytest.mark.parametrize("name", ["linear", "quadratic", "ordinal", "radical", "ratio"])
def test_weights_equal_those_of_irrcac(name: str) -> None:
    weights = pytest.importorskip(
        "irrCAC.weights", reason="irrCAC is not installed; .ci/run installs it"
    )
    values = [1.0, 2.0, 4.0, 7.0]
    peer = weights.Weights([1.0, 2.0, 3.0, 4.0] if name == "ordinal" else values)[
        name
    ]  # ordinal: the ranks alone
    assert np.allclose(distances.agreement_weights(name, 4, values), np.asarray(peer), atol=1e-12)


@pytest.mark.parametrize("name", distances.WEIGHTS)
def test_weights_are_symmetric_with_a_full_diagonal(name: distances.WeightsName) -> None:
    w = distances.agreement_weights(name, 5, (1, 2, 3, 5, 8))
    assert np.array_equal(w, w.T)
    assert (np.diag(w) == 1).all()
    assert (distances.disagreements(name, 5, (1, 2, 3, 5, 8)).diagonal() == 0).all()
    assert 0 <= w.min() <= w.max() <= 1


def test_one_label_and_two_labels() -> None:
    for name in distances.WEIGHTS:
        assert np.array_equal(distances.agreement_weights(name, 1), [[1]])
        assert np.array_equal(distances.agreement_weights(name, 2, (1, 2)), np.eye(2))


def test_zero_is_a_ratio_value() -> None:
    assert distances.ratio_distances([0, 0, 2]).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("cubic", "expected one of unweighted"),
        (np.eye(2), r"shape \(2, 2\); expected \(3, 3\)"),
        (np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
        (np.zeros((3, 3)), "ones on the diagonal"),
        (np.full((3, 3), np.nan), "symmetric"),
    ],
)
def test_weights_that_are_none_are_refused(weights: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        distances.agreement_weights(weights, 3)


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 numbers for 3 labels"):
        distances.label_values(3, (1, 2))
    with pytest.raises(ValueError, match="distinct"):
        distances.agreement_weights("linear", 2, (1, 1))
    with pytest.raises(ValueError, match="at least 0"):
        distances.ratio_distances([-1, 1])
