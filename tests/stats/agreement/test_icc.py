"""Intraclass correlations against pingouin, with intervals, and where they are undefined."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats as scipy_stats

from konsil.stats.agreement import icc
from konsil.stats.engine.contract import Codes

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


def value(form: icc.IccForm, codes: Codes) -> float:
    statistic = icc.icc(form, codes.labels.shape[1])
    return float(statistic.finalise(statistic.tally(codes).sum(0))[0])


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
    sums = icc.anova_sums(codes).sum(0)
    for form, names in PEER.items():
        peer = table.loc[next(name for name in names if name in table.index)]
        test = icc.icc_test(form, sums, k)
        assert test.value == pytest.approx(float(peer["ICC"]), abs=1e-9)
        assert test.f == pytest.approx(float(peer["F"]), rel=1e-9)
        assert (test.df1, test.df2) == (peer["df1"], peer["df2"])
        p_name = "pval" if "pval" in table.columns else "p_val"
        assert test.p == pytest.approx(float(peer[p_name]), rel=1e-6)
        assert (test.low, test.high) == pytest.approx(
            tuple(peer[ends]), abs=0.0051
        )  # the peer rounds to two digits


def test_incomplete_units_are_left_out() -> None:
    codes = sample(1)
    labels = codes.labels.copy()
    labels[3, 1] = labels[7, 0] = -1
    gaps = Codes(labels, codes.clusters, codes.n_labels, codes.values)
    whole = (labels >= 0).all(1)
    kept = Codes(labels[whole], np.arange(whole.sum()), codes.n_labels, codes.values)
    for form in icc.ICC_FORMS:
        assert value(form, gaps) == pytest.approx(value(form, kept))


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
        test = icc.icc_test(form, icc.anova_sums(codes).sum(0), codes.labels.shape[1])
        assert np.isnan([test.value, test.low, test.high, test.p]).all()


@pytest.mark.parametrize("form", icc.ICC_FORMS)
def test_limits_of_few_units_are_in_order_or_undefined(form: icc.IccForm) -> None:
    n_defined = 0
    for cells in product(range(3), repeat=6):
        sums = icc.anova_sums(Codes(np.reshape(cells, (3, 2)), np.arange(3), 3)).sum(0)
        test = icc.icc_test(form, sums, 2)
        if not np.isnan([test.low, test.high]).any():
            n_defined += 1
            assert test.low <= test.high
    assert n_defined > 100


def test_perfect_agreement_is_one() -> None:
    codes = Codes(np.array([[0, 0], [1, 1], [2, 2]]), np.arange(3), 3, (0.1, 0.2, 0.4))
    for form in icc.ICC_FORMS:
        assert value(form, codes) == pytest.approx(1)


def test_one_way_form_with_gaps_equals_the_complete_one_without() -> None:
    codes = sample(3)
    for mean, form in ((False, "icc1"), (True, "icc1k")):
        statistic = icc.icc1_incomplete(mean_of_raters=mean)
        got = statistic.finalise(statistic.tally(codes).sum(0))
        assert got[0] == pytest.approx(value(form, codes))


def test_one_way_form_with_gaps_equals_an_unbalanced_analysis_of_variance() -> None:
    codes = sample(4)
    labels = np.where(np.random.default_rng(0).random(codes.labels.shape) < 0.3, -1, codes.labels)
    gaps = Codes(labels, codes.clusters, 7, codes.values)
    groups = [np.asarray(codes.values)[row[row >= 0]] for row in labels if (row >= 0).any()]
    f = scipy_stats.f_oneway(*groups).statistic
    sizes = np.array([len(group) for group in groups])
    m = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(sizes) - 1)
    statistic = icc.icc1_incomplete()
    assert statistic.finalise(statistic.tally(gaps).sum(0))[0] == pytest.approx(
        (f - 1) / (f + m - 1)
    )


def test_one_way_form_is_undefined_without_a_unit_labelled_twice() -> None:
    statistic = icc.icc1_incomplete()
    lone = Codes(np.array([[0, -1], [-1, 1], [2, -1]]), np.arange(3), 3)
    assert np.isnan(statistic.finalise(statistic.tally(lone).sum(0))[0])


def test_unknown_forms_are_named() -> None:
    with pytest.raises(ValueError, match="expected one of icc1"):
        icc.icc("icc4", 3)
