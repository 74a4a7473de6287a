"""Group sequential designs: bounds of interim analyses, and inference after the last of them.

The statistics Z_1 .. Z_K of the analyses are taken as multivariate normal with independent
increments: with information fractions t_k, Z_k sqrt(t_k) has drift delta t_k and variance t_k, and
delta = 0 under the null hypothesis (Jennison and Turnbull 2000, chapter 3). Probabilities are
computed by recursive numerical integration over the continuation region of each analysis
(Armitage, McPherson and Rowe 1969; Jennison and Turnbull 2000, chapter 19), with Gauss-Legendre
nodes. All tests are two-sided and symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import optimize, special

from konsil.stats.designs.spending import Spending, spent
from konsil.stats.engine.contract import Array

SOURCE = "Jennison and Turnbull (2000)"
CLOSEST = 0.01
"""The least difference between the information fractions of two analyses."""
LARGEST_BOUND = 12.0
"""A bound of this size is never crossed: an analysis that may spend less than 1e-32."""
_REACH = 9.0
"""Standard deviations beyond which a density is taken as zero."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


class Stage(NamedTuple):
    """Probabilities of one analysis, before it is known."""

    upper: float
    """That the trial stops here above the upper bound."""
    lower: float
    """That it stops here below the lower bound."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of a two-sided group sequential test; arrays have the shape (k,)."""

    fractions: Array
    """Information fractions of the analyses, rising."""
    critical: Array
    """The null hypothesis is rejected at analysis k where |Z_k| >= critical[k]."""
    futility: Array
    """The trial may stop for futility where |Z_k| < futility[k]; 0: never."""
    spent: Array
    """The two-sided type I error spent up to each analysis."""
    is_binding: bool = False
    """Whether the critical values rely on stopping for futility."""

    @property
    def nominal(self) -> Array:
        """The two-sided p value that each analysis must reach."""
        return np.asarray(2 * special.ndtr(-self.critical))

    @property
    def inner(self) -> Array:
        """The futility bounds that count in probabilities: none where they are not binding."""
        return self.futility if self.is_binding else np.zeros_like(self.futility)


class SequentialInference(NamedTuple):
    """Inference after the last analysis, adjusted for the analyses before it."""

    p: float
    """Two-sided p value by stage-wise ordering."""
    estimate: float
    """Median-unbiased estimate of the drift."""
    low: float
    """Lower end of the confidence interval of the drift."""
    high: float
    """Upper end."""


def bounds(
    fractions: Sequence[float],
    *,
    spending: Spending = "obrien_fleming",
    alpha: float = 0.05,
    rho: float = 2.0,
    futility: Sequence[float] = (),
    binding: bool = False,
    spending_times: Sequence[float] = (),
) -> Bounds:
    """Critical values that spend the type I error of `spending` at the observed fractions.

    At analysis k, P(first |Z_k| >= c_k) = spent(t_k) - spent(t_(k-1)) under the null hypothesis.
    The critical values of the first k analyses depend on their fractions alone, so that they are
    computed as the analyses are made. `futility` are bounds of |Z|, one for each analysis but the
    last, or for each; with `binding` the critical values rely on them, otherwise they may be
    ignored without a larger type I error. `spending_times` are used instead of the fractions for
    what may be spent, as at a last analysis that spends all that remains.

    An analysis that may spend less than can be computed has the bound LARGEST_BOUND. Raises
    ValueError for fractions that do not rise by CLOSEST or more from above 0, for futility bounds
    that reach a critical value, and for those of `spent`.

    Source: Lan and DeMets (1983); Jennison and Turnbull (2000), chapters 7 and 19.

    >>> bounds([0.5, 1.0]).critical.round(4)
    array([2.9626, 1.9686])
    """
    t = _checked(fractions)
    times = t if len(spending_times) == 0 else np.asarray(spending_times, dtype=np.float64)
    if times.shape != t.shape:
        raise ValueError("spending_times: expected one for each analysis")
    total = spent(times, spending=spending, alpha=alpha, rho=rho)
    inner = np.zeros(len(t))
    inner[: len(futility)] = futility[: len(t)]
    critical = np.empty(len(t))
    chain = _Chain(t, 0.0)
    before = 0.0
    for k, target in enumerate(total):
        share = (target - before) / 2
        critical[k] = _bound(chain, share)
        before = target
        if inner[k] < 0 or (inner[k] >= critical[k] and k < len(t) - 1):
            raise ValueError(
                f"futility {inner[k]:g}: expected 0 or more and less than the critical value"
                f" {critical[k]:.4g} of analysis {k + 1}"
            )
        chain.step(critical[k], inner[k] if binding else 0.0)
    return Bounds(t, critical, inner, total, binding)


