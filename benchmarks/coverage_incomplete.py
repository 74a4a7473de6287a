"""Do intervals of a mean over pairs of raters hold where some raters rate few of the units?

    python benchmarks/coverage_incomplete.py                  print the table
    python benchmarks/coverage_incomplete.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_incomplete.py --studies 100    fewer simulated studies

Every interval is the printed one, by `konsil.analysis.agreement.agreement_statistics` and
`konsil.analysis.estimation.raters.posterior_intervals`; beside it stands the one that every fifth
study has where it is left out of account that pairs share few units."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from coverage_document import report_part
from coverage_raters import verdict
from scipy import stats

from konsil.analysis.agreement import agreement_statistics
from konsil.analysis.estimation.estimate import estimates
from konsil.analysis.estimation.measure import Measure, together, value
from konsil.analysis.estimation.raters.posterior_intervals import of_thin_pairs
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling
from konsil.stats.agreement.kappa import cohen_kappa, percent_agreement
from konsil.stats.agreement.registry import STATISTICS
from konsil.stats.engine.contract import Codes, Estimate
from konsil.stats.engine.tables import pair_tables
from konsil.stats.inference import posterior

BEGIN, END = "<!-- incomplete: begin -->", "<!-- incomplete: end -->"
NAMES = ("percent_agreement", "cohen_kappa")
DRAWS = 500
TRUTH = 400_000
EVERY = 5
SEVERAL = {3: 1, 4: 2, 6: 3}
"""How many of so many raters rate a part of the units."""


@dataclass(frozen=True)
class Design:
    """Units with a normal trait, raters with noise; `each`: every unit is rated by so many raters
    drawn at random."""

    items: int
    raters: int
    part: float
    yes: float = 0.5
    noise: float = 0.6
    noise_of_last: float = 0.6
    each: int = 0

    def noises(self) -> np.ndarray:
        """Every rater's noise."""
        n_last = SEVERAL.get(self.raters, 0)
        return np.array([self.noise] * (self.raters - n_last) + [self.noise_of_last] * n_last)

    def labels(self, generator: np.random.Generator, n: int) -> np.ndarray:
        """All raters' labels of n units."""
        noise = self.noises()
        trait = generator.standard_normal((n, 1)) + noise * generator.standard_normal(
            (n, self.raters)
        )
        return (trait > stats.norm.isf(self.yes) * np.sqrt(1 + noise**2)).astype(np.int64)

    def draw(self, generator: np.random.Generator) -> Codes:
        """Labels of one study, -1 where a rater gave none."""
        labels = self.labels(generator, self.items)
        if self.each:
            for unit in range(self.items):
                labels[unit, generator.permutation(self.raters)[self.each :]] = -1
        else:
            for rater in range(self.raters - SEVERAL[self.raters], self.raters):
                labels[
                    generator.permutation(self.items)[int(np.ceil(self.part * self.items)) :], rater
                ] = -1
        used = np.flatnonzero((labels >= 0).any(axis=1))
        return Codes(labels[used], np.arange(len(used)), 2)

    def truths(self) -> dict[str, np.ndarray]:
        """Every pair's statistic in very many units."""
        labels = self.labels(np.random.default_rng(0), TRUTH)
        tables = pair_tables(Codes(labels, np.zeros(TRUTH, dtype=np.int64), 2)).sum(axis=0)
        share = percent_agreement(self.raters, 2, per_pair=True).finalise(tables)
        kappa = cohen_kappa(self.raters, 2, per_pair=True).finalise(tables)
        return {"percent_agreement": share, "cohen_kappa": kappa}


MAIN = [
    Design(items, raters, part)
    for items, raters, part in product((25, 50, 100), SEVERAL, (0.1, 0.2, 0.4))
]
OTHERS = {
    "10 % yes": replace(MAIN[0], items=50, part=0.2, yes=0.1),
    "raters who agree little": replace(MAIN[0], items=50, part=0.2, noise=2.0, noise_of_last=2.0),
    "raters who agree much": replace(MAIN[0], items=50, part=0.2, noise=0.2, noise_of_last=0.2),
    "the last rater less exact": replace(MAIN[0], items=50, part=0.2, noise=0.4, noise_of_last=1.5),
    "three of 6 raters an item": Design(60, 6, 0.5, each=3),
    "three of 10 raters an item": Design(60, 10, 0.3, each=3),
    "three of 10 raters, who agree little": Design(
        60, 10, 0.3, each=3, noise=2.0, noise_of_last=2.0
    ),
}


