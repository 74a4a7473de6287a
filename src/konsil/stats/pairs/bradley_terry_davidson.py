"""Worths of systems by models of paired comparisons: Davidson's with ties, and Bradley and Terry's.

With u = sqrt(a_i / a_j) and d the tie parameter, P(i beats j) = u^2 / (u^2 + d u + 1) and P(tie) =
d u / the same; Bradley and Terry's model has d = 0. The likelihood depends on the votes through
wins + ties / 2 of each pair's first system and the number of ties. The worths' logarithms sum to
zero. Where the likelihood has no maximum they are undefined (nan) and `Worths.reason` says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from konsil.stats.engine.contract import Array
from konsil.stats.pairs.votes import n_pairs, pair_members
from konsil.stats.pairs.wins import VoteStatistic
from konsil.stats.pairs.worth_designs import (
    Counts,
    Design,
    WhyUndefined,
    contradicts,
    counts_of,
    reachable,
    some_of,
    undefined_because,
    with_virtual_system,
)

DAVIDSON = "Davidson, J Am Stat Assoc 65:317, 1970"
BRADLEY_TERRY = "Bradley and Terry, Biometrika 39:324, 1952"

_SMALL = 12
"""Up to this many systems the Hessians of many draws are computed at once."""
_QUICK, _STEPS = 30, 90
"""The number of steps with the full data's Hessian, which needs no solving; the number of all
steps."""
_SETTLED = 1e-10
"""A step in the logarithms that changes no printed digit."""
_TOGETHER = 1 << 19
"""Pairs of all draws in memory at once."""


@dataclass(frozen=True, eq=False)
class Worths:
    """A fitted model."""

    log_worths: Array
    """(n_systems,) summing to zero; nan where undefined."""
    log_tie: float
    """The logarithm of Davidson's tie parameter; nan for the other model."""
    covariance: Array
    """(n_systems, n_systems) of the log worths, from the model's information: votes are assumed to
    be independent."""
    inverse: Array
    """(q, q) the inverse information, of the log worths and, for Davidson, of log_tie; with a
    penalty also of the virtual system, which is the last one."""
    reason: WhyUndefined
    """Why the worths are undefined; empty where they are defined."""
    of_penalty: Array | None = None
    """(n_systems, n_systems) the part of a penalty in the covariance; None without a penalty."""


def fit(cell_totals: Array, chosen: Design) -> Worths:
    """The maximum of the likelihood by Newton's method, or the reason why there is none.

    Totals (n_cells,). Undefined where the systems cannot all be ordered: some were never compared
    with the others, or some lost to none of the others. Davidson's model is also undefined where
    every vote is a tie, where none is, and where no vote contradicts the order of the others (no
    cycle of wins and ties has more wins than ties): the tie parameter and the distances between the
    systems then increase together without limit. With a penalty it is undefined only without any
    comparison; see `with_virtual_system`. The sampling variance of the comparisons alone leaves out
    that the estimates are drawn towards their mean; with that of the virtual comparisons, as in a
    posterior, intervals cover (Wahba, J R Stat Soc B 45:133, 1983).

    Source: Davidson (1970); Bradley and Terry (1952); existence: Ford, Am Math Mon 64:28, 1957;
    penalty: Mease (2003).

    >>> from konsil.stats.pairs.worth_designs import design
    >>> fit(np.array([2.0, 4.0, 4.0]), design(2)).log_worths.round(4)
    array([ 0.3466, -0.3466])
    """
    fitted, k = _with_virtual(cell_totals, chosen), chosen.n_systems
    if not chosen.penalty or fitted.reason:
        return replace(
            fitted, log_worths=fitted.log_worths[:k], covariance=fitted.covariance[:k, :k]
        )
    # The strengths of all but the virtual system, around their own mean.
    centre = np.eye(k) - 1 / k
    none, inner = with_virtual_system(counts_of(0 * cell_totals, chosen), chosen)
    information = _information(none, inner, _start(fitted, inner)[None])[0]
    of_penalty = (fitted.inverse @ information @ fitted.inverse)[:k, :k]
    return replace(
        fitted,
        log_worths=fitted.log_worths[:k] - fitted.log_worths[:k].mean(),
        covariance=centre @ fitted.covariance[:k, :k] @ centre,
        of_penalty=centre @ of_penalty @ centre,
    )


def penalty_variances(fitted: Worths, reference: int) -> tuple[Array, Array]:
    """The variance of a penalty in the log worths and in their differences to one of them.

    (n_systems,) each; 0 without a penalty.
    """
    of = fitted.of_penalty
    if of is None:
        return np.zeros(len(fitted.log_worths)), np.zeros(len(fitted.log_worths))
    own = np.diag(of)
    return own, np.maximum(own + own[reference] - 2 * of[reference], 0)