def stages(design: Bounds, drift: float = 0.0) -> tuple[Stage, ...]:
    """Probabilities of stopping at each analysis where the drift at full information is `drift`.

    `drift` is the mean of Z at the information fraction 1. Futility stops the trial where it is
    binding, and is ignored otherwise. Source: Jennison and Turnbull (2000), chapter 19.

    >>> first = stages(bounds([0.5, 1.0]))
    >>> round(2 * sum(stage.upper for stage in first), 6)
    0.05
    """
    chain = _Chain(design.fractions, drift)
    out = []
    for critical, inner in zip(design.critical, design.inner, strict=True):
        out.append(Stage(chain.above(critical), chain.below(-critical)))
        chain.step(critical, inner)
    return tuple(out)


def inference(design: Bounds, z: float, *, level: float = 0.95) -> SequentialInference:
    """The p value, median-unbiased estimate and interval of the drift after the last analysis.

    `design` are the analyses made, `z` is the statistic at the last of them, whether or not it
    crosses a bound. By stage-wise ordering an outcome is higher than (K, z) where an earlier
    analysis crossed its upper bound, or analysis K is reached with Z_K >= z; lower likewise. With
    upper(d) and lower(d) the probabilities of both at drift d:

        p = 2 min(upper(0), lower(0)), at most 1
        estimate: upper(d) = lower(d)
        interval: upper(low) = (1 - level) / 2 = lower(high)

    p is at most alpha exactly where z crosses the last bound, if that spends all of alpha. Stops
    for futility that are not binding are ignored; after a stop for futility the coverage is
    approximate (docs/coverage.md). With one analysis all
    of this is the fixed test. The drift of an effect with standard error se at fraction t is
    effect / (se sqrt(t)): divided by this scale it is an estimate in units of the outcome.

    nan where z is nan. Raises ValueError where the level is not between 0 and 1. Source: Tsiatis,
    Rosner and Mehta (1984); Jennison and Turnbull (2000), chapter 8.

    >>> result = inference(bounds([1.0]), 2.5)
    >>> [round(float(value), 3) for value in result]
    [0.012, 2.5, 0.54, 4.46]
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level}: expected a number between 0 and 1, such as 0.95")
    if not math.isfinite(z):
        return SequentialInference(math.nan, math.nan, math.nan, math.nan)
    upper, lower = _tails(design, z, 0.0)
    scale = math.sqrt(design.fractions[-1])
    start, tail = z / scale, (1 - level) / 2
    return SequentialInference(
        min(1.0, 2 * min(upper, lower)),
        _root(lambda drift: -float(np.subtract(*_tails(design, z, drift)[::-1])), start),
        _root(lambda drift: _tails(design, z, drift)[0] - tail, start),
        _root(lambda drift: tail - _tails(design, z, drift)[1], start),
    )


def signed_z(value: float, p: float) -> float:
    """The normal statistic of a two-sided p value, with the sign of the value it tests.

    z = sign(value) Phi^-1(1 - p / 2): 0 at p = 1. nan where either is nan. Source: Jennison and
    Turnbull (2000), chapter 11, for t statistics.

    >>> round(signed_z(-0.2, 0.05), 3)
    -1.96
    """
    return math.copysign(tail_z(p), value)


def tail_z(p: float) -> float:
    """The z that a standard normal exceeds in absolute value with probability p; nan of nan.

    >>> round(tail_z(0.05), 3)
    1.96
    """
    return float(-special.ndtri(p / 2))


class _Chain:
    """The density of Z_k sqrt(t_k) on the continuation regions so far, analysis by analysis."""

    def __init__(self, fractions: Array, drift: float) -> None:
        self.t = fractions
        self.drift = drift
        self.k = 0
        self.nodes = np.zeros(1)
        self.mass = np.ones(1)  # density times weight of each node; first all at the origin

    @property
    def _increment(self) -> tuple[float, float]:
        """Mean and standard deviation of the next increment."""
        delta = self.t[self.k] - (self.t[self.k - 1] if self.k else 0.0)
        return self.drift * delta, math.sqrt(delta)

    def above(self, z: float) -> float:
        """Probability of reaching the next analysis with Z >= z."""
        mean, sd = self._increment
        end = z * math.sqrt(self.t[self.k])
        return float(self.mass @ special.ndtr((self.nodes + mean - end) / sd))

    def below(self, z: float) -> float:
        """Probability of reaching the next analysis with Z <= z."""
        mean, sd = self._increment
        end = z * math.sqrt(self.t[self.k])
        return float(self.mass @ special.ndtr((end - self.nodes - mean) / sd))

    def step(self, critical: float, inner: float) -> None:
        """Go on to the analysis after the next where inner <= |Z| < critical."""
        if self.k == len(self.t) - 1:
            self.k += 1
            return
        mean, sd = self._increment
        root = math.sqrt(self.t[self.k])
        # The integrand changes over the standard deviation of the increment before and after.
        following = math.sqrt(self.t[self.k + 1] - self.t[self.k])
        centre = self.drift * self.t[self.k]
        reach = (centre - _REACH * root, centre + _REACH * root)
        edges = [(-critical, critical)] if inner <= 0 else [(-critical, -inner), (inner, critical)]
        nodes, weights = _grid([(a * root, b * root) for a, b in edges], reach, min(sd, following))
        steps = (nodes[:, None] - self.nodes[None, :] - mean) / sd
        density = np.exp(-0.5 * steps**2) @ self.mass / (sd * math.sqrt(2 * math.pi))
        self.nodes, self.mass = nodes, density * weights
        self.k += 1


def _grid(
    regions: Sequence[tuple[float, float]], reach: tuple[float, float], width: float
) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on panels of the regions within reach."""
    nodes, weights = [np.empty(0)], [np.empty(0)]
    for low, high in regions:
        low, high = max(low, reach[0]), min(high, reach[1])
        if high <= low:
            continue
        ends = np.linspace(low, high, math.ceil((high - low) / width) + 1)
        half = np.diff(ends)[:, None] / 2
        nodes.append((ends[:-1, None] + half * (1 + _NODES)).ravel())
        weights.append((half * _WEIGHTS).ravel())
    return np.concatenate(nodes), np.concatenate(weights)


