"""Do intervals of win rates cover where wins are rare? One pair of systems, items and raters with
effects of their own.

    python benchmarks/coverage_win_rates.py                  print the table
    python benchmarks/coverage_win_rates.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_win_rates.py --studies 200    fewer simulated studies
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part
from scipy import stats

from konsil.stats.pairs.two_way_clusters import crossed
from konsil.stats.pairs.votes import votes
from konsil.stats.pairs.wins import head_to_head

BEGIN, END = "<!-- win rates: begin -->", "<!-- win rates: end -->"
ITEM, RATER = 0.6, 0.4


@dataclass(frozen=True)
class Pair:
    """How often two systems are compared, and how often the first one wins."""

    items: int
    per_item: int
    raters: int
    rate: float

    def draw(self, generator):
        """One study's votes: probit, with normal effects of items and raters."""
        item = np.repeat(np.arange(self.items), self.per_item)
        rater = generator.integers(0, self.raters, len(item))
        lean = (
            ITEM * generator.standard_normal(self.items)[item]
            + RATER * generator.standard_normal(self.raters)[rater]
        )
        cut = stats.norm.isf(self.rate) * np.sqrt(1 + ITEM**2 + RATER**2)
        outcome = np.where(lean + generator.standard_normal(len(item)) > cut, 1, -1)
        first = np.zeros(len(item), dtype=int)
        return votes(
            first,
            first + 1,
            outcome,
            item,
            rater,
            n_systems=2,
        ).among(n_questions=self.items, n_raters=self.raters)


SIZES = ((31, 1, 10), (31, 1, 31), (100, 1, 40), (60, 3, 20))
DESIGNS = [Pair(*size, rate) for size in SIZES for rate in (0.02, 0.05, 0.2, 0.5)]


def coverage(studied, studies, seed=5):
    """How often the printed interval and the linearised one hold the rate, and how wide the printed
    one is."""
    generator, hits, width = np.random.default_rng(seed), Counter(), 0.0
    for _ in range(studies):
        estimates = crossed(studied.draw(generator), head_to_head(2))
        two, value = estimates.two_way, estimates.value[0]
        reach = stats.t.ppf(0.975, max(two.df[0], 1)) * two.se[0]
        hits["printed"] += two.low[0] <= studied.rate <= two.high[0]
        hits["linearised"] += two.se[0] > 0 and value - reach <= studied.rate <= value + reach
        hits["items"] += estimates.question.low[0] <= studied.rate <= estimates.question.high[0]
        hits["exact"] += two.method[0] == "exact"
        width += two.high[0] - two.low[0]
    return {name: n / studies for name, n in hits.items()} | {"width": width / studies}


def verdict(share, studies):
    """A mark where the 95 % bounds of a coverage lie wholly outside .93 to .985."""
    bounds = stats.binomtest(round(share * studies), studies).proportion_ci(method="wilson")
    mark = "**fails**, " if bounds.low > 0.985 or bounds.high < 0.93 else ""
    return f"{mark}{'conservative' if share > 0.97 else ''}".rstrip(", ")


def table(studies):
    yield (
        "| items x votes | raters | win rate | no variation | covers | width | remark | items alone"
        " | *linearised* |"
    )
    yield "|---|---:|---:|---:|---:|---:|---|---:|---:|"
    for plan in DESIGNS:
        r = coverage(plan, studies)
        yield (
            f"| {plan.items} x {plan.per_item} | {plan.raters} | {plan.rate:.2f} |"
            f" {r.get('exact', 0.0):.3f} | {r['printed']:.3f} | {r['width']:.3f} |"
            f" {verdict(r['printed'], studies)} | {r['items']:.3f} | {r['linearised']:.3f} |"
        )


def report(studies):
    """The document's part on win rates."""
    return f"""{BEGIN}
## Win rates

{studies:,} studies of each design by `python benchmarks/coverage_win_rates.py --write`: two systems, of which the
first wins the given proportion and the other all the rest; items and raters have normal effects (standard deviations
.6 and .4, compared with 1 for the noise of the votes). *Covers* and *width* refer to the printed two-way interval:
Wilson with the effective sample size and, if no comparison differs ("no variation"), the exact interval with the
number of items or raters, whichever is smaller. *Linearised* is the two-way cluster-robust Wald interval, which has
zero width in this case and counts as a miss. "Items alone" is conditional on these raters, and its coverage is lower
if raters differ.

{chr(10).join(table(studies))}

The intervals are conservative for proportions with very few events, because exact intervals are discrete, and for few
raters, because the two-way variance is at least that of items and that of raters.
{END}
"""


def main():
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
