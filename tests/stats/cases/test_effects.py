"""Standardised differences, analysis of variance and strictness, against kept libraries and plain
loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from konsil.stats.cases.anova import (
    Effect,
    contrasts,
    eta_interval,
    mixed_anova,
    paired_range_test,
    products,
    repeated_measures,
    tukey,
)
from konsil.stats.cases.effects import cohen_d, moments, paired_d, rank_sum, signed_rank
from konsil.stats.judges.strictness import separation, strictness_sums, trade_off

VALUES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=3, max_size=20)


def cells(seed: int = 1, n: int = 15, systems: int = 2, levels: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    fall = np.linspace(0, 0.6, levels) * (1 + 0.7 * np.arange(systems)[:, None])
    return (
        0.8 - fall + 0.2 * rng.normal(size=(n, 1, 1)) + 0.15 * rng.normal(size=(n, systems, levels))
    )


def frame(y: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        [{"case": c, "system": s, "level": k, "y": y[c, s, k]} for c, s, k in np.ndindex(y.shape)]
    )


@given(VALUES, VALUES)
def test_d_is_the_textbooks(a: list[float], b: list[float]) -> None:
    x, y = np.array(a), np.array(b)
    pooled = ((len(x) - 1) * x.var(ddof=1) + (len(y) - 1) * y.var(ddof=1)) / (len(x) + len(y) - 2)
    found = float(cohen_d(np.concatenate([moments(x).sum(0), moments(y).sum(0)]))[0])
    assert found == pytest.approx(
        (x.mean() - y.mean()) / np.sqrt(pooled) if pooled > 0 else np.nan, nan_ok=True
    )
    n = min(len(x), len(y))
    d = x[:n] - y[:n]
    paired = float(paired_d(moments(d).sum(0))[0])
    assert paired == pytest.approx(
        d.mean() / d.std(ddof=1) if d.std(ddof=1) > 1e-9 else np.nan, nan_ok=True
    )


def test_paired_d_is_t_over_root_n() -> None:
    d = np.random.default_rng(2).normal(0.3, 1, 40)
    assert float(paired_d(moments(d).sum(0))[0]) * np.sqrt(40) == pytest.approx(
        stats.ttest_1samp(d, 0).statistic
    )


def test_rank_tests_leave_out_what_is_missing() -> None:
    d = np.array([0.25, -0.5, 0.0, 0.75, np.nan, 1.0])
    assert signed_rank(d) == signed_rank(d[np.isfinite(d)])
    assert np.isnan(signed_rank(np.zeros(4))).all()
    u, p = rank_sum(np.array([1.0, 2, np.nan]), np.array([0.0, 1.0]))
    assert u == 3.5
    assert 0 < p < 1
    assert np.isnan(rank_sum(np.array([np.nan]), np.array([1.0]))).all()


def test_repeated_measures_is_that_of_statsmodels() -> None:
    anova = pytest.importorskip("statsmodels.stats.anova")
    y = cells()
    table = anova.AnovaRM(frame(y), "y", "case", within=["system", "level"]).fit().anova_table
    totals = products(y.reshape(len(y), -1)).sum(axis=0)
    for name, theirs in (("system", "system"), ("level", "level"), ("interaction", "system:level")):
        ours = repeated_measures(totals, contrasts(2, 5)[name])
        assert ours.f == pytest.approx(table.loc[theirs, "F Value"])
        assert ours.df / ours.epsilon == pytest.approx(table.loc[theirs, "Num DF"])
        assert ours.df_error / ours.epsilon == pytest.approx(table.loc[theirs, "Den DF"])
        f, df = ours.f, table.loc[theirs, "Num DF"]
        assert ours.eta == pytest.approx(f * df / (f * df + table.loc[theirs, "Den DF"]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # the peer's own, with a new pandas
def test_epsilon_and_mixed_are_those_of_pingouin() -> None:
    pingouin = pytest.importorskip("pingouin")
    y = cells(3, 12, 1, 4)
    theirs = pingouin.rm_anova(frame(y), dv="y", within="level", subject="case", correction=True)
    ours = repeated_measures(products(y.reshape(len(y), -1)).sum(axis=0), contrasts(1, 4)["level"])
    assert ours.epsilon == pytest.approx(float(theirs["eps"].iloc[0]))
    corrected = [c for c in theirs.columns if "GG" in c]
    assert ours.p == pytest.approx(float(theirs[corrected[0]].iloc[0]))
    y = cells(4, 10)
    table = frame(y)
    table["subject"] = table["case"] + 100 * table["system"]
    theirs = pingouin.mixed_anova(
        table, dv="y", within="level", subject="subject", between="system"
    )
    mine = mixed_anova(y)
    for name, source in (("system", "system"), ("level", "level"), ("interaction", "Interaction")):
        line = theirs[theirs["Source"] == source].iloc[0]
        assert mine[name].f == pytest.approx(float(line["F"]))
        assert mine[name].eta == pytest.approx(float(line["np2"]))


def test_the_interval_of_eta_squared_inverts_the_test() -> None:
    for f in (0.3, 1.5, 4.0, 30.0):
        low, high = eta_interval(Effect(f, 4.0, 156.0, 0.0, 0.0, 1.0))
        for end, share in ((low, 0.025), (high, 0.975)):
            if end > 0:
                noncentrality = end * 160 / (1 - end)
                assert stats.ncf.sf(f, 4, 156, noncentrality) == pytest.approx(share, abs=1e-3)
    assert eta_interval(Effect(0.05, 4.0, 156.0, 0.995, 0.001, 1.0)) == (0.0, 0.0)
    assert np.isnan(eta_interval(Effect(*[float("nan")] * 6))).all()


@pytest.mark.covering(1)
@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 0.4])
def test_the_interval_of_eta_squared_covers(slope: float) -> None:
    contrast = contrasts(1, 5)["level"]
    rng = np.random.default_rng(11)
    fall = slope * np.linspace(0, 1, 5)
    spread = 0.3**2 * 4
    signal = ((fall - fall.mean()) ** 2).sum()
    covered = 0
    for _ in range(600):
        y = 0.5 * rng.normal(size=(40, 1)) - fall + 0.3 * rng.normal(size=(40, 5))
        low, high = eta_interval(repeated_measures(products(y).sum(axis=0), contrast))
        covered += low <= signal / (signal + spread) <= high
    assert 0.92 <= covered / 600 <= 0.99


def test_two_levels_are_a_paired_t_test() -> None:
    y = cells(5, 20, 1, 2)
    found = repeated_measures(products(y.reshape(20, -1)).sum(axis=0), contrasts(1, 2)["level"])
    t = stats.ttest_rel(y[:, 0, 0], y[:, 0, 1])
    assert (found.f, found.p) == pytest.approx((t.statistic**2, t.pvalue))


@settings(max_examples=20)
@given(st.integers(0, 1000), st.floats(-3, 3), st.floats(0.1, 10))
def test_effects_do_not_depend_on_origin_and_unit(seed: int, shift: float, scale: float) -> None:
    y = cells(seed, 8).reshape(8, -1)
    for contrast in contrasts(2, 5).values():
        a, b = (
            repeated_measures(products(part).sum(0), contrast).eta
            for part in (y, shift + scale * y)
        )
        assert a == pytest.approx(b, rel=1e-6)


def test_a_case_that_lacks_a_cell_counts_nothing() -> None:
    y = cells(6, 9).reshape(9, -1)
    y[4, 2] = np.nan
    rows = products(y)
    np.testing.assert_array_equal(rows.sum(0), products(np.delete(y, 4, axis=0)).sum(0))
    assert np.isnan(repeated_measures(products(y[:1]).sum(0), contrasts(2, 5)["level"]).eta)


def test_two_cells_are_a_paired_t_test_and_more_are_stricter() -> None:
    d = np.random.default_rng(7).normal(0.4, 1, 30)
    two, ten = paired_range_test(d, 2), paired_range_test(d, 10)
    assert two.p == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-6)
    assert ten.p > two.p
    assert ten.low < two.low < two.difference < two.high < ten.high
    assert np.isnan(paired_range_test(np.ones(5), 3).p)


@given(VALUES, VALUES)
def test_separation_is_a_share_of_pairs(failures: list[float], successes: list[float]) -> None:
    values = sorted({*failures, *successes})
    places = np.array([values.index(v) for v in (*failures, *successes)])
    failed = np.repeat([1.0, 0.0], [len(failures), len(successes)])
    sums = strictness_sums(places, failed, np.arange(len(places)) % 3, len(values), 3)
    pairs = [(s > f) + 0.5 * (s == f) for s in successes for f in failures]
    area = float(separation(sums.sum(0))[0])
    assert area == pytest.approx(np.mean(pairs))
    approved, rejected = trade_off(sums.sum(0))
    assert (np.diff(approved) <= 0).all()
    assert (np.diff(rejected) >= 0).all()
    # The area under false approvals over false rejections is what the judge does not tell apart.
    assert np.trapezoid(approved, rejected) == pytest.approx(1 - area)


def test_tukeys_differences_are_those_of_scipy_to_the_bit() -> None:
    columns = np.random.default_rng(7).normal(3.0, 1.0, (12, 4))
    peer = stats.tukey_hsd(*columns.T)
    ends = peer.confidence_interval(0.9)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    assert tukey(columns, 0.9) == [
        (peer.statistic[pair], ends.low[pair], ends.high[pair], peer.pvalue[pair]) for pair in pairs
    ]
