"""Do intervals of numbers hold where there are few clusters?

    python benchmarks/coverage_few_clusters.py                  print the table
    python benchmarks/coverage_few_clusters.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_few_clusters.py --studies 200    fewer simulated studies

Numbers of CLExEval and of rating scales with 8 to 40 cases. The printed interval is that of
`konsil.analysis.estimation.estimate.estimate`, by a jackknife below 50 clusters; beside it stands
the bootstrap of the same sample."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part
from scipy import stats

from konsil.analysis.estimation.estimate import estimate
from konsil.analysis.estimation.measure import Measure, quotient
from konsil.analysis.model.spec import Resampling
from konsil.stats.cases.effects import moments, paired_d
from konsil.stats.engine.contract import Array, Finalise
from konsil.stats.engine.ranks import spearman_scores
from konsil.stats.inference.wald import Scale
from konsil.stats.judges.strictness import separation, strictness_sums

BEGIN, END = "<!-- few clusters: begin -->", "<!-- few clusters: end -->"
CLUSTERS = (8, 12, 20, 40)
DRAWS = 1000
TRUTH = 400_000
EACH = 5
"""Answers of a case, where it has several."""

Sums = Callable[[np.random.Generator, int], Array]
"""Draws the sums of so many cases."""


@dataclass(frozen=True)
class Number:
    """A number, its true value, and how the sums of its cases are drawn."""

    name: str
    truth: float
    sums: Sums
    finalise: Finalise = quotient
    scale: Scale = "identity"

    def measure(self, generator: np.random.Generator, n_cases: int) -> Measure:
        """The number in one study."""
        sums = self.sums(generator, n_cases)
        finalise = self.finalise
        if self.name.startswith("correlation"):
            x, y = sums.reshape(2, -1)
            statistic = spearman_scores(x, y, np.repeat(np.arange(n_cases), EACH))
            sums, finalise = np.eye(n_cases), statistic.finalise
        names = tuple(f"{n:03}" for n in range(n_cases))
        return Measure(sums, finalise, names, n_cases, 1, n_cases, scale=self.scale)


def mean_of(draw: Sums) -> Sums:
    """Sums of a mean over cases of equal weight."""
    return lambda g, n: np.column_stack([draw(g, n), np.ones(n)])


def five_points(generator: np.random.Generator, n: int) -> Array:
    """Scores with a ceiling."""
    return np.clip(np.round(4.3 + 0.9 * generator.standard_normal(n)), 1, 5)


def unequal(generator: np.random.Generator, n: int) -> Array:
    """Cases with one to twelve answers."""
    sizes = np.resize([1, 1, 2, 2, 3, 3, 5, 12], n)
    shared = 0.8 * generator.standard_normal(n)
    totals = sizes * shared + np.sqrt(sizes) * 0.6 * generator.standard_normal(n)
    return np.column_stack([totals, sizes])


def loss(first: float, last: float) -> Sums:
    """Correct with all information and with the least, correlated within cases."""

    def draw(generator: np.random.Generator, n: int) -> Array:
        case = generator.standard_normal((n, 1))
        latent = np.sqrt(0.5) * (case + generator.standard_normal((n, 2)))
        right = latent < stats.norm.ppf([first, last])
        return right[:, 0].astype(float) - right[:, 1]

    return draw


def gap(generator: np.random.Generator, n: int) -> Array:
    """Two scores in eighths of the same cases, the first minus the second."""
    case = 0.8 * generator.standard_normal((n, 1))
    latent = np.array([1.2, -0.4]) + case + np.array([0.6, 0.9]) * generator.standard_normal((n, 2))
    scores = np.clip(np.round((latent + 2) / 4 * 8) / 8, 0, 1)
    return scores[:, 0] - scores[:, 1]


def criteria(share: float) -> Sums:
    """Two criteria of several answers of a case, of which `share` of the case's part is common."""

    def draw(generator: np.random.Generator, n: int) -> Array:
        common, *own = generator.standard_normal((3, n, 1))
        each = [math.sqrt(share) * common + math.sqrt(1 - share) * o for o in own]
        return np.stack([e + 0.6 * generator.standard_normal((n, EACH)) for e in each])

    return draw


def judged(distance: float) -> Sums:
    """A judge's scores on ten points of failures and successes, correlated within cases."""

    def draw(generator: np.random.Generator, n: int) -> Array:
        failure = np.resize([1.0, 0.0], (n, EACH))
        latent = (
            0.7 * generator.standard_normal((n, 1))
            + generator.standard_normal((n, EACH))
            + distance * (1 - failure)
        )
        places = np.clip(np.round(latent * 2 + 3), 0, 9).astype(np.int64).ravel()
        return strictness_sums(places, failure.ravel(), np.repeat(np.arange(n), EACH), 10, n)

    return draw


