"""The figure of a score on each case at each level."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.analyses import flat_analysis
from tests.clexeval_tables import CRITERIA, LEVELS, RUBRIC, SYSTEMS

from konsil.analysis import CompositeScore, Results
from konsil.analysis.model.results import CaseScore
from konsil.records import Rater
from konsil.report.cases.case_figures import MOST_CASES, fingerprints
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.study import Study

FALL = flat_analysis("fall", "reasoning_gap", "overall", "experts", levels=LEVELS)
SCORE = CompositeScore("overall", CRITERIA, title="Overall score")


def scores(n_cases: int = 3) -> tuple[CaseScore, ...]:
    return tuple(
        CaseScore("fall", system.id, f"c{n}", level, (n + k) / (n_cases + len(LEVELS)))
        for system in SYSTEMS
        for n in range(n_cases)
        for k, level in enumerate(LEVELS)
    )


def material(results: Results, code: str = "en", **changes: object) -> Material:
    study = Study(
        "Cases",
        1,
        language=code,
        instruments=(RUBRIC,),
        systems=SYSTEMS,
        raters=(Rater("e1", "experts"),),
        analyses=(FALL,),
        scores=(SCORE,),
    )
    spoken = language(code)
    study = replace(study, **changes)  # type: ignore[arg-type]
    return Material(
        study=study,
        results=results,
        items=(),
        answers=(),
        raters=study.raters,
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
    )


def test_cases_with_the_highest_mean_come_first() -> None:
    [drawing] = fingerprints(material(Results((), (), case_scores=scores())))
    svg = drawing.svg.decode()
    # Every cell has a fill; the systems' rows are drawn twice, their names once.
    assert svg.count("<path") > 2 * 3 * len(LEVELS)
    names = re.findall(r">(c\d)<", svg)
    assert names == ["c2", "c1", "c0"]
    assert "Fingerprints: Overall score" in drawing.title
    assert "generalist: narrative 0.125, 0 0.250" in drawing.description
    assert "panel “experts”" in drawing.caption


def test_the_figure_is_german_in_a_german_report() -> None:
    [drawing] = fingerprints(material(Results((), (), case_scores=scores()), "de"))
    assert drawing.title == "Fingerabdrücke: Overall score"
    assert "die Fälle mit dem höchsten Mittelwert zuerst" in drawing.caption


def test_a_case_without_a_score_at_a_level_has_an_empty_cell() -> None:
    every = scores()
    whole, partly = (
        fingerprints(material(Results((), (), case_scores=part)))[0].svg
        for part in (every, every[1:])
    )
    assert whole != partly


@pytest.mark.slow
def test_there_is_none_of_a_criterion_nor_of_more_cases_than_a_page_holds() -> None:
    results = Results((), (), case_scores=scores())
    criterion = replace(FALL, criterion=CRITERIA[0])
    assert fingerprints(material(results, analyses=(criterion,))) == []
    assert fingerprints(material(results, scores=())) == []
    assert fingerprints(material(Results((), ()))) == []
    many = Results((), (), case_scores=scores(MOST_CASES + 1))
    assert fingerprints(material(many)) == []
    assert len(fingerprints(material(Results((), (), case_scores=scores(MOST_CASES))))) == 1