def _bound(chain: _Chain, share: float) -> float:
    """The upper bound that the next analysis crosses with this probability."""
    if share <= chain.above(LARGEST_BOUND):
        return LARGEST_BOUND
    # On the scale of logarithms, since the first shares may be of any order.
    return float(
        optimize.brentq(
            lambda c: math.log(max(chain.above(c), 1e-300) / share), 0.0, LARGEST_BOUND, xtol=1e-11
        )
    )


def _tails(design: Bounds, z: float, drift: float) -> tuple[float, float]:
    """Probabilities of a higher and of a lower outcome than z at the last analysis."""
    chain = _Chain(design.fractions, drift)
    upper = lower = 0.0
    for critical, inner in zip(design.critical[:-1], design.inner[:-1], strict=True):
        upper += chain.above(critical)
        lower += chain.below(-critical)
        chain.step(critical, inner)
    return upper + chain.above(z), lower + chain.below(z)


def _root(function: Callable[[float], float], start: float) -> float:
    """The root of a rising function near `start`."""
    width = 2.0
    while function(start - width) > 0 or function(start + width) < 0:
        width *= 2
        if width > 64:
            return math.nan
    return float(optimize.brentq(function, start - width, start + width, xtol=1e-9))


def _checked(fractions: Sequence[float]) -> Array:
    t = np.asarray(fractions, dtype=np.float64)
    steps = np.diff(t, prepend=0.0)
    if t.ndim != 1 or not t.size or not (steps >= CLOSEST - 1e-12).all():
        raise ValueError(
            f"fractions: expected rising numbers, each {CLOSEST:g} or more above the one before"
        )
    return t
