"""Do the intervals of agreement hold from chance to perfect agreement, and on scales of any length?

    python benchmarks/coverage_chance.py             print the tables of docs/coverage.md
    python benchmarks/coverage_chance.py --write     and write them there

The intervals are those that konsil prints: each simulated table goes through the functions of the
analyses, which choose the method. Above and below are the shares of studies whose whole interval
lies above or below the true value."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from coverage_document import report_part

from konsil.analysis.agreement.agreement_estimates import estimate_jointly
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling
from konsil.stats.agreement.registry import STATISTICS, statistic
from konsil.stats.engine.contract import Codes
from konsil.stats.shares import shares

NOMINAL = ("percent_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
ORDINAL = ("cohen_kappa_quadratic", "krippendorff_alpha", "gwet_ac2", "icc2", "kendall_w")
DRAWS = 1000
TRUTH = 400_000
LEAST = 0.93
BEGIN, END = "<!-- chance agreement -->", "<!-- end of chance agreement -->"

INTRODUCTION = """## From chance to perfect agreement

{studies:,} studies of each design; raters either give a unit's own label, with a probability that determines kappa, or a
label at random (for kappa below 0 they spread their labels over the scale), and scores of one latent distribution are
rounded to scales of 5 to 101 points. The intervals are those that konsil prints for items, whichever the method. "Above"
and "below" are the shares of studies whose whole interval is above or below the true value; nominal are .025 each. The
posterior of the rating patterns is made of a prior for each limit: with one prior for both (a Pólya urn with the weight
of two clusters, over all declared labels) the interval of kappa was above 0 in 7 to 17% of studies in which three to nine
raters labelled at random, in up to 44% where declared labels were unused, and on scales of more than ten labels there was
a bootstrap with a coverage of .82 to .92.
"""

Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Design:
    """A law of labels: `draw` (generator, n) gives labels (n_units, n_raters)."""

    family: str
    name: str
    n: int
    draw: Draw
    n_labels: int
    level: str = "nominal"
    names: tuple[str, ...] = NOMINAL
    values: tuple[float, ...] | None = None


@dataclass
class Cell:
    """What one design showed of one statistic."""

    truth: float
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def shares(self) -> tuple[float, float, float, float, float]:
        """No interval, coverage, wholly above, wholly below, mean width."""
        low, high = np.array(self.low), np.array(self.high)
        has = np.isfinite(low) & np.isfinite(high)
        above, below = low[has] > self.truth + 1e-12, high[has] < self.truth - 1e-12
        width = float((high - low)[has].mean()) if has.any() else float("nan")
        return 1 - has.mean(), 1 - (above | below).mean(), above.mean(), below.mean(), width


def copying(kappa: float, margin: tuple[float, ...], n_raters: int, missing: float = 0.0) -> Draw:
    """Raters give a unit's own label with probability sqrt(kappa), otherwise one at random; below
    0 they spread their labels evenly over the scale."""
    cut = np.cumsum(margin)[:-1]
    k = len(margin)

    def draw(generator, n):
        labels = np.searchsorted(cut, generator.random((n, n_raters)), side="right")
        if kappa >= 0:
            own = np.searchsorted(cut, generator.random((n, 1)), side="right")
            labels = np.where(generator.random((n, n_raters)) < np.sqrt(kappa), own, labels)
        else:
            spread = generator.permuted(np.tile(np.arange(n_raters) % k, (n, 1)), axis=1)
            spread = (spread + generator.integers(k, size=(n, 1))) % k
            labels = np.where(generator.random((n, 1)) < -kappa, spread, labels)
        if missing:
            labels = np.where(generator.random(labels.shape) < missing, -1, labels)
        return labels

    return draw


def latent(step: float, n_raters: int, mean: float, noise: float) -> Draw:
    """Scores on a scale from 0 to 10, rounded to its steps: the same latent data on every scale."""

    def draw(generator, n):
        shift = 0.3 * np.linspace(-1, 1, n_raters)
        score = mean + 1.5 * generator.standard_normal((n, 1)) + shift
        score = score + noise * generator.standard_normal((n, n_raters))
        return np.round(np.clip(np.round(score / step) * step, 0, 10) / step).astype(np.int64)

    return draw


def designs() -> Iterator[Design]:
    """All designs, in the order of the tables."""
    margins = {2: (0.5, 0.5), 5: (0.2,) * 5}
    for n_raters, n in ((2, 20), (3, 12), (3, 40), (5, 20), (9, 40), (12, 20)):
        for k in (2, 5):
            for kappa in (-0.6, 0.0, 0.1, 0.3, 0.6, 0.9, 0.97):
                yield Design(
                    "even labels",
                    f"{n_raters} raters, {n} items, {k} labels, kappa {kappa:g}",
                    n,
                    copying(kappa, margins[k], n_raters),
                    k,
                )
    for n_raters, n in ((2, 40), (3, 20), (5, 20), (9, 40)):
        for margin, declared in (((0.9, 0.1), 2), ((0.8, 0.1, 0.1), 3), ((0.9, 0.1), 5)):
            for kappa in (0.0, 0.6, 0.9):
                unused = f" of {declared} declared" if declared > len(margin) else ""
                shown = ":".join(f"{100 * m:.0f}" for m in margin)
                yield Design(
                    "a rare label",
                    f"{n_raters} raters, {n} items, labels {shown}{unused}, kappa {kappa:g}",
                    n,
                    copying(kappa, margin, n_raters),
                    declared,
                )
    for n_raters, n in ((2, 20), (3, 40), (5, 20)):
        for kappa in (0.0, 0.3, 0.6, 0.9):
            yield Design(
                "five steps",
                f"{n_raters} raters, {n} items, 5 steps, kappa {kappa:g}",
                n,
                copying(kappa, margins[5], n_raters),
                5,
                "ordinal",
                ORDINAL,
            )
    for kappa in (0.0, 0.6, 0.9):
        yield Design(
            "missing ratings",
            f"4 raters, 40 items, 3 labels, 25 % missing, kappa {kappa:g}",
            40,
            copying(kappa, (1 / 3,) * 3, 4, missing=0.25),
            3,
        )
    scales = (("1 to 5", 2.5), ("0 to 9", 10 / 9), ("0 to 10", 1.0), ("0 to 100", 0.1))
    for n_raters, n in ((2, 12), (2, 40), (3, 20)):
        for mean in (5.5, 8.4):
            for noise in (0.3, 1.0):
                for scale, step in scales:
                    k = round(10 / step) + 1
                    yield Design(
                        "scales",
                        f"{n_raters} raters, {n} items, mean {mean}, noise {noise}: {scale}",
                        n,
                        latent(step, n_raters, mean, noise),
                        k,
                        "interval",
                        ORDINAL,
                        tuple(np.arange(k) * step),
                    )


def truths(design: Design) -> dict[str, float]:
    """Every statistic of one very large sample."""
    generator = np.random.default_rng(0)
    labels = design.draw(generator, TRUTH)
    if (labels < 0).any():
        labels = labels[(labels >= 0).sum(axis=1) >= 2]
    parts: dict[str, float] = {}
    patterns, counts = np.unique(labels, axis=0, return_counts=True)
    codes = Codes(patterns, np.arange(len(patterns)), design.n_labels, design.values)
    for name in design.names:
        if name == "kendall_w":
            sample = labels[:4000]
            own = Codes(sample, np.zeros(len(sample), np.int64), design.n_labels, design.values)
            of = statistic(name, own, level=design.level)
            parts[name] = float(of.finalise(np.asarray(of.tally(own)).sum(0))[0])
            continue
        of = statistic(name, codes, level=design.level)
        sums = of.tally(codes)
        total = counts @ sums if isinstance(sums, np.ndarray) else sums.T @ counts
        parts[name] = float(of.finalise(np.asarray(total, dtype=np.float64).ravel())[0])
    return parts


def cells(design: Design, studies: int) -> dict[str, Cell]:
    """The printed intervals of simulated studies."""
    of = {name: Cell(truth) for name, truth in truths(design).items()}
    generator = np.random.default_rng(1)
    for study in range(studies):
        labels = design.draw(generator, design.n)
        n_raters = labels.shape[1]
        units = tuple(f"{n:04d}" for n in range(design.n))
        sample = Sample(
            Codes(labels, np.arange(design.n), design.n_labels, design.values),
            tuple(f"r{n:02d}" for n in range(n_raters)),
            units,
            units,
        )
        summaries = estimate_jointly(
            sample,
            design.names,
            design.level,
            key=study,
            resampling=Resampling(draws=DRAWS),
            cluster="item",
        )
        for name, cell in of.items():
            cell.low.append(summaries[name].headline.low)
            cell.high.append(summaries[name].headline.high)
    return of


@dataclass(frozen=True)
class Row:
    """One statistic of one design."""

    family: str
    group: str
    design: str
    statistic: str
    without: float
    covers: float
    above: float
    below: float
    width: float


def rows(studies: int, only: str = "") -> Iterator[Row]:
    """Every statistic of every design with these words in its name."""
    for design in designs():
        if only in f"{design.family}; {design.name}":
            for name, cell in cells(design, studies).items():
                group = design.name.rpartition(", " if design.level != "interval" else ": ")[2]
                title = STATISTICS[name].title
                yield Row(design.family, group, design.name, title, *cell.shares())


def table(found: list[Row], studies: int) -> Iterator[str]:
    """One line for each statistic of a family and a kappa or scale, then the designs that fail."""
    yield (
        "| labels | design | statistic | designs | no interval | covers, mean | lowest"
        " | above, highest | below, highest | width, mean |"
    )
    yield "|---|---|---|---:|---:|---:|---:|---:|---:|---:|"
    parts: dict[tuple[str, str, str], list[Row]] = {}
    for row in found:
        parts.setdefault((row.family, row.group, row.statistic), []).append(row)
    for (family, group, name), members in parts.items():
        covers = [row.covers for row in members]
        without, above, below = (
            max(getattr(row, kind) for row in members) for kind in ("without", "above", "below")
        )
        width = np.mean([row.width for row in members])
        yield (
            f"| {family} | {group} | {name} | {len(members)} | {without:.3f}"
            f" | {np.mean(covers):.3f} | {min(covers):.3f} | {above:.3f} | {below:.3f}"
            f" | {width:.3f} |"
        )
    failing = [row for row in found if upper_bound(row.covers, studies) < LEAST]
    yield ""
    yield (
        f"The upper 95% confidence bound of the coverage is below {LEAST:.2f} in {len(failing)} of"
        f" {len(found)} designs and statistics{':' if failing else '.'}"
    )
    if failing:
        yield ""
    for row in failing:
        yield (
            f"- {row.statistic}; {row.family}, {row.design}: {row.covers:.3f} (above"
            f" {row.above:.3f}, below {row.below:.3f})"
        )


def upper_bound(share: float, studies: int) -> float:
    """The upper limit of a coverage."""
    return float(shares.clopper_pearson(round(share * studies), studies)[1])


def report(studies: int) -> str:
    """The part of the document."""
    return document_part(list(rows(studies)), studies)


def document_part(found: list[Row], studies: int) -> str:
    """The part of the document with the table of these rows."""
    lines = "\n".join(table(found, studies))
    return f"{BEGIN}\n{INTRODUCTION.format(studies=studies)}\n{lines}\n\n{END}\n"


if __name__ == "__main__":
    sys.exit(report_part(__doc__, report, BEGIN, END))