def limits(
    codes: Codes, key: int, *, beside: bool
) -> dict[str, tuple[tuple[float, float], tuple[float, float]]]:
    """Each statistic's printed limits, and those without regard to what pairs share."""
    names = (range(n) for n in (codes.labels.shape[1], len(codes.labels), codes.n_clusters))
    sample = Sample(codes, *(tuple(f"{n:04}" for n in numbers) for numbers in names))
    tallied = agreement_statistics.Tallied()
    measures = [
        agreement_statistics.agreement(sample, name, "nominal", tallied=tallied) for name in NAMES
    ]
    first = measures[0]
    if first.thin is None or first.prior is None:
        raise ValueError("a design in which no pair of raters shares few units")
    drawn = posterior.draws_of(
        np.asarray(first.sums), first.prior, together(measures), draws=DRAWS, key=key
    )
    result = {}
    for n, (name, measure) in enumerate(zip(NAMES, measures, strict=True)):
        start = Estimate(value(measure), n_clusters=codes.n_clusters)
        made = of_thin_pairs(start, drawn[..., [n]], measure, first.thin, "unit")
        other = _otherwise(measure, codes, tallied, key) if beside else (np.nan, np.nan)
        result[name] = (
            (made.low, made.high) if np.isfinite(start.value) else (np.nan, np.nan),
            other,
        )
    return result


def _otherwise(
    measure: Measure, codes: Codes, tallied: agreement_statistics.Tallied, key: int
) -> tuple[float, float]:
    sparse = None
    if measure.share is None:
        sparse = tallied.prior(codes, pair_tables, measure.sums)
    [summary] = estimates(
        [replace(measure, thin=None, prior=sparse)],
        key=key,
        resampling=Resampling(DRAWS),
        cluster="unit",
        reasons=[""],
    )
    return summary.headline.low, summary.headline.high


def cells(design: Design, studies: int) -> str:
    """The cells of a design's row: no interval, then coverage and width of every statistic."""
    truths, generator = design.truths(), np.random.default_rng(1)
    pairs = np.array(list(combinations(range(design.raters), 2)))
    ends, targets = [], []
    for study in range(studies):
        codes = design.draw(generator)
        is_rated = codes.labels >= 0
        shares = (is_rated[:, pairs[:, 0]] & is_rated[:, pairs[:, 1]]).any(axis=0)
        made = limits(codes, study, beside=study % EVERY == 0)
        ends.append([made[name] for name in NAMES])
        targets.append([truths[name][shares].mean() for name in NAMES])
    every, target = np.array(ends), np.array(targets)
    found = [f"{np.isnan(every[:, 0, 0, 0]).mean():.3f}"]
    for n in range(len(NAMES)):
        for kind in range(2):
            low, high = every[:, n, kind].T
            known = np.isfinite(low)
            if not known.any():
                found.append("– | –")
                continue
            held = ((low <= target[:, n]) & (target[:, n] <= high))[known]
            mark = verdict(held.mean(), len(held), 0.93, 1.0)
            found.append(f"{held.mean():.3f}{mark} | {(high - low)[known].mean():.2f}")
    return " | ".join(found)


def table(studies: int) -> Iterator[str]:
    """The document's rows."""
    columns = " | ".join(
        f"{STATISTICS[name].title} covers | width | *otherwise* | *width*" for name in NAMES
    )
    yield f"| items | raters | rated by the last | no interval | {columns} |"
    yield "|---:|---:|---|---:|" + "---:|" * (4 * len(NAMES))
    designs = [*MAIN, *OTHERS.values()]
    words = [f"{design.part:.0%} by {SEVERAL[design.raters]}" for design in MAIN]
    words += [f"20% by 1; {name}" if not design.each else name for name, design in OTHERS.items()]
    with ProcessPoolExecutor(2) as pool:
        rows = pool.map(cells, designs, [studies] * len(designs))
        for design, word, row in zip(designs, words, rows, strict=True):
            yield f"| {design.items} | {design.raters} | {word} | {row} |"


def report(studies: int) -> str:
    """The document's part on incomplete designs."""
    return f"""{BEGIN}
## Raters who rate few of the units

{studies:,} studies of each design by `python benchmarks/coverage_incomplete.py --write`: of 3, 4 and 6 raters the
last 1, 2 and 3 rate only some of the items, each different ones. Units have a normal trait and raters noise; one item
in two is a yes unless the row names another design. The true value is the mean over the pairs that share an item,
from 400,000 items. *Covers* refers to the printed interval, *otherwise* to the interval without regard to shared
units, computed in every fifth study (Wilson with the cluster-robust variance; for kappa the bootstrap, or the posterior
with the raters' missing labels). PABAK's limits are those of percent agreement, rescaled, with the same coverage.
"(!)" marks coverage significantly below .93 (95 % limits).

[The rule](statistics.md#intervals) is there because a pair that shares five units and agrees on all of them adds nothing
to a variance estimated from the labels, although it has the same weight as a pair that shares fifty. The degrees of
freedom are H - 1, where H is the harmonic mean of the numbers of shared clusters: the variance of the mean is as if every
pair shared H. Pairs weighted by the number of shared units (`--pair-weights units`) and coefficients of all raters (Fleiss' kappa,
Krippendorff's alpha) do not need it.

{chr(10).join(table(studies))}
{END}
"""


def main() -> int:
    """Print the table, and write it where that is wanted."""
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
