"""What does a group sequential test do where the share of ratings is not the information?

    python benchmarks/coverage_information.py                  print the table
    python benchmarks/coverage_information.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_information.py --studies 2000   fewer simulated studies

One look at half of the ratings, and a last analysis. The statistics are sums of ratings divided by
their known standard deviation, so that nothing but the correlation of the two z statistics differs
from what the critical values assume."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part

from konsil.stats.designs.sequential import bounds
from konsil.stats.designs.spending import Spending

BEGIN, END = "<!-- information: begin -->", "<!-- information: end -->"
ICC = 0.3
"""The correlation of two ratings of a cluster."""
SHARE = 0.5
"""Of the ratings, at the look."""
FAMILIES: tuple[Spending, ...] = ("obrien_fleming", "pocock")
BLOCK = 10_000


@dataclass(frozen=True)
class Course:
    """In which order ratings come in."""

    words: str
    parts: np.ndarray
    """(n, 2) independent normal parts of the sum of ratings, at the look and at the end."""
    ratings: int
    """All ratings."""

    @property
    def correlation(self) -> float:
        """Of the two z statistics."""
        first, last = self.parts.T
        return float(first @ last / np.sqrt((first @ first) * (last @ last)))

    @property
    def by_variance(self) -> float:
        """The information fraction by 1 / se^2 of the mean rating."""
        first, last = (self.parts**2).sum(axis=0)
        return float(SHARE**2 * last / first)


def clusters(words: str, before: list[int], after: list[int]) -> Course:
    """Whole clusters of these sizes come in before the look and after it."""
    sizes = np.array([*before, *after], dtype=float)
    sd = np.sqrt(sizes**2 * ICC + sizes * (1 - ICC))
    is_before = np.arange(len(sizes)) < len(before)
    return Course(words, np.stack([sd * is_before, sd], axis=1), int(sizes.sum()))


def rated_again(n: int) -> Course:
    """Every item has one rating before the look, and one after it."""
    item, noise = np.sqrt(ICC), np.sqrt(1 - ICC)
    parts = [[[item, 2 * item]], [[noise, noise]], [[0.0, noise]]]
    return Course("the same items, rated again", np.repeat(np.concatenate(parts), n, axis=0), 2 * n)


def same_raters(n: int, raters: int) -> Course:
    """Raters, a sample of others, each with an effect on all of their ratings."""
    share = n / raters
    effect = np.sqrt(0.05) * share * np.array([[SHARE, 1.0]])
    noise = [np.array([[1.0, 1.0]]), np.array([[0.0, 1.0]])]
    parts = [np.repeat(effect, raters, axis=0), *(np.repeat(x, n // 2, axis=0) for x in noise)]
    return Course(f"further items, the same {raters} raters", np.concatenate(parts), n)


COURSES = (
    clusters("clusters of 4", [4] * 100, [4] * 100),
    clusters("10 clusters of 40, then 200 of 2", [40] * 10, [2] * 200),
    clusters("200 clusters of 2, then 10 of 40", [2] * 200, [40] * 10),
    rated_again(200),
    same_raters(400, 8),
)


def rejected(course: Course, family: Spending, studies: int) -> float:
    """The proportion of studies without an effect that reject."""
    critical = bounds([SHARE, 1.0], spending=family).critical
    rng, n = np.random.default_rng(5), 0
    sd = np.sqrt((course.parts**2).sum(axis=0))
    for begin in range(0, studies, BLOCK):
        size = min(BLOCK, studies - begin)
        z = rng.normal(size=(size, len(course.parts))) @ course.parts / sd
        n += int((np.abs(z) >= critical).any(axis=1).sum())
    return n / studies


def report(studies: int) -> str:
    """The part of the document."""
    limits = [float(bounds([SHARE, 1.0], spending=f).nominal.sum()) for f in FAMILIES]
    lines = [
        BEGIN,
        "### The share of ratings as information",
        "",
        f"A look at half of the ratings and a last analysis, {studies:,} studies without an effect"
        f" of each course of collection. Two ratings of a cluster have the correlation {ICC:g};"
        " raters, as a sample of others, have 5 % of the variance of a rating. Critical values take"
        " the squared correlation of the two z statistics to be the share of ratings, 0.5. Whatever"
        " it is, the type I error is at most the sum of the two nominal p values, here"
        f" {limits[0]:.4f} (O'Brien-Fleming type) and {limits[1]:.4f} (Pocock type).",
        "",
        "| ratings that come in | squared correlation | 1/se² at the look, relative |"
        " type I error, O'Brien-Fleming | Pocock |",
        "|---|---|---|---|---|",
    ]
    for course in COURSES:
        levels = " | ".join(f"{rejected(course, f, studies):.4f}" for f in FAMILIES)
        lines.append(
            f"| {course.words} | {course.correlation**2:.2f} | {course.by_variance:.2f} | {levels} |"
        )
    return "\n".join([*lines, "", END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
