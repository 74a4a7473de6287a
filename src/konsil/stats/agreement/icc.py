"""Intraclass correlations: the forms of Shrout and Fleiss, F intervals, missing labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array, Codes, Statistic
from konsil.stats.engine.distances import label_values
from konsil.stats.engine.tables import by_cluster, complete

IccForm = Literal["icc1", "icc2", "icc3", "icc1k", "icc2k", "icc3k"]
ICC_FORMS: tuple[IccForm, ...] = get_args(IccForm)
ONE_WAY: tuple[IccForm, ...] = ("icc1", "icc1k")
"""The forms that do not ask which rater gave a label."""
SHROUT = "Shrout and Fleiss, Psychol Bull 86:420, 1979; McGraw and Wong, Psychol Methods 1:30, 1996"
SEARLE = (
    "Searle, Casella and McCulloch, Variance Components, 1992: one-way analysis of variance of"
    " unequal groups"
)


class MeanSquares(NamedTuple):
    """The two-way table's mean squares and sizes, each of shape (...,)."""

    rows: Array
    """Between units."""
    columns: Array
    """Between raters."""
    error: Array
    """The residual of units and raters."""
    within: Array
    """Within units: columns and error together."""
    n_units: Array
    """Complete units."""


@dataclass(frozen=True)
class IccTest:
    """A textbook F interval and test of one intraclass correlation; nan where undefined."""

    value: float
    """The point estimate."""
    low: float
    """The interval's lower end."""
    high: float
    """The interval's upper end."""
    f: float
    """The F ratio of the hypothesis that units do not differ."""
    df1: float
    """The F ratio's upper degrees of freedom."""
    df2: float
    """The F ratio's lower degrees of freedom."""
    p: float
    """The F test's p value."""


def anova_sums(codes: Codes) -> Array:
    """Tally the sums of a two-way analysis of variance over the units that every rater labelled.

    Returns (n_clusters, 3 + n_raters): units, squared unit totals, squared values, each rater's
    total. The values are shifted by a whole number near the scale's middle, which no intraclass
    correlation sees.

    Example:
        >>> anova_sums(Codes(np.array([[0, 2], [1, -1]]), np.array([0, 0]), 3))
        array([[ 1.,  0.,  2., -1.,  1.]])
    """
    x, labelled = _values(complete(codes))
    # Without raters `all` would call every unit complete.
    is_complete = labelled.all(1) if labelled.shape[1] else np.zeros(labelled.shape[0], dtype=bool)
    rows = np.column_stack([is_complete, x.sum(1) ** 2, (x * x).sum(1), x])
    return by_cluster(rows, codes)


def oneway_sums(codes: Codes) -> Array:
    """Tally the sums of a one-way analysis of variance with unequal numbers of labels per unit.

    Returns (n_clusters, 6): units with a label, labels, squared labels per unit, squared unit
    totals over their labels, squared values, values.

    Example:
        >>> oneway_sums(Codes(np.array([[0, 2], [1, -1]]), np.array([0, 0]), 3))
        array([[2., 3., 5., 0., 2., 0.]])
    """
    x, labelled = _values(codes)
    m, total = labelled.sum(1), x.sum(1)
    rows = np.column_stack([m > 0, m, m * m, total**2 / np.maximum(m, 1), (x * x).sum(1), total])
    return by_cluster(rows, codes)


def mean_squares(totals: Array, n_raters: int) -> MeanSquares:
    """Return the mean squares of anova_sums, (..., 3 + n_raters) to five arrays of shape (...,).

    nan with fewer than two complete units or raters.
    """
    totals = np.asarray(totals, dtype=np.float64)
    k = n_raters
    n, squared_rows, squares, columns = (
        totals[..., 0],
        totals[..., 1],
        totals[..., 2],
        totals[..., 3:],
    )
    enough = (n > 1) & (k > 1)
    # Undefined sums become nan here and stay so in every quotient that follows.
    n_safe = np.where(enough, n, np.nan)
    correction = columns.sum(-1) ** 2 / (n_safe * max(k, 1))
    # What rounding leaves of a sum of squares that is zero must not become a variance.
    rows = _above_rounding(squared_rows / max(k, 1) - correction, squares)
    between = _above_rounding((columns * columns).sum(-1) / n_safe - correction, squares)
    within = _above_rounding(squares - squared_rows / max(k, 1), squares)
    error = _above_rounding(within - between, squares)
    free = max(k - 1, 1)
    return MeanSquares(
        rows / (n_safe - 1),
        between / free,
        error / ((n_safe - 1) * free),
        within / (n_safe * free),
        n,
    )


