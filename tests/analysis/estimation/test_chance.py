"""Intervals of agreement from chance to perfect agreement, and on scales of any length."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import konsil

COEFFICIENTS = ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
SCALE = tuple(str(n) for n in range(101))


def table(labels: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({f"r{n}": labels[:, n].astype(str) for n in range(labels.shape[1])})


def by_chance(seed: int, n_raters: int = 5, n: int = 20, rare: float = 0.1) -> np.ndarray:
    return (np.random.default_rng(seed).random((n, n_raters)) < rare).astype(np.int64)


@pytest.mark.parametrize("statistic", ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha"])
def test_by_chance_the_interval_seldom_lies_above_zero(statistic: str) -> None:
    """Where 10 % of the labels of five raters are another one, at random: in 13 to 44 % before."""
    above = 0
    for seed in range(60):
        labels = by_chance(seed)
        if labels.any():
            e = konsil.agreement(
                table(labels), labels=["0", "1"], statistics=[statistic], resamples=300
            )[statistic]
            assert e.low < e.value < e.high
            above += e.low > 0
    assert above <= 5


@pytest.mark.parametrize("statistic", COEFFICIENTS[:3])
def test_labels_that_nobody_used_move_no_limit(statistic: str) -> None:
    data = table(by_chance(3))
    two, five = (
        konsil.agreement(data, labels=list(labels), statistics=[statistic], resamples=300)[
            statistic
        ]
        for labels in ("01", "01234")
    )
    assert (five.low, five.high) == pytest.approx((two.low, two.high), abs=1e-12)


@pytest.mark.parametrize("statistic", ["icc2", "krippendorff_alpha", "cohen_kappa_quadratic"])
def test_a_constant_shift_of_a_rater_never_raises_the_lower_limit(statistic: str) -> None:
    scores = np.array([12, 25, 33, 41, 52, 60, 74, 88])
    limits = [
        konsil.agreement(
            table(np.stack([scores, scores + shift], axis=1)),
            labels=SCALE,
            level="interval",
            statistics=[statistic],
            resamples=4000,
        )[statistic].low
        for shift in (0, 1, 5)
    ]
    assert limits[0] >= limits[1] - 0.02
    assert limits[0] >= limits[2] - 0.02
    assert all(low < 0.5 for low in limits)


def test_the_eleventh_label_changes_no_method_and_hardly_a_width() -> None:
    """The same latent scores on 0 to 9 and on 0 to 10; before, the second had a bootstrap of a
    dozen units, half as wide."""
    widths: dict[int, list[float]] = {9: [], 10: []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        score = 0.84 + 0.15 * rng.standard_normal((12, 1)) + 0.05 * rng.standard_normal((12, 2))
        for top in widths:
            labels = np.round(np.clip(score, 0, 1) * top).astype(np.int64)
            e = konsil.agreement(
                table(labels),
                labels=SCALE[: top + 1],
                level="interval",
                statistics=["icc2"],
                resamples=300,
            )["icc2"]
            assert "posterior of the rating patterns" in e.method
            widths[top].append(e.high - e.low)
    assert np.mean(widths[10]) == pytest.approx(np.mean(widths[9]), rel=0.15)
