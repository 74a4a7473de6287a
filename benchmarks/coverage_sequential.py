"""Do group sequential tests keep their level, and adjusted intervals their coverage?

    python benchmarks/coverage_sequential.py                  print the table
    python benchmarks/coverage_sequential.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_sequential.py --studies 2000   fewer simulated studies

Statistics are simulated as sums of independent normal increments. Estimate and interval of each
stage are computed on a grid of z and interpolated. The unadjusted interval is that of a fixed test
at the same data, z / sqrt(t) +- 1.96 / sqrt(t)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part

from konsil.stats.designs.sequential import Bounds, bounds, inference
from konsil.stats.designs.spending import Spending

BEGIN, END = "<!-- sequential: begin -->", "<!-- sequential: end -->"
STEP = 0.25
"""Between the values of z at which estimates are computed."""


@dataclass(frozen=True)
class Design:
    """Analyses at these fractions."""

    spending: Spending
    fractions: tuple[float, ...]
    futility: float = 0.0
    binding: bool = False

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
    inner = [design.futility] * (len(design.fractions) - 1)
    plan = bounds(
        design.fractions, spending=design.spending, futility=inner, binding=design.binding
    )
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
            low, high, middle = _interpolated(plan, k, last[of_stage])
            covered[of_stage] = (low <= drift) & (drift <= high)
            above[of_stage] = middle > drift
    half = 1.959964 / np.sqrt(fraction)
    naive = np.abs(last / np.sqrt(fraction) - drift) <= half
    return tuple(float(x.mean()) for x in (crossed[rows, stage], covered, naive, above))


def _interpolated(plan: Bounds, k: int, z: np.ndarray) -> tuple[np.ndarray, ...]:
    """Ends of the interval and estimate of a trial that ends at stage k."""
    part = slice(0, k + 1)
    upto = Bounds(
        plan.fractions[part],
        plan.critical[part],
        plan.futility[part],
        plan.spent[part],
        plan.is_binding,
    )
    grid = np.arange(z.min() - STEP, z.max() + 2 * STEP, STEP)
    results = [inference(upto, float(x)) for x in grid]
    return tuple(
        np.interp(z, grid, [getattr(r, name) for r in results])
        for name in ("low", "high", "estimate")
    )


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


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
