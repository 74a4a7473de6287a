"""Do intervals of agreement hold where one cluster holds much of the units?

    python benchmarks/coverage_uneven.py                  print the table
    python benchmarks/coverage_uneven.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_uneven.py --studies 100    fewer simulated studies

Every interval is the printed one, by `konsil.analysis.agreement.agreement_statistics`; beside it
stands the one that the same sample has where the clusters' sizes are left out of account."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from coverage_document import report_part
from coverage_raters import verdict
from scipy import stats

from konsil.analysis.agreement import agreement_statistics
from konsil.analysis.estimation.estimate import estimates
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling
from konsil.stats.agreement.registry import STATISTICS, statistic
from konsil.stats.engine.contract import Codes

BEGIN, END = "<!-- uneven: begin -->", "<!-- uneven: end -->"
NAMES = ("percent_agreement", "cohen_kappa", "gwet_ac1")
SIZES = {
    "10 of 1 to 12 units": (1, 1, 1, 1, 1, 2, 2, 3, 6, 12),
    "60, one with 40 %": (*(3,) * 59, 118),
}
DRAWS = 1000
TRUTH, PARTS = 2_000_000, 5


@dataclass(frozen=True)
class Law:
    """Labels of units whose trait is half their cluster's; `mixed`: half the clusters are easy, the
    others hard."""

    raters: int
    yes: float
    mixed: bool

    def draw(self, generator: np.random.Generator, sizes: np.ndarray) -> Codes:
        """Labels of one study."""
        of = np.repeat(np.arange(len(sizes)), sizes)
        easy = generator.random(len(sizes)) < 0.5
        noise = (np.where(easy, 0.2, 1.5) if self.mixed else np.full(len(sizes), 0.7))[of, None]
        trait = np.sqrt(0.5) * (
            generator.standard_normal(len(sizes))[of] + generator.standard_normal(len(of))
        )
        latent = trait[:, None] + noise * generator.standard_normal((len(of), self.raters))
        return Codes(
            (latent > stats.norm.isf(self.yes) * np.sqrt(1 + noise**2)).astype(np.int64), of, 2
        )

    def truths(self) -> dict[str, float]:
        """Every statistic of one very large sample, each unit by itself."""
        generator = np.random.default_rng(0)
        single = np.ones(TRUTH // PARTS, dtype=np.int64)
        parts = [self.draw(generator, single).labels.astype(np.int8) for _ in range(PARTS)]
        patterns, counts = np.unique(np.concatenate(parts), axis=0, return_counts=True)
        codes = Codes(patterns, np.arange(len(patterns)), 2)
        values = {}
        for name in NAMES:
            estimator = statistic(name, codes, level="nominal")
            values[name] = float(
                estimator.finalise(counts @ np.asarray(estimator.tally(codes), dtype=np.float64))[0]
            )
        return values


def limits(codes: Codes, key: int) -> dict[str, tuple[tuple[float, float], tuple[float, float]]]:
    """Each statistic's printed limits, and those without regard to the clusters' sizes."""
    names = (range(n) for n in (codes.labels.shape[1], len(codes.labels), codes.n_clusters))
    sample = Sample(codes, *(tuple(f"{n:04}" for n in numbers) for numbers in names))
    result = {}
    for name in NAMES:
        measure = agreement_statistics.agreement(sample, name, "nominal")
        variants = [measure, replace(measure, uneven=None)]
        both = estimates(
            variants, key=key, resampling=Resampling(DRAWS), cluster="case", reasons=["", ""]
        )
        first, second = ((summary.headline.low, summary.headline.high) for summary in both)
        result[name] = (first, second)
    return result


def table(studies: int) -> Iterator[str]:
    """The document's rows."""
    yield (
        "| clusters | units of a cluster | yes | raters | statistic | covers | width | *otherwise*"
        " | *width* |"
    )
    yield "|---|---|---:|---:|---|---:|---:|---:|---:|"
    for clusters, yes, (mixed, raters) in product(
        SIZES, (0.5, 0.1), ((False, 2), (True, 2), (True, 3))
    ):
        law = Law(raters, yes, mixed)
        truths, generator = law.truths(), np.random.default_rng(1)
        sizes = np.array(SIZES[clusters])
        every = [limits(law.draw(generator, sizes), study) for study in range(studies)]
        for name in NAMES:
            ends = np.array([study[name] for study in every])
            ends = ends[np.isfinite(ends).all(axis=(1, 2))]
            held = (ends[:, :, 0] <= truths[name]) & (truths[name] <= ends[:, :, 1])
            cells = [
                f"{covers:.3f}{verdict(covers, len(ends), 0.93, 1.0)} | {width:.2f}"
                for covers, width in zip(
                    held.mean(axis=0), (ends[:, :, 1] - ends[:, :, 0]).mean(axis=0), strict=True
                )
            ]
            kind = "easy or hard" if mixed else "alike"
            yield (
                f"| {clusters} | {kind} | {yes:.0%} | {raters} | {STATISTICS[name].title} |"
                f" {' | '.join(cells)} |"
            )


def report(studies: int) -> str:
    """The document's part on uneven clusters."""
    return f"""{BEGIN}
## Clusters of very unequal size

{studies:,} studies of each design by `python benchmarks/coverage_uneven.py --write`: agreement of units in clusters
that share half of their trait; in "easy or hard" designs raters agree nearly always in half of the clusters and
seldom in the others. The true value is the statistic of two million units. *Covers* refers to the printed interval,
*otherwise* to the interval that ignores the sizes of clusters (bootstrap, posterior with the number of clusters minus
1, or Wilson with the usual variance). "(!)" marks coverage significantly below .93 (95 % limits).

[The rule](statistics.md#intervals) applies if the effective number of clusters is below half of their number,
(sum of m)^2 / sum of m^2 < C / 2 with m units per cluster.

{chr(10).join(table(studies))}
{END}
"""


def main() -> int:
    """Print the table, and write it where that is wanted."""
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
