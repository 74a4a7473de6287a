"""The table and figure of an answer: criteria by their titles, a shared contrast stated once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from konsil.analysis import Analysis, Results, Row
from konsil.analysis.model.options import CaseOptions, CriterionRef, ShareOptions
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
    return Material(
        study=study,
        results=Results(rows, ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
    )


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
    assert view.sentence.startswith(
        "Standardised mean difference, Depth of reasons, by these 2 raters (experts): a"
    )


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


def test_units_are_those_of_both_groups_and_explained_where_clusters_are_fewer() -> None:
    of_groups = [replace(r, statistic="mean", n_units=40, n_units_versus=30) for r in SAME]
    [view] = first_page(material(*of_groups)).questions[0].answers
    assert view.table is not None
    assert "n = 40 and 30 in 20" in view.sentence
    column = [c.text for c in view.table.head].index("Units")
    assert [row[column].text for row in view.table.rows] == ["40 / 30", "40 / 30"]
    notes = " ".join(note.text for note in view.table.notes)
    assert "of the first group / of the second" in notes
    assert "A unit is what raters rate once" in notes
    [plain] = first_page(material(*SAME)).questions[0].answers
    assert plain.table is not None
    assert [n.text for n in plain.table.notes if "nit" in n.text] == ["Units are cases."]
    assert "; 20 cases)" in plain.sentence


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("en", "share · majority of panel experts, ties broken by chair: 10 raters in all."),
        (
            "de",
            "share · Mehrheit des Panels experts, Stichentscheide durch chair: insgesamt 10 Bewertende.",
        ),
    ],
)
def test_the_raters_of_a_panel_with_tie_breaks_are_counted_with_them(code: str, line: str) -> None:
    options = ShareOptions(of=("2",), tiebreak="chair")
    spec = Analysis("share", "share", "depth", "experts", options=options, question="How many?")
    row = Row("share", "share", "depth", "experts", Estimate(0.5, 0.4, 0.6), n_raters=10)
    shown = material(row, code=code)
    shown = replace(shown, study=replace(shown.study, analyses=(spec,)))
    [view] = first_page(shown).questions[0].answers
    assert view.numbers == line


@pytest.mark.parametrize(
    ("statistic", "sign"),
    [
        (
            "information_sensitivity",
            "Above 0: fewer correct answers with less information; below 0: more.",
        ),
        ("accuracy", ""),
    ],
)
def test_the_sign_of_a_difference_is_explained(statistic: str, sign: str) -> None:
    spec = Analysis("x", statistic, "depth", "experts", question="How much?")
    rows = [
        Row(
            "x",
            statistic,
            "depth",
            "experts",
            Estimate(value, value - 0.1, value + 0.1),
            {"system": s},
        )
        for s, value in (("a", 0.2), ("b", 0.3))
    ]
    shown = material(*rows)
    shown = replace(shown, study=replace(shown.study, analyses=(spec,)))
    [view] = first_page(shown).questions[0].answers
    assert view.numbers == " ".join(part for part in ("x.", sign) if part)


def test_a_rate_over_several_criteria_is_not_called_that_of_the_first() -> None:
    options = CaseOptions(criteria=(CriterionRef("plausibility"),))
    spec = Analysis(
        "har", "approval", "depth", "judges", against="experts", options=options, question="How?"
    )
    rows = [
        Row("har", "approval", "depth", "judges", Estimate(v, v - 0.1, v + 0.1), {"rater": name})
        for name, v in (("judge-1", 0.2), ("judge-2", 0.3))
    ]
    shown = material(*rows)
    shown = replace(shown, study=replace(shown.study, analyses=(spec,)))
    [view] = first_page(shown).questions[0].answers
    assert view.sentence.startswith(
        "Hallucination approval rate (HAR), 2 criteria, by these raters (judges and experts): "
    )
    assert view.figure is not None
    assert "2 criteria (%)" in view.figure.svg.decode()


def test_the_axis_of_rows_of_several_criteria_names_none_of_them() -> None:
    [view] = first_page(material(*SAME)).questions[0].answers
    assert view.figure is not None
    assert "Standardised mean difference: Depth" not in view.figure.svg.decode()
