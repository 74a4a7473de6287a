"""What does extending a sample by a blinded look do to coverage, type I error and power?

    python benchmarks/coverage_extension.py                  print the tables
    python benchmarks/coverage_extension.py --write          and write them into docs/coverage.md
    python benchmarks/coverage_extension.py --studies 2000   fewer simulated studies

Agreement: two raters label items yes or no, kappa with its linearised interval; the rule is end =
"half_width". Comparison: independent normal ratings of two systems, compared by t; the rule is the
pooled standard deviation, whatever the system."""

from __future__ import annotations

import math
import sys

import numpy as np
from coverage_document import report_part
from scipy import stats

from konsil.study.definition.interim import InterimRule, extended_to

BEGIN, END = "<!-- extension: begin -->", "<!-- extension: end -->"
QUANTILE = float(stats.norm.ppf(0.975))
PLANNED, MOST, WIDTH = 100, 400, 0.12
"""Items planned, items at most, and the half-width that is wanted."""
WIDE = InterimRule("agreement", "x", "extend", end="half_width", above=WIDTH, maximum=MOST)
SIZE, LARGEST = 128, 384
"""Ratings of two systems planned for a difference of half a standard deviation with power 0.8, and
at most."""
SPREAD = InterimRule("standard_deviation", "x", "extend", above=1.0, maximum=LARGEST)


def kappa(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fleiss' kappa of two raters and its half-width, of (..., 3) items: both yes, one, none."""
    n = counts.sum(axis=-1)
    shares = counts / n[..., None]
    yes = shares[..., 0] + shares[..., 1] / 2
    expected = yes**2 + (1 - yes) ** 2
    observed = 1 - shares[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (observed - expected) / (1 - expected)
        # d kappa = (d observed - (1 - kappa) d expected) / (1 - expected), by kind of item.
        slope = (1 - value)[..., None] * (4 * yes - 2)[..., None]
        part = (np.array([1.0, 0.0, 1.0]) - slope * [1, 0.5, 0]) / (1 - expected)[..., None]
        mean = (shares * part).sum(axis=-1, keepdims=True)
        variance = (shares * (part - mean) ** 2).sum(axis=-1) / (n - 1)
    return value, QUANTILE * np.sqrt(variance)


def agreement(true: float, yes: float, studies: int, *, extends: bool) -> tuple[float, ...]:
    """Coverage, mean items, and the share of intervals that are not wider than wanted."""
    rng = np.random.default_rng(7)
    mixed = 2 * yes * (1 - yes) * (1 - true)
    shares = [yes - mixed / 2, mixed, 1 - yes - mixed / 2]
    half = PLANNED // 2
    first = rng.multinomial(half, shares, size=studies)
    _, wide = kappa(first)
    sizes = np.full(studies, PLANNED)
    if extends:
        at_end = wide * math.sqrt(half / PLANNED)
        needed = [extended_to(WIDE, float(x), PLANNED) or PLANNED for x in at_end]
        sizes = np.minimum(needed, MOST)
    value, wide = kappa(first + rng.multinomial(sizes - half, shares))
    return (
        float((np.abs(value - true) <= wide).mean()),
        float(sizes.mean()),
        float((wide <= WIDTH * 1.1).mean()),
    )


def comparison(effect: float, sd: float, studies: int, *, extends: bool) -> tuple[float, ...]:
    """Rejections and mean ratings."""
    rng = np.random.default_rng(8)
    sizes, rejected = np.empty(studies), np.empty(studies, bool)
    for n in range(studies):
        first = rng.normal(size=(2, SIZE // 4)) * sd + [[effect], [0.0]]
        spread = float(first.std(ddof=1))
        needed = (extended_to(SPREAD, spread, SIZE) if extends else None) or SIZE
        size = min(needed, LARGEST)
        rest = rng.normal(size=(2, math.ceil(size / 2) - SIZE // 4)) * sd + [[effect], [0.0]]
        a, b = np.concatenate([first, rest], axis=1)
        se = math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / len(a))
        df = 2 * len(a) - 2
        rejected[n] = abs(a.mean() - b.mean()) / se > stats.t.ppf(0.975, df) if se else False
        sizes[n] = 2 * len(a)
    return float(rejected.mean()), float(sizes.mean())


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "### Extension after a pooled look",
        "",
        f"A look at half of {PLANNED} items with two raters, extended to {MOST} items at most until"
        f" the half-width of the 95% CI of kappa is expected to be {WIDTH:g}; {studies:,} studies"
        " of each design. “Reached”: the last half-width is at most a tenth above that.",
        "",
        "| kappa | yes | coverage, extended | items, mean | reached | coverage, fixed |"
        " reached, fixed |",
        "|---|---|---|---|---|---|---|",
    ]
    for true, yes in ((0.4, 0.5), (0.7, 0.5), (0.9, 0.5), (0.6, 0.8), (0.6, 0.9)):
        extended = agreement(true, yes, studies, extends=True)
        fixed = agreement(true, yes, studies, extends=False)
        lines.append(
            f"| {true:g} | {yes:g} | {extended[0]:.4f} | {extended[1]:.0f} | {extended[2]:.3f} |"
            f" {fixed[0]:.4f} | {fixed[2]:.3f} |"
        )
    lines += [
        "",
        f"A look at half of {SIZE} ratings of two systems, extended to {LARGEST} at most in"
        " proportion to the pooled variance; planned for a difference of 0.5 with standard"
        f" deviation 1 and power 0.8; {studies:,} studies.",
        "",
        "| standard deviation | difference | rejected, extended | ratings, mean | rejected, fixed |",
        "|---|---|---|---|---|",
    ]
    for sd in (1.0, 1.3):
        for effect in (0.0, 0.5):
            extended = comparison(effect, sd, studies, extends=True)
            fixed = comparison(effect, sd, studies, extends=False)
            lines.append(
                f"| {sd:g} | {effect:g} | {extended[0]:.4f} | {extended[1]:.0f} | {fixed[0]:.4f} |"
            )
    return "\n".join([*lines, "", END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
