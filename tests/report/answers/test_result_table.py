"""The table and figure of an answer: criteria by their titles, a shared contrast stated once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from konsil.analysis import Analysis, Results, Row
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import System
from konsil.report.answers.answers import first_page
from konsil.report.answers.layouts import laid_tables
from konsil.report.estimates.estimates import build_analysis_views
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Numbers
from konsil.stats.engine.contract import Estimate
from konsil.study import Study
from konsil.study.sections.table_layout import TableLayout

SPEC = Analysis("d", "mann_whitney", "depth", "experts", question="Do they differ?")
TITLES = {"depth": "Depth of reasons", "plausibility": "Plausibility"}


def difference(criterion: str, first: str, second: str, value: float = 0.5) -> Row:
    groups = ({"criterion": criterion, "system": s} for s in (first, second))
    return Row(
        "d",
        "mann_whitney",
        criterion,
        "experts",
        Estimate(value, value - 0.1, value + 0.1, n_clusters=20),
        next(groups),
        versus=next(groups),
        kind="difference",
        n_units=20,
        n_raters=2,
    )


def material(*rows: Row, code: str = "en") -> Material:
    scale = Scale(("1", "2"), level="ordinal")
    criteria = tuple(Criterion(c, f"{t}?", scale, title=t) for c, t in TITLES.items())
    spoken = language(code)
    study = Study(
        "t",
        1,
        systems=(System("a"), System("b")),
        instruments=(Instrument("rubric", criteria),),
        analyses=(SPEC,),
    )
    return Material(study, Results(rows, ()), (), (), (), (), spoken, Numbers(spoken))


SAME = (difference("depth", "a", "b"), difference("plausibility", "a", "b", -0.25))


def test_a_contrast_that_all_rows_share_is_in_the_caption_alone() -> None:
    [view] = first_page(material(*SAME)).questions[0].answers
    assert view.table is not None and view.figure is not None
    assert view.table.caption == "Estimates of “d” with primary CIs, a − b."
    assert [c.text for c in view.table.head][:2] == ["Criterion", "Estimate [95% CI]"]
    assert [[c.text for c in row[:2]] for row in view.table.rows] == [
        ["Depth of reasons", "0.50 [0.40, 0.60]"],
        ["Plausibility", "−0.25 [−0.35, −0.15]"],
    ]
    assert view.figure.description == "Depth of reasons: 0.50; Plausibility: −0.25"
    assert view.sentence.startswith("Standardised mean difference (Cohen's d): Depth of reasons, a")


def test_a_table_of_the_protocol_replaces_the_one_of_the_question() -> None:
    layout = TableLayout(
        "all",
        "All criteria",
        ("d",),
        ("criterion",),
        ("statistic", "system"),
        difference=("a", "b"),
    )
    plain = material(*SAME)
    given = replace(plain, study=replace(plain.study, tables=(layout,)))
    [view] = first_page(given, laid_tables(given)).questions[0].answers
    assert view.table is None
    assert [laid.title for laid in view.laid] == ["All criteria"]
    assert [row[1].text for row in view.laid[0].table.rows] == [
        "0.50 [0.40, 0.60]",
        "−0.25 [−0.35, −0.15]",
    ]
    # One row that the table has not, and the question has its own table again.
    more = replace(given, results=Results((*SAME, difference("depth", "a", "c")), ()))
    [view] = first_page(more, laid_tables(more)).questions[0].answers
    assert view.table is not None and view.laid == ()


def test_contrasts_that_differ_are_in_the_rows() -> None:
    [view] = first_page(material(*SAME, difference("depth", "a", "c"))).questions[0].answers
    assert view.table is not None and view.figure is not None
    assert [c.text for c in view.table.rows[2][:2]] == ["Depth of reasons", "a − c"]
    assert "Depth of reasons, a − c: 0.50" in view.figure.description


@pytest.mark.parametrize("code", ["en", "de"])
def test_no_identifier_of_a_criterion_is_in_the_tables_of_an_analysis(code: str) -> None:
    [view] = build_analysis_views(material(*SAME, code=code))
    texts = [cell.text for shown in view.tables for row in shown.rows for cell in row]
    assert {"Depth of reasons", "Plausibility"} <= set(texts)
    assert not {"depth", "plausibility"} & set(texts)
