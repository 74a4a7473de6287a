"""Do differences of groups keep their level? Studies without a difference, and some with a known
one.

    python benchmarks/coverage_differences.py                  print the tables of docs/coverage.md
    python benchmarks/coverage_differences.py --write          and write them there
    python benchmarks/coverage_differences.py --studies 200    fewer simulated studies
    python benchmarks/coverage_differences.py --only judges    one part alone

The parts are kappas, planted, judges, shares and alphas.

A test fails where the 95 % binomial bounds of its error lie wholly above .06, an interval where
those of its coverage lie wholly outside .93 to .985; above .97 it is called conservative. Widths
are medians."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import stats

from konsil.analysis.agreement import agreement_statistics
from konsil.analysis.estimation.differences import contrast
from konsil.analysis.estimation.measure import Measure, pair, share
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling
from konsil.stats.agreement.consensus import judge_and_ceiling
from konsil.stats.engine.contract import Codes
from konsil.stats.inference import infer
from konsil.stats.inference.exchange import permuted

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
DRAWS = 999


@dataclass
class Cell:
    """One design: what was found in its studies."""

    name: str
    truth: float = 0.0
    p: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    undefined: int = 0

    def add(self, value: float, low: float, high: float, p: float, other: float) -> None:
        """Count one study; `other` is the p of the alternative."""
        if math.isnan(value):
            self.undefined += 1
            return
        self.p.append(p)
        self.other.append(other)
        self.low.append(low)
        self.high.append(high)

    def row(self) -> str:
        """The line of a table."""
        n = len(self.p)
        if not n:
            return f"| {self.name} | all undefined |"
        low, high = np.array(self.low), np.array(self.high)
        defined = np.isfinite(low)
        covers = int(((low <= self.truth) & (self.truth <= high))[defined].sum())
        rejected = int((np.array(self.p) <= 0.05).sum())
        error = f"{rejected / n:.3f}"
        other = np.array(self.other)
        beside = f"{np.nanmean(other <= 0.05):.3f}" if np.isfinite(other).any() else ""
        bounds = (
            stats.binomtest(covers, int(defined.sum())).proportion_ci() if defined.any() else None
        )
        verdict = ""
        if self.truth == 0 and stats.binomtest(rejected, n).proportion_ci().low > 0.06:
            verdict = "**fails**"
        elif bounds is not None and (
            bounds.high < 0.93 or (bounds.low > 0.985 and self.truth != 0)
        ):
            verdict = "**fails**" if bounds.high < 0.93 else "conservative"
        elif defined.any() and covers / defined.sum() > 0.97:
            verdict = "conservative"
        width = np.median((high - low)[defined]) if defined.any() else math.nan
        coverage = covers / defined.sum() if defined.any() else math.nan
        shares = f"{self.undefined / (n + self.undefined):.3f} | {1 - defined.mean():.3f}"
        power = error if self.truth == 0 else f"({error})"
        return (
            f"| {self.name} | {power} | {beside} | {coverage:.3f} | {width:.3f} | {shares} |"
            f" {verdict} |"
        )


HEAD = (
    "| design | p <= .05 | Wald t, p <= .05 | coverage | median width | undefined | no interval"
    " | |\n|---|---:|---:|---:|---:|---:|---:|---|"
)


def sample(labels, first=0):
    """A table of labels, each row an item and a cluster."""
    n = len(labels)
    names = tuple(f"i{number:05}" for number in range(first, first + n))
    return Sample(
        Codes(labels.astype(np.int8), np.arange(n), 2),
        tuple(f"r{r}" for r in range(labels.shape[1])),
        names,
        names,
    )


def difference_of(a: Measure, b: Measure, key: int) -> tuple[float, float, float, float, float]:
    """The difference as the package gives it, and beside it the linearised t test's p."""
    difference = contrast(
        a, b, key=key, resampling=Resampling(DRAWS, 0.95), cluster="item"
    ).headline
    if math.isnan(difference.value):
        return difference.value, math.nan, math.nan, math.nan, math.nan
    both = pair(a, b)
    beside = infer.difference(both.sums, both.finalise, np.array([[1.0, -1.0]]), method="wald")
    return difference.value, difference.low, difference.high, difference.p, float(beside.wald_p[0])


