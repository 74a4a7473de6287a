"""Does the interval of a median contain the true one?

    python benchmarks/coverage_medians.py                  print the table
    python benchmarks/coverage_medians.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_medians.py --studies 200    fewer simulated studies

Ratings of items by several raters on scales of 5, 7 and 101 values; the interval is the printed one,
by `konsil.stats.shares.medians.clustered_median`. Beside it stands the percentile bootstrap of the
clusters."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part

from konsil.stats.shares.durations import median_of_cells
from konsil.stats.shares.medians import clustered_median

BEGIN, END = "<!-- medians: begin -->", "<!-- medians: end -->"
DRAWS = 400
TRUTH = 400_000


@dataclass(frozen=True)
class Design:
    """Items that raters score; half of the variance is between items unless stated otherwise."""

    n_items: int
    n_raters: int
    n_values: int
    mean: float = 0.0
    item: float = 0.7

    def scores(self, generator: np.random.Generator, n_items: int) -> np.ndarray:
        """(n_items, n_raters) places on the scale."""
        noise = math.sqrt(1 - self.item**2)
        latent = (
            self.mean
            + self.item * generator.standard_normal((n_items, 1))
            + noise * generator.standard_normal((n_items, self.n_raters))
        )
        middle = (self.n_values - 1) / 2
        scaled = np.round(middle + latent * self.n_values / 5)
        return np.clip(scaled, 0, self.n_values - 1).astype(np.int64)


DESIGNS = (
    Design(10, 3, 7),
    Design(20, 3, 5),
    Design(20, 3, 7, 0.35),
    Design(60, 3, 7),
    Design(60, 1, 7),
    Design(200, 5, 5, 0.35),
    Design(20, 3, 101),
    Design(60, 3, 101, item=0.9),
)


def coverage(design: Design, studies: int) -> tuple[float, list[float]]:
    """The true median, and how often the interval and the bootstrap's contain it, and their width."""
    generator = np.random.default_rng(12)
    values = np.arange(design.n_values, dtype=np.float64)
    truth = float(np.median(design.scores(generator, TRUTH)))
    hits = []
    for _ in range(studies):
        scores = design.scores(generator, design.n_items)
        clusters = np.repeat(np.arange(design.n_items), design.n_raters)
        _, low, high = clustered_median(scores.ravel(), clusters, values)
        cells = np.zeros((design.n_items, design.n_values))
        np.add.at(cells, (clusters, scores.ravel()), 1.0)
        drawn = generator.multinomial(
            design.n_items, np.full(design.n_items, 1 / design.n_items), DRAWS
        )
        medians = median_of_cells(drawn @ cells, values)[:, 0]
        least, most = np.quantile(medians, [0.025, 0.975], method="inverted_cdf")
        hits.append((low <= truth <= high, high - low, least <= truth <= most, most - least))
    return truth, [float(x) for x in np.mean(hits, axis=0)]


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "## Medians",
        "",
        f"Scores of items by raters, {studies:,} studies of each design; a coverage of 0.95 is"
        f" measured to {math.sqrt(0.95 * 0.05 / studies):.3f}. On scales of few values an interval"
        " of whole values covers more.",
        "",
        "| items | raters | values of the scale | true median | inverted tests, printed | width |"
        " percentile bootstrap | width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for design in DESIGNS:
        truth, (first, width, bootstrap, other) = coverage(design, studies)
        lines.append(
            f"| {design.n_items} | {design.n_raters} | {design.n_values} | {truth:g} |"
            f" {first:.3f} | {width:.2f} | {bootstrap:.3f} | {other:.2f} |"
        )
    return "\n".join([*lines, "", END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
