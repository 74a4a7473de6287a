"""Do differences of agreement between systems hold whose answers the same raters rate? Percent
agreement and kappa.

    python benchmarks/coverage_common_raters.py                  print the table
    python benchmarks/coverage_common_raters.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_common_raters.py --studies 100    fewer simulated studies

A rater says "yes" where the item, the item's answer by a system, the rater's severity, the rater's
taste for the system, noise of 1 and a constant are together above 0. The systems are alike in the
population of raters, so that the true difference is 0."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
from coverage_document import report_part
from coverage_panels import mean_of, pairs_of
from coverage_raters import verdict

from konsil.stats.engine.contract import IntArray
from konsil.stats.inference import wald
from konsil.stats.inference.rater_jackknife import (
    LeftOut,
    NumberOf,
    differences_without,
    items_and_raters,
    of_pairs,
)
from konsil.stats.inference.wald import WaldInterval

BEGIN, END = "<!-- common raters: begin -->", "<!-- common raters: end -->"
RATERS = (3, 5, 6, 9, 12)
ITEMS = (40, 200)
TASTES = (0.3, 0.6)
ITEM, ANSWER, SEVERITY, CONSTANT = 0.8, 0.5, 0.3, 0.8
STATISTICS = ("percent_agreement", "cohen_kappa")


def labels_of(generator: np.random.Generator, raters: int, items: int, taste: float) -> IntArray:
    """Labels (items, raters, systems) of 0 and 1."""
    draw = generator.standard_normal
    of_item = ITEM * draw((items, 1, 1)) + ANSWER * draw((items, 1, 2))
    of_rater = SEVERITY * draw((1, raters, 1)) + taste * draw((1, raters, 2))
    return (CONSTANT + of_item + of_rater + draw((items, raters, 2)) > 0).astype(np.int64)


def number(labels: IntArray, statistic: str) -> NumberOf:
    """Agreement on one system's answers, with what leaving out each rater makes of it."""
    pairs, (items, raters) = pairs_of(labels, statistic), labels.shape
    names = tuple(str(n) for n in range(raters))
    without = [mean_of(pairs, n) for n in range(raters)]
    left_out = LeftOut(names, np.full(raters, items), without)
    return NumberOf(*mean_of(pairs), left_out, np.arange(items))


def intervals(labels: IntArray, statistic: str) -> tuple[WaldInterval, WaldInterval]:
    """The difference of the two systems for raters like these, as it is printed, and by items."""
    first, second = (number(labels[..., system], statistic) for system in (0, 1))
    at = np.array([first.value - second.value])
    influence = first.influence - second.influence
    without, shares = differences_without(first, second)
    times = of_pairs(labels.shape[1]) if statistic == "percent_agreement" else 1.0
    two_way = items_and_raters(at, influence, without, shares, times=times)
    return two_way, wald.one_way(influence, at)


@dataclass(frozen=True)
class Cell:
    """One statistic in one design: how many studies have an interval, how often the two intervals
    exclude 0, and how many times as wide the first one is."""

    n: int
    rejects: float
    by_items: float
    wider: float


def cell(raters: int, items: int, taste: float, statistic: str, studies: int) -> Cell:
    """Simulate the studies of one design."""
    generator = np.random.default_rng(10_000 * raters + 10 * items + round(10 * taste))
    rows = []
    for _ in range(studies):
        two_way, by_items = intervals(labels_of(generator, raters, items, taste), statistic)
        if np.isfinite(two_way.low[0]):
            widths = [float(i.high[0] - i.low[0]) for i in (two_way, by_items)]
            rows.append((two_way.p[0] <= 0.05, by_items.p[0] <= 0.05, widths[0] / widths[1]))
    rejected, by_item, wider = np.array(rows, dtype=np.float64).T
    return Cell(len(rows), float(rejected.mean()), float(by_item.mean()), float(np.median(wider)))


def table(studies: int):
    """The document's rows."""
    names = ("percent agreement", "kappa")
    yield (
        "| raters | items | taste | "
        + " | ".join(f"{name}, p <= .05 | items alone | wider" for name in names)
        + " |"
    )
    yield "|---:|---:|---:|" + "---:|---:|---:|" * len(names)
    for taste, items, raters in product(TASTES, ITEMS, RATERS):
        words = []
        for statistic in STATISTICS:
            c = cell(raters, items, taste, statistic, studies)
            words.append(
                f"{c.rejects:.3f}{verdict(c.rejects, c.n, 0.0, 0.06)} |"
                f" {c.by_items:.3f}{verdict(c.by_items, c.n, 0.0, 0.06)} | {c.wider:.2f}"
            )
        yield f"| {raters} | {items} | {taste:g} | {' | '.join(words)} |"


def report(studies: int) -> str:
    """The document's part on differences of agreement between systems with common raters."""
    return f"""{BEGIN}
## Agreement on two systems by the same raters

{studies:,} studies of each design by `python benchmarks/coverage_common_raters.py --write`: all raters label the
answers of two systems to all items, and the difference of agreement has the two-way interval with raters left out one
at a time, of both systems together. Each rater has a taste for each system, normal with the given standard
deviation, beside a severity of {SEVERITY:g}, items of {ITEM:g}, answers of {ANSWER:g} and noise of 1; about 70 % of labels are
"yes". The systems are alike in the population of raters. *p <= .05* is the type I error rate; *items alone* is that of
the cluster-robust Wald test by items, which is conditional on these raters and must reject more often if raters have
tastes. *Wider*: the median ratio of the widths. "(!)" marks results whose 95 % limits are entirely above .06.

{chr(10).join(table(studies))}

The more items, the more often a test by items alone takes the tastes of a few raters for a difference. The two-way
test keeps its level; it is conservative for few raters, for kappa more than for percent agreement.
{END}
"""


def main() -> int:
    """Print the table, and write it where that is wanted."""
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
