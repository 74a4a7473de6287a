"""Figures of a protocol: each mistake is one sentence with its place and the nearest name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.study.rules.test_table_rules import KAPPA
from tests.study.rules.test_table_rules import STUDY as WITH_TABLE

from konsil.errors import StudyError
from konsil.study import check, study_digest
from konsil.study.data.freezing import plan_of_analyses
from konsil.study.sections.table_layout import FigureLayout

LAYOUT = FigureLayout("main", "Agreement", ("kappa",), ("system",), ("criterion",))
PERCENT = replace(KAPPA, name="percent", statistic="percent_agreement")
ALPHA = replace(KAPPA, name="alpha", statistic="krippendorff_alpha")
STUDY = replace(WITH_TABLE, tables=(), analyses=(KAPPA, PERCENT, ALPHA), figures=(LAYOUT,))
MATRIX: dict[str, Any] = {"kind": "matrix", "columns": ("criterion",), "panels": ()}


def test_a_sound_figure_of_each_kind_passes_and_is_not_in_the_frozen_plan() -> None:
    check(STUDY)
    check(replace(STUDY, figures=(replace(LAYOUT, kind="series", reference=0.6),)))
    check(replace(STUDY, figures=(replace(LAYOUT, **MATRIX),)))
    check(replace(STUDY, figures=(replace(LAYOUT, analyses=("kappa", "alpha")),)))
    without = replace(STUDY, figures=())
    assert plan_of_analyses(STUDY) == plan_of_analyses(without)
    assert study_digest(STUDY) != study_digest(without)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"analyses": ("kapa",)}, "figures[0].analyses: there is no analysis 'kapa'; did you mean"),
        ({"analyses": ()}, "figures[0].analyses: is empty; a figure needs an analysis"),
        ({"title": " "}, "figures[0].title: is empty; a figure needs a caption"),
        (
            {"rows": ("systen",)},
            "figures[0].rows: no analysis of this figure is grouped by 'systen'; did you mean",
        ),
        ({"rows": ()}, "figures[0].rows: is empty; expected one or more of analysis, statistic"),
        ({"panels": ("system",)}, "figures[0].panels: 'system' is stated twice; expected it once"),
        (
            {"columns": ("panel",)},
            "figures[0].columns: only a figure with kind = 'matrix' has columns",
        ),
        ({"kind": "matrix"}, "figures[0].columns: is empty; expected one or more of analysis"),
        (
            {**MATRIX, "reference": 0.5},
            "figures[0].reference: a matrix has no axis; expected kind = 'forest' or 'series'",
        ),
        (
            {"kind": "series", "rows": ("system", "panel")},
            "figures[0].rows: a figure with kind = 'series' has one key in `rows`, got",
        ),
        ({"reference_name": "x"}, "figures[0].reference_name: there is no `reference` to name"),
        (
            {"analyses": ("kappa", "percent")},
            "figures[0].analyses: 'cohen_kappa' and 'percent_agreement' have no axis in common;",
        ),
    ],
)
def test_each_mistake_is_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(StudyError) as refused:
        check(replace(STUDY, figures=(replace(LAYOUT, **change),)))
    assert sentence in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_two_figures_of_one_identifier_are_refused() -> None:
    with pytest.raises(StudyError, match="'main' occurs twice"):
        check(replace(STUDY, figures=(LAYOUT, LAYOUT)))
