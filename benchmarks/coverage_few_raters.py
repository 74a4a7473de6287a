"""From how many raters on do two-way intervals hold? Shares, kappas and win differences of few
raters.

    python benchmarks/coverage_few_raters.py                  print the table
    python benchmarks/coverage_few_raters.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_few_raters.py --studies 100    fewer simulated studies

A rater says "yes" where the item's difficulty, the rater's severity, noise of 1 and a constant are
together above 0. The truth is that of all raters of the population: for shares in closed form, for
kappa by integration."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
from coverage_document import report_part
from coverage_raters import Tastes, verdict
from scipy import special, stats

from konsil.stats.agreement import kappa
from konsil.stats.engine.arithmetic import ratio
from konsil.stats.engine.contract import Codes
from konsil.stats.inference import wald
from konsil.stats.inference.rater_jackknife import items_and_raters
from konsil.stats.pairs.two_way_clusters import crossed
from konsil.stats.pairs.wins import system_against_others

BEGIN, END = "<!-- few raters: begin -->", "<!-- few raters: end -->"
SIZES = (2, 3, 4, 5, 6, 9)
SEVERITIES = (0.3, 0.8)


@dataclass(frozen=True)
class Severities:
    """All raters label all items; `yes`: the share of labels that are "yes"."""

    raters: int
    severity: float
    yes: float = 0.5
    items: int = 100
    difficulty: float = 1.0

    def labels(self, generator):
        """Labels (items, raters) of 0 and 1."""
        spread = np.sqrt(1 + self.severity**2 + self.difficulty**2)
        latent = spread * stats.norm.ppf(self.yes) + self.difficulty * generator.standard_normal(
            (self.items, 1)
        )
        latent = latent + self.severity * generator.standard_normal(self.raters)
        return (latent + generator.standard_normal((self.items, self.raters)) > 0).astype(np.int32)


@cache
def true_kappa(severity, difficulty=1.0):
    """The mean kappa of two raters of the population, half of whose labels are "yes"."""
    first, second = severity * np.random.default_rng(5).standard_normal((2, 20_000))
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    p, q = (special.ndtr(difficulty * nodes[None] + bias[:, None]) for bias in (first, second))
    a, b, both = p @ weights, q @ weights, (p * q) @ weights
    observed, chance = 1 - a - b + 2 * both, a * b + (1 - a) * (1 - b)
    return float(((observed - chance) / (1 - chance)).mean())


def share(labels):
    """The two-way interval of the share of "yes", on the logit scale."""
    item, rater = np.nonzero(labels >= 0)
    rows = np.column_stack([labels[item, rater], np.ones(len(item))]).astype(float)
    value = np.array([rows[:, 0].mean()])
    estimate = wald.two_way(
        wald.linearised(rows, lambda t: ratio(t[..., :1], t[..., 1:])), item, rater, value
    )
    low, high = wald.interval(2 * value - 1, 2 * estimate.se, estimate.df, scale="atanh")
    return (1 + low[0]) / 2, (1 + high[0]) / 2


def tabled(labels):
    """The value and the items' influences of Cohen's kappa, the mean over pairs."""
    statistic = kappa.cohen_kappa(labels.shape[1], 2)
    sums = statistic.tally(Codes(labels, np.arange(len(labels)), 2))
    return float(statistic.finalise(np.asarray(sums.sum(axis=0)).ravel())[0]), wald.linearised(
        sums, statistic.finalise
    )


def agreement(labels):
    """The two-way interval of kappa."""
    value, influence = tabled(labels)
    without = [tabled(np.delete(labels, n, axis=1)) for n in range(labels.shape[1])]
    alike = np.full(labels.shape[1], 1 / labels.shape[1])
    estimate = items_and_raters(np.array([value]), influence, without, alike, scale="atanh")
    return estimate.low[0], estimate.high[0]


def wins(cast):
    """The two-way interval of the first system's win difference."""
    estimate = crossed(cast, system_against_others(4)).two_way
    return estimate.low[0], estimate.high[0]


def coverage(draw, interval, truth, studies, seed):
    """How often the interval holds the truth, and its median width, among the studies that have
    one."""
    generator = np.random.default_rng(seed)
    limits = np.array([interval(draw(generator)) for _ in range(studies)])
    limits = limits[np.isfinite(limits).all(axis=1)]
    hits = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    return (
        (float(hits.mean()), float(np.median(limits[:, 1] - limits[:, 0])))
        if len(limits)
        else (np.nan, np.nan)
    )


def columns(raters, severity, studies):
    """One row's designs: the two shares, kappa, win difference."""
    seed = 1000 * raters + round(10 * severity)
    for yes in (0.5, 0.1):
        yield coverage(Severities(raters, severity, yes).labels, share, yes, studies, seed)
    if raters > 2:
        yield coverage(
            Severities(raters, severity).labels, agreement, true_kappa(severity), studies, seed
        )
    else:
        yield np.nan, np.nan
    yield coverage(Tastes(raters, 200, severity, each=100).draw, wins, 0.0, studies, seed)


def table(studies):
    """The document's rows."""
    yield (
        "| raters | taste | share 50 % | width | share 10 % | width | kappa | width | win"
        " difference | width |"
    )
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for severity in SEVERITIES:
        for raters in SIZES:
            cells = [
                (
                    f"{hit:.3f}{verdict(hit, studies, 0.93, 0.985)} | {width:.2f}"
                    if np.isfinite(hit)
                    else "– | –"
                )
                for hit, width in columns(raters, severity, studies)
            ]
            yield f"| {raters} | {severity:g} | {' | '.join(cells)} |"


def report(studies):
    """The document's part on few raters."""
    return f"""{BEGIN}
## Few raters

{studies:,} studies of each design by `python benchmarks/coverage_few_raters.py --write`: the coverage of the two-way
interval for the mean in the population of raters, and its median width. Every rater labels all of 100 items (compares
100 of 200 items for win differences). A rater's severity, or preference for a system ("taste"), is normal with the
given standard deviation; an item's difficulty and the noise of a label have 1. "(!)" marks coverage whose 95 % limits
are outside .93 to .985.

{chr(10).join(table(studies))}

With two raters, the coverage is too low. With three, it is sufficient, but the intervals are too wide to be
informative: .66 to .77 for kappa, .9 to 1.7 for win differences. For proportions of 10 % and raters of very different
severity, it is .914 to .943, which is significantly below .93 in one cell, with five raters. If the protocol
specifies no target of inference, raters are therefore treated as a sample if their effective number is at least 4.5,
about five with equal numbers of ratings. Proportions have their two-way interval on the logit scale: on the
untransformed scale, with the same width, the coverage for a proportion of 10 % and a taste of .8 was .86 with three
raters, .90 with five and .90 with nine.
{END}
"""


def main():
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