def two_systems(rng, n, cut, noise=(0.6, 0.6), shared=0.3):
    """Labels of two raters of two systems' answers to the same items."""
    item = rng.normal(size=n)
    for sd in noise:
        z = np.sqrt(shared) * item + np.sqrt(1 - shared) * rng.normal(size=n)
        yield ((z[:, None] + sd * rng.normal(size=(n, 2))) > cut * np.sqrt(1 + sd**2)).astype(
            np.int8
        )


def kappas(studies: int) -> Iterator[Cell]:
    """Cohen's kappa of two systems of one law."""
    for cut, prevalence in (
        (0.0, "50 %"),
        (stats.norm.isf(0.1), "10 %"),
        (stats.norm.isf(0.03), "3 %"),
    ):
        for n in (15, 30, 60, 150):
            cell, rng = Cell(f"{prevalence} yes, {n} items"), np.random.default_rng(n)
            for key in range(studies):
                a, b = (
                    agreement_statistics.agreement(sample(x), "cohen_kappa", "nominal")
                    for x in two_systems(rng, n, cut)
                )
                cell.add(*difference_of(a, b, key))
            yield cell


def kappa_of(cut: float, noise: float) -> float:
    """The population's kappa of two raters whose noise has this standard deviation."""
    at, r = cut, 1 / (1 + noise**2)
    yes = stats.norm.sf(at)
    both = stats.multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf([-at, -at])
    chance = yes**2 + (1 - yes) ** 2
    return float((1 - 2 * yes + 2 * both - chance) / (1 - chance))


def planted(studies: int) -> Iterator[Cell]:
    """Kappas that do differ: how often the interval holds the true difference."""
    for cut, prevalence in ((0.0, "50 %"), (stats.norm.isf(0.1), "10 %")):
        truth = kappa_of(cut, 0.3) - kappa_of(cut, 0.9)
        for n in (30, 60, 150):
            cell, rng = (
                Cell(f"{prevalence} yes, {n} items, difference {truth:.2f}", truth),
                np.random.default_rng(n),
            )
            for key in range(studies):
                labels = two_systems(rng, n, cut, (0.3, 0.9))
                a, b = (
                    agreement_statistics.agreement(sample(x), "cohen_kappa", "nominal")
                    for x in labels
                )
                cell.add(*difference_of(a, b, key))
            yield cell


def judges(studies: int) -> Iterator[Cell]:
    """A judge who is one more rater of the panel, minus the panel's ceiling; 5 % of the labels are
    missing."""
    for measure, title in (("percent_agreement", "percent agreement"), ("cohen_kappa", "kappa")):
        for n_panel in (3, 5, 9):
            statistic = judge_and_ceiling(n_panel, 1, 2, measure)
            for n in (15, 20, 40, 100):
                cell, rng = (
                    Cell(f"{title}, panel of {n_panel}, {n} items"),
                    np.random.default_rng(n),
                )
                for key in range(studies):
                    latent = rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, n_panel + 1))
                    labels = (latent > -0.5).astype(np.int8)
                    labels[rng.random(labels.shape) < 0.05] = -1
                    states = [
                        statistic.tally(Codes(np.roll(labels, turn, axis=1), np.arange(n), 2))
                        for turn in range(n_panel + 1)
                    ]
                    difference = permuted(states, statistic.finalise, draws=DRAWS, key=key)
                    beside = infer.difference(
                        states[0], statistic.finalise, np.eye(1), method="wald"
                    )
                    cell.add(
                        difference.value,
                        difference.low,
                        difference.high,
                        difference.p,
                        float(beside.wald_p[0]),
                    )
                yield cell


