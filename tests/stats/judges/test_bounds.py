"""Best and worst case against every way of filling the gaps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from konsil.stats.agreement.kappa import MeasureName
from konsil.stats.judges.bounds import judge_range, share_range


def test_shares() -> None:
    assert share_range(6, 8, 0) == (0.75, 0.75)
    assert share_range(0, 0, 4) == (0.0, 1.0)
    assert np.isnan(share_range(0, 0, 0)).all()


@pytest.mark.parametrize("measure", ["percent_agreement", "cohen_kappa", "pabak"])
@pytest.mark.parametrize("valid", [True, False])
def test_no_labels_go_beyond_the_range(measure: MeasureName, valid: bool) -> None:
    rng = np.random.default_rng(4)
    checked = 0
    for _ in range(60):
        panel, judge = rng.integers(-1, 2, (7, 5)), rng.integers(0, 2, 7)
        missing = rng.random(7) < 0.5
        low, high = judge_range(
            panel, np.where(missing, -1, judge), missing, 2, measure, valid=valid
        )
        if np.isnan(low):
            continue
        values = []
        for labels in product((0, 1), repeat=int(missing.sum())):
            filled = judge.copy()
            filled[missing] = labels
            values.append(
                judge_range(panel, filled, np.zeros(7, dtype=bool), 2, measure, valid=valid)[0]
            )
        assert low <= np.nanmin(values) + 1e-12
        assert high >= np.nanmax(values) - 1e-12
        if not valid:  # one majority for each unit: the range is as narrow as can be
            assert (low, high) == pytest.approx((np.nanmin(values), np.nanmax(values)))
        checked += 1
    assert checked > 20


def test_nothing_missing_is_the_number_itself() -> None:
    panel = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0]])
    judge = np.array([0, 1, 0, 0])
    low, high = judge_range(panel, judge, np.zeros(4, dtype=bool), 2, "cohen_kappa", valid=False)
    assert low == high == pytest.approx(0.5)


def test_what_is_not_bounded_is_not_known() -> None:
    panel, judge = np.array([[0, 1, 2]] * 3), np.array([0, -1, 2])
    assert np.isnan(judge_range(panel, judge, judge < 0, 3, "cohen_kappa", valid=True)).all()
    assert np.isnan(judge_range(panel, judge, judge < 0, 3, "gwet_ac1", valid=True)).all()
    nothing = np.full((3, 3), -1)
    assert np.isnan(
        judge_range(nothing, judge, judge < 0, 2, "percent_agreement", valid=True)
    ).all()
