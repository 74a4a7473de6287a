"""Intervals of agreement from sparse labels: a posterior of the rating patterns.

Where a label is rare or raters hardly ever disagree, no resample contains what the clusters at hand
happen to lack, and the coverage of a bootstrap is far too low. Here every cluster has a weight
drawn from an exponential distribution (the Bayesian bootstrap), and a prior with the weight of
`PRIOR_CLUSTERS` clusters is added, spread over all the ways in which the raters could have labelled
a unit. For two raters of single units this is the Dirichlet posterior of their table of labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import scipy

from konsil.stats.engine.cluster_sums import Sums
from konsil.stats.engine.contract import Array, Codes, Finalise, IntArray
from konsil.stats.engine.renumbering import renumbered
from konsil.stats.engine.resample import evaluate
from konsil.stats.inference import intervals

PRIOR_CLUSTERS = 2.0
"""The weight of the prior, in clusters."""

CONCENTRATION = 1.0
"""How similar the raters of a unit are in the prior: two raters give the same of k labels with
probability (concentration / k + 1) / (concentration + 1)."""

MOST_PATTERNS = 256
"""Up to this many patterns all are listed; otherwise this many are sampled."""

MOST_LABELS = 10
"""Scales with more labels have no prior: none of their labels is rare in a sense that differs from
the next label."""

_BLOCK = 512
"""Draws that share one random stream."""

_PURPOSE = 3
"""Top word of the Philox counter: these draws share no random numbers with those of `weights`,
which uses 0 to 2."""

_WIDEST = 1 << 22
"""The largest number of sums of all patterns; with more there is no prior."""


@dataclass(frozen=True, eq=False)
class Prior:
    """The rows and weights that the prior adds to the sums."""

    rows: Array
    """(n_patterns, k) the sums of a cluster whose units all have the pattern."""
    weights: Array
    """(n_patterns,) the weight of each pattern in clusters; they sum to PRIOR_CLUSTERS."""


def prior(
    codes: Codes, tally: Callable[[Codes], Sums], *, defined: Array | None = None
) -> Prior | None:
    """The prior of a sample for one kind of sums; None where there is none.

    A pattern gives each rater a label. Its weight is that of Pólya's urn: the labels of a unit are
    drawn from proportions that are themselves Dirichlet(concentration / k). Units that not all
    raters labelled give the patterns their gaps, unless `defined` (k,) states which columns of the
    sums are those of a defined table (`of_defined_tables`): then each of these tables has the whole
    prior, however few units it has, and the others have nothing of it. A pattern stands for a
    cluster of the mean number of units.

    Source: Rubin (1981), The Bayesian bootstrap; the weights: ours, chosen by simulation
    (docs/coverage.md).

    >>> from konsil.stats.engine.tables import pair_tables
    >>> virtual = prior(Codes(np.array([[0, 1], [1, 1]]), np.arange(2), 2), pair_tables)
    >>> virtual.weights
    array([0.75, 0.25, 0.25, 0.75])
    """
    n_raters, k = codes.labels.shape[1], codes.n_labels
    is_rated = codes.labels >= 0
    compared = is_rated.sum(axis=1) >= 2
    if not (2 <= k <= MOST_LABELS) or not compared.any():
        return None
    if (defined is not None or bool(is_rated[compared].all())) and k**n_raters <= MOST_PATTERNS:
        drawn = np.array(list(product(range(k), repeat=n_raters)), dtype=np.int64)
        weights = np.exp(_log_urn(drawn, k))
    else:
        drawn = _urn(np.random.Generator(np.random.Philox(key=k)), n_raters, k)
        weights = np.full(MOST_PATTERNS, 1 / MOST_PATTERNS)
    # Raters in the order of their labels and not of their names, so that a new name changes no
    # draw.
    order = sorted(range(n_raters), key=lambda rater: codes.labels[:, rater].tobytes())
    labels = np.empty_like(drawn)
    labels[:, order] = drawn
    gaps = ~is_rated[compared]
    if defined is None:
        labels[gaps[np.arange(len(labels)) * len(gaps) // len(labels)]] = -1
    tallied = tally(replace(codes, labels=labels, clusters=np.arange(len(labels))))
    if not isinstance(tallied, np.ndarray) or tallied.size > _WIDEST:
        return None
    if defined is not None:
        # Tables without a unit stay undefined: they are left out of the mean.
        tallied = tallied * defined
    n_clusters = len(renumbered(codes.clusters[compared])[0])
    return Prior(tallied * (compared.sum() / n_clusters), PRIOR_CLUSTERS * weights)


def of_defined_tables(sums: Sums, size: int) -> Array:
    """Which columns of the sums belong to a table with a unit: 1 or 0, (k,).

    Each table has `size` columns.

    >>> of_defined_tables(np.array([[0, 0, 1, 0], [0, 0, 0, 2]]), 2)
    array([0., 0., 1., 1.])
    """
    totals = np.asarray(sums.sum(axis=0)).ravel()
    return np.repeat((totals.reshape(-1, size).sum(axis=1) > 0).astype(np.float64), size)


def _log_urn(labels: IntArray, k: int) -> Array:
    """The log weight of each pattern under Pólya's urn, (n_patterns, n_raters) to (n_patterns,)."""
    counts = np.stack([(labels == label).sum(axis=1) for label in range(k)], axis=1)
    each, n_raters = CONCENTRATION / k, labels.shape[1]
    log_total = scipy.special.gammaln(CONCENTRATION) - scipy.special.gammaln(
        CONCENTRATION + n_raters
    )
    return np.asarray(
        log_total + (scipy.special.gammaln(each + counts) - scipy.special.gammaln(each)).sum(axis=1)
    )