def standardised(d: float) -> Sums:
    """Moments of differences of case means, of which the mean is d standard deviations."""
    return lambda g, n: moments(d + g.standard_normal(n))


def true_of(sums: Sums, finalise: Finalise = quotient) -> float:
    """The number of very many cases."""
    return float(finalise(sums(np.random.default_rng(1), TRUTH).sum(axis=0))[0])


def true_correlation(share: float) -> float:
    """Spearman's from Pearson's correlation of normal scores."""
    return 6 / math.pi * math.asin(share / 1.36 / 2)


def numbers() -> Sequence[Number]:
    """What is simulated."""
    areas = [judged(d) for d in (0, 1, 2.5)]
    return (
        Number("mean, normal scores", 0.0, mean_of(lambda g, n: g.standard_normal(n))),
        Number(
            "mean, five points, ceiling",
            true_of(mean_of(five_points)),
            mean_of(five_points),
        ),
        Number("mean, log-normal scores", math.exp(0.5), mean_of(lambda g, n: g.lognormal(size=n))),
        Number("mean, 1 to 12 answers a case", 0.0, unequal),
        *(
            Number(f"information sensitivity, {a:g} to {b:g}", a - b, mean_of(loss(a, b)))
            for a, b in ((0.9, 0.3), (0.9, 0.8))
        ),
        Number("reasoning gap, eighths", true_of(mean_of(gap)), mean_of(gap)),
        *(
            Number(
                f"correlation of criteria, {EACH} answers a case",
                true_correlation(share),
                criteria(share),
                scale="atanh",
            )
            for share in (0, 1)
        ),
        *(
            Number("discrimination (AUC)", true_of(a, separation), a, separation, "logit")
            for a in areas
        ),
        *(
            Number("standardised difference of pairs", d, standardised(d), paired_d)
            for d in (0, 0.3, 0.8)
        ),
    )


@dataclass(frozen=True)
class Cell:
    """Of one number and number of cases: the printed interval and the bootstrap's."""

    no_interval: float
    coverage: float
    above: float
    """Share of intervals that lie wholly above the true value."""
    below: float
    width: float
    bootstrap: float
    bootstrap_width: float


def cell(number: Number, n_cases: int, studies: int) -> Cell:
    """Simulate studies of one number."""
    generator = np.random.default_rng([7, n_cases])
    rows = []
    for study in range(studies):
        measure = number.measure(generator, n_cases)
        summary = estimate(measure, key=study, resampling=Resampling(DRAWS), cluster="case")
        first = summary.headline
        second = summary.companions[0] if summary.companions else first
        rows.append([first.low, first.high, second.low, second.high])
    low, high, other_low, other_high = np.array(rows).T
    printed = np.isfinite(low)
    truth = number.truth
    return Cell(
        float(1 - printed.mean()),
        float(((low <= truth) & (truth <= high))[printed].mean()),
        float((low > truth)[printed].mean()),
        float((high < truth)[printed].mean()),
        float((high - low)[printed].mean()),
        float(((other_low <= truth) & (truth <= other_high))[printed].mean()),
        float((other_high - other_low)[printed].mean()),
    )


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "## Few clusters",
        "",
        f"Numbers other than agreement from 8 to 40 cases, {studies:,} studies of each design; a"
        f" coverage of 0.95 is measured to {math.sqrt(0.95 * 0.05 / studies):.3f}. Below 50 clusters"
        " the jackknife over clusters is printed first: t on the number's own scale (atanh of"
        " correlations, logit of areas) with degrees of freedom from the kurtosis of the clusters'"
        " influences; the bootstrap (BCa) stands beside it.",
        "",
        "| number | true value | cases | no interval | covers | wholly above | wholly below | width |"
        " BCa | width |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    cells = []
    for number in numbers():
        for n_cases in CLUSTERS:
            c = cell(number, n_cases, studies)
            cells.append(c)
            lines.append(
                f"| {number.name} | {number.truth:.2f} | {n_cases} | {c.no_interval:.3f} |"
                f" {c.coverage:.3f} | {c.above:.3f} | {c.below:.3f} | {c.width:.2f} |"
                f" {c.bootstrap:.3f} | {c.bootstrap_width:.2f} |"
            )
    lines += [
        "",
        f"Of {len(cells)} designs the printed interval covers the true value in less than 0.93 of"
        f" studies in {sum(c.coverage < 0.93 for c in cells)}, in more than 0.985 in"
        f" {sum(c.coverage > 0.985 for c in cells)}; BCa in less than 0.93 in"
        f" {sum(c.bootstrap < 0.93 for c in cells)}.",
    ]
    return "\n".join([*lines, "", END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
