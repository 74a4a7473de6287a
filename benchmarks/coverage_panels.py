"""Do differences of panels that share no rater hold? Shares, percent agreement and kappas of two
groups of raters.

    python benchmarks/coverage_panels.py                  print the table
    python benchmarks/coverage_panels.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_panels.py --studies 100    fewer simulated studies

A rater says "yes" where the item's difficulty, the rater's severity, noise and a constant are
together above 0. Both panels rate the same items. The truth is that of all raters of the two
populations."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np
from coverage_document import report_part
from coverage_raters import verdict
from scipy import special, stats

from konsil.stats.engine.contract import Array, IntArray
from konsil.stats.inference import wald
from konsil.stats.inference.rater_jackknife import by_raters, of_two_panels
from konsil.stats.inference.wald import WaldInterval

BEGIN, END = "<!-- panels: begin -->", "<!-- panels: end -->"
SIZES = ((3, 3), (5, 5), (9, 9), (15, 15), (3, 15))
SEVERITIES = (0.3, 0.8)
ITEMS = 100
NOISY = 1.6


@dataclass(frozen=True)
class Panel:
    """Raters of one population, who label every item; `yes`: the share of labels that are "yes"."""

    raters: int
    severity: float
    yes: float = 0.5
    noise: float = 1.0

    @property
    def constant(self) -> float:
        """What makes "yes" as frequent as it is."""
        return float(stats.norm.ppf(self.yes)) * float(
            np.sqrt(1 + self.severity**2 + self.noise**2)
        )

    def labels(self, generator: np.random.Generator, difficulty: Array) -> IntArray:
        """Labels (items, raters) of 0 and 1."""
        severity = self.severity * generator.standard_normal(self.raters)
        noise = self.noise * generator.standard_normal((len(difficulty), self.raters))
        return (self.constant + difficulty[:, None] + severity + noise > 0).astype(np.int64)


@cache
def true_agreement(panel: Panel) -> tuple[float, float]:
    """Percent agreement and the mean kappa of two raters of the panel's population, by integration
    over items."""
    first, second = panel.severity * np.random.default_rng(5).standard_normal((2, 20_000))
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    p, q = (
        special.ndtr((panel.constant + nodes[None] + who[:, None]) / panel.noise)
        for who in (first, second)
    )
    a, b, both = p @ weights, q @ weights, (p * q) @ weights
    observed, chance = 1 - a - b + 2 * both, a * b + (1 - a) * (1 - b)
    return float(observed.mean()), float(((observed - chance) / (1 - chance)).mean())


def pairs_of(labels: IntArray, statistic: str) -> tuple[Array, Array, Array]:
    """Each pair's number (n_pairs,), its items' influences (n_pairs, n_items), and who is in it
    (n_pairs, n_raters)."""
    n, raters = labels.shape
    first, second = np.triu_indices(raters, 1)
    x, y = labels[:, first].T, labels[:, second].T
    same = (x == y).astype(np.float64)
    observed = same.mean(axis=1)
    members = np.zeros((len(first), raters), dtype=bool)
    members[np.arange(len(first)), first] = members[np.arange(len(first)), second] = True
    if statistic == "percent_agreement":
        return observed, (same - observed[:, None]) / n, members
    a, b = x.mean(axis=1), y.mean(axis=1)
    chance = a * b + (1 - a) * (1 - b)
    rest = np.where(chance < 1, 1 - chance, np.nan)
    kappa = (observed - chance) / rest
    moves = (x - a[:, None]) * (2 * b - 1)[:, None] + (y - b[:, None]) * (2 * a - 1)[:, None]
    influence = (same - observed[:, None]) / rest[:, None] - (1 - kappa)[:, None] * moves / rest[
        :, None
    ]
    return kappa, influence / n, members


def mean_of(pairs: tuple[Array, Array, Array], left_out: int | None = None) -> tuple[float, Array]:
    """The mean over pairs of which the number is known, and its influences (n_items, 1), without a
    rater."""
    values, influence, members = pairs
    used = np.isfinite(values)
    if left_out is not None:
        used &= ~members[:, left_out]
    if not used.any():
        return float("nan"), np.full((influence.shape[1], 1), np.nan)
    return float(values[used].mean()), influence[used].mean(axis=0)[:, None]


def agreement(first: IntArray, second: IntArray, statistic: str) -> WaldInterval:
    """The interval by raters of the first panel's agreement minus the second's."""
    parts = []
    for labels in (first, second):
        pairs, raters = pairs_of(labels, statistic), labels.shape[1]
        without = [mean_of(pairs, rater) for rater in range(raters)]
        parts.append((*mean_of(pairs), by_raters(without, np.full(raters, 1 / raters))))
    (a, psi_a, raters_a), (b, psi_b, raters_b) = parts
    if raters_a is None or raters_b is None:
        nothing = np.full(1, np.nan)
        return wald.with_test(nothing, nothing, nothing)
    return of_two_panels(np.array([a - b]), psi_a - psi_b, raters_a, raters_b, n_items=len(first))


def share(first: IntArray, second: IntArray) -> WaldInterval:
    """The interval by raters of the first panel's share of "yes" minus the second's."""
    parts = []
    for sign, labels in ((1, first), (-1, second)):
        parts.append(sign * (labels - labels.mean()).ravel() / labels.size)
    items = [np.repeat(np.arange(len(labels)), labels.shape[1]) for labels in (first, second)]
    raters = [np.tile(np.arange(labels.shape[1]), len(labels)) for labels in (first, second)]
    return wald.two_way(
        np.concatenate(parts)[:, None],
        np.concatenate(items),
        np.concatenate([raters[0], raters[1] + first.shape[1]]),
        np.array([first.mean() - second.mean()]),
        strata=np.repeat([0, 1], [first.size, second.size]),
    )


@dataclass(frozen=True)
class Cell:
    """What one design says: how often there is an interval, holds it the truth, excludes it 0; its
    median width."""

    known: float
    covers: float
    rejects: float
    width: float


def cell(
    first: Panel, second: Panel, statistic: str, truth: float, studies: int, seed: int
) -> Cell:
    """Simulate the studies of one design."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(studies):
        difficulty = generator.standard_normal(ITEMS)
        ours, theirs = (panel.labels(generator, difficulty) for panel in (first, second))
        interval = (
            share(ours, theirs) if statistic == "share" else agreement(ours, theirs, statistic)
        )
        low, high, p = float(interval.low[0]), float(interval.high[0]), float(interval.p[0])
        if np.isfinite(low):
            rows.append((low <= truth <= high, p <= 0.05, high - low))
    if not rows:
        return Cell(0.0, np.nan, np.nan, np.nan)
    held, rejected, width = np.array(rows, dtype=np.float64).T
    return Cell(
        len(rows) / studies, float(held.mean()), float(rejected.mean()), float(np.median(width))
    )


