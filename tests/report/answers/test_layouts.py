"""Tables that the protocol lays out: places, missing cells, per cent, marks, letters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.analyses import flat_analysis

from konsil.analysis import Analysis, Results, Row
from konsil.records import System
from konsil.report.answers.layout_cells import combined
from konsil.report.answers.layouts import laid_tables
from konsil.report.material.language import language
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell, Numbers, Table, table
from konsil.stats.engine.contract import Estimate
from konsil.study import Study
from konsil.study.data.blinding import letters
from konsil.study.sections.table_layout import TableLayout
from report_files import write

NAN = math.nan
SHARE = flat_analysis(
    "right", "share", "correct", "experts", of=("yes",), by=("system",), compare="system"
)
MEAN = Analysis("mean", "mean", "grade", "experts", by=("system",))
LAYOUT = TableLayout("main", "Answers", ("right",), ("criterion",), ("system",))


def row(
    value: float,
    group: Mapping[str, str],
    spec: Analysis = SHARE,
    versus: Mapping[str, str] | None = None,
    **more: object,
) -> Row:
    e = Estimate(
        value, value - 0.1, value + 0.1, method="Wilson", reason=str(more.pop("reason", ""))
    )
    given = {
        "kind": "difference" if versus else "estimate",
        "n_units": 20,
        "n_raters": 3,
    } | more
    return Row(
        spec.name,
        spec.statistic,
        spec.criterion,
        spec.raters,
        e,
        group,
        versus=versus or {},
        **given,  # type: ignore[arg-type]
    )


A, B = {"system": "a"}, {"system": "b"}
ROWS = (
    row(0.8, A),
    row(0.6, B, n_units=18),
    row(-0.2, B, versus=A, p_adjusted=0.004),
)


def laid(
    layout: TableLayout,
    *rows: Row,
    code: str = "en",
    analyses: Sequence[Analysis] = (SHARE, MEAN),
) -> Table:
    spoken = language(code)
    study = Study("t", 1, systems=(System("a"), System("b")), analyses=tuple(analyses))
    material = Material(
        study=replace(study, tables=(layout,)),
        results=Results(rows, ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=spoken,
        numbers=Numbers(spoken),
    )
    [view] = laid_tables(material)
    return view.table


def texts(shown: Table) -> list[list[str]]:
    return [[cell.text for cell in line] for line in shown.rows]


def test_a_table_of_others_has_their_rows_with_titles_groups_and_dashes() -> None:
    spec = replace(SHARE, name="by level", by=("system", "level"))
    by_level = [row(0.5 + n / 10, {**A, "level": f"L{n}"}, spec) for n in range(2)]
    undefined = row(NAN, B, MEAN, reason="no ratings")
    layouts = (
        TableLayout("all", "All", parts=("main", "levels", "grades")),
        TableLayout("main", "Answers", ("right",), ("system",), ("criterion",)),
        TableLayout("levels", "Levels", ("by level",), ("level", "system"), ("criterion",)),
        TableLayout("grades", "Grades", ("mean",), ("system",), ("criterion",)),
    )
    study = Study("t", 1, systems=(System("a"), System("b")), analyses=(SHARE, spec, MEAN))
    english = language("en")
    rows = (*ROWS[:2], *by_level, undefined)
    material = Material(
        study=replace(study, tables=layouts),
        results=Results(rows, ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=english,
        numbers=Numbers(english),
    )
    view = laid_tables(material)[0]
    assert view.anchor == "table-all" and view.title == "All"
    assert not view.complete, "answers link to the tables that it is made of"
    right, grade = "correct (%) [95% CI]", "grade"
    heads = [cell.text for cell in view.table.head]
    assert heads == ["Part", "Group", "System", right, grade, "n"]
    assert texts(view.table) == [
        ["Answers", "–", "a", "80.0 [70.0, 90.0]", "–", "20"],
        ["Answers", "–", "b", "60.0 [50.0, 70.0]", "–", "18"],
        ["Levels", "L0", "a", "50.0 [40.0, 60.0]", "–", "20"],
        ["Levels", "L1", "a", "60.0 [50.0, 70.0]", "–", "20"],
        ["Grades", "–", "b", "–", "undefined", "20"],
    ]
    assert view.table.rows[0][3].href == "estimates.csv#row=2"
    reasons = {note.mark: note.text for note in view.table.notes if note.mark}
    assert [reasons[mark] for mark in view.table.rows[-1][-2].marks] == ["No ratings."]
    assert view.table.caption == ("All. n = 18–20 rated units; 95% CI; panel experts: 3 raters.")
    general = [note.text for note in view.table.notes if not note.mark]
    assert general == ["CI: Wilson."]


def test_notes_of_a_table_of_others_name_their_part_only_where_parts_differ() -> None:
    """Kills: methods of intervals of which nobody knows whose they are."""
    english = language("en")
    material = Material(
        study=Study("t", 1),
        results=Results((), ()),
        items=(),
        answers=(),
        raters=(),
        ratings=(),
        language=english,
        numbers=Numbers(english),
    )
    tables = [
        (title, table("T", ("who", head, "n"), [[Cell("a"), Cell("1"), Cell("2")]], general=notes))
        for title, head, notes in (
            ("First", "x", ("CI: Wilson.", "Common.")),
            ("Second", "y", ("CI: two-way.", "Common.")),
            ("Third", "z", ("Common.", "CI: two-way.")),
        )
    ]
    shown = combined(material, "All.", tables)
    assert [cell.text for cell in shown.head] == ["Part", "who", "x", "y", "z", "n"]
    assert [note.text for note in shown.notes] == [
        "In “First”: CI: Wilson.",
        "Common.",
        "In “Second” and “Third”: CI: two-way.",
    ]


def test_columns_are_groups_and_proportions_are_in_per_cent() -> None:
    shown = laid(LAYOUT, *ROWS)
    assert [c.text for c in shown.head] == [
        "Criterion",
        "a (%) [95% CI]",
        "b (%) [95% CI]",
        "n",
    ]
    assert texts(shown) == [["correct", "80.0 [70.0, 90.0]", "60.0 [50.0, 70.0]", "18–20"]]
    assert shown.caption == "Answers. n = 18–20 rated units; 95% CI; panel experts: 3 raters."
    assert shown.rows[0][1].href == "estimates.csv#row=2"
    assert [n.text for n in shown.notes][-1] == "CI: Wilson."


def test_a_difference_has_the_stated_direction_and_its_marks() -> None:
    shown = laid(replace(LAYOUT, difference=("a", "b")), *ROWS)
    assert shown.head[3].text == "a − b (percentage points) [95% CI]"
    assert shown.rows[0][3].text == "20.0 [10.0, 30.0]**"
    assert shown.rows[0][3].href == "estimates.csv#row=4"
    turned = laid(replace(LAYOUT, difference=("b", "a")), *ROWS)
    assert turned.rows[0][3].text == "−20.0 [−30.0, −10.0]**"
    assert any(n.text.startswith("* p < 0.05, ** p < 0.01, *** p < 0.001") for n in shown.notes)


@pytest.mark.parametrize(("p", "mark"), [(0.05, ""), (0.049, "*"), (0.0009, "***"), (NAN, "")])
def test_only_an_adjusted_p_value_below_a_level_marks_a_cell(p: float, mark: str) -> None:
    given = replace(ROWS[0], estimate=replace(ROWS[0].estimate, p=0.00001), p_adjusted=p)
    shown = laid(LAYOUT, given)
    assert shown.rows[0][1].text == f"80.0 [70.0, 90.0]{mark}"
    legend = [n for n in shown.notes if "p < 0.05" in n.text]
    assert len(legend) == bool(mark)
    none = [n for n in shown.notes if n.text.endswith("testing is below 0.05.")]
    assert len(none) == (math.isfinite(p) and not mark)
    assert laid(replace(LAYOUT, significance=()), given).rows[0][1].text == "80.0 [70.0, 90.0]"


def test_missing_cells_are_dashes_with_a_reason_and_undefined_ones_say_so() -> None:
    undefined = row(NAN, B, MEAN, reason="no ratings")
    layout = replace(LAYOUT, analyses=("right", "mean"), difference=("a", "b"))
    shown = laid(layout, ROWS[0], undefined)
    assert texts(shown) == [
        ["correct", "80.0 [70.0, 90.0]", "–", "–", "20"],
        ["grade", "–", "undefined", "–", "20"],
    ]
    reasons = {note.mark: note.text for note in shown.notes if note.mark}
    assert [reasons[m] for m in shown.rows[0][2].marks] == [
        "No analysis of this table estimates this cell."
    ]
    assert [row[3].marks for row in shown.rows] == [(), ()], "the reason of all rows stands once"
    of_column = f"{shown.head[3].text}: No analysis of this table compares these two groups."
    assert of_column in [note.text for note in shown.notes if not note.mark]
    assert [reasons[m] for m in shown.rows[1][2].marks] == ["No ratings."]


def test_proportions_beside_other_numbers_have_their_sign() -> None:
    layout = replace(LAYOUT, analyses=("right", "mean"))
    both = laid(layout, ROWS[0], row(3.25, A, MEAN))
    assert [line[1].text for line in both.rows] == ["80.0% [70.0, 90.0]", "3.25 [3.15, 3.35]"]
    german = laid(layout, ROWS[0], row(3.25, A, MEAN), code="de")
    assert german.rows[1][1].text == "3,25 [3,15; 3,35]"
    assert german.head[0].text == "Kriterium"


def test_what_keeps_two_estimates_apart_becomes_a_column_of_its_own() -> None:
    rows = [row(0.5 + n / 10, {"level": str(n), "system": "a"}) for n in range(2)]
    shown = laid(LAYOUT, *rows)
    assert [c.text for c in shown.head[:2]] == ["Criterion", "Information level"]
    assert shown.row_heads == 2
    assert [line[1].text for line in shown.rows] == ["0", "1"]


def test_cells_without_intervals_and_without_n() -> None:
    shown = laid(replace(LAYOUT, cells="estimate", n=False), *ROWS)
    assert texts(shown) == [["correct", "80.0", "60.0"]]
    assert [c.text for c in shown.head] == ["Criterion", "a (%)", "b (%)"]


def test_an_analysis_without_estimates_is_named() -> None:
    shown = laid(replace(LAYOUT, analyses=("right", "mean")), *ROWS)
    assert "Without estimates: mean." in [n.text for n in shown.notes]
    empty = laid(LAYOUT)
    assert empty.rows == ()
    assert empty.caption == "Answers."


def blinded(pair: tuple[str, str], *systems: str) -> TableLayout:
    study = Study(
        "t",
        1,
        systems=tuple(System(s) for s in systems),
        analyses=(SHARE,),
        tables=(replace(LAYOUT, difference=pair),),
    )
    return letters(study, (), (), b"key").study(study).tables[0]


def test_a_blinded_table_has_letters_in_their_order_whatever_the_names() -> None:
    assert blinded(("a", "b"), "a", "b").difference == ("K", "L")
    assert blinded(("b", "a"), "a", "b").difference == ("K", "L")
    groups = blinded(("coarse", "fine"), "a", "b", "c")
    assert groups.difference == ("coarse", "fine")


def test_a_blinded_table_does_not_tell_which_two_of_three_systems_it_compares() -> None:
    assert blinded(("a", "b"), "a", "b", "c") == blinded(("c", "a"), "a", "b", "c")
    assert blinded(("a", "b"), "a", "b", "c").difference == ()


@pytest.mark.parametrize(
    ("column", "pair"),
    [
        ("family", ("gpt", "claude")),
        ("family", ("gpt", "family of a judge alone")),
        ("ensemble", ("j1 + j2", "j1")),
        ("raters", ("j1 and j2", "j1 and j3")),
        ("systems", ("a and b", "a and c")),
    ],
)
def test_a_blinded_table_names_no_family_and_no_judges_that_share_a_value(
    column: str, pair: tuple[str, str]
) -> None:
    study = Study(
        "t",
        1,
        systems=(System("a", "gpt"), System("b", "claude")),
        analyses=(SHARE,),
        tables=(replace(LAYOUT, columns=(column,), difference=pair),),
    )
    assert letters(study, (), (), b"key").study(study).tables[0].difference == ()


def test_a_report_has_the_tables_of_its_protocol_with_the_same_bytes(
    tmp_path: Path, thin: Callable[..., dict[str, object]]
) -> None:
    given = thin()
    study = given["study"]
    assert isinstance(study, Study)
    layout = TableLayout("panel", "Agreement", ("agreement",), ("criterion",), ("statistic",))
    whole = TableLayout("all", "All", parts=("panel",))
    given |= {"study": replace(study, tables=(layout, whole))}
    pages = []
    for name in ("first", "second"):
        write(tmp_path / name, **given)  # type: ignore[arg-type]
        pages.append((tmp_path / name / "index.html").read_bytes())
    assert pages[0] == pages[1]
    text = pages[0].decode()
    body = text[text.index('<h2 id="tables">') : text.index('<h2 id="appendix">')]
    assert 'id="table-panel"' in body
    assert '<a href="#tables">Tables</a>' in text
    # An answer links to the first; the other is in the appendix.
    further = text.partition('<h2 id="further-tables">')[2]
    assert 'id="table-all"' in further and 'id="table-all"' not in body
    assert 'href="estimates.csv#row=' in body


SPREAD = Analysis("spread", "standard_deviation", "grade", "experts", by=("system",))
WITH_SPREADS = TableLayout(
    "main", "Grades", ("mean", "spread"), ("criterion",), ("statistic", "system"), cells="sd"
)


def test_a_mean_has_its_standard_deviation_in_brackets_and_no_interval() -> None:
    means = [row(3.25, A, MEAN), row(2.5, B, MEAN)]
    shown = laid(
        WITH_SPREADS, *means, row(0.75, B, SPREAD), row(1.5, A, SPREAD), analyses=(MEAN, SPREAD)
    )
    assert [c.text for c in shown.head] == ["Criterion", "Mean, a (SD)", "Mean, b (SD)", "n"]
    assert texts(shown) == [["grade", "3.25 (1.50)", "2.50 (0.75)", "20"]]
    assert [note.text for note in shown.notes] == ["Means with standard deviations (SD)."]


@pytest.mark.parametrize(
    "spread",
    [
        row(1.5, B, SPREAD),
        replace(row(1.5, A, SPREAD), criterion="other"),
        row(1.5, {**A, "level": "1"}, SPREAD),
    ],
)
def test_a_standard_deviation_of_another_sample_is_not_put_beside_a_mean(spread: Row) -> None:
    other = replace(SPREAD, criterion="other") if spread.criterion == "other" else SPREAD
    shown = laid(WITH_SPREADS, row(3.25, A, MEAN), spread, analyses=(MEAN, other))
    assert shown.rows[0][1].text == "3.25"
    [mark] = shown.rows[0][1].marks
    [reason] = [note.text for note in shown.notes if note.mark == mark]
    assert reason == "No analysis of this table estimates the standard deviation."


def test_the_p_value_of_a_line_is_that_of_its_difference_and_adjusted() -> None:
    shown = laid(replace(LAYOUT, difference=("a", "b"), p=True), *ROWS)
    assert [c.text for c in shown.head][-2:] == ["p (Holm)", "n"]
    assert shown.rows[0][-2].text == "0.0040"
    tested = replace(ROWS[0], estimate=replace(ROWS[0].estimate, p=0.00001), p_adjusted=0.02)
    assert laid(replace(LAYOUT, p=True), tested, ROWS[1]).rows[0][-2].text == "0.020"
    alone = replace(ROWS[0], estimate=replace(ROWS[0].estimate, p=0.00001))
    assert laid(replace(LAYOUT, p=True), alone).rows[0][-2].text == "–"


def test_the_unit_of_a_column_is_in_its_head_and_mixed_columns_have_signs() -> None:
    gain = Analysis("gain", "win_difference", "grade", "experts")
    layout = replace(LAYOUT, analyses=("right", "mean", "gain"), columns=("statistic",))
    given = [row(0.8, {}), row(3.25, {}, MEAN), row(0.5, {}, gain)]
    shown = laid(layout, *given, analyses=(SHARE, MEAN, gain))
    assert [c.text for c in shown.head[1:-1]] == [
        "Proportion (%) [95% CI]",
        "Mean [95% CI]",
        "Win difference (percentage points) [95% CI]",
    ]
    german = laid(layout, *given, analyses=(SHARE, MEAN, gain), code="de")
    assert german.head[3].text == "Siegdifferenz (Prozentpunkte) [95%-KI]".replace(
        "95%", "95\u202f%"
    )


def test_all_stands_only_where_an_analysis_has_other_lines() -> None:
    overall = replace(SHARE, name="overall", by=(), compare=None)
    rows = [row(0.5, {}, overall), row(0.6, {"level": "1"}), row(3.0, {}, MEAN)]
    names = ("overall", "right", "mean")
    layout = replace(LAYOUT, analyses=names, rows=("statistic", "level"), columns=("panel",))
    shown = laid(layout, *rows, analyses=(overall, SHARE, MEAN))
    assert [[c.text for c in line[:2]] for line in shown.rows] == [
        ["Proportion", "all"],
        ["Proportion", "1"],
        ["Mean", "–"],
    ]


def test_a_difference_that_has_no_estimate_is_one_column_whatever_the_columns_are() -> None:
    layout = replace(LAYOUT, columns=("statistic", "system"), difference=("a", "b"))
    shown = laid(layout, *ROWS[:2])
    assert [c.text for c in shown.head][3:] == ["a − b [95% CI]", "n"]
    assert [line[3].text for line in shown.rows] == ["–"]


def test_intervals_of_several_statistics_state_which_has_which_method() -> None:
    layout = replace(LAYOUT, analyses=("right", "mean"))
    of_mean = replace(row(2.0, A, MEAN), estimate=Estimate(2.0, 1.5, 2.5, method="bootstrap"))
    notes = [note.text for note in laid(layout, *ROWS, of_mean).notes]
    assert [n for n in notes if n.startswith("CI")] == [
        "CI of Proportion: Wilson.",
        "CI of Mean: bootstrap.",
    ]
    alone = [note.text for note in laid(LAYOUT, *ROWS).notes]
    assert [n for n in alone if n.startswith("CI")] == ["CI: Wilson."]


def test_cells_with_counts_and_the_words_of_their_grades() -> None:
    grades = {"low": 0.0, "high": 0.65, "all": 1.0}
    layout = replace(LAYOUT, cells="count", grades=grades, difference=("a", "b"))
    weighted = row(0.123, {"system": "c"})
    shown = laid(layout, *ROWS, weighted)
    cells = [cell.replace("\N{MINUS SIGN}", "-") for cell in texts(shown)[0]]
    assert "16/20 (80.0) [70.0, 90.0]; high" in cells
    assert "12.3 [2.3, 22.3]; low" in cells, "no count of units has this proportion"
    [difference] = [cell for cell in cells if cell.startswith("20.0")]
    assert "/" not in difference and ";" not in difference