def _urn(generator: np.random.Generator, n_raters: int, k: int) -> IntArray:
    """Patterns sampled from the urn, (MOST_PATTERNS, n_raters)."""
    shares = generator.dirichlet(np.full(k, CONCENTRATION / k), MOST_PATTERNS)
    bounds = np.cumsum(shares, axis=1)[:, None, :-1]
    drawn: IntArray = (generator.random((MOST_PATTERNS, n_raters, 1)) > bounds).sum(axis=2)
    return drawn


def draws_of(sums: Array, prior: Prior, finalise: Finalise, *, draws: int, key: int) -> Array:
    """The statistic in every draw of the posterior, finalise(weights @ rows), (draws, m).

    `sums` (n_clusters, k). Equal rows are collapsed into one: a row that stands for n clusters has
    a weight from a gamma distribution of shape n. The weights are scaled to the number of clusters.
    nan where the statistic is undefined.
    """
    filled = sums[sums.any(axis=1)]
    every = np.concatenate([filled, prior.rows])
    # Equal rows share one gamma variable of their summed shapes, which has the same law.
    _, first, place = np.unique(every, axis=0, return_index=True, return_inverse=True)
    shapes = np.bincount(
        place.ravel(), weights=np.concatenate([np.ones(len(filled)), prior.weights])
    )
    # In the order of the clusters, which does not depend on the raters' names.
    order = np.argsort(first)
    rows, shapes = every[first[order]], shapes[order]
    parts = []
    for block in range(-(-draws // _BLOCK)):
        weights = _stream(key, block).standard_gamma(shapes, (_BLOCK, len(shapes)))
        # The weights sum to the number of clusters: some formulas use counts, not shares.
        weights *= len(filled) / weights.sum(axis=1, keepdims=True)
        parts.append(evaluate(finalise, weights @ rows))
    return np.concatenate(parts)[:draws]


def _stream(key: int, block: int) -> np.random.Generator:
    """The random numbers of a block of draws, which depend on the key and the block alone."""
    philox_key = np.array([key & 0xFFFFFFFFFFFFFFFF, block], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=philox_key, counter=[0, 0, 0, _PURPOSE]))


def interval(drawn: Array, value: Array, df: float, level: float = 0.95) -> tuple[Array, Array]:
    """Quantiles of the draws, widened for few clusters and extended to the value; (m,) each.

    The tails are Phi(-t) instead of (1 - level) / 2, t the quantile of Student's distribution with
    `df` degrees of freedom, because few clusters carry little information on their own spread. `df`
    is the number of clusters minus one, or fewer where few clusters have many of the units. nan
    with `df` below 1 and where the value or every draw is undefined.

    Source of the tails: Hesterberg (2015), What teachers should know about the bootstrap.
    """
    if df < 1:
        return np.full_like(value, np.nan), np.full_like(value, np.nan)
    tail = float(scipy.special.ndtr(-scipy.special.stdtrit(df, (1 + level) / 2)))
    ordered = intervals.order(drawn)
    low, high = (ordered.quantile(np.full(len(value), share)) for share in (tail, 1 - tail))
    # The estimate lies in its own interval, also where the draws are skewed.
    return np.minimum(low, value), np.maximum(high, value)