def icc(form: IccForm, n_raters: int) -> Statistic:
    """Intraclass correlation in one of the six forms of Shrout and Fleiss, over the complete units.

    With mean squares R (units), C (raters), E (rest), W (within units), n units, k raters: icc1 (R
    - W)/(R + (k-1)W); icc2 (R - E)/(R + (k-1)E + k(C - E)/n); icc3 (R - E)/(R + (k-1)E); and for
    the raters' mean icc1k (R - W)/R, icc2k (R - E)/(R + (C - E)/n), icc3k (R - E)/R.

    Sums: anova_sums. Values: (..., 1). nan with fewer than two complete units or raters, if all
    labels are equal, and for the means if the units do not differ. Source: Shrout and Fleiss 1979.

    Example:
        >>> codes = Codes(np.array([[0, 0], [1, 2], [2, 2]]), np.arange(3), 3)
        >>> icc("icc3", 2).finalise(anova_sums(codes).sum(0)).round(3)
        array([0.857])
    """
    if form not in ICC_FORMS:
        raise ValueError(f"form: got {form!r}; expected one of {', '.join(ICC_FORMS)}")
    return Statistic(form, anova_sums, partial(_icc, form=form, n_raters=n_raters), SHROUT)


def oneway_icc(form: IccForm, codes: Codes) -> Statistic:
    """A one-way form of all labels: by the table of units and raters where that has no gaps.

    Values are the same either way; the sums of a table without gaps are those of the other forms.

    Example:
        >>> gaps = Codes(np.array([[0, 0, 1], [1, 2, -1], [2, 2, -1]]), np.arange(3), 3)
        >>> oneway_icc("icc1", gaps).finalise(oneway_sums(gaps).sum(0)).round(3)
        array([0.7])
    """
    if has_no_gaps(codes):
        return icc(form, codes.labels.shape[1])
    return icc1_incomplete(mean_of_raters=form == "icc1k")


def has_no_gaps(codes: Codes) -> bool:
    """Whether every rater labelled all units that have a label."""
    labelled = codes.labels >= 0
    return bool((labelled.all(axis=1) | ~labelled.any(axis=1)).all())


def icc1_incomplete(mean_of_raters: bool = False) -> Statistic:
    """One-way intraclass correlation with missing labels: every label counts, whoever gave it.

    (B - W)/(B + (m - 1)W), m = (N - sum(m_i^2)/N)/(n - 1) the typical number of labels of a unit;
    for the mean of m raters (B - W)/B. Equal to icc1 and icc1k for complete tables.

    Sums: oneway_sums. Values: (..., 1). nan with fewer than two units, no unit labelled twice, or
    all labels equal. Source: Searle, Casella and McCulloch 1992.

    Example:
        >>> codes = Codes(np.array([[0, 0], [1, 2], [2, 2]]), np.arange(3), 3)
        >>> icc1_incomplete().finalise(oneway_sums(codes).sum(0)).round(3)
        array([0.857])
    """
    name = "icc1k_incomplete" if mean_of_raters else "icc1_incomplete"
    return Statistic(name, oneway_sums, partial(_oneway, mean_of_raters=mean_of_raters), SEARLE)


def icc_test(form: IccForm, sums: Array, n_raters: int, level: float = 0.95) -> IccTest:
    """An intraclass correlation with its textbook F interval and F test of equal units.

    `sums`: the totals of anova_sums, (3 + n_raters,). The interval assumes that units are
    independent and normal; clustered units need the resampling interval instead. nan where the
    correlation is undefined. Source: Shrout and Fleiss 1979; McGraw and Wong 1996.

    Example:
        >>> codes = Codes(np.array([[0, 0], [1, 2], [2, 2]]), np.arange(3), 3)
        >>> round(icc_test("icc3", anova_sums(codes).sum(0), 2).f, 3)
        13.0
    """
    value = float(_icc(np.asarray(sums, dtype=np.float64), form, n_raters)[0])
    squares = mean_squares(sums, n_raters)
    rows, columns, error, within, n = (float(x) for x in squares)
    k, tail = n_raters, 1 - (1 - level) / 2
    oneway = form in ("icc1", "icc1k")
    noise = within if oneway else error
    # Without error variance F is infinite, and limits from it would have no width.
    if np.isnan(value) or not noise > 0:
        return IccTest(value, *(float("nan"),) * 6)
    df1, df2 = n - 1, n * (k - 1) if oneway else (n - 1) * (k - 1)
    f = rows / noise
    p = float(scipy.special.fdtrc(df1, df2, f))
    if form in ("icc2", "icc2k"):
        single = float(_icc(np.asarray(sums, dtype=np.float64), "icc2", k)[0])
        low, high = _two_way_random_interval(single, rows, columns, error, n, k, tail)
        if form == "icc2k":
            # The mean's limits are the single rating's, carried over by Spearman and Brown's
            # formula, which has no value from -1 / (k - 1) downwards.
            low, high = (
                k * x / (1 + (k - 1) * x) if 1 + (k - 1) * x > 0 else float("nan")
                for x in (low, high)
            )
        return IccTest(value, low, high, f, df1, df2, p)
    low, high = _f_interval(form, f, df1, df2, k, tail)
    return IccTest(value, low, high, f, df1, df2, p)


