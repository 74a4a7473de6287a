"""Repeated-measures analysis of variance of cases that every system answers at every level.

A case is one row of m = n_systems x n_levels means, systems outermost. Its sums are 1, the means
and their products, so that effects are functions of totals like every other statistic: cases are
resampled whole.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Array

REPEATED = (
    "Kirk, Experimental Design, 4th ed. 2013, chapter 10; Greenhouse and Geisser, Psychometrika"
    " 24:95, 1959"
)


RANGE = "Tukey, Biometrics 5:99, 1949; paired: Maxwell, J Educ Stat 5:269, 1980"


class Effect(NamedTuple):
    """One F test."""

    f: float
    """The F value."""
    df: float
    """Degrees of freedom of the effect, corrected where `epsilon` is below 1."""
    df_error: float
    """Degrees of freedom of the error, corrected likewise."""
    p: float
    """The upper tail's probability."""
    eta: float
    """Partial eta squared."""
    epsilon: float
    """Greenhouse and Geisser's departure from sphericity; 1 where nothing is corrected."""


def products(means: Array) -> Array:
    """1, the means and their products, (n_cases, m) to (n_cases, 1 + m + m m).

    The row of a case that lacks a mean is all zero.

    >>> products(np.array([[1.0, 2.0], [np.nan, 1.0]])).tolist()
    [[1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 4.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    # Systems are compared within cases: a case that lacks a cell is in no sum.
    is_complete = np.asarray(np.isfinite(means).all(axis=1))
    complete_means = np.where(is_complete[:, None], means, 0.0)
    return np.column_stack(
        [
            is_complete.astype(np.float64),
            complete_means,
            (complete_means[:, :, None] * complete_means[:, None, :]).reshape(
                len(complete_means), -1
            ),
        ]
    )


def contrasts(n_systems: int, n_levels: int) -> dict[str, Array]:
    """Orthonormal contrasts of each effect, (df, m).

    The effects are 'system', 'level', 'interaction', and 'level_of_k' per system.

    >>> {name: c.shape for name, c in contrasts(2, 5).items()}
    {'system': (1, 10), 'level': (4, 10), 'interaction': (4, 10), 'level_of_0': (4, 10), 'level_of_1': (4, 10)}
    """  # noqa: E501
    systems, levels = _differences(n_systems), _differences(n_levels)
    mean_s, mean_l = (np.full((1, n), n**-0.5) for n in (n_systems, n_levels))
    by_effect = {
        "system": np.kron(systems, mean_l),
        "level": np.kron(mean_s, levels),
        "interaction": np.kron(systems, levels),
    }
    for n in range(n_systems):
        by_effect[f"level_of_{n}"] = np.kron(np.eye(n_systems)[n : n + 1], levels)
    return by_effect


def _differences(n: int) -> Array:
    """Orthonormal rows that sum to zero, (n - 1, n)."""
    rows = np.array([[1.0] * k + [-float(k)] + [0.0] * (n - k - 1) for k in range(1, n)])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if n > 1 else np.zeros((0, n))


def _sums_of_squares(totals: Array, contrast: Array) -> tuple[Array, Array, Array, Array]:
    m = contrast.shape[1]
    n = totals[..., 0]
    mean = ratio(totals[..., 1 : 1 + m], np.broadcast_to(n[..., None], (*n.shape, m)))
    square = totals[..., 1 + m :].reshape(*totals.shape[:-1], m, m)
    along = mean @ contrast.T
    effect = n * (along**2).sum(axis=-1)
    spread = (
        contrast @ square @ contrast.T
        - n[..., None, None] * along[..., :, None] * along[..., None, :]
    )
    error = np.maximum(np.trace(spread, axis1=-2, axis2=-1), 0.0)
    # Relative to the data's size: F of what rounding leaves would be any number.
    floor = 1e-12 * np.maximum(np.trace(square, axis1=-2, axis2=-1), 1e-300)
    return np.where(effect > floor, effect, 0.0), np.where(error > floor, error, 0.0), spread, n


def repeated_measures(totals: Array, contrast: Array) -> Effect:
    """The F test of an effect within cases, corrected by Greenhouse and Geisser.

    Totals (1 + m + m m,).

    F = (SS / df) / (SS error / df error), df = rows of the contrast, df error = df (n - 1); epsilon
    = tr(S)^2 / (df tr(S S)), S = C Q C' - n C mean mean' C', multiplies both. All nan with fewer
    than two cases or without error.

    Source: Kirk 2013; Greenhouse and Geisser 1959.

    >>> rows = products(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 3.0]]))
    >>> found = repeated_measures(rows.sum(axis=0), contrasts(1, 2)["level"])
    >>> round(found.f, 3), round(found.p, 3)
    (3.0, 0.225)
    """
    effect, error, spread, n = _sums_of_squares(np.asarray(totals, dtype=np.float64), contrast)
    df = len(contrast)
    # Without error variance F is infinite, which no test can use.
    if n < 2 or error <= 0:
        return Effect(*[float("nan")] * 6)
    epsilon = float(np.trace(spread) ** 2 / (df * (spread**2).sum())) if df > 1 else 1.0
    return _effect(float(effect), float(error), df, df * (float(n) - 1), epsilon)


def eta_interval(effect: Effect, level: float = 0.95) -> tuple[float, float]:
    """The interval of partial eta squared that inverts the F test.

    It contains 0 where the test does not reject. The ends' noncentralities l solve P(F >= f) = (1 -
    level) / 2 and P(F <= f) = (1 - level) / 2, and are 0 where there is no solution; eta squared is
    l / (l + df + df error), with the corrected degrees of freedom. (nan, nan) where F is undefined.

    A bootstrap of eta squared never contains 0, because eta squared is above 0 in every resample:
    in 300 simulated studies without an effect no bootstrap interval contained the true value.

    Source: Steiger and Fouladi, Noncentrality interval estimation, 1997; Smithson, Educ Psychol
    Meas 61:605, 2001.

    >>> low, high = eta_interval(Effect(0.5, 4.0, 156.0, 0.74, 0.013, 1.0))
    >>> low, round(high, 3)
    (0.0, 0.039)
    """
    f, df, df_error = effect.f, effect.df, effect.df_error
    if not np.isfinite(f):
        return float("nan"), float("nan")
    ends = []
    for share in ((1 + level) / 2, (1 - level) / 2):
        central = float(scipy.special.fdtr(df, df_error, f))
        # Where even no effect makes F this improbable, the noncentrality is 0 and not negative.
        at = float(scipy.special.ncfdtrinc(df, df_error, share, f)) if central > share else 0.0
        ends.append(at / (at + df + df_error))
    return ends[0], ends[1]


def _effect(
    effect: float, error: float, df: float, df_error: float, epsilon: float = 1.0
) -> Effect:
    if error <= 0 or df_error <= 0:
        return Effect(*[float("nan")] * 6)
    f = float((effect / df) / (error / df_error))
    df, df_error = df * epsilon, df_error * epsilon
    return Effect(
        f,
        df,
        df_error,
        float(scipy.special.fdtrc(df, df_error, f)),
        float(effect / (effect + error)),
        epsilon,
    )


def mixed_anova(means: Array) -> dict[str, Effect]:
    """Mixed analysis of variance of means (n_cases, s, l), with systems between cases.

    Subjects are cases within systems, as if each system had cases of its own. The effects are
    'system', 'level' and 'interaction', uncorrected. The same cases are in fact given to all
    systems, so that the test of 'system' loses power and its error term is wrong: for reproduction
    only. nan where an error term is zero.

    Source: the two-way mixed analysis of variance as CLExEval names it.

    >>> y = np.array([[[1.0, 2], [2, 5]], [[2, 4], [4, 4]], [[3, 3], [3, 6]]])
    >>> {name: round(e.f, 2) for name, e in mixed_anova(y).items()}
    {'system': 6.75, 'level': 6.75, 'interaction': 0.75}
    """
    n, s, k = means.shape
    case, cell = means.mean(axis=2), means.mean(axis=0)
    system, level, grand = cell.mean(axis=1), cell.mean(axis=0), cell.mean()
    both = cell - system[:, None] - level[None, :] + grand
    subjects = k * ((case - system) ** 2).sum()
    rest = ((means - case[:, :, None] - cell + system[:, None]) ** 2).sum()
    df_rest = s * (n - 1) * (k - 1)
    return {
        "system": _effect(n * k * ((system - grand) ** 2).sum(), subjects, s - 1, s * (n - 1)),
        "level": _effect(n * s * ((level - grand) ** 2).sum(), rest, k - 1, df_rest),
        "interaction": _effect(n * (both**2).sum(), rest, (s - 1) * (k - 1), df_rest),
    }


class Comparison(NamedTuple):
    """Two cells compared within a family."""

    difference: float
    """Mean of the first minus mean of the second."""
    low: float
    """The simultaneous interval's lower end."""
    high: float
    """Its upper end."""
    p: float
    """Adjusted for all comparisons of the family."""