def _with_virtual(cell_totals: Array, chosen: Design) -> Worths:
    """The fit of all systems, with the virtual one of a penalised fit as the last."""
    counts = counts_of(cell_totals, chosen)
    augmented, inner = with_virtual_system(counts, chosen)
    if not counts.n.any():  # a penalty alone is no estimate
        return _undefined(inner.n_systems, _size(inner), "no_comparisons")
    return _fit(augmented, inner)


def _undefined(k: int, q: int, reason: WhyUndefined) -> Worths:
    return Worths(
        np.full(k, np.nan), np.nan, np.full((k, k), np.nan), np.full((q, q), np.nan), reason
    )


def _fit(counts: Counts, chosen: Design) -> Worths:
    """The maximum for one data set of a design without a penalty."""
    k, q = chosen.n_systems, _size(chosen)
    reason = undefined_because(counts, chosen)
    x, settled = np.full((1, q), np.nan), np.zeros(1, dtype=bool)
    # Newton's steps would run to infinity where the data allow no maximum: that is checked first.
    if not reason:
        x, settled = _newton(counts, chosen, np.zeros((1, q)))
        reason = "" if settled[0] else "no_maximum"
    if reason:
        return _undefined(k, q, reason)
    inverse = np.linalg.inv(_information(counts, chosen, x)[0])
    # Only differences of worths are identified: they are given around a mean of 0.
    centre = np.eye(k) - 1 / k
    return Worths(
        x[0, :k] - x[0, :k].mean(),
        float(x[0, k]) if q > k else np.nan,
        centre @ inverse[:k, :k] @ centre,
        inverse,
        "",
    )


