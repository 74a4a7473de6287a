"""Does the interval of a standard deviation hold?

    python benchmarks/coverage_deviation.py                  print the table
    python benchmarks/coverage_deviation.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_deviation.py --studies 200    fewer simulated studies

Scores are the mean of seven criteria on five points, as composite scores are; the interval is the
printed one, by `konsil.stats.shares.deviation.log_jackknife`; beside it stand those that the same
sample has from the bootstrap and from linearisation."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import polars as pl
from coverage_document import report_part

from konsil.analysis.estimation.measure import deviation
from konsil.analysis.table.encoding import matrix
from konsil.analysis.table.labels import numeric_labels
from konsil.instrument import number_word
from konsil.stats.inference.infer import infer
from konsil.stats.shares.deviation import log_jackknife

BEGIN, END = "<!-- deviation: begin -->", "<!-- deviation: end -->"
CRITERIA = 7
DRAWS = 1000
TRUTH = 400_000


@dataclass(frozen=True)
class Design:
    """Cases with answers that two raters score on seven criteria; `mean` moves all of them."""

    n_cases: int
    n_answers: int
    mean: float
    case: float = 0.7
    answer: float = 0.6
    rater: float = 0.5

    def scores(self, generator: np.random.Generator, n_cases: int) -> np.ndarray:
        """(n_cases, n_answers, 2) the raters' composite scores."""
        latent = (
            self.mean
            + self.case * generator.standard_normal((n_cases, 1, 1, 1))
            + self.answer * generator.standard_normal((n_cases, self.n_answers, 1, 1))
            + self.rater * generator.standard_normal((n_cases, self.n_answers, 2, 1))
            + generator.standard_normal((n_cases, self.n_answers, 2, CRITERIA))
        )
        return np.clip(np.round(latent * 1.2 + 2), 0, 4).mean(axis=-1) / 4


DESIGNS = (
    Design(20, 5, 0.3),
    Design(40, 5, 0.3),
    Design(40, 1, 0.3),
    Design(40, 5, 1.3),
    Design(200, 1, 0.3),
)


def coverage(design: Design, studies: int) -> tuple[float, float, list[float]]:
    """The true value, the bias, and how often the jackknife, BCa and Wald intervals hold it."""
    generator = np.random.default_rng(11)
    truth = float(design.scores(generator, TRUTH // design.n_answers).std(ddof=1))
    values, hits = [], []
    for study in range(studies):
        scores = design.scores(generator, design.n_cases)
        case, answer, rater = (part.ravel() for part in np.indices(scores.shape))
        labels = numeric_labels([number_word(float(x)) for x in np.unique(scores)])
        codes = np.searchsorted(np.asarray(labels.values), scores.ravel())
        sample = matrix(
            pl.Series([f"{c:04} {a}" for c, a in zip(case, answer, strict=True)]),
            pl.Series([f"r{r}" for r in rater]),
            pl.Series([f"{c:04}" for c in case]),
            codes,
            labels,
        )
        measure = deviation(sample)
        both = infer(measure.sums, measure.finalise, draws=DRAWS, key=study)
        low, high, *_ = log_jackknife(np.asarray(measure.sums), 0.95)
        values.append(both.value[0])
        limits = (
            (low, high),
            (both.low[0], both.high[0]),
            (both.wald_low[0], both.wald_high[0]),
        )
        hits.append([lower <= truth <= upper for lower, upper in limits])
    return truth, float(np.mean(values)) - truth, [float(x) for x in np.mean(hits, axis=0)]


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "## Standard deviations",
        "",
        f"Composite scores of seven criteria by two raters, {studies:,} studies of each design; a"
        f" coverage of 0.95 is measured to {math.sqrt(0.95 * 0.05 / studies):.3f}.",
        "",
        "| cases | answers each | true value | bias | jackknife of the logarithm, printed first |"
        " BCa | Wald |",
        "|---|---|---|---|---|---|---|",
    ]
    for design in DESIGNS:
        truth, bias, (first, bca, wald) = coverage(design, studies)
        lines.append(
            f"| {design.n_cases} | {design.n_answers} | {truth:.3f} | {bias:+.3f} |"
            f" {first:.3f} | {bca:.3f} | {wald:.3f} |"
        )
    return "\n".join([*lines, "", END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
