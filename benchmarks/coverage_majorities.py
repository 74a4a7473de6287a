"""Do intervals of raters and judges against a majority hold where some raters of the panel rate few
of the units?

    python benchmarks/coverage_majorities.py                  print the table
    python benchmarks/coverage_majorities.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_majorities.py --studies 100    fewer simulated studies

Every interval is the printed one: of the panel's leave-one-out agreement, of a judge who is one
more rater like the first, and of the difference of the two, which has a test beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
from coverage_document import report_part
from coverage_incomplete import SEVERAL, Design
from coverage_raters import verdict

from konsil.analysis.agreement import consensus
from konsil.analysis.agreement.judge_vs_panel import judge_gaps
from konsil.analysis.estimation.estimate import estimates
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.stats.agreement.consensus import judge_and_ceiling
from konsil.stats.engine.contract import Codes

BEGIN, END = "<!-- majorities: begin -->", "<!-- majorities: end -->"
NAMES = ("percent_agreement", "cohen_kappa")
PARTS = ("ceiling", "judge", "difference")
DRAWS = 500
TRUTH = 60_000
DESIGNS = (
    Design(25, 4, 0.2),
    Design(50, 4, 0.1),
    Design(50, 4, 0.2),
    Design(100, 4, 0.1),
    Design(100, 6, 0.1),
    Design(50, 4, 0.2, noise=0.3, noise_of_last=0.3),
    Design(60, 10, 0.3, each=3),
)


def draw(design: Design, generator: np.random.Generator) -> Codes:
    """The panel's labels of one study, -1 where there is none, and in the last column those of the
    judge."""
    noise = np.append(design.noises(), design.noise)
    trait = generator.standard_normal((design.items, 1))
    labels = (trait + noise * generator.standard_normal((design.items, len(noise))) > 0).astype(
        np.int64
    )
    panel = labels[:, :-1]
    if design.each:
        for unit in range(design.items):
            panel[unit, generator.permutation(design.raters)[design.each :]] = -1
    else:
        rated = int(np.ceil(design.part * design.items))
        for rater in range(design.raters - SEVERAL[design.raters], design.raters):
            panel[generator.permutation(design.items)[rated:], rater] = -1
    return Codes(labels, np.arange(design.items), 2)


def truths(design: Design) -> dict[str, list[float]]:
    """Each part of each statistic in very many units."""
    codes = draw(replace(design, items=TRUTH), np.random.default_rng(0))
    parts = {
        name: [judge_and_ceiling(design.raters, 1, 2, name, part) for part in PARTS]
        for name in NAMES
    }  # type: ignore[arg-type]
    return {
        name: [float(s.finalise(s.tally(codes).sum(axis=0))[0]) for s in of]
        for name, of in parts.items()
    }


def sample_of(labels: np.ndarray) -> Sample:
    """Columns of labels as a sample, every unit its own cluster."""
    raters, units = (tuple(f"{n:04}" for n in range(size)) for size in labels.shape[::-1])
    return Sample(Codes(labels, np.arange(len(labels)), 2), raters, units, units)


def limits(codes: Codes, name: str, key: int) -> list[tuple[float, float, float]]:
    """The printed limits of ceiling, judge and difference, and their p; nan where there is none."""
    analysis = Analysis("judge", name, "good", "judges", against="people")
    panel, judge = sample_of(codes.labels[:, :-1]), sample_of(codes.labels[:, -1:])
    [(_, of_judge, ceiling, minus)] = consensus.against_panel(
        panel, judge, analysis, "valid", "nominal"
    )
    [ceiling] = consensus.ceilings_of_panel([ceiling], panel, judge, analysis, "nominal")
    how = {"key": key, "resampling": Resampling(DRAWS), "cluster": "unit"}
    printed = [estimates([measure], reasons=[""], **how)[0] for measure in (ceiling, of_judge)]  # type: ignore[arg-type]
    printed += judge_gaps(panel, judge, [minus], analysis, "nominal", **how)  # type: ignore[arg-type]
    return [(told.headline.low, told.headline.high, told.headline.p) for told in printed]


def cells(design: Design, studies: int) -> str:
    """The cells of a design's row: coverage and width of each part, and how often the difference is
    found."""
    true, generator = truths(design), np.random.default_rng(1)
    every = {name: np.empty((studies, len(PARTS), 3)) for name in NAMES}
    for study in range(studies):
        codes = draw(design, generator)
        for name in NAMES:
            every[name][study] = limits(codes, name, study)
    columns = []
    for name in NAMES:
        for n in range(len(PARTS)):
            low, high, _ = every[name][:, n].T
            known = np.isfinite(low)
            held = ((low <= true[name][n]) & (true[name][n] <= high))[known]
            mark = verdict(held.mean(), len(held), 0.93, 1.0)
            columns.append(f"{held.mean():.3f}{mark} | {(high - low)[known].mean():.2f}")
        p = every[name][:, 2, 2]
        columns.append(f"{(p[np.isfinite(p)] <= 0.05).mean():.3f}")
    return " | ".join(columns)


def table(studies: int) -> Iterator[str]:
    """The document's rows."""
    heads = "benchmark | width | judge | width | difference | width | p <= .05"
    yield f"| items | raters | rated by the last | {heads} | *of kappa:* {heads} |"
    yield "|---:|---:|---|" + "---:|" * 14
    words = [
        (
            f"three of {d.raters} an item"
            if d.each
            else f"{d.part:.0%} by {SEVERAL[d.raters]}; noise {d.noise}"
        )
        for d in DESIGNS
    ]
    with ProcessPoolExecutor(2) as pool:
        rows = pool.map(cells, DESIGNS, [studies] * len(DESIGNS))
        for design, word, row in zip(DESIGNS, words, rows, strict=True):
            yield f"| {design.items} | {design.raters} | {word} | {row} |"


def report(studies: int) -> str:
    """The document's part on majorities in incomplete designs."""
    return f"""{BEGIN}
## Raters who rate few of the units, against the majority of the others

{studies:,} studies of each design by `python benchmarks/coverage_majorities.py --write`, simulated as in the previous
section: the panel's leave-one-out agreement (*inter-expert benchmark*), a judge who rates every item and is exchangeable with the
first rater, and judge minus benchmark, first for percent agreement, then for kappa. The true values are from {TRUTH:,}
items. The difference is tested by exchanging the judge with the raters of the panel; its true value is within .003 of
0 in every row, so *p <= .05* is the type I error rate of the test. "(!)" marks coverage significantly below .93 (95 %
limits).

The rule is the one for pairs, with a rater and the majority of the others instead of a pair. Without it, the coverage of the benchmark in the second row
was .80 (percent agreement) and .75 (kappa).

{chr(10).join(table(studies))}
{END}
"""


def main() -> int:
    """Print the table, and write it where that is wanted."""
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