def paired_range_test(differences: Array, n_cells: int, level: float = 0.95) -> Comparison:
    """Tukey's range test of two of `n_cells` cells on the same cases, with their own error.

    q = sqrt(2) |mean| / (sd / sqrt(n)) of the paired differences (n_cases,), compared with the
    studentised range of n_cells means with n - 1 degrees of freedom; no sphericity is assumed. nan
    with fewer than two cases or where the differences do not vary.

    Source: Maxwell, J Educ Stat 5:269, 1980: Tukey's test of repeated measures with separate
    errors.

    >>> found = paired_range_test(np.array([1.0, 2.0, 3.0, 2.0]), 3)
    >>> found.difference, round(found.p, 3)
    (2.0, 0.033)
    """
    # Imported here: it costs a second, and few analyses need it.
    from scipy.stats import (
        studentized_range,
    )

    values = differences[np.isfinite(differences)]
    n = len(values)
    error = float(values.std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
    # Differences that do not vary have no error to compare with.
    if error <= 1e-12:
        return Comparison(float(values.mean()) if n else float("nan"), *[float("nan")] * 3)
    mean = float(values.mean())
    p = float(studentized_range.sf(np.sqrt(2) * abs(mean) / error, n_cells, n - 1))
    reach = _range_quantile(level, n_cells, n - 1) * error / np.sqrt(2)
    return Comparison(mean, mean - reach, mean + reach, min(max(p, 0.0), 1.0))


# The quantile is integrated numerically and is the same for all pairs of an analysis.
@lru_cache(maxsize=64)
def _range_quantile(level: float, n_cells: int, df: int) -> float:
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, n_cells, df))


