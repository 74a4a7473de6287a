"""Intervals of agreement from sparse labels: a posterior of the rating patterns.

Where a label is rare or raters hardly ever disagree, no resample contains what the clusters at hand
happen to lack, and the coverage of a bootstrap is far too low. Here every cluster has a weight
drawn from an exponential distribution (the Bayesian bootstrap), and a prior is added, another one
for each limit, as Clopper and Pearson do for a proportion: for the lower limit a cluster that was
labelled by chance, for the upper limit a cluster in which all raters agree. One prior for both
limits would pull the whole interval to chance or to agreement, and true agreement near the other
end would lie outside too often.
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
from konsil.stats.engine.tables import label_counts
from konsil.stats.inference import intervals
from konsil.stats.inference.both_ways import exchanged

PRIOR_CLUSTERS = 1.0
"""The weight of the prior of each limit, in clusters; of the lower limit at least."""

LEAST_DISAGREEMENT = 0.6
"""The prior of the lower limit has at least the weight at which two of its raters disagree in this
many clusters: where labels are few or rare, raters who label by chance mostly agree."""

EVENNESS = 0.5
"""How much of the shares of labels oriented by chance is even over the labels in use; the rest is
observed."""

MOST_PATTERNS = 256
"""Up to this many patterns all are listed; otherwise half as many are sampled for each limit."""

_BLOCK = 512
"""Draws that share one random stream."""

_PURPOSE = 3
"""Top word of the Philox counter: these draws share no random numbers with those of `weights`,
which uses 0 to 2."""

WIDEST = 1 << 22
"""The largest number of sums of all patterns; with more there is no prior."""


@dataclass(frozen=True, eq=False)
class Virtual:
    """The clusters that a prior adds for one limit."""

    rows: Array
    """(n_patterns, k) the sums of a cluster whose units all have the pattern."""
    weights: Array
    """(n_patterns,) the weight of each pattern in clusters."""


@dataclass(frozen=True, eq=False)
class Prior:
    """What the prior adds to the sums."""

    chance: Virtual
    """Patterns of raters who label by chance, for the lower limit."""
    agreement: Virtual
    """Patterns of raters who all agree, for the upper limit."""


def prior(
    codes: Codes, tally: Callable[[Codes], Sums], *, defined: Array | None = None
) -> Prior | None:
    """The prior of a sample for one kind of sums; None where there is none.

    A pattern gives each rater a label. By chance, the shares of the labels are half the observed
    ones (with half a label more of each) and half even; patterns of agreement give all raters one
    of the labels in use, each as often. Labels that nobody used have no weight; if all labels are
    equal, the next one is counted as used. Units that not all raters labelled give the patterns
    their gaps, unless `defined` (k,) states which columns of the sums are those of a defined table
    (`of_defined_tables`): then each of these tables has the whole prior, however few units it has,
    and the others have nothing of it. A pattern stands for a cluster of the mean number of units.
    None for a single declared label, where no unit has two labels, or where the sums are too wide.

    Sources: Rubin (1981), The Bayesian bootstrap; Clopper and Pearson (1934) for a prior of each
    limit; the weights: ours, chosen by simulation (docs/coverage.md).

    >>> from konsil.stats.engine.tables import pair_tables
    >>> virtual = prior(Codes(np.array([[0, 1], [1, 1]]), np.arange(2), 2), pair_tables)
    >>> virtual.chance.weights, virtual.agreement.weights
    (array([0.2 , 0.3 , 0.3 , 0.45]), array([0.5, 0.5]))
    """
    is_rated = codes.labels >= 0
    compared = is_rated.sum(axis=1) >= 2
    if codes.n_labels < 2 or not compared.any():
        return None
    shares = _shares(replace(codes, labels=codes.labels[compared]))
    gaps = ~is_rated[compared]
    has_gaps = defined is None and bool(gaps.any())
    chance, agreement, weights = _patterns(shares, codes.labels.shape[1], is_sampled=has_gaps)
    # Raters in the order of their labels and not of their names, so that a new name changes no
    # draw.
    oriented = _oriented_labels(codes)
    order = sorted(range(chance.shape[1]), key=lambda rater: oriented[:, rater].tobytes())
    chance = chance[:, np.argsort(order)]
    if has_gaps:
        place = np.arange(len(chance)) * len(gaps) // len(chance)
        chance, agreement = (np.where(gaps[place], -1, some) for some in (chance, agreement))
    labels = np.concatenate([chance, agreement])
    tallied = tally(replace(codes, labels=labels, clusters=np.arange(len(labels))))
    if tallied.shape[0] * tallied.shape[1] > WIDEST:
        return None
    tallied = tallied if isinstance(tallied, np.ndarray) else tallied.toarray()
    if defined is not None:
        # Tables without a unit stay undefined: they are left out of the mean.
        tallied = tallied * defined
    n_clusters = len(renumbered(codes.clusters[compared])[0])
    rows = np.split(tallied * (compared.sum() / n_clusters), [len(chance)])
    disagreement = 1 - (shares**2).sum()
    weights[0] = weights[0] * max(1.0, LEAST_DISAGREEMENT / disagreement)
    return Prior(*(Virtual(*parts) for parts in zip(rows, weights, strict=True)))


def _shares(codes: Codes) -> Array:
    """The shares of the labels oriented by chance, (n_labels,)."""
    counts = label_counts(codes).astype(np.float64)
    if codes.reverse is not None:
        # Which of two answers comes first means nothing.
        counts = (counts + counts[list(codes.reverse)]) / 2
    in_use = counts > 0
    if in_use.sum() == 1:
        in_use[(int(counts.argmax()) + 1) % codes.n_labels] = True
    observed = (counts + 0.5) * in_use
    shares: Array = (1 - EVENNESS) * observed / observed.sum() + EVENNESS * in_use / in_use.sum()
    return shares


def _oriented_labels(codes: Codes) -> IntArray:
    """Labels in an orientation that does not depend on which of two answers comes first."""
    if codes.reverse is None:
        return codes.labels
    turned = exchanged(codes).labels
    lead = np.sign((codes.labels - turned).sum(axis=1, keepdims=True))
    return np.where(
        lead, np.where(lead > 0, codes.labels, turned), np.minimum(codes.labels, turned)
    )


def _patterns(
    shares: Array, n_raters: int, *, is_sampled: bool
) -> tuple[IntArray, IntArray, list[Array]]:
    """Patterns of chance and of agreement, (n_patterns, n_raters) each, and their weights.

    The weights of each sum to PRIOR_CLUSTERS.
    """
    used = np.flatnonzero(shares)
    if not is_sampled and len(used) ** n_raters <= MOST_PATTERNS:
        chance = np.array(list(product(used.tolist(), repeat=n_raters)), dtype=np.int64)
        agreement = np.repeat(used[:, None], n_raters, axis=1)
        weights = [shares[chance].prod(axis=1), np.full(len(used), 1 / len(used))]
    else:
        # Every rater has each part of the distribution once (a Latin hypercube), so that no sample
        # of patterns changes a rater's shares of the labels.
        n = MOST_PATTERNS // 2
        quantile = (np.arange(n) + 0.5) / n
        label = used[np.searchsorted(np.cumsum(shares[used])[:-1], quantile)]
        generator = np.random.Generator(np.random.Philox(key=n_raters))
        chance = np.stack([generator.permutation(label) for _ in range(n_raters)], axis=1)
        alike = generator.permutation(used[(quantile * len(used)).astype(np.int64)])
        agreement = np.repeat(alike[:, None], n_raters, axis=1)
        weights = [np.full(n, 1 / n)] * 2
    return chance, agreement, [PRIOR_CLUSTERS * some for some in weights]


def of_defined_tables(sums: Sums, size: int) -> Array:
    """Which columns of the sums belong to a table with a unit: 1 or 0, (k,).

    Each table has `size` columns.

    >>> of_defined_tables(np.array([[0, 0, 1, 0], [0, 0, 0, 2]]), 2)
    array([0., 0., 1., 1.])
    """
    totals = np.asarray(sums.sum(axis=0)).ravel()
    return np.repeat((totals.reshape(-1, size).sum(axis=1) > 0).astype(np.float64), size)


def draws_of(sums: Array, prior: Prior, finalise: Finalise, *, draws: int, key: int) -> Array:
    """The statistic in every draw of the posterior for each limit, (2, draws, m).

    finalise(weights @ rows) with the prior of the lower limit first, then with that of the upper
    limit; the clusters have the same weights in both. `sums` (n_clusters, k). Equal rows are
    collapsed into one: a row that stands for n clusters has a weight from a gamma distribution of
    shape n. The weights are scaled to the number of clusters. nan where the statistic is undefined.
    """
    filled = sums[sums.any(axis=1)]
    rows, shapes = _collapsed(filled, np.ones(len(filled)))
    limits = [_collapsed(v.rows, v.weights) for v in (prior.chance, prior.agreement)]
    parts: tuple[list[Array], list[Array]] = ([], [])
    for block in range(-(-draws // _BLOCK)):
        stream = _stream(key, block)
        weights = stream.standard_gamma(shapes, (_BLOCK, len(shapes)))
        totals, size = weights @ rows, weights.sum(axis=1, keepdims=True)
        for part, (added, shape) in zip(parts, limits, strict=True):
            more = stream.standard_gamma(shape, (_BLOCK, len(shape)))
            # The weights sum to the number of clusters: some formulas use counts, not shares.
            scale = len(filled) / (size + more.sum(axis=1, keepdims=True))
            part.append(evaluate(finalise, (totals + more @ added) * scale))
    return np.stack([np.concatenate(part)[:draws] for part in parts])


def _collapsed(rows: Array, weights: Array) -> tuple[Array, Array]:
    """Different rows with their summed weights, in the order of the clusters.

    Equal rows share one gamma variable of their summed shapes, which has the same law.
    """
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    shapes = np.bincount(place.ravel(), weights=weights).astype(np.float64)
    # That order does not depend on the raters' names.
    order = np.argsort(first)
    return rows[first[order]], shapes[order]


def _stream(key: int, block: int) -> np.random.Generator:
    """The random numbers of a block of draws, which depend on the key and the block alone."""
    philox_key = np.array([key & 0xFFFFFFFFFFFFFFFF, block], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=philox_key, counter=[0, 0, 0, _PURPOSE]))


def interval(drawn: Array, value: Array, df: float, level: float = 0.95) -> tuple[Array, Array]:
    """Quantiles of the draws (2, draws, m) for each limit, widened for few clusters; (m,) each.

    The tails are Phi(-t) instead of (1 - level) / 2, t the quantile of Student's distribution with
    `df` degrees of freedom, because few clusters carry little information on their own spread. `df`
    is the number of clusters minus one, or fewer where few clusters have many of the units. The
    interval is extended to the value. nan with `df` below 1 and where the value or every draw is
    undefined.

    Source of the tails: Hesterberg (2015), What teachers should know about the bootstrap.
    """
    if df < 1:
        return np.full_like(value, np.nan), np.full_like(value, np.nan)
    tail = float(scipy.special.ndtr(-scipy.special.stdtrit(df, (1 + level) / 2)))
    low, high = (
        intervals.order(of_limit).quantile(np.full(len(value), share))
        for of_limit, share in zip(drawn, (tail, 1 - tail), strict=True)
    )
    # The estimate lies in its own interval, also where the draws are skewed.
    return np.minimum(low, value), np.maximum(high, value)


def standard_error(drawn: Array) -> float:
    """The standard deviation of the draws (2, draws) of one number: the root mean square of both.

    nan without a draw in which the number is defined.
    """
    each = [of_limit[np.isfinite(of_limit)] for of_limit in drawn]
    variances = [some.var() for some in each if len(some)]
    return float(np.sqrt(np.mean(variances))) if variances else float("nan")
