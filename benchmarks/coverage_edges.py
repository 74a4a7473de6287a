"""Do the intervals of single statistics hold where labels are rare, raters agree nearly always, or
units are few?

    python benchmarks/coverage_edges.py             print the table of docs/coverage.md
    python benchmarks/coverage_edges.py --write     and write it there

Beside the interval that is printed stand those that are not: the cluster bootstrap (BCa) and the
linearised interval on the atanh scale."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from konsil.analysis.agreement.agreement_estimates import estimate_jointly
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Resampling
from konsil.stats.agreement.registry import STATISTICS, statistic
from konsil.stats.engine.contract import Codes
from konsil.stats.inference.infer import infer
from konsil.stats.shares import shares

NOMINAL = ("percent_agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
ORDINAL = ("cohen_kappa_quadratic", "krippendorff_alpha", "gwet_ac2", "icc2", "icc3")
SIZES = np.array([1, 1, 1, 1, 1, 2, 2, 3, 6, 12])
CUTS = np.array([-2.3, -1.8, -1.4, -0.9])
SEVERITY = np.array([0.0, 0.2, -0.2])
PANELS = ((200, 1, 1.8, 0.0, 2), (40, 5, 0.3, 0.7, 2), (40, 1, 0.3, 0.0, 2), (40, 5, 0.3, 0.7, 3))
LOW, HIGH = 0.93, 0.985
CONSERVATIVE = 0.97
TRUTH, PARTS = 2_000_000, 20
AT_ONCE = 50

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- sparse labels -->", "<!-- end of sparse labels -->"

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Design:
    """A law of labels: `draw` (generator, n) gives labels (n_units, n_raters) and clusters
    (n_units,)."""

    name: str
    n: int
    draw: Draw
    law: str
    n_labels: int = 2
    level: str = "nominal"
    names: tuple[str, ...] = NOMINAL


def latent(prevalence: float, n_raters: int, noise: float = 0.5) -> Draw:
    """A normal trait of each unit and noise of each rater, cut where the label has its
    prevalence."""
    cut = stats.norm.isf(prevalence) * np.sqrt(1 + noise**2)

    def draw(generator, n):
        trait = generator.standard_normal((n, 1)) + noise * generator.standard_normal((n, n_raters))
        return (trait > cut).astype(np.int64), np.arange(n)

    return draw


def near_perfect(error: float, n_raters: int) -> Draw:
    """Half of the units have the label, and every rater errs now and then."""

    def draw(generator, n):
        true = generator.random((n, 1)) < 0.5
        return (true != (generator.random((n, n_raters)) < error)).astype(np.int64), np.arange(n)

    return draw


def unequal(generator, n):
    """Clusters of 1 to 12 units that share a trait and how hard they are; two raters."""
    n_clusters = n // 3
    of = np.repeat(np.arange(n_clusters), np.resize(SIZES, n_clusters))
    hard = np.where(generator.random(n_clusters) < 0.5, 0.2, 1.5)[of, None]
    trait = np.sqrt(0.5) * (
        generator.standard_normal(n_clusters)[of] + generator.standard_normal(len(of))
    )
    return (trait[:, None] + hard * generator.standard_normal((len(of), 2)) > 0).astype(
        np.int64
    ), of


def ceiling(generator, n):
    """Five steps with 77 % in the top one, three raters of different severity."""
    trait = generator.standard_normal((n, 1)) + 0.7 * generator.standard_normal((n, 3)) + SEVERITY
    return np.searchsorted(CUTS, trait.ravel()).reshape(trait.shape), np.arange(n)


def panel(n_slots: int, mean: float, disagreement: float, n_raters: int) -> Draw:
    """Answers of items as the table of `coverage.py` has them; its `Panel` says how."""

    def draw(generator, n):
        shape = (n, n_slots, n_raters)
        trait = (
            mean
            + 0.7 * generator.standard_normal((n, 1, 1))
            + 0.9 * generator.standard_normal((n, n_slots, 1))
        )
        trait = (
            trait
            + disagreement * generator.standard_normal((n, 1, n_raters))
            + 0.6 * generator.standard_normal(shape)
        )
        return (trait > 0).astype(np.int64).reshape(-1, n_raters), np.repeat(np.arange(n), n_slots)

    return draw


def designs() -> Iterator[Design]:
    """All designs, in the table's order."""
    for n_raters in (2, 3):
        for prevalence in (0.02, 0.05):
            for n in (50, 100, 200):
                name = f"{prevalence:.0%} prevalence, {n} items, {n_raters} raters"
                yield Design(name, n, latent(prevalence, n_raters), f"rare {prevalence} {n_raters}")
    for n_raters in (2, 3):
        for n in (20, 30, 60):
            name = f"98% agreement, {n} items, {n_raters} raters"
            yield Design(name, n, near_perfect(0.0101, n_raters), f"near {n_raters}")
    for n_raters in (2, 3):
        for n in (15, 20, 30):
            name = f"50% prevalence, {n} items, {n_raters} raters"
            yield Design(name, n, latent(0.5, n_raters, 0.7), f"even {n_raters}")
    yield Design("10 clusters of 1 to 12 items, 2 raters", 30, unequal, "unequal")
    for n in (30, 60):
        name = f"five steps, 77% in the top one, {n} items, 3 raters"
        yield Design(name, n, ceiling, "top", 5, "ordinal", ORDINAL)
    for n, n_slots, mean, disagreement, n_raters in PANELS:
        yield Design(
            f"the table above, {n} x {n_slots}, {n_raters} raters,"
            f" {'92%' if mean > 1 else '60%'} yes",
            n,
            panel(n_slots, mean, disagreement, n_raters),
            f"panel {n_slots} {mean} {disagreement} {n_raters}",
        )