def cells(raters: tuple[int, int], severity: float, studies: int) -> list[tuple[str, Cell, Cell]]:
    """One row's designs: without a difference, and with one; of two shares, percent agreement and
    kappa."""
    seed = 10_000 * raters[0] + 100 * raters[1] + round(10 * severity)
    rows = []
    for yes, other in ((0.5, 0.3), (0.1, 0.25)):
        first, second = (Panel(n, severity, yes) for n in raters)
        null = cell(first, second, "share", 0.0, studies, seed)
        rows.append(
            (
                "share",
                null,
                cell(first, replace(second, yes=other), "share", yes - other, studies, seed + 1),
            )
        )
    first, second = (Panel(n, severity) for n in raters)
    noisy = replace(second, noise=NOISY)
    for place, statistic in enumerate(("percent_agreement", "cohen_kappa")):
        truths = [true_agreement(replace(panel, raters=2))[place] for panel in (first, noisy)]
        null = cell(first, second, statistic, 0.0, studies, seed + 2)
        rows.append(
            (
                statistic,
                null,
                cell(first, noisy, statistic, truths[0] - truths[1], studies, seed + 3),
            )
        )
    return rows


def table(studies: int):
    """The document's rows."""
    names = ("share 50 %", "share 10 %", "percent agreement", "kappa")
    yield (
        "| raters | taste | "
        + " | ".join(f"{name}, p <= .05 | covers | width" for name in names)
        + " |"
    )
    yield "|---:|---:|" + "---:|---:|---:|" * len(names)
    for severity, raters in product(SEVERITIES, SIZES):
        words = []
        for _, null, planted in cells(raters, severity, studies):
            n = [round(part.known * studies) for part in (null, planted)]
            words.append(
                f"{null.rejects:.3f}{verdict(null.rejects, n[0], 0.0, 0.06)} |"
                f" {planted.covers:.3f}{verdict(planted.covers, n[1], 0.93, 0.985)} |"
                f" {planted.width:.2f}"
            )
        yield f"| {raters[0]} and {raters[1]} | {severity:g} | {' | '.join(words)} |"


def report(studies: int) -> str:
    """The document's part on panels."""
    return f"""{BEGIN}
## Panels without a common rater

{studies:,} studies of each design by `python benchmarks/coverage_panels.py --write`: two panels rate all of {ITEMS}
items, and their difference has the interval and p value with raters as the sampling unit. A rater's severity is
normal with the given standard deviation ("taste"), an item's difficulty has 1. *p <= .05* is the type I error rate
for two panels of one population. *Covers* and *width* are for panels that differ: proportions of 50 % and 30 %, of 10
% and 25 %; for agreement, labels with noise of 1 and of {NOISY:g}. "(!)" marks results whose 95 % limits are entirely
above .06 (tests) or outside .93 to .985 (coverage).

{chr(10).join(table(studies))}

Panels of similar size have the nominal level. Tests of agreement of three or five raters are conservative, because
leaving out one of so few raters has a large effect. If one panel has several times the raters of the other and a
proportion is near 0 or 1, the test rejects too often: the mean and the variance of few raters' proportions are
correlated in this range, which cancels out for panels of the same size. With a proportion of 10 % and a taste of .8,
the rate was .06 with 3 and 9 raters, .08 with 3 and 30, .09 with 5 and 30; with 20 % it was .06, .06 and .08 (1,500
studies each). The row states this if one panel has at least three times the raters of the other and a proportion is
at most 25 % or at least 75 %.
{END}
"""


def main() -> int:
    """Print the table, and write it where that is wanted."""
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