def oneway_icc_test(form: IccForm, sums: Array, level: float = 0.95) -> IccTest:
    """The same for a one-way form of units that different raters may have labelled.

    `sums`: the totals of oneway_sums, (6,). Units with unequal numbers of labels have the F test,
    and no interval.

    Example:
        >>> codes = Codes(np.array([[0, 0, -1], [1, -1, 2], [-1, 2, 2]]), np.arange(3), 3)
        >>> round(oneway_icc_test("icc1", oneway_sums(codes).sum(0)).f, 3)
        13.0
    """
    mean_of_raters = form == "icc1k"
    value = float(_oneway(np.asarray(sums, dtype=np.float64), mean_of_raters)[0])
    between, within, n, n_labels, k = (float(x) for x in _oneway_squares(sums))
    if np.isnan(value) or not within > 0:
        return IccTest(value, *(float("nan"),) * 6)
    df1, df2, f = n - 1, n_labels - n, between / within
    p = float(scipy.special.fdtrc(df1, df2, f))
    low = high = float("nan")
    if n * float(sums[2]) == n_labels**2:
        low, high = _f_interval(form, f, df1, df2, k, 1 - (1 - level) / 2)
    return IccTest(value, low, high, f, df1, df2, p)


def _f_interval(
    form: IccForm, f: float, df1: float, df2: float, k: float, tail: float
) -> tuple[float, float]:
    """The limits from F, of all forms but those of randomly sampled raters."""
    f_low = f / float(scipy.special.fdtri(df1, df2, tail))
    f_high = f * float(scipy.special.fdtri(df2, df1, tail))
    if form.endswith("k"):
        low, high = (1 - 1 / x if x > 0 else float("nan") for x in (f_low, f_high))
    else:
        low, high = ((x - 1) / (x + k - 1) for x in (f_low, f_high))
    return low, high


def _two_way_random_interval(
    single: float, rows: float, columns: float, error: float, n: float, k: int, tail: float
) -> tuple[float, float]:
    """The F interval of icc2, with Satterthwaite's degrees of freedom.

    They are those of the mixture of rater and error variance.
    """
    # At exactly 1 the degrees of freedom divide by zero.
    if single == 1:
        return float("nan"), float("nan")
    a = k * single / (n * (1 - single))
    b = 1 + k * single * (n - 1) / (n * (1 - single))
    spread = (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    if not spread > 0:
        return float("nan"), float("nan")
    df = (a * columns + b * error) ** 2 / spread
    mix = k * columns + (k * n - k - n) * error
    lower, upper = (float(scipy.special.fdtri(*d, tail)) for d in ((n - 1, df), (df, n - 1)))
    low = n * (rows - lower * error) / (lower * mix + n * rows)
    return low, n * (upper * rows - error) / (mix + n * upper * rows)


def _icc(totals: Array, form: IccForm, n_raters: int) -> Array:
    rows, columns, error, within, n = mean_squares(totals, n_raters)
    noise = within if form in ("icc1", "icc1k") else error
    # The mean of k raters is the single form with k noise terms in one.
    k = n_raters if not form.endswith("k") else 1
    below = rows + (k - 1) * noise
    if form in ("icc2", "icc2k"):
        below = below + k * (columns - error) / np.where(n > 0, n, np.nan)
    return ratio(rows - noise, below)[..., None]


def _oneway(totals: Array, mean_of_raters: bool) -> Array:
    between, within, _, _, per_unit = _oneway_squares(totals)
    below = between if mean_of_raters else between + (per_unit - 1) * within
    return ratio(between - within, below)[..., None]


def _oneway_squares(totals: Array) -> tuple[Array, Array, Array, Array, Array]:
    """The mean squares between and within units, units, labels, and typical labels of a unit."""
    totals = np.asarray(totals, dtype=np.float64)
    n, n_labels, squared_labels, groups, squares, total = (totals[..., i] for i in range(6))
    enough = (n > 1) & (n_labels > n)
    n, n_labels = np.where(enough, n, np.nan), np.where(enough, n_labels, np.nan)
    between = _above_rounding(groups - total**2 / n_labels, squares) / (n - 1)
    within = _above_rounding(squares - groups, squares) / (n_labels - n)
    return between, within, n, n_labels, (n_labels - squared_labels / n_labels) / (n - 1)


def _above_rounding(sum_of_squares: Array, scale: Array) -> Array:
    """Zero for what is only rounding error of sums as large as `scale`."""
    return np.where(
        sum_of_squares > 1e-12 * scale,
        sum_of_squares,
        np.where(np.isnan(sum_of_squares), np.nan, 0.0),
    )


def _values(codes: Codes) -> tuple[Array, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """Values with 0 where there is no label, and whether there is a label.

    The values are shifted so that the sums of squares stay small.
    """
    x = label_values(codes.n_labels, codes.values)
    # By a whole number, so that whole values keep exact sums.
    x = x - np.round((x.max() + x.min()) / 2)
    labelled = codes.labels >= 0
    return np.where(labelled, x[codes.labels], 0.0), labelled
