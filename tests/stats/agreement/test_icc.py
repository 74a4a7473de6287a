"""Intraclass correlations against pingouin, with intervals, and where they are undefined."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as scipy_stats

from konsil.stats.agreement import icc
from konsil.stats.agreement.registry import statistic
from konsil.stats.engine.contract import Codes, Statistic

PEER = {
    "icc1": ("ICC(1,1)", "ICC1"),
    "icc2": ("ICC(A,1)", "ICC2"),
    "icc3": ("ICC(C,1)", "ICC3"),
    "icc1k": ("ICC(1,k)", "ICC1k"),
    "icc2k": ("ICC(A,k)", "ICC2k"),
    "icc3k": ("ICC(C,k)", "ICC3k"),
}


def sample(seed: int, n_units: int = 15, n_raters: int = 4, k: int = 7) -> Codes:
    g = np.random.default_rng(seed)
    latent = (
        g.normal(0, 1.2, (n_units, 1))
        + g.normal(0, 0.5, (1, n_raters))
        + g.normal(0, 0.8, (n_units, n_raters))
    )
    labels = np.clip(np.round(latent + k / 2), 0, k - 1).astype(int)
    return Codes(labels, np.arange(n_units), k, tuple(np.linspace(0.1, 1.9, k)))


def named(form: icc.IccForm, codes: Codes) -> Statistic:
    return statistic(form, codes)


def totals(form: icc.IccForm, codes: Codes) -> np.ndarray:
    return np.asarray(named(form, codes).tally(codes).sum(0))


def value(form: icc.IccForm, codes: Codes) -> float:
    return float(named(form, codes).finalise(totals(form, codes))[0])


def textbook(form: icc.IccForm, codes: Codes) -> icc.IccTest:
    if form in icc.ONE_WAY and not icc.has_no_gaps(codes):
        return icc.oneway_icc_test(form, totals(form, codes))
    return icc.icc_test(form, totals(form, codes), codes.labels.shape[1])


@pytest.mark.parametrize("seed", range(4))
def test_all_six_forms_equal_pingouin_with_intervals_and_tests(seed: int) -> None:
    codes = sample(seed)
    n, k = codes.labels.shape
    numbers = np.asarray(codes.values)[codes.labels]
    frame = pd.DataFrame(
        {
            "unit": np.repeat(np.arange(n), k),
            "rater": np.tile(np.arange(k), n),
            "score": numbers.ravel(),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations inside the peer
        table = pingouin.intraclass_corr(frame, "unit", "rater", "score").set_index("Type")
    ends = next(name for name in table.columns if name.startswith("CI95"))
    for form, names in PEER.items():
        peer = table.loc[next(name for name in names if name in table.index)]
        test = textbook(form, codes)
        assert test.value == pytest.approx(float(peer["ICC"]), abs=1e-9)
        assert test.f == pytest.approx(float(peer["F"]), rel=1e-9)
        assert (test.df1, test.df2) == (peer["df1"], peer["df2"])
        p_name = "pval" if "pval" in table.columns else "p_val"
        assert test.p == pytest.approx(float(peer[p_name]), rel=1e-6)
        assert (test.low, test.high) == pytest.approx(
            tuple(peer[ends]), abs=0.0051
        )  # the peer rounds to two digits


def test_two_way_forms_alone_leave_out_incomplete_units() -> None:
    codes = sample(1)
    labels = codes.labels.copy()
    labels[3, 1] = labels[7, 0] = -1
    gaps = Codes(labels, codes.clusters, codes.n_labels, codes.values)
    whole = (labels >= 0).all(1)
    kept = Codes(labels[whole], np.arange(whole.sum()), codes.n_labels, codes.values)
    for form in icc.ICC_FORMS:
        is_equal = value(form, gaps) == pytest.approx(value(form, kept))
        assert is_equal == (form not in icc.ONE_WAY)


@pytest.mark.parametrize("form", icc.ICC_FORMS)
def test_shift_and_scale_change_nothing(form: icc.IccForm) -> None:
    codes = sample(2)
    moved = Codes(codes.labels, codes.clusters, 7, tuple(1e5 + 3 * np.asarray(codes.values)))
    assert value(form, moved) == pytest.approx(value(form, codes), abs=1e-6)


@pytest.mark.parametrize("form", icc.ICC_FORMS)
def test_undefined_tables(form: icc.IccForm) -> None:
    constant = Codes(np.ones((5, 3), np.int64), np.arange(5), 3, (0.1, 0.2, 0.3))
    one_unit = Codes(np.array([[0, 1, 2]]), np.arange(1), 3)
    one_rater = Codes(np.array([[0], [1], [2]]), np.arange(3), 3)
    no_unit = Codes(np.array([[0, -1], [-1, 2]]), np.arange(2), 3)
    for codes in (constant, one_unit, one_rater, no_unit):
        assert np.isnan(value(form, codes))
        test = textbook(form, codes)
        assert np.isnan([test.value, test.low, test.high, test.p]).all()


@pytest.mark.parametrize("form", icc.ICC_FORMS)
def test_limits_of_few_units_are_in_order_or_undefined(form: icc.IccForm) -> None:
    n_defined = 0
    for cells in product(range(3), repeat=6):
        test = textbook(form, Codes(np.reshape(cells, (3, 2)), np.arange(3), 3))
        if not np.isnan([test.low, test.high]).any():
            n_defined += 1
            assert test.low <= test.high
    assert n_defined > 100


def test_perfect_agreement_is_one() -> None:
    codes = Codes(np.array([[0, 0], [1, 1], [2, 2]]), np.arange(3), 3, (0.1, 0.2, 0.4))
    for form in icc.ICC_FORMS:
        assert value(form, codes) == pytest.approx(1)


def of_complete_cases(form: icc.IccForm, labels: np.ndarray) -> float:
    """A one-way form from the table's rows and columns, as of complete units only."""
    k = labels.shape[1]
    between = k * labels.mean(1).var(ddof=1)
    within = labels.var(axis=1, ddof=1).mean()
    below = between if form == "icc1k" else between + (k - 1) * within
    return float((between - within) / below) if below > 0 else np.nan


