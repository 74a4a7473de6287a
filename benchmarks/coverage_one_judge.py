"""Do intervals of strengths cover that are conditional on a single judge, also penalised ones?

    python benchmarks/coverage_one_judge.py                  print the table
    python benchmarks/coverage_one_judge.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_one_judge.py --studies 100    fewer simulated studies

The true strengths are those that the same judge gives on 100,000 items: other judges are not in
question, and the model need not hold."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from coverage_document import report_part
from scipy import stats

from konsil.stats.pairs.bradley_terry_davidson import fit, penalty_variances, worths
from konsil.stats.pairs.preference import preferences
from konsil.stats.pairs.ratios import against_reference
from konsil.stats.pairs.two_way_clusters import with_added_variance
from konsil.stats.pairs.votes import pair_members, totals, votes
from konsil.stats.pairs.worth_designs import Model, design

BEGIN, END = "<!-- one judge: begin -->", "<!-- one judge: end -->"
QUALITY = np.array([0.5, 0.2, -0.1, -0.6])
"""What the judge thinks of each system's answers, in standard deviations of the noise of a vote."""
WITHIN_ITEM = 0.6
"""The standard deviation of a system's answers around it: the votes of an item share it."""
TIES = 0.2
MANY = 100_000
PENALISED_STUDIES = 300
"""Studies of each design with a penalty; fewer where fewer are asked for."""


@dataclass(frozen=True)
class OneJudge:
    """Comparisons by one judge: all pairs of four systems on every item, or one pair."""

    items: int
    per_item: int
    best: float = QUALITY[0]

    def draw(self, generator, items=0):
        """One study's votes."""
        items = items or self.items
        first, second = pair_members(len(QUALITY))
        pairs = np.argsort(generator.random((items, len(first))), axis=1)[:, : self.per_item]
        item = np.repeat(np.arange(items), self.per_item)
        a, b = first[pairs.ravel()], second[pairs.ravel()]
        quality = np.array([self.best, *QUALITY[1:]])
        answers = quality + WITHIN_ITEM * generator.standard_normal((items, len(QUALITY)))
        gap = answers[item, a] - answers[item, b] + generator.standard_normal(len(item))
        cut = stats.norm.ppf(0.5 + TIES / 2)
        outcome = np.where(gap > cut, 1, np.where(gap < -cut, -1, 0))
        judge = np.zeros_like(item)
        made = votes(a, b, outcome, item, judge, n_systems=len(QUALITY))
        return made.among(n_questions=items, n_raters=1)


DESIGNS = [OneJudge(items, per_item) for per_item in (6, 1) for items in (30, 100, 300)]
PENALISED = [OneJudge(30, 1), *(OneJudge(items, 1, 2.0) for items in (30, 100, 300))]
"""Few comparisons, and a best system that hardly ever loses."""


def coverage(studied, model, studies, seed=5, penalty=0.0):
    """How often the intervals of the best system's log strength, and of the last one's minus it,
    hold the true value, with their mean widths; the true value is never penalised."""
    generator, alone = np.random.default_rng(seed), design(len(QUALITY), 1, model)
    chosen = design(len(QUALITY), 1, model, penalty=penalty)
    true = fit(totals(studied.draw(generator, MANY)), alone).log_worths
    targets = (true[0], true[3] - true[0])
    hits, widths, given = Counter(), Counter(), Counter()
    for number in range(studies):
        cast = studied.draw(generator)
        given["all systems", "alone"] += not fit(totals(cast), alone).reason
        statistic = worths(totals(cast), chosen)
        # The bootstrap of a penalised fit leaves out the variance of its virtual comparisons.
        both = preferences(
            cast,
            [statistic, against_reference(statistic, 0)],
            draws=0 if penalty else 1000,
            key=number,
        )
        if penalty:
            parts = penalty_variances(fit(totals(cast), chosen), 0)
            both = [
                replace(of, intervals=with_added_variance(of.intervals, added))
                for of, added in zip(both, parts, strict=True)
            ]
        for name, at, value, found in zip(("best", "gap"), (0, 3), targets, both, strict=True):
            ends = {"wald": found.intervals.question}
            if found.bootstrap is not None:
                ends["bca"] = found.bootstrap
            for way, interval in ends.items():
                low, high = interval.low[at], interval.high[at]
                if not high > low:
                    continue
                given[name, way] += 1
                hits[name, way] += low <= value <= high
                widths[name, way] += high - low
    return {
        key: (hits[key] / max(n, 1), widths[key] / max(n, 1), n / studies)
        for key, n in given.items()
    }