def shares(studies: int) -> Iterator[Cell]:
    """The share of a yes of two systems of one law."""
    designs: tuple[tuple[str, int, int, int], ...] = (
        ("40 items, both systems", 40, 40, 1),
        ("18 items against 5 of them", 18, 5, 1),
        ("18 items against 5 others", 18, -5, 1),
        ("40 items, both systems, 3 raters", 40, 40, 3),
        ("15 items, both systems, 3 raters", 15, 15, 3),
        ("40 items against 20 others, 3 raters", 40, -20, 3),
    )
    for title, first, second, raters in designs:
        for yes in (0.02, 0.05, 0.15):
            cell, rng = Cell(f"{title}, {yes:.0%} yes"), np.random.default_rng(first)
            for key in range(studies):
                # Labels of one answer are alike: their chance of a yes is a beta variable about the
                # share.
                chance = (
                    rng.beta(yes, 1 - yes, (2, 40, 1)) if raters > 1 else np.full((2, 40, 1), yes)
                )
                labels = rng.random((2, 40, raters)) < chance
                a = share(sample(labels[0, :first]), [1])
                b = share(sample(labels[1, : abs(second)], 0 if second > 0 else 1000), [1])
                cell.add(*difference_of(a, b, key))
            yield cell


def alphas(studies: int) -> Iterator[Cell]:
    """Krippendorff's alpha of different items, of one law."""
    for cut, prevalence in ((0.0, "50 %"), (stats.norm.isf(0.1), "10 %")):
        for n, m in ((20, 20), (20, 100), (100, 100)):
            cell, rng = (
                Cell(f"{prevalence} yes, {n} items against {m}"),
                np.random.default_rng(n + m),
            )
            for key in range(studies):
                a, b = (
                    agreement_statistics.agreement(
                        sample(
                            (
                                rng.normal(size=(k, 1)) + 0.6 * rng.normal(size=(k, 3))
                                > cut * np.sqrt(1.36)
                            ),
                            at,
                        ),
                        "krippendorff_alpha",
                        "nominal",
                    )
                    for k, at in ((n, 0), (m, 1000))
                )
                cell.add(*difference_of(a, b, key))
            yield cell


PARTS: dict[str, tuple[str, Callable[[int], Iterator[Cell]]]] = {
    "kappas": (
        (
            "**Cohen's kappa of two systems with the same distribution of ratings**, the same"
            " items, two raters; studentised permutation within items. Coverage is that of a"
            " difference of 0."
        ),
        kappas,
    ),
    "planted": (
        ("**Kappas that differ**: coverage of the true difference; power in brackets."),
        planted,
    ),
    "judges": (
        (
            "**Judge minus inter-expert benchmark**, with a judge who is exchangeable with the"
            " panel's raters; 5% of the ratings missing."
        ),
        judges,
    ),
    "shares": (
        (
            "**Proportions of two systems with the same distribution of ratings**: score tests"
            " if an item has one rating per system, square-and-add if it has three correlated"
            " ratings (their probability of yes has a beta distribution)."
        ),
        shares,
    ),
    "alphas": (
        (
            "**Krippendorff's alpha of different items**, three raters, the same distribution of"
            " ratings; permutation of items."
        ),
        alphas,
    ),
}


def main() -> None:
    """Make the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--only", choices=[*PARTS], nargs="+", default=[*PARTS])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    for name in asked.only:
        title, cells = PARTS[name]
        lines = [title, "", *HEAD.split("\n")]
        print("\n".join(lines), flush=True)
        for cell in cells(asked.studies):
            lines.append(cell.row())
            print(lines[-1], flush=True)
        print()
        if asked.write:
            _write(name, "\n".join(lines))


def _write(name: str, text: str) -> None:
    """Replace one part of the document, between its marks."""
    document = DOCUMENT.read_text("utf-8")
    start, end = f"<!-- differences: {name} -->\n", f"<!-- end of differences: {name} -->"
    before, _, rest = document.partition(start)
    _, mark, after = rest.partition(end)
    if not mark:
        raise SystemExit(f"{DOCUMENT.name}: expected the marks {start.strip()} and {end}")
    DOCUMENT.write_text(f"{before}{start}{text}\n\n{end}{after}", "utf-8")


if __name__ == "__main__":
    main()