def worths(start: Array, chosen: Design) -> VoteStatistic:
    """The log worths as a statistic.

    Totals (..., n_cells) -> log worths (..., n_systems), which sum to zero; nan for totals without
    a fit. Refits of draws start at the solution for the totals `start` (n_cells,). The gradient is
    that of an M-estimator, so that clustered intervals are valid even if the model is not.

    Source: Davidson (1970), Bradley and Terry (1952); Huber (1967) for the gradient.

    >>> from konsil.stats.pairs.worth_designs import design
    >>> cells = np.array([2.0, 4.0, 4.0])
    >>> worths(cells, design(2)).finalise(np.stack([cells, 2 * cells])).round(4)
    array([[ 0.3466, -0.3466],
           [ 0.3466, -0.3466]])
    """
    k, real = chosen.n_systems, slice(chosen.n_systems)
    inner = with_virtual_system(counts_of(start, chosen), chosen)[1]
    # Pairs with the virtual system of a penalised fit have no votes.
    is_real = np.flatnonzero(pair_members(inner.n_systems)[1] < k)
    full_fit = _with_virtual(start, chosen)
    tile = max(_TOGETHER // max(n_pairs(inner.n_systems), 1), 1)

    def finalise(cell_totals: Array) -> Array:
        flat = cell_totals.reshape(-1, cell_totals.shape[-1])
        out = np.full((len(flat), k), np.nan)
        for at in range(0, len(flat) if not full_fit.reason else 0, tile):
            counts = counts_of(flat[at : at + tile], chosen)
            refits = _refits(*with_virtual_system(counts, chosen), full_fit)[:, real]
            if chosen.penalty:  # around the mean of the others than the virtual system
                refits -= refits.mean(axis=1, keepdims=True)
            out[at : at + tile] = refits
        return out.reshape(*cell_totals.shape[:-1], k)

    def gradient(cell_totals: Array) -> Array:
        fitted, q = _with_virtual(cell_totals, chosen), inner.n_systems
        if fitted.reason:
            return np.full((cell_totals.size, k), np.nan)
        share, tied = (
            expected[0][is_real, None] for expected in _expected(_start(fitted, inner)[None], inner)
        )
        by_worth = inner.sides[is_real] @ fitted.inverse[:q, real]
        moved = (chosen.half - chosen.included * share)[..., None] * by_worth[:, None]
        if chosen.model == "davidson":
            moved += (chosen.tie - tied)[..., None] * fitted.inverse[q, real]
        moved -= moved.mean(axis=-1, keepdims=True)
        return np.asarray(moved.reshape(-1, k))

    support = np.ones((n_pairs(k), k), dtype=bool)
    source = DAVIDSON if chosen.model == "davidson" else BRADLEY_TERRY
    return VoteStatistic(chosen.model, finalise, gradient, support, None, source, by_pair=False)


def _size(chosen: Design) -> int:
    return chosen.n_systems + (chosen.model == "davidson")


def _start(fitted: Worths, chosen: Design) -> Array:
    return np.append(fitted.log_worths, fitted.log_tie)[: _size(chosen)]


def _refits(counts: Counts, chosen: Design, full_fit: Worths) -> Array:
    """Log worths (n, n_systems) of many data sets, starting at the full data's solution."""
    k = chosen.n_systems
    possible: NDArray[np.bool_] = np.asarray(reachable(counts, chosen).all(axis=(1, 2)))
    if chosen.model == "davidson":
        ties = counts.tie.sum(axis=1)
        # A resample without ties, or with ties alone, has no tie parameter.
        possible &= (ties > 0) & (ties < counts.n.sum(axis=1))
        possible[possible] = contradicts(some_of(counts, np.flatnonzero(possible)), chosen)
    which = np.flatnonzero(possible)
    out = np.full((len(possible), k), np.nan)
    start = np.tile(_start(full_fit, chosen), (len(which), 1))
    x, settled = _newton(some_of(counts, which), chosen, start, full_fit.inverse)
    x[~settled] = np.nan
    out[which] = x[:, :k] - x[:, :k].mean(axis=1, keepdims=True)
    return out


def _newton(
    counts: Counts, chosen: Design, x: Array, inverse: Array | None = None
) -> tuple[Array, NDArray[np.bool_]]:
    """Solve each data set by Newton steps of at most two.

    The first steps use `inverse`, if given, in place of the data sets' own Hessians.
    """
    x, moving = x.copy(), np.arange(len(x), dtype=np.int64)
    for turn in range(_STEPS):
        if not len(moving):
            break
        moving_counts = some_of(counts, moving)
        score = _score(moving_counts, chosen, x[moving])
        step: Array
        # The full data's inverse is near enough for most resamples and saves a solve for each.
        if inverse is not None and turn < _QUICK:
            step = score @ inverse
        else:
            information = _information(moving_counts, chosen, x[moving])
            # Far from the maximum it may be singular but for rounding; where the score is zero this
            # changes nothing.
            information += (
                1e-12 * np.eye(x.shape[1]) * np.trace(information, axis1=1, axis2=2)[:, None, None]
            )
            step = np.asarray(np.linalg.solve(information, score[..., None])[..., 0])
        largest = np.abs(step).max(axis=1)
        # Steps of at most 2 on the log scale: longer ones overshoot and may never return.
        x[moving] += step * np.minimum(1.0, 2.0 / np.maximum(largest, 1e-300))[:, None]
        moving = moving[~(largest < _SETTLED)]
    settled = np.ones(len(x), dtype=bool)
    settled[moving] = False
    return x, settled


def _expected(x: Array, chosen: Design) -> tuple[Array, Array]:
    """Each pair's expected share of its first system, ties half, and probability of a tie.

    Both arrays are (n, n_pairs).
    """
    k = chosen.n_systems
    # exp of larger numbers overflows; the shares are 0 or 1 long before.
    u = np.exp(np.clip((x[:, :k] @ chosen.sides.T) / 2, -300, 300))
    tie = np.exp(x[:, k:]) * u if chosen.model == "davidson" else np.zeros_like(u)
    total = u * u + tie + 1
    return (u * u + tie / 2) / total, tie / total


def _score(counts: Counts, chosen: Design, x: Array) -> Array:
    share, tied = _expected(x, chosen)
    score = (counts.half - counts.n * share) @ chosen.sides
    if chosen.model != "davidson":
        return np.asarray(score)
    return np.column_stack([score, (counts.tie - counts.n * tied).sum(axis=1)])


def _information(counts: Counts, chosen: Design, x: Array) -> Array:
    """The information matrix of each data set, (n, q, q).

    The direction that changes all log worths alike is given a weight, so that the matrix can be
    inverted.
    """
    k, q = chosen.n_systems, _size(chosen)
    share, tied = _expected(x, chosen)
    curvature = counts.n * (share - tied / 4 - share**2)
    out = np.empty((len(x), q, q))
    if k <= _SMALL:
        products = (chosen.sides[:, :, None] * chosen.sides[:, None]).reshape(-1, k * k)
        out[:, :k, :k] = (curvature @ products).reshape(-1, k, k)
    else:
        for at in range(len(x)):
            out[at, :k, :k] = (chosen.sides.T * curvature[at]) @ chosen.sides
    if q > k:
        out[:, k, :k] = out[:, :k, k] = (counts.n * tied * (0.5 - share)) @ chosen.sides
        out[:, k, k] = (counts.n * (tied - tied**2)).sum(axis=1)
    # The worths' sum is not identified; this fixes it without a change of the estimates.
    out[:, :k, :k] += np.trace(out[:, :k, :k], axis1=1, axis2=2)[:, None, None] / k**2
    return out