def verdict(share, studies):
    """A mark where the 95 % limits of a coverage lie wholly outside .93 to .985."""
    limits = stats.binomtest(round(share * studies), studies).proportion_ci(method="wilson")
    return "" if limits.low <= 0.985 and limits.high >= 0.93 else " (!)"


def table(studies):
    ways = [(name, way) for name in ("best", "gap") for way in ("wald", "bca")]
    yield (
        "| model | items | comparisons | has an interval | best system: Wald | width | BCa | width |"
        " last minus best: Wald | width | BCa | width |"
    )
    yield f"|---|{'---:|' * 11}"
    for model in get_args(Model):
        for d in DESIGNS:
            r = coverage(d, model, studies)
            cells = []
            for key in ways:
                share, width, n = r.get(key, (0.0, 0.0, 0.0))
                covers = f"{share:.3f}{verdict(share, max(round(n * studies), 1))}"
                cells.append(f"{covers} | {width:.2f}")
            yield (
                f"| {model.replace('_', '-').title()} | {d.items} | {d.items * d.per_item:,} |"
                f" {r['best', 'wald'][2]:.3f} | {' | '.join(cells)} |"
            )


def penalised_table(studies, penalties=(0.5, 1.0, 2.0)):
    yield (
        "| model | quality of the best | comparisons | estimate without a penalty | penalty |"
        " best system: Wald | width | last minus best: Wald | width |"
    )
    yield f"|---|{'---:|' * 8}"
    for model in get_args(Model):
        for d in PENALISED:
            for penalty in penalties:
                r = coverage(d, model, studies, penalty=penalty)
                cells = []
                for name in ("best", "gap"):
                    share, width, n = r.get((name, "wald"), (0.0, 0.0, 0.0))
                    covers = f"{share:.3f}{verdict(share, max(round(n * studies), 1))}"
                    cells.append(f"{covers} | {width:.2f}")
                yield (
                    f"| {model.replace('_', '-').title()} | {d.best:g} | {d.items * d.per_item:,} |"
                    f" {r['all systems', 'alone'][2]:.3f} | {penalty:g} | {' | '.join(cells)} |"
                )


def report(studies):
    """The document's part on strengths by one judge."""
    return f"""{BEGIN}
## Strengths by a single judge

{studies:,} studies of each design by `python benchmarks/coverage_one_judge.py --studies {studies} --write`: one judge compares
four systems of unequal quality, all six pairs on every item or one pair, with a fifth of ties between equal answers. The comparisons of
an item share the quality of its answers, and neither model holds exactly. The true strengths are those that this judge
gives on {MANY:,} items, since the intervals are conditional on the judge: nothing is covered of other judges. "Wald" is the
item-clustered interval of `konsil preference`, "BCa" the item-cluster bootstrap of a study, with 1,000 resamples.
"(!)" marks coverage whose 95 % limits are outside .93 to .985. Studies in which a system never lost or never won have no
interval of all strengths, and are not counted.

{chr(10).join(table(studies))}

### Penalised strengths

{PENALISED_STUDIES} studies of each design: one comparison an item, with the best system as above or so much better that it hardly ever
loses. Every study has penalised estimates of all systems (`penalty`, `--penalty`); "estimate without a penalty" is the proportion
of studies that have unpenalised ones. Intervals are item-clustered, with the variance of the virtual comparisons. The true strengths are
not penalised, so that coverage includes the pull towards the mean: with 30 or 100 comparisons and a best system that hardly
ever loses, most of it is below .93; that of the penalty 1 is .91 or more throughout.

{chr(10).join(penalised_table(min(studies, PENALISED_STUDIES)))}
{END}
"""


def main():
    return report_part(__doc__.splitlines()[0], report, BEGIN, END)


if __name__ == "__main__":
    sys.exit(main())