@given(
    arrays(
        np.int64,
        st.tuples(st.integers(2, 12), st.integers(2, 5)),
        elements=st.integers(0, 4),
    )
)
def test_one_way_forms_of_complete_tables_are_those_of_complete_cases(labels: np.ndarray) -> None:
    codes = Codes(labels, np.arange(len(labels)), 5)
    for form in icc.ONE_WAY:
        expected = of_complete_cases(form, labels)
        incomplete = icc.icc1_incomplete(mean_of_raters=form == "icc1k")
        of_labels = incomplete.finalise(icc.oneway_sums(codes).sum(0))[0]
        assert value(form, codes) == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert of_labels == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_tables_without_gaps_have_the_sums_of_the_other_forms() -> None:
    """Intervals by resampling depend on the sums: studies of complete tables keep theirs."""
    codes = sample(1)
    empty = Codes(np.vstack([codes.labels, [[-1] * 4]]), np.arange(16), 7, codes.values)
    gaps = Codes(np.vstack([codes.labels, [[1, -1, 2, 3]]]), np.arange(16), 7, codes.values)
    for form in icc.ONE_WAY:
        tallies = [named(form, c).tally for c in (codes, empty, gaps)]
        assert tallies == [icc.anova_sums, icc.anova_sums, icc.oneway_sums]


def unequal(seed: int) -> tuple[Codes, list[np.ndarray]]:
    codes = sample(seed)
    labels = np.where(
        np.random.default_rng(seed).random(codes.labels.shape) < 0.3, -1, codes.labels
    )
    groups = [np.asarray(codes.values)[row[row >= 0]] for row in labels if (row >= 0).any()]
    return Codes(labels, codes.clusters, 7, codes.values), groups


@pytest.mark.parametrize("seed", range(4))
def test_one_way_forms_use_all_units(seed: int) -> None:
    gaps, groups = unequal(seed)
    f = scipy_stats.f_oneway(*groups).statistic
    sizes = np.array([len(group) for group in groups])
    m = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(sizes) - 1)
    assert len(set(sizes.tolist())) > 1
    assert value("icc1", gaps) == pytest.approx((f - 1) / (f + m - 1))
    assert value("icc1k", gaps) == pytest.approx((f - 1) / f)
    test = textbook("icc1", gaps)
    assert test.f == pytest.approx(f)
    assert test.p == pytest.approx(scipy_stats.f_oneway(*groups).pvalue)
    # The F interval is one of equal numbers.
    assert np.isnan([test.low, test.high]).all()


def test_one_way_forms_do_not_ask_who_rated() -> None:
    codes = sample(3)
    order = np.argsort(np.random.default_rng(1).random((15, 6)), axis=1)
    wide = np.hstack([codes.labels, np.full((15, 2), -1)])
    moved = Codes(np.take_along_axis(wide, order, axis=1), codes.clusters, 7, codes.values)
    for form in icc.ONE_WAY:
        assert value(form, moved) == pytest.approx(value(form, codes))
        mine, theirs = (textbook(form, c) for c in (moved, codes))
        assert (mine.low, mine.high, mine.p) == pytest.approx((theirs.low, theirs.high, theirs.p))


def test_one_way_form_is_undefined_without_a_unit_labelled_twice() -> None:
    lone = Codes(np.array([[0, -1], [-1, 1], [2, -1]]), np.arange(3), 3)
    assert np.isnan(value("icc1", lone))


def test_unknown_forms_are_named() -> None:
    with pytest.raises(ValueError, match="expected one of icc1"):
        icc.icc("icc4", 3)
