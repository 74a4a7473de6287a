"""Do the intervals of kappa of comparisons hold?

    python benchmarks/coverage_choices.py                  print the table
    python benchmarks/coverage_choices.py --write          and write it into docs/coverage.md
    python benchmarks/coverage_choices.py --studies 200    fewer simulated studies

Two or more raters compare the same two answers on five steps. A rater's preference is that for the
better system of the pair, what raters share about the two answers, and the rater's own."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from coverage_document import report_part

from konsil.analysis.estimation.estimate import estimates
from konsil.analysis.estimation.measure import Column, Measure
from konsil.analysis.model.spec import Resampling
from konsil.stats.pairs.paired_choice_agreement import (
    OVER_SIDES,
    WITHIN_PAIRS,
    KappasOfChoices,
    tables_by_pair,
)
from konsil.stats.pairs.votes import Votes, pair_members, votes

BEGIN, END = "<!-- choices: begin -->", "<!-- choices: end -->"
DRAWS = 1000
TRUTH = 200_000
STEPS = 2
NAMES = {WITHIN_PAIRS: "chance within each pair", OVER_SIDES: "chance over both orders"}


@dataclass(frozen=True)
class Design:
    """Questions on which raters compare two of several systems."""

    n_questions: int
    n_raters: int
    n_systems: int
    strength: float
    """What separates one system from the next, in SD of a rater's own part."""
    shared: float
    """The SD of what raters share about two answers."""

    def study(self, generator: np.random.Generator, n_questions: int) -> Votes:
        """The votes of a study; each question has one pair of systems."""
        first, second = pair_members(self.n_systems)
        pair = generator.integers(0, len(first), n_questions)
        gap = self.strength * (second - first)[pair] + generator.normal(0, self.shared, n_questions)
        own = generator.normal(0, 1, (n_questions, self.n_raters))
        outcomes = np.clip(np.rint(1.5 * (gap[:, None] + own)), -STEPS, STEPS).ravel()
        question = np.repeat(np.arange(n_questions), self.n_raters)
        return votes(
            first[pair][question],
            second[pair][question],
            outcomes.astype(np.int64),
            question,
            np.tile(np.arange(self.n_raters), n_questions),
            n_systems=self.n_systems,
            steps=STEPS,
        )


DESIGNS = (
    Design(20, 2, 2, 0.0, 0.0),
    Design(30, 2, 4, 0.3, 0.7),
    Design(90, 2, 4, 0.3, 0.0),
    Design(90, 2, 4, 0.3, 0.7),
    Design(90, 2, 4, 0.8, 0.7),
    Design(60, 4, 3, 0.5, 1.0),
    Design(300, 2, 6, 0.3, 0.7),
)


def true_values(design: Design) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Both kappas of a very large study."""
    made = design.study(np.random.default_rng(11), TRUTH)
    totals = np.asarray(tables_by_pair(made).sum(axis=0)).ravel()
    return KappasOfChoices(made.n_outcomes)(totals)


def coverage(design: Design, studies: int) -> list[tuple[float, ...]]:
    """For each kappa the true value, bias, coverage below, above and in all, and the width."""
    truth, generator = true_values(design), np.random.default_rng(12)
    rows = np.full((studies, 2, 5), np.nan)
    for study in range(studies):
        made = design.study(generator, design.n_questions)
        kappas = KappasOfChoices(made.n_outcomes)
        measure = Measure(
            tables_by_pair(made),
            Column(kappas, WITHIN_PAIRS),
            tuple(map(str, range(design.n_questions))),
            design.n_questions,
            design.n_raters,
            made.n_votes,
        )
        beside = Measure(
            measure.sums,
            Column(kappas, OVER_SIDES),
            measure.clusters,
            measure.n_units,
            measure.n_raters,
            measure.n_ratings,
        )
        summaries = estimates(
            [measure, beside],
            key=study,
            resampling=Resampling(DRAWS),
            cluster="item",
            reasons=["", ""],
        )
        for place, summary in enumerate(summaries):
            shown = summary.headline
            rows[study, place] = (
                shown.value - truth[place],
                shown.low > truth[place],
                shown.high < truth[place],
                shown.low <= truth[place] <= shown.high,
                shown.high - shown.low,
            )
    means = np.nanmean(rows, axis=0)
    return [(float(truth[place]), *means[place].tolist()) for place in NAMES]


def report(studies: int) -> str:
    """The part of the document."""
    lines = [
        BEGIN,
        "## Kappa of comparisons",
        "",
        "Raters compare the same two answers on five steps. A rater's own preference has an SD of 1;"
        " neighbouring systems differ by *difference*, and *shared SD* is that of the preference for"
        f" one of the answers that all raters share. {DRAWS:,} resamples and {studies:,} studies of"
        f" each design; a coverage of 0.95 is measured to {math.sqrt(0.95 * 0.05 / studies):.3f}.",
        "",
        "| questions | raters | systems | difference | shared SD | kappa | true value | bias |"
        " interval above | interval below | covers | width |",
        "|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    seeming = 0.0
    for design in DESIGNS:
        for place, (truth, bias, *interval) in zip(NAMES, coverage(design, studies), strict=True):
            shown = " | ".join(f"{value:.3f}" for value in interval)
            if not design.shared and place == OVER_SIDES:
                seeming = max(seeming, truth)
            lines.append(
                f"| {design.n_questions} | {design.n_raters} | {design.n_systems} |"
                f" {design.strength} | {design.shared} | {NAMES[place]} | {truth:.3f} |"
                f" {bias:+.3f} | {shown} |"
            )
    lines += [
        "",
        "With chance over both orders, raters who share nothing but the better system seem to agree"
        f" (third design: {seeming:.3f}). With fewer than 50 questions the",
        "intervals are too narrow; their rows have a note on few clusters.",
    ]
    return "\n".join([*lines, END, ""])


if __name__ == "__main__":
    sys.exit(report_part(__doc__ or "", report, BEGIN, END))
