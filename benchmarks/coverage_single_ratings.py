"""Do comparisons of majorities show more than holds for raters like these? The test of the majorities
and that of the single ratings behind them.

    python benchmarks/coverage_single_ratings.py                  print the table
    python benchmarks/coverage_single_ratings.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_single_ratings.py --studies 100    fewer simulated studies

A rater says "yes" where the answer, the rater's severity, the rater's taste for the system and noise
are together above 0; the systems are alike in the population of raters. Ties of two ratings are
broken by one further person."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from coverage_document import report_part
from coverage_raters import verdict

from konsil.analysis.estimation.measure import Measure, share, share_of_units
from konsil.analysis.estimation.raters.rater_differences import of_single_ratings
from konsil.analysis.model.sample import Sample
from konsil.stats.agreement.consensus import majority
from konsil.stats.engine.contract import Codes, Estimate, IntArray
from konsil.stats.inference.multiplicity import holm
from konsil.stats.shares.share_differences import Outcomes, score_difference

BEGIN, END = "<!-- single ratings: begin -->", "<!-- single ratings: end -->"
SYSTEMS, GOOD = 3, 0.6
QUALITY, ITEM, SEVERITY = 1.04, 0.55, 0.3
TASTES = (0.0, 0.3, 0.6)


@dataclass(frozen=True)
class Design:
    """How many raters there are, how many of them rate an item, and how many items there are."""

    raters: int
    each: int
    items: int


DESIGNS = (
    Design(5, 2, 100),
    Design(5, 5, 60),
    Design(9, 9, 200),
    Design(9, 2, 300),
    Design(9, 2, 1200),
)


def labels_of(
    generator: np.random.Generator, design: Design, taste: float
) -> tuple[IntArray, IntArray]:
    """Labels (items, raters, systems), -1 where a rater does not rate an item; and the majorities.

    Of an even number of raters, a tie goes to one further person, who rates where ties are.
    """
    n, raters = design.items, design.raters
    draw = generator.standard_normal
    quality = np.where(generator.random((n, 1, SYSTEMS)) < GOOD, QUALITY, -QUALITY)
    of_rater = SEVERITY * draw((1, raters + 1, 1)) + taste * draw((1, raters + 1, SYSTEMS))
    latent = quality + ITEM * draw((n, 1, SYSTEMS)) + of_rater
    every = (latent + math.sqrt(1 - ITEM**2) * draw(latent.shape) > 0).astype(np.int64)
    # As many items for each rater, in pairs that are drawn.
    order = np.argsort(generator.random((n, raters)), axis=1)
    is_rating = order < design.each
    labels = np.where(is_rating[..., None], every[:, :-1], -1)
    decided = np.stack([majority(labels[..., s]) for s in range(SYSTEMS)], axis=-1)
    return labels, np.where(decided < 0, every[:, -1], decided)


def sample_of(labels: IntArray) -> Sample:
    """One system's labels, each item a cluster."""
    n, raters = labels.shape
    names = tuple(f"{i:05}" for i in range(n))
    codes = Codes(labels, np.arange(n), 2)
    return Sample(codes, tuple(map(str, range(raters))), names, names)


def measure_of(labels: IntArray, decided: IntArray) -> Measure:
    """A system's share of majorities, with the single ratings behind it."""
    single = share_of_units(sample_of(labels), [1])
    return replace(share(sample_of(decided[:, None]), [1]), by_single_ratings=single)


def p_values(labels: IntArray, decided: IntArray) -> tuple[list[float], list[Estimate]]:
    """Of each pair of systems the p value of the majorities, and the single ratings' difference."""
    measures = [measure_of(labels[..., s], decided[..., s]) for s in range(SYSTEMS)]
    of_majorities, single = [], []
    for a, b in combinations(range(SYSTEMS), 2):
        x, y = decided[:, a] > 0, decided[:, b] > 0
        both, first, second, neither = (
            float(np.sum(cells)) for cells in (x & y, x & ~y, ~x & y, ~x & ~y)
        )
        of_majorities.append(
            score_difference(Outcomes(both, first, second, neither, 0.0, 0.0, 0.0, 0.0)).p
        )
        headline = Estimate(float(x.mean() - y.mean()), p=of_majorities[-1])
        two = of_single_ratings(headline, measures[a], measures[b], "item")
        single.append(two if two is not None else Estimate(math.nan))
    return of_majorities, single


@dataclass(frozen=True)
class Cell:
    """Type I error rates of one design: a pair, and any pair after Holm's adjustment; and widths."""

    pairs: int
    """Comparisons with an interval of the single ratings."""
    majorities: float
    single: float
    any_of_majorities: float
    any_single: float
    width: float
    """The mean width of the single ratings' interval."""


def cell(design: Design, taste: float, studies: int) -> Cell:
    """Simulate the studies of one design."""
    generator = np.random.default_rng(
        100_000 * design.raters + 10_000 * design.each + 10 * design.items + round(10 * taste)
    )
    first, second, widths = [], [], []
    for _ in range(studies):
        of_majorities, single = p_values(*labels_of(generator, design, taste))
        first.append(of_majorities)
        second.append([e.p for e in single])
        widths += [e.high - e.low for e in single]
    shown = [np.mean([min(holm(p)) <= 0.05 for p in every]) for every in (first, second)]
    return Cell(
        int(np.isfinite(widths).sum()),
        float(np.mean(np.array(first) <= 0.05)),
        float(np.mean(np.array(second) <= 0.05)),
        float(shown[0]),
        float(shown[1]),
        float(np.nanmean(widths)),
    )


def table(studies: int):
    """The document's rows."""
    yield (
        "| raters | of an item | items | taste | majorities, p <= .05 | any of 3 |"
        " single ratings, p <= .05 | any of 3 | width |"
    )
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    designs = list(product(DESIGNS, TASTES))
    with ProcessPoolExecutor(2) as pool:
        cells = pool.map(cell, *zip(*designs, strict=True), [studies] * len(designs))
    for (design, taste), c in zip(designs, cells, strict=True):
        rates = [
            # The comparisons of a study are not independent: its number is the sample's.
            f"{rate:.3f}{verdict(rate, studies, 0.0, 0.06)}"
            for rate in (c.majorities, c.any_of_majorities, c.single, c.any_single)
        ]
        yield (
            f"| {design.raters} | {design.each} | {design.items:,} | {taste:g} |"
            f" {' | '.join(rates)} | {c.width:.2f} |"
        )


def report(studies: int) -> str:
    """The document's part on comparisons of majorities."""
    return f"""{BEGIN}
## Comparisons of majorities by the same raters

{studies:,} studies of each design by `python benchmarks/coverage_single_ratings.py --write`: {SYSTEMS} systems, equal in the
population of raters, are compared in pairs by their shares of majorities, with Tango's test over items, and by the
single ratings behind these, each item's mean (a tie counts half), with the two-way interval over items and raters.
Each rater has a taste for each system, normal with the given standard deviation, beside a severity of {SEVERITY:g}, items of
{ITEM:g} and noise; {GOOD:.0%} of the answers are good. Ties of two ratings are broken by one further person. *p <= .05* is the
type I error rate of a comparison, *any of 3* that of a study after Holm's adjustment. *Width*: mean width of the
single ratings' interval. "(!)" marks results whose 95 % limits are entirely above .06.

{chr(10).join(table(studies))}

The test of the majorities is conditional on the raters: with tastes it takes what these raters prefer for a difference
of the systems, the more often the more items there are. A report about raters like these calls such a difference
shown only if the single ratings show it, too.
{END}
"""


def main() -> int:
    """Print the table, and write it where that is wanted."""
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