def tukey(cells: Array, level: float = 0.95) -> list[Comparison]:
    """Tukey's honestly significant differences of every two columns, taken as independent groups.

    q = sqrt(2) |difference| / (s sqrt(2 / n)) of columns (n_cases, n_cells), s the pooled standard
    deviation, compared with the studentised range of n_cells means. All nan with fewer than two
    cases; nan but for the differences where no column varies. Columns of the same cases are not
    independent: for reproduction only.

    Source: Tukey, Biometrics 5:99, 1949; as SciPy's `tukey_hsd`, which integrates numerically for
    every pair twice.

    >>> found = tukey(np.array([[1.0, 2.0, 6.0], [2.0, 3.0, 7.0], [3.0, 4.0, 8.0]]))
    >>> [(one.difference, round(one.p, 3)) for one in found]
    [(-1.0, 0.483), (-5.0, 0.002), (-4.0, 0.006)]
    """
    from scipy.stats import studentized_range  # imported here for the same reason

    n, n_cells = cells.shape
    pairs = [(i, j) for i in range(n_cells) for j in range(i + 1, n_cells)]
    if n < 2:
        return [Comparison(*[float("nan")] * 4) for _ in pairs]
    if float(cells.var(axis=0).sum()) <= 1e-20:
        means = cells.mean(axis=0)
        return [Comparison(float(means[i] - means[j]), *[float("nan")] * 3) for i, j in pairs]
    means = np.array([np.mean(column) for column in cells.T])
    variances = np.array([np.var(column, ddof=1) for column in cells.T])
    df = n * n_cells - n_cells
    error = np.sqrt(2 / n * ((variances * (n - 1)).sum() / df) / 2)
    differences = np.array([means[i] - means[j] for i, j in pairs])
    p = studentized_range.sf(np.abs(differences) / error, n_cells, df)
    reach = _range_quantile(level, n_cells, df) * error
    return [
        Comparison(float(d), float(d - reach), float(d + reach), float(at))
        for d, at in zip(differences, p, strict=True)
    ]
