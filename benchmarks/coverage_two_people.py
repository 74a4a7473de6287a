"""Do the interval and the test of judges minus a panel of two raters hold?

    python benchmarks/coverage_two_people.py                  print the table
    python benchmarks/coverage_two_people.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_two_people.py --studies 100    fewer simulated studies

Every interval is the printed one, of the mean of all judges of a design."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
from coverage_document import report_part
from coverage_raters import verdict

from konsil.analysis.agreement.consensus import against_panel
from konsil.analysis.agreement.judge_vs_panel import _mean_of, judge_gaps
from konsil.analysis.estimation.measure import value
from konsil.analysis.model.sample import Sample
from konsil.analysis.model.spec import Analysis, Resampling
from konsil.stats.engine.contract import Codes

BEGIN, END = "<!-- two people: begin -->", "<!-- two people: end -->"
NAMES = ("percent_agreement", "cohen_kappa")
ITEMS = (40, 200)
DRAWS = 500
TRUTH = 1_000_000


@dataclass(frozen=True)
class Design:
    """Two people and judges who label items with a latent trait, each with noise."""

    title: str
    """Its name in the document."""
    people: tuple[float, float]
    """The standard deviations of the people's noise; that of the trait is 1."""
    judges: tuple[float, ...]
    """Those of the judges' own noise."""
    shared: float = 0.0
    """That of the noise that all judges share."""
    cut: float = 0.0
    """Above it a label is yes."""
    missing: float = 0.0
    """The share of missing labels."""


DESIGNS = (
    Design("one judge, exchangeable with the people", (0.8, 0.8), (0.8,)),
    Design("the same, 12 % yes", (0.8, 0.8), (0.8,), cut=1.5),
    Design("the same, 10 % of the labels missing", (0.8, 0.8), (0.8,), missing=0.1),
    Design("one judge, people who differ, difference near 0", (0.3, 1.2), (0.869,)),
    Design(
        "three judges with shared errors, difference near 0", (0.8, 0.8), (0.514,) * 3, shared=0.6
    ),
    Design("one judge, worse than the people", (0.6, 0.6), (1.5,)),
    Design("one judge, better than the people", (1.0, 1.0), (0.3,)),
)


def draw(design: Design, items: int, generator: np.random.Generator) -> tuple[Sample, Sample]:
    """The people's and the judges' labels of one study; -1 where there is none."""
    noises = np.array([*design.people, *design.judges])
    trait = generator.standard_normal((items, 1))
    seen = trait + noises * generator.standard_normal((items, len(noises)))
    seen[:, 2:] += design.shared * generator.standard_normal((items, 1))
    labels = (seen > design.cut).astype(np.int32)
    labels[generator.random(labels.shape) < design.missing] = -1
    units = tuple(map(str, range(items)))

    def sample_of(columns: np.ndarray, letter: str) -> Sample:
        raters = tuple(f"{letter}{n}" for n in range(columns.shape[1]))
        return Sample(Codes(columns, np.arange(items), 2), raters, units, units)

    return sample_of(labels[:, :2], "h"), sample_of(labels[:, 2:], "j")


def difference_of(people: Sample, judges: Sample, name: str) -> tuple[Analysis, list]:
    """The analysis, and its measure: the judges' mean minus the two people's agreement."""
    analysis = Analysis("judges", name, "good", "judges", against="people")
    of = against_panel(people, judges, analysis, "valid", "nominal", is_mean=True)
    return analysis, [_mean_of(of)[3]]


@cache
def truth(design: Design, name: str) -> float:
    """The difference in very many items."""
    _, [measure] = difference_of(*draw(design, TRUTH, np.random.default_rng(0)), name)
    return value(measure)


def cells(design: Design, items: int, studies: int) -> str:
    """A row's cells: for each statistic the true difference, coverage, width, and p <= .05."""
    generator = np.random.default_rng(items)
    limits = {name: np.empty((studies, 3)) for name in NAMES}
    how = {"resampling": Resampling(DRAWS), "cluster": "item"}
    for study in range(studies):
        people, judges = draw(design, items, generator)
        for name in NAMES:
            analysis, measures = difference_of(people, judges, name)
            [gap] = judge_gaps(people, judges, measures, analysis, "nominal", key=study, **how)  # type: ignore[arg-type]
            limits[name][study] = gap.headline.low, gap.headline.high, gap.headline.p
    columns = []
    for name in NAMES:
        true, (low, high, p) = truth(design, name), limits[name].T
        known = np.isfinite(low)
        held = ((low <= true) & (true <= high))[known]
        mark = verdict(held.mean(), len(held), 0.93, 1.0)
        columns.append(
            f"{true:.3f} | {held.mean():.3f}{mark} | {(high - low)[known].mean():.2f}"
            f" | {(p[np.isfinite(p)] <= 0.05).mean():.3f}"
        )
    return " | ".join(columns)


def table(studies: int) -> Iterator[str]:
    """The document's rows."""
    heads = "difference | coverage | width | p <= .05"
    yield f"| judges and people | items | {heads} | *of kappa:* {heads} |"
    yield "|---|---:|" + "---:|" * 8
    rows = [(design, items) for design in DESIGNS for items in ITEMS]
    with ProcessPoolExecutor(2) as pool:
        for (design, items), row in zip(
            rows, pool.map(cells, *zip(*rows, strict=True), [studies] * len(rows)), strict=True
        ):
            yield f"| {design.title} | {items} | {row} |"


def report(studies: int) -> str:
    """The document's part on panels of two."""
    return f"""{BEGIN}
## Judges against two people

{studies:,} studies of each design by `python benchmarks/coverage_two_people.py --write`: the mean over the pairs of a judge and
a person minus the agreement of the two people on the same items, first for percent agreement, then for kappa. People and
judges label an item with its trait and noise; the true difference is from {TRUTH:,} items. Where it is within .005 of 0,
*p <= .05* is the type I error rate of the test, elsewhere its power. The interval is over items: it covers the difference of
these two people in new items. "(!)" marks coverage significantly below .93 (95 % limits).

{chr(10).join(table(studies))}
{END}
"""


def main() -> int:
    """Print the table, and write it where that is wanted."""
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
