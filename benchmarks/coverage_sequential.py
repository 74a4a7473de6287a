"""Do group sequential tests keep their level, and adjusted intervals their coverage?

    python benchmarks/coverage_sequential.py                  print the table
    python benchmarks/coverage_sequential.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_sequential.py --studies 2000   fewer simulated studies
    python benchmarks/coverage_sequential.py --figure         draw docs/images/sequential-level.svg

Statistics are simulated as sums of independent normal increments. Estimate and interval of each
stage are computed on a grid of z and interpolated. The unadjusted interval is that of a fixed test
at the same data, z / sqrt(t) +- 1.96 / sqrt(t)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
from coverage_document import DOCUMENT, report_part

from konsil.stats.designs.sequential import Bounds, bounds, inference
from konsil.stats.designs.spending import Spending

BEGIN, END = "<!-- sequential: begin -->", "<!-- sequential: end -->"
STEP, RANGE = 0.25, (-7.0, 10.0)
"""Between the values of z at which estimates are computed, and from where to where."""


@dataclass(frozen=True)
class Design:
    """Analyses at these fractions."""

    spending: Spending
    fractions: tuple[float, ...]
    futility: float = 0.0
    binding: bool = False

    @property
    def plan(self) -> Bounds:
        """The bounds."""
        inner = [self.futility] * (len(self.fractions) - 1)
        return bounds(self.fractions, spending=self.spending, futility=inner, binding=self.binding)

    @property
    def words(self) -> str:
        """The columns of the table."""
        times = ", ".join(f"{t:g}" for t in self.fractions)
        rule = f"{self.futility:g}{', binding' if self.binding else ''}" if self.futility else "–"
        return f"{self.spending.replace('_', ' ')} | {times} | {rule}"


DESIGNS = (
    Design("obrien_fleming", (0.5, 1.0)),
    Design("obrien_fleming", (0.25, 0.5, 0.75, 1.0)),
    Design("pocock", (0.25, 0.5, 0.75, 1.0)),
    Design("power", (0.3, 0.7, 1.0)),
    Design("obrien_fleming", (0.5, 1.0), futility=0.5),
    Design("obrien_fleming", (0.5, 1.0), futility=0.5, binding=True),
)
DRIFTS = (0.0, 1.5, 3.0)


def measured(design: Design, drift: float, studies: int) -> tuple[float, ...]:
    """Rejections, coverage adjusted and not, and how often the estimate is above the true value."""
    plan = design.plan
    t = plan.fractions
    steps = np.diff(t, prepend=0.0)
    noise = np.random.default_rng(5).normal(size=(studies, len(t)))
    z = np.cumsum(drift * steps + noise * np.sqrt(steps), axis=1) / np.sqrt(t)
    crossed = np.abs(z) >= plan.critical
    stops = crossed | (np.abs(z) < plan.futility)
    stops[:, -1] = True
    stage = stops.argmax(axis=1)
    rows = np.arange(studies)
    last, fraction = z[rows, stage], t[stage]
    covered, above = np.zeros(studies, bool), np.zeros(studies, bool)
    for k in range(len(t)):
        of_stage = stage == k
        if of_stage.any():
            low, high, middle = _interpolated(design, k, last[of_stage])
            covered[of_stage] = (low <= drift) & (drift <= high)
            above[of_stage] = middle > drift
    half = 1.959964 / np.sqrt(fraction)
    naive = np.abs(last / np.sqrt(fraction) - drift) <= half
    return tuple(float(x.mean()) for x in (crossed[rows, stage], covered, naive, above))


@cache
def _grid_of(design: Design, k: int) -> tuple[np.ndarray, ...]:
    """Ends of the interval and estimate of a trial that ends at stage k, on a grid of z."""
    plan, part = design.plan, slice(0, k + 1)
    upto = Bounds(
        plan.fractions[part],
        plan.critical[part],
        plan.futility[part],
        plan.spent[part],
        plan.is_binding,
    )
    grid = np.arange(*RANGE, STEP)
    results = [inference(upto, float(x)) for x in grid]
    columns = [[getattr(r, name) for r in results] for name in ("low", "high", "estimate")]
    return (grid, *map(np.array, columns))


def _interpolated(design: Design, k: int, z: np.ndarray) -> tuple[np.ndarray, ...]:
    grid, *columns = _grid_of(design, k)
    return tuple(np.interp(z, grid, column) for column in columns)


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "## Interim analyses",
        "",
        f"Group sequential tests at the two-sided level 0.05, {studies:,} studies of each design"
        f" and true effect (the mean of z at all ratings); a proportion of 0.05 is measured to"
        f" {math.sqrt(0.05 * 0.95 / studies):.4f}. Futility is a bound of |z| at each look, at which"
        " the simulated study stops. The estimate is median-unbiased: it is above the true value in"
        " half of the studies.",
        "",
        "![Type I error by the number of analyses, and coverage by the true"
        " effect](images/sequential-level.svg)",
        "",
        "| spending | analyses | futility | effect | rejected | coverage, adjusted | not adjusted |"
        " estimate too high |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for design in DESIGNS:
        for drift in DRIFTS:
            rejected, covered, naive, above = measured(design, drift, studies)
            lines.append(
                f"| {design.words} | {drift:g} | {rejected:.4f} | {covered:.4f} | {naive:.4f} |"
                f" {above:.3f} |"
            )
    return "\n".join([*lines, "", END, ""])


FIGURE = DOCUMENT.parent / "images" / "sequential-level.svg"
MOST_LOOKS = 10
DRAWN = 100_000
"""Studies of each point of the figure."""


def draw() -> int:
    """Type I error by the number of analyses, and coverage by the true effect."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "level"
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    numbers = range(1, MOST_LOOKS + 1)
    families: tuple[Spending, ...] = ("obrien_fleming", "pocock")
    for family, style in zip(families, ("o-", "s-"), strict=True):
        plans = [bounds(np.arange(1, k + 1) / k, spending=family).critical for k in numbers]
        rejected = [_rejected(critical) for critical in plans]
        left.plot(numbers, rejected, style, markersize=4, label=family.replace("_", " "))
    left.plot(
        numbers,
        [_rejected(np.full(k, 1.959964)) for k in numbers],
        "^--",
        markersize=4,
        label="|z| > 1.96",
    )
    left.axhline(0.05, color="0.6", linewidth=0.8)
    left.set(xlabel="analyses", ylabel="type I error (simulated)", ylim=(0, None))
    left.legend(frameon=False)
    effects = np.arange(0, 4.5, 0.5)
    for family, style in zip(families, ("o", "s"), strict=True):
        rows = [measured(Design(family, (0.25, 0.5, 0.75, 1.0)), e, DRAWN) for e in effects]
        name = family.replace("_", " ")
        right.plot(effects, [r[1] for r in rows], f"{style}-", markersize=4, label=name)
        right.plot(
            effects, [r[2] for r in rows], f"{style}--", markersize=4, label=f"{name}, unadjusted"
        )
    right.axhline(0.95, color="0.6", linewidth=0.8)
    right.set(xlabel="true effect (mean of z)", ylabel="coverage (simulated)", ylim=(0.9, 1))
    right.legend(frameon=False, fontsize=8)
    figure.savefig(FIGURE, metadata={"Date": None})
    return 0


def _rejected(critical: np.ndarray) -> float:
    """Type I error of tests at equal steps with these critical values."""
    k = len(critical)
    noise = np.random.default_rng(5).normal(size=(DRAWN, k))
    z = np.cumsum(noise, axis=1) / np.sqrt(np.arange(1, k + 1))
    return float((np.abs(z) >= critical).any(axis=1).mean())


if __name__ == "__main__":
    if "--figure" in sys.argv:
        sys.exit(draw())
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