def truths(design: Design) -> dict[str, float]:
    """Every statistic of one very large sample."""
    generator = np.random.default_rng(0)
    parts = [design.draw(generator, TRUTH // PARTS)[0].astype(np.int8) for _ in range(PARTS)]
    patterns, counts = np.unique(np.concatenate(parts), axis=0, return_counts=True)
    codes = Codes(patterns, np.arange(len(patterns)), design.n_labels)
    values = {}
    for name in design.names:
        estimator = statistic(name, codes, level=design.level)
        values[name] = float(
            estimator.finalise(counts @ np.asarray(estimator.tally(codes), dtype=np.float64))[0]
        )
    return values


@dataclass
class Limits:
    """Limits of one kind over all studies, nan where there are none."""

    low: np.ndarray
    high: np.ndarray

    def of(self, truth: float) -> tuple[int, int, float]:
        """How many hold the truth, how many there are, and their mean width."""
        known = np.isfinite(self.low)
        held = (self.low <= truth) & (truth <= self.high)
        return int(held[known].sum()), int(known.sum()), float((self.high - self.low)[known].mean())


def beside(design: Design, name: str, samples: list[Codes], draws: int) -> dict[str, Limits]:
    """The intervals of every study that are not printed."""
    estimator = statistic(name, samples[0], level=design.level)
    tallies = [np.asarray(estimator.tally(codes), dtype=np.float64) for codes in samples]
    n = tallies[0].shape[1]
    ends: dict[str, list[np.ndarray]] = {"bca": [], "atanh": []}
    for at in range(0, len(samples), AT_ONCE):
        some = tallies[at : at + AT_ONCE]

        def finalise(totals):
            return estimator.finalise(totals.reshape(*totals.shape[:-1], -1, n))[..., 0]

        result = infer(np.hstack(some), finalise, draws=draws, key=at, scale="atanh")
        ends["bca"].append(np.stack([result.low, result.high]))
        ends["atanh"].append(np.stack([result.wald_low, result.wald_high]))
    return {kind: Limits(*np.concatenate(ends[kind], axis=1)) for kind in ("bca", "atanh")}


def printed(design: Design, samples: list[Codes], draws: int) -> dict[str, Limits]:
    """The limits that konsil prints of every study, by statistic."""
    ends: dict[str, list[tuple[float, float]]] = {name: [] for name in design.names}
    for study, codes in enumerate(samples):
        raters, units, clusters = (
            tuple(f"{n:05}" for n in range(size))
            for size in (codes.labels.shape[1], len(codes.labels), codes.n_clusters)
        )
        summaries = estimate_jointly(
            Sample(codes, raters, units, clusters),
            design.names,
            design.level,
            key=study,
            resampling=Resampling(draws),
            cluster="item",
        )
        for name, summary in summaries.items():
            ends[name].append((summary.headline.low, summary.headline.high))
    return {name: Limits(*np.array(limits).T) for name, limits in ends.items()}


def edge_table(studies: int, draws: int, only: str = "") -> Iterator[str]:
    """The table, row by row."""
    yield (
        "| design | statistic | target | no interval | covers | width | remark | *BCa* | *width*"
        " | *Wald (Taylor), atanh* | *width* |"
    )
    yield "|---|---|---:|---:|---:|---:|---|---:|---:|---:|---:|"
    known: dict[str, dict[str, float]] = {}
    for design in designs():
        if only not in design.name:
            continue
        if design.law not in known:
            known[design.law] = truths(design)
        generator = np.random.default_rng(1)
        samples = [
            Codes(labels, clusters, design.n_labels)
            for labels, clusters in (design.draw(generator, design.n) for _ in range(studies))
        ]
        of_konsil = printed(design, samples, draws)
        for name in design.names:
            truth = known[design.law][name]
            every = {"printed": of_konsil[name]} | beside(design, name, samples, draws)
            results = {kind: limits.of(truth) for kind, limits in every.items()}
            hits, n, width = results["printed"]
            cells = " | ".join(
                f"{held / of:.3f} | {wide:.3f}"
                for held, of, wide in (results["bca"], results["atanh"])
            )
            yield (
                f"| {design.name} | {STATISTICS[name].title} | {truth:.3f} | {1 - n / studies:.3f}"
                f" | {hits / n:.3f} | {width:.3f} | {remark(results)} | {cells} |"
            )


def remark(results: dict[str, tuple[int, int, float]]) -> str:
    """What a reader must know of a cell: whether its binomial bounds lie outside, or how it could
    be narrower."""
    hits, n, width = results["printed"]
    low, high = (float(bound) for bound in shares.clopper_pearson(hits, n))
    if high < LOW:
        return "**fails**"
    if hits / n <= CONSERVATIVE:
        return ""
    others = [
        wide
        for held, of, wide in (results["bca"], results["atanh"])
        if of == n and LOW <= held / of <= HIGH
    ]
    word = "**fails**, conservative" if low > HIGH else "conservative"
    narrower = [wide for wide in others if wide < width]
    return (
        f"{word}, narrowest sufficient CI {min(narrower):.3f} wide"
        if narrower
        else f"{word}, no narrower CI has sufficient coverage"
    )


def main() -> None:
    """Print the table, and write it between its marks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies of a design")
    parser.add_argument("--draws", type=int, default=1000, help="draws of each study")
    parser.add_argument("--only", default="", help="designs with these words in their names")
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT.name}")
    options = parser.parse_args()
    rows = []
    for row in edge_table(options.studies, options.draws, options.only):
        print(row, flush=True)
        rows.append(row)
    if options.write:
        before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
        table = "\n".join(rows)
        DOCUMENT.write_text(
            f"{before}{BEGIN}\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
