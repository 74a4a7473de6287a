"""One number a case: against plain loops, and what must not change them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.clexeval_tables import RIGHT

from konsil.stats.cases.degradation import (
    drop,
    hidden,
    hidden_by_luck,
    label_dependence,
    potential,
    steps,
    violated,
)

CELL = st.sampled_from([0.0, 1.0, np.nan])
GRID = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(CELL, min_size=k, max_size=k), min_size=1, max_size=8)
)


def by_hand(row: list[float]) -> dict[str, float]:
    whole = not any(np.isnan(row))
    run = 0
    for cell in row:
        if cell != 1:
            break
        run += 1
    late = any(row[i] == 0 and row[j] == 1 for i in range(len(row)) for j in range(i + 1, len(row)))
    nan = float("nan")
    return {
        "violated": float(late) if whole else nan,
        "recovered": float(late) if whole and row[-1] == 1 else nan,
        "potential": float(1 in row) if whole else nan,
        "hidden": float(1 in row and row[0] == 0) if whole else nan,
        "steps": float(run) if whole else nan,
        "drop": row[0] - row[-1],
        "dependence": float(row[0] != row[1]) if not np.isnan(row[0] + row[1]) else nan,
    }


@given(GRID)
def test_each_is_what_a_loop_says(rows: list[list[float]]) -> None:
    right = np.array(rows)
    found = {
        "violated": violated(right),
        "potential": potential(right),
        "hidden": hidden(right),
        "steps": steps(right),
        "drop": drop(right),
        "dependence": label_dependence(right),
    }
    for name, values in found.items():
        np.testing.assert_array_equal(values, [by_hand(row)[name] for row in rows], err_msg=name)
    recovered = violated(right, recovered=True)
    np.testing.assert_array_equal(recovered, [by_hand(row)["recovered"] for row in rows])


@given(GRID)
def test_falling_cases_violate_nothing(rows: list[list[float]]) -> None:
    falling = -np.sort(-np.nan_to_num(np.array(rows)), axis=1)
    assert not violated(falling).any()
    np.testing.assert_array_equal(steps(falling), falling.sum(axis=1))
    assert not hidden(falling).any()


def test_luck_is_what_independent_answers_give() -> None:
    rng = np.random.default_rng(5)
    p = np.array([0.8, 0.5, 0.3, 0.2])
    drawn = (rng.random((100_000, 4)) < p).astype(float)
    assert abs(hidden_by_luck(drawn) - hidden(drawn).mean()) < 0.005
    knowing = np.repeat([[0.0, 1, 1, 1], [1, 0, 0, 0]], 50, axis=0)
    assert hidden_by_luck(knowing) < hidden(knowing).mean()
    assert np.isnan(hidden_by_luck(np.array([[1.0, np.nan]])))


def test_the_papers_counts_can_all_be_true_together() -> None:
    counts = {
        name: (r.sum(axis=0).tolist(), violated(r).sum(), potential(r).sum(), steps(r).sum())
        for name, r in RIGHT.items()
    }
    assert counts == {
        "generalist": ([38, 26, 25, 12, 13], 11, 38, 102),
        "specialist": ([31, 24, 19, 17, 9], 10, 37, 86),
    }
    assert (
        steps(RIGHT["generalist"]).mean() == 2.55
    )  # printed without a definition: this one gives it
    assert steps(RIGHT["specialist"]).mean() == 2.15
    assert hidden(RIGHT["specialist"]).sum() == 6
