"""Do the intervals of agreement on sets of labels hold?

    python benchmarks/coverage_sets.py                  print the table
    python benchmarks/coverage_sets.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_sets.py --studies 200    fewer simulated studies

A unit has a set of labels, each by chance; a rater gives a label of the set with one probability, and
another one with a smaller probability. Some ratings are empty sets."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part

from konsil.analysis.agreement.agreement_statistics import agreement
from konsil.analysis.estimation.estimate import estimate
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling
from konsil.stats.agreement.alpha import krippendorff_alpha_weighted
from konsil.stats.agreement.label_sets import SET_STATISTICS, Members
from konsil.stats.engine.contract import Codes

BEGIN, END = "<!-- sets: begin -->", "<!-- sets: end -->"
DRAWS = 1000
TRUTH = 100_000


@dataclass(frozen=True)
class Design:
    """Clusters of units to which raters give sets of labels."""

    n_clusters: int
    n_units: int
    n_raters: int
    n_labels: int
    given: float = 0.8
    mistaken: float = 0.07

    def study(self, generator: np.random.Generator, n_clusters: int) -> tuple[Codes, Members]:
        """The codes of a study, and the labels of each code; labels of a cluster are alike."""
        usual = generator.beta(1.0, 2.0, (n_clusters, 1, self.n_labels))
        present = generator.random((n_clusters, self.n_units, self.n_labels)) < usual
        chance = np.where(present, self.given, self.mistaken)[:, :, None]
        shape = (n_clusters, self.n_units, self.n_raters, self.n_labels)
        sets = (generator.random(shape) < chance).reshape(-1, self.n_labels)
        members, codes = np.unique(sets, axis=0, return_inverse=True)
        clusters = np.repeat(np.arange(n_clusters), self.n_units)
        return Codes(codes.reshape(-1, self.n_raters), clusters, len(members)), members


DESIGNS = (
    Design(20, 1, 2, 5),
    Design(30, 1, 2, 5),
    Design(60, 1, 2, 5),
    Design(200, 1, 2, 5),
    Design(50, 5, 2, 5),
    Design(100, 1, 3, 8),
    Design(500, 1, 2, 8),
)


def true_value(name: str, design: Design) -> float:
    """The statistic of a very large study."""
    generator = np.random.default_rng(11)
    codes, members = design.study(generator, TRUTH // design.n_units)
    once = Codes(codes.labels, np.zeros_like(codes.clusters), codes.n_labels)
    statistic = krippendorff_alpha_weighted(
        codes.n_labels, SET_STATISTICS[name].similarity(members)
    )
    return float(statistic.finalise(np.asarray(statistic.tally(once).sum(axis=0)).ravel())[0])


def coverage(name: str, design: Design, studies: int) -> tuple[float, ...]:
    """True value, bias, and how often the printed and the linearised interval hold it, with their
    widths."""
    truth = true_value(name, design)
    generator = np.random.default_rng(12)
    rows = []
    for study in range(studies):
        codes, members = design.study(generator, design.n_clusters)
        raters = tuple(f"r{n}" for n in range(design.n_raters))
        units = tuple(map(str, range(len(codes.labels))))
        sample = Sample(codes, raters, units, tuple(map(str, range(design.n_clusters))))
        weights = tuple(map(tuple, SET_STATISTICS[name].similarity(members).tolist()))
        summary = estimate(
            agreement(sample, "krippendorff_alpha", "nominal", weights),
            key=study,
            resampling=Resampling(DRAWS),
            cluster="unit",
        )
        first, wald = summary.headline, (*summary.companions, summary.headline)[0]
        rows.append(
            (
                first.value - truth,
                first.low <= truth <= first.high,
                first.high - first.low,
                wald.low <= truth <= wald.high,
                wald.high - wald.low,
            )
        )
    return (truth, *np.mean(np.array(rows, dtype=np.float64), axis=0).tolist())


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "## Agreement on sets of labels",
        "",
        "Units with several labels each, of which raters give most and others by mistake, with"
        f" {DRAWS:,} resamples and {studies:,} studies of each design; a coverage of 0.95 is measured"
        f" to {math.sqrt(0.95 * 0.05 / studies):.3f}.",
        "",
        "| clusters x units | raters | labels | statistic | true value | bias | covers | width |"
        " Wald (Taylor), atanh | width |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for design in DESIGNS:
        for name in SET_STATISTICS:
            truth, bias, *intervals = coverage(name, design, studies)
            shown = " | ".join(f"{value:.3f}" for value in intervals)
            lines.append(
                f"| {design.n_clusters} x {design.n_units} | {design.n_raters} | {design.n_labels} |"
                f" `{name}` | {truth:.3f} | {bias:+.3f} | {shown} |"
            )
    return "\n".join([*lines, "", END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
