"""Reports about raters like these: no row of the four protocols is about these raters only, but for
the exceptions that the module of targets lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest
from tests.small_protocols import SMALL

from konsil.analysis import Analysis, Inference, Row
from konsil.analysis.estimation.targets import LEAST_RATERS, STATED, is_about_these
from konsil.analysis.running.run import run
from konsil.api import open_folder
from konsil.errors.message import TranslatableMessage
from konsil.study.data.run_settings import run_settings
from reported_studies import ReportedStudy

pytestmark = pytest.mark.slow

FEWEST = {"medqade": 15, "real-pocqi": 150, "clexeval": 100, "cqa-eval": 90}
"""At least so many primary intervals or p values are about raters like these."""


def exceptions(
    row: Row, analysis: Analysis, kinds: Mapping[str, set[str]], fewest: int
) -> Iterator[str]:
    """Why the primary interval of a row is about these raters only; `fewest`: raters of a group."""
    if is_about_these(analysis):
        yield "a consensus, raters against others, or a statistic without a two-way method"
    if "human" not in kinds[analysis.raters]:
        yield "no people"
    if row.n_raters < LEAST_RATERS or fewest < LEAST_RATERS:
        yield "fewer than three raters, also in one of two groups"
    if analysis.mode == "paper" or analysis.cluster == "rater" or analysis.test == "flip":
        yield "the analysis decides"
    if row.kind == "estimate" and row.estimate.value in {-1, 0, 1}:
        yield "all ratings alike"
    if any(isinstance(w, TranslatableMessage) and w.message_id in STATED for w in row.warnings):
        yield "nearly all ratings by one rater, which is stated"


@pytest.mark.parametrize("name", sorted(SMALL))
def test_no_primary_row_is_about_these_raters_but_for_the_exceptions(
    name: str, reported: Callable[[str], ReportedStudy]
) -> None:
    folder = open_folder(reported(name).folder)
    study = folder.study
    settings = replace(run_settings(study), inference=Inference("like these"))
    results = run(study.analyses, folder.data(), settings)
    analysis_of = {analysis.name: analysis for analysis in study.analyses}
    kinds: dict[str, set[str]] = {panel: set() for panel in (a.raters for a in study.analyses)}
    for rater in study.everybody():
        for panel in (rater.panel, *(p for p, of in study.together.items() if rater.panel in of)):
            kinds.setdefault(panel, set()).add(rater.kind)
    primary = [
        row
        for row in results.rows
        if row.kind in {"estimate", "difference"}
        and (math.isfinite(row.estimate.low) or math.isfinite(row.estimate.p))
    ]

    def fewest(row: Row) -> int:
        """The raters of the group with the fewest, of a difference those of both."""
        groups = (row.group, row.versus)
        each = [r for r in results.rows if r.kind == "estimate" and r.analysis == row.analysis]
        return min((r.n_raters for r in each if r.group in groups), default=row.n_raters)

    about_these = [row for row in primary if row.estimate.raters == "these"]
    undeclared = [
        (row.analysis, row.statistic, row.kind, row.group, row.versus, row.estimate.method)
        for row in about_these
        if not list(exceptions(row, analysis_of[row.analysis], kinds, fewest(row)))
    ]
    assert not undeclared
    assert len(primary) - len(about_these) >= FEWEST[name]


def test_the_difference_of_agreement_between_designs_is_about_raters_like_these(
    reported: Callable[[str], ReportedStudy],
) -> None:
    """The first question of CQA-Eval."""
    folder = open_folder(reported("cqa-eval").folder)
    study = folder.study
    agreement = [a for a in study.analyses if a.statistic == "randolph_kappa" and a.compare]
    people = [a for a in agreement if a.raters == "physicians"]
    rows = run(people, folder.data(), run_settings(study)).rows
    differences = [r for r in rows if r.kind == "difference"]
    assert differences
    for row in differences:
        assert row.estimate.raters == "like these"
        assert math.isfinite(row.estimate.low) == math.isfinite(row.estimate.p)
        (beside,) = (
            r
            for r in rows
            if r.kind == "companion"
            and (r.analysis, r.group, r.versus) == (row.analysis, row.group, row.versus)
        )
        assert beside.estimate.raters == "these"
