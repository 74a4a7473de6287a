"""The forms of figures: what stands in them, whichever numbers are missing."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from types import ModuleType

import pytest
from matplotlib.figure import Figure
from tests.analyses import flat_analysis
from tests.report.conftest import arguments

from konsil.analysis import Analysis, Bin, Derived, Results, Row
from konsil.analysis.model.results import Bounds, Curve, DerivedValue, OutcomeRow, TradeOff
from konsil.records import Rater
from konsil.report.cases import case_figures
from konsil.report.estimates import curves as curve_figures
from konsil.report.estimates.curves import curves
from konsil.report.estimates.estimates import build_analysis_views
from konsil.report.estimates.plots import forests
from konsil.report.estimates.statistics_overview import glance
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.ranking import Ranked, RankingKeys, failures, histogram, ranking
from konsil.report.figures.small_multiples import Column, Point, Series, columns, series
from konsil.report.figures.svg_primitives import WIDTH, About, Bar, Dot, ValueAxis, wrapped
from konsil.report.figures.trade_offs import trade_offs
from konsil.report.material.glossary import title
from konsil.report.material.language import ENGLISH, language
from konsil.report.material.overview import Material
from konsil.report.material.table_rows import Joined, in_order
from konsil.report.material.tables import Numbers
from konsil.report.models.calls import calls, derived_figures
from konsil.stats.engine.contract import Estimate

NAN = math.nan
ABOUT = About("key", "A title", "What it shows", "The caption.", "Simulated ratings.")


def words(drawn: Drawing) -> list[str]:
    root = ET.fromstring(drawn.svg)
    return ["".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")]


def material(analyses: list[Analysis], results: Results, **of_study: object) -> Material:
    given = arguments()
    study = replace(given["study"], analyses=tuple(analyses), **of_study)  # type: ignore[type-var]
    records = {k: given[k] for k in ("items", "answers", "raters", "ratings")}
    return Material(
        study=study, results=results, **records, language=ENGLISH, numbers=Numbers(ENGLISH)
    )  # type: ignore[arg-type]


def row(
    analysis: str, statistic: str, value: float, group: dict[str, str], raters: str = "physicians"
) -> Row:
    estimate = Estimate(value, value - 0.1, value + 0.1, method="Wilson", n_clusters=9)
    return Row(analysis, statistic, "correct", raters, estimate, group)


def test_rows_stand_in_the_order_of_the_protocol() -> None:
    raters = tuple(Rater(f"r{n}", "physicians") for n in (1, 2, 10))
    bins = (Bin("easy", 0, 1, "both"), Bin("a little hard", 1, 2, "right"))
    about = material(
        [],
        Results((), ()),
        raters=raters,
        derived=(Derived("hardness", "hard", "physicians", bins),),
    )
    groups = [
        {"rater": r, "hardness": h}
        for r in ("r10", "unknown", "r1", "r2")
        for h in ("a little hard", "easy")
    ]
    found = in_order(about, [Joined(row("x", "share", 0.5, group)) for group in groups])
    assert [tuple(one.row.group.values()) for one in found] == [
        (r, h) for r in ("r1", "r2", "r10", "unknown") for h in ("easy", "a little hard")
    ]
    ranked = [
        Joined(row("x", "share", 0.5, {"ensemble": name, "size": ""})) for name in ("b", "c", "a")
    ]
    assert in_order(about, ranked) == ranked


def test_columns_side_by_side() -> None:
    dots = [Dot("a", 0.5, 0.4, 0.6, ""), Dot("b", NAN, NAN, NAN, "", mark=0.7)]
    shown = words(
        columns(
            ABOUT,
            ["a", "b"],
            [Column("kappa", dots, 0.0), Column("PABAK", dots)],
            Numbers(),
            mark="ceiling",
        )
    )
    for word in ("a", "b", "kappa", "PABAK", "0.50", "–", "ceiling", "Simulated ratings."):
        assert word in shown, word


def test_long_titles_of_columns_are_in_two_lines() -> None:
    assert wrapped("Cohens Kappa", 2) == "Cohens Kappa"
    assert wrapped("Prozentuale Übereinstimmung", 1.2) == "Prozentuale\nÜbereinstimmung"
    assert wrapped("Übereinstimmung", 0.1) == "Übereinstimmung"


def test_series_with_a_line_and_another_panel_beside() -> None:
    one = Series("judge 1", [Point(0.1, 0.0, 0.2), Point(NAN, NAN, NAN)])
    drawn = series(
        ABOUT,
        ["easy", "hard"],
        [one],
        Numbers(language("de")),
        axis=ValueAxis("share", reference=0.6, limits=(0.0, 1.0), reference_name="pass line"),
        ordered=True,
        comparison=Series("physicians", [Point(0.3, NAN, NAN), Point(0.4, 0.3, 0.5)]),
    )
    shown = words(drawn)
    for word in ("judge 1", "easy", "hard", "share", "physicians", "pass line"):
        assert word in shown, word
    assert any("," in word for word in shown)


def test_ranking_marks_best_single_and_what_is_left() -> None:
    ranked = [Ranked(0.9 - n / 10, 0.5, 0.95, n == 2) for n in range(4)]
    drawn = ranking(
        ABOUT,
        ranked,
        Numbers(),
        axis="kappa",
        rank="Rank",
        keys=RankingKeys(best="best: 0.900", single="alone", several="several"),
        beyond=Dot("out of bag", 0.8, 0.7, 0.9, ""),
    )
    assert {"kappa", "Rank", "best: 0.900", "alone", "several", "out of bag"} <= set(words(drawn))


def test_failures_and_histogram() -> None:
    shown = words(
        failures(
            ABOUT,
            ["refused", "gave up"],
            [Bar("j1", (0, 0)), Bar("j2", (3, 1))],
            [10, 0],
            Numbers(),
            axis="share",
        )
    )
    assert {"j1", "0 / 10", "refused", "gave up", "share"} <= set(shown)
    cells = [(0.0, [3, 0]), (1.0, [0, 0]), (2.0, [0, 4])]
    shown = words(histogram(ABOUT, cells, ["easy", "hard"], Numbers(), axis="mean", items="Items"))
    assert {"easy: 3", "hard: 4", "mean", "Items"} <= set(shown)


def test_analyses_of_the_same_rows_stand_side_by_side() -> None:
    asked = [
        Analysis("k", "cohen_kappa", "correct", "physicians", by=("system",)),
        Analysis("p", "pabak", "correct", "physicians", by=("system",)),
        Analysis("other", "pabak", "helpful", "physicians", by=("system",)),
    ]
    rows = [
        row(a.name, a.statistic, 0.4 + n / 10, {"system": s})
        for a in asked
        for n, s in enumerate(("x", "y"))
    ]
    [drawn] = glance(material(asked, Results(tuple(rows), ())))
    assert "Cohen's kappa" in words(drawn)
    assert "PABAK" in words(drawn)
    assert glance(material(asked[1:], Results(tuple(rows), ()))) == []


@pytest.mark.slow
def test_series_over_ranges_have_the_other_panel_beside() -> None:
    hard = Derived("hard", "helpful", "physicians", (Bin("easy", 0, 1), Bin("hard", 1, 2)))
    asked = [
        Analysis("people", "abstention", "correct", "physicians", by=("hard",)),
        Analysis("models", "abstention", "correct", "judges", by=("rater", "hard")),
    ]
    rows = [row("people", "abstention", 0.2, {"hard": h}) for h in ("easy", "hard")]
    rows += [
        row("models", "abstention", 0.1, {"rater": "judge A", "hard": h}, "judges")
        for h in ("hard", "easy")
    ]
    told = build_analysis_views(material(asked, Results(tuple(rows), ()), derived=(hard,)))
    people, models = (words(t.figures[0]) for t in told)
    assert [t.figures[0].key for t in told] == ["series-people", "series-models"]
    assert {"physicians", "easy", "hard"} <= set(people)
    assert {"judge A", "physicians"} <= set(models)
    assert models.index("easy") < models.index("hard")


def test_missing_judgements_stand_beside_the_number() -> None:
    asked = [
        flat_analysis(
            "acc", "share", "correct", "judges", by=("rater",), of=("correct",), pass_line=0.6
        )
    ]
    rows = tuple(row("acc", "share", 0.5, {"rater": r}, "judges") for r in ("judge A", "judge B"))
    bounds = (
        Bounds("acc", {"rater": "judge A"}, 0.5, 0.45, 0.6, 12, 88),
        Bounds("acc", {"rater": "judge B"}, 0.5, NAN, NAN, 3, 97),
    )
    [told] = build_analysis_views(material(asked, Results(rows, (), bounds=bounds)))
    [shown] = told.tables
    place = [cell.text for cell in shown.head].index("Worst-case bounds")
    assert [line[place].text for line in shown.rows] == ["[0.450, 0.600] (12)", "– (3)"]
    assert any("dash: not available" in note.text for note in shown.notes)
    assert "pass line 60" in told.figures[0].caption


def test_outcomes_of_calls() -> None:
    rows = (
        OutcomeRow("judge A", "", "", {"ok": 90, "refused": 8, "no call": 2}),
        OutcomeRow("judge A", "specialty", "surgery", {"ok": 40, "refused": 8, "no call": 2}),
        OutcomeRow("judge B", "", "", {"ok": 50}),
    )
    found = calls(material([], Results((), (), outcomes=rows)))
    assert found is not None
    assert "150 tasks; 140 have a rating and 10 have none" in found.sentence
    assert [len(t.rows) for t in found.tables] == [2, 1, 1]
    assert [c.text for c in found.tables[1].rows[0]] == ["judge A", "8", "2"]
    assert {"8", "10 / 100", "0 / 50"} & set(words(found.figures[0])) == {"10 / 100", "0 / 50"}
    assert calls(material([], Results((), ()))) is None
    whole = calls(material([], Results((), (), outcomes=rows[2:])))
    assert whole is not None
    assert whole.figures == ()


@pytest.mark.parametrize("bins", [(), (Bin("low", 0, 1), Bin("high", 1, 2, "both"))])
def test_how_hard_the_items_are(bins: tuple[Bin, ...]) -> None:
    hard = Derived("hard", "helpful", "physicians", bins)
    values = tuple(
        DerivedValue("hard", f"i{n}", n % 3, ("low" if n % 3 < 1 else "high") if bins else "")
        for n in range(9)
    )
    [drawn] = derived_figures(material([], Results((), (), derived=values), derived=(hard,)))
    assert ("low: 3" in words(drawn)) is bool(bins)
    assert "9 items" in drawn.caption


def test_curves_are_drawn_where_there_are_any() -> None:
    asked = [Analysis("risk", "risk_coverage", "correct", "judges", against="physicians")]
    rows = (row("risk", "risk_coverage", 0.2, {"rater": "judge A"}, "judges"),)
    curve = Curve("risk", {"rater": "judge A"}, (0.5, 1.0), (0.1, 0.3))
    [drawn] = curves(material(asked, Results(rows, (), curves=(curve,))), "risk", "risk_coverage")
    # Proportions are shown in per cent: the highest risk of 0.3 is 30.
    assert {"judge A", "Disagreement (%)", "any order", "30"} <= set(words(drawn))
    assert curves(material(asked, Results(rows, ())), "risk", "risk_coverage") == []


@pytest.mark.parametrize(
    ("statistic", "difference", "expected"),
    [
        ("cohen_kappa", False, "Cohen's kappa"),
        ("cohen_kappa", True, "Difference in Cohen's kappa"),
        # A comparison itself: its values are no differences of anything.
        ("mann_whitney", True, "{title}"),
        ("mann_whitney", False, "{title}"),
    ],
)
def test_the_axis_of_a_forest_states_whether_values_or_differences_are_shown(
    statistic: str, difference: bool, expected: str
) -> None:
    systems = [{"system": name} for name in ("a", "b", "c")]
    rows = [Joined(row("by system", statistic, 0.1, group)) for group in systems]
    if difference:
        rows = [Joined(replace(j.row, kind="difference", versus={"system": "z"})) for j in rows]
    about = material([], Results((), ()))
    [drawing] = forests(about, "by system", statistic, rows, difference=difference)
    word = expected.format(title=title(statistic, ENGLISH))
    assert drawing.title == f"{word}: by system"
    assert drawing.caption.startswith(f"by system: {word}. ")
    assert word in words(drawing)


def _panels(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[list[tuple[float, float]]]:
    """Left and right edge of every panel, in inches, of the figures that a module finishes."""
    edges: list[list[tuple[float, float]]] = []
    finish = module.finish

    def noted(figure: Figure, *texts: str) -> Drawing:
        boxes = [axes.get_position() for axes in figure.axes]
        edges.append([(b.x0 * WIDTH, b.x1 * WIDTH) for b in boxes])
        drawing: Drawing = finish(figure, *texts)
        return drawing

    monkeypatch.setattr(module, "finish", noted)
    return edges


@pytest.mark.parametrize(("n_panels", "across"), [(2, 2), (3, 3), (4, 2)])
def test_panels_of_levels_fill_the_width_and_leave_a_gap(
    monkeypatch: pytest.MonkeyPatch, n_panels: int, across: int
) -> None:
    levels = ("everything", "less")
    analyses = [
        flat_analysis(n, n, "correct", "physicians", by=("system", "level"), **ladder)
        for n, ladder in (("accuracy", {"levels": levels}), ("mean", {}))
    ]
    rows = [
        row(a.name, a.statistic, 0.5, {"system": f"system {n}", "level": level})
        for a in analyses
        for n in range(n_panels)
        for level in levels
    ]
    edges = _panels(monkeypatch, case_figures)
    [drawing] = case_figures.case_figures(material(analyses, Results(tuple(rows), ())))
    assert "system 1" in words(drawing)
    [panels] = edges
    assert len(panels) == n_panels
    first = panels[:across]
    assert first[-1][1] == pytest.approx(WIDTH)
    gaps = [right[0] - left[1] for left, right in pairwise(first)]
    assert gaps == pytest.approx([0.22] * (across - 1))
    widths = {round(right - left, 6) for left, right in panels}
    assert len(widths) == 1


@pytest.mark.parametrize("n_panels", [2, 3])
def test_panels_of_curves_fill_the_width_but_for_a_margin(
    monkeypatch: pytest.MonkeyPatch, n_panels: int
) -> None:
    shown = tuple(
        Curve("risk", {"rater": f"judge {n}"}, (0.5, 1.0), (0.1, 0.2)) for n in range(n_panels)
    )
    edges = _panels(monkeypatch, curve_figures)
    curves(material([], Results((), (), curves=shown)), "risk", "risk_coverage")
    [panels] = edges
    assert panels[-1][1] == pytest.approx(WIDTH - 0.08)
    gaps = [right[0] - left[1] for left, right in pairwise(panels)]
    assert gaps == pytest.approx([0.22] * (n_panels - 1))


def test_the_thresholds_of_a_judge_are_drawn_in_per_cent() -> None:
    asked = [Analysis("strict", "strictness", "correct", "judges", against="physicians")]
    trade_off = TradeOff(
        "strict", {"rater": "judge A"}, (0.5, 1.0), (1.0, 0.25, 0.0), (0.0, 0.5, 1.0), 0.5
    )
    shown = material(asked, Results((), (), trade_offs=(trade_off,)))
    [drawn] = trade_offs(shown, "strict", "strictness")
    assert {"Failures approved (%)", "Successes rejected (%)", "100"} <= set(words(drawn))
    assert drawn.description == (
        "judge A: 100.0% of the failures approved, 0.0% of the successes rejected"
    )
