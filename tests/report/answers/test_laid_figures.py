"""Figures of the protocol: their rows, panels, axis and caption are those that it states."""

from __future__ import annotations

from dataclasses import replace

from tests.report.figures.test_figures import words
from tests.report.figures.test_value_axes import MEAN, SHARE, material, row

from konsil.analysis import Results
from konsil.report.answers.laid_figures import laid_figures
from konsil.report.material.overview import Material
from konsil.study.sections.table_layout import FigureLayout

BY_LEVEL = replace(SHARE, name="by level", by=("system", "level"))
LAYOUT = FigureLayout("main", "What was found", ("s",), ("system",))


def laid(layout: FigureLayout) -> Material:
    made = material(SHARE, MEAN, BY_LEVEL)
    rows = [row(v, system=s) for s, v in (("a", 0.2), ("b", 0.8))]
    rows += [row(v, MEAN, system=s) for s, v in (("a", 1.4), ("b", 2.6))]
    rows += [
        row(v, BY_LEVEL, system=s, level=k)
        for s in "ab"
        for k, v in (("full", 0.9), ("half", 0.5), ("none", 0.3))
    ]
    study = replace(made.study, figures=(layout,))
    return replace(made, study=study, results=Results(tuple(rows), ()))


def test_a_forest_has_only_its_analyses_ordered_by_estimate_with_the_named_line() -> None:
    layout = replace(LAYOUT, reference=60, reference_name="pass line", caption="Experts alone")
    [figure] = laid_figures(laid(layout))
    assert figure.drawing is not None
    assert figure.drawing.key == "figure-main"
    assert figure.drawing.description == "b: 80.0 [70.0, 90.0]; a: 20.0 [10.0, 30.0]"
    assert figure.drawing.caption.startswith(
        "What was found. n = 4 rated units; 95% CI; panel experts: 2 raters. Experts alone. Dots:"
    )
    drawn = words(figure.drawing)
    assert {"pass line", "0", "100", "Rated “yes”: correct (%)"} <= set(drawn)
    plain = laid_figures(laid(LAYOUT))[0].drawing
    assert plain is not None
    assert "pass line" not in words(plain)


def test_a_series_has_a_panel_for_each_system_and_a_matrix_its_cells() -> None:
    layout = replace(LAYOUT, analyses=("by level",), rows=("level",), panels=("system",))
    [series] = laid_figures(laid(replace(layout, kind="series")))
    assert series.drawing is not None
    assert "b full: 90.0%; b half: 50.0%; b none: 30.0%" in series.drawing.description
    assert {"a", "b", "full", "half", "none"} <= set(words(series.drawing))
    matrix = replace(layout, kind="matrix", panels=(), columns=("system",))
    [cells] = laid_figures(laid(matrix))
    assert cells.drawing is not None
    drawn = words(cells.drawing)
    assert drawn.count("[80, 100]") == 2
    assert drawn.count("50") >= 2


def test_zero_is_on_the_axis_where_the_protocol_asks_for_it() -> None:
    layout = replace(LAYOUT, analyses=("m",))
    ticks = [
        set(words(f.drawing))
        for zero in (False, True)
        for f in laid_figures(laid(replace(layout, zero=zero)))
        if f.drawing is not None
    ]
    assert ["0" in names for names in ticks] == [False, True]


def test_without_estimates_there_is_no_figure() -> None:
    made = laid(LAYOUT)
    [figure] = laid_figures(replace(made, results=Results((), ())))
    assert figure.drawing is None
    assert figure.caption == "What was found."
