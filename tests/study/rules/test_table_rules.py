"""Tables of a protocol: each mistake is one sentence with its place and the nearest name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from konsil.analysis import Analysis
from konsil.analysis.model.catalogue.known import CATALOGUE, NAME_COLUMNS, SINGLE_NAME_COLUMNS
from konsil.errors import StudyError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Rater, System
from konsil.study import Study, check, parse, study_digest
from konsil.study.data.freezing import plan_of_analyses
from konsil.study.rules.table_rules import columns_of_groups
from konsil.study.sections.table_layout import TableLayout

FORM = Instrument("form", (Criterion("correct", "?", Scale(("no", "yes"), level="ordinal")),))
KAPPA = Analysis("kappa", "cohen_kappa", "correct", "experts", by=("system",), compare="system")
LAYOUT = TableLayout("main", "Agreement", ("kappa",), ("criterion",), ("system",))
STUDY = Study(
    "A study",
    1,
    instruments=(FORM,),
    systems=(System("one"), System("two")),
    raters=(Rater("ann", "experts"), Rater("ben", "experts")),
    plan=(Allocation("experts", "form"),),
    analyses=(KAPPA,),
    tables=(LAYOUT,),
)


def test_a_sound_table_passes() -> None:
    check(STUDY)
    check(replace(STUDY, tables=(replace(LAYOUT, difference=("one", "two")),)))
    check(replace(STUDY, tables=(replace(LAYOUT, significance=()),)))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"analyses": ("kapa",)},
            "tables[0].analyses: there is no analysis 'kapa'; did you mean 'kappa'?",
        ),
        ({"analyses": ()}, "tables[0].analyses: is empty; a table needs an analysis"),
        ({"title": " "}, "tables[0].title: is empty; a table needs a caption"),
        (
            {"columns": ("systen",)},
            (
                "tables[0].columns: no analysis of this table is grouped by 'systen'; did you mean"
                " 'system'?"
            ),
        ),
        (
            {"columns": ()},
            (
                "tables[0].columns: is empty; expected one or more of analysis, statistic,"
                " criterion, panel, system, rater"
            ),
        ),
        (
            {"rows": ("system",)},
            "tables[0].columns: 'system' is in `rows` already; expected it once",
        ),
        (
            {"difference": ("one", "one")},
            (
                "tables[0].difference: expected two different values, the second subtracted from"
                " the first, got ['one', 'one']"
            ),
        ),
        (
            {"difference": ("one", "twoo")},
            "tables[0].difference: there is no system 'twoo'; did you mean 'two'?",
        ),
        (
            {"difference": ("one", "two"), "rows": ("system",), "columns": ("criterion",)},
            (
                "tables[0].difference: needs exactly one column of groups in `columns`, got"
                " ['criterion']"
            ),
        ),
        (
            {"cells": "sd"},
            (
                "tables[0].cells: 'sd' puts the standard deviation next to the mean; no analysis of"
                " this table has statistic = 'standard_deviation'"
            ),
        ),
        (
            {"significance": (0.01, 0.05)},
            (
                "tables[0].significance: expected at most three falling numbers between 0 and 1,"
                " got [0.01, 0.05]"
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_table(change: dict[str, Any], line: str) -> None:
    with pytest.raises(StudyError) as caught:
        check(replace(STUDY, tables=(replace(LAYOUT, **change),)))
    assert f"study.toml: {line}" in str(caught.value).split("\n")


PARTS = TableLayout("all", "All", parts=("main",))


def test_a_table_of_others_names_tables_and_has_nothing_itself() -> None:
    check(replace(STUDY, tables=(LAYOUT, PARTS)))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"parts": ("mainly",)},
            "parts: there is no table with analyses 'mainly'; did you mean 'main'?",
        ),
        ({"parts": ("all",)}, "parts: there is no table with analyses 'all'; known: main"),
        ({"title": ""}, "title: is empty; a table needs a caption"),
        (
            {"rows": ("system",)},
            "rows: belongs to the tables in `parts`; expected it to be left out",
        ),
        *(
            (change, f"{key}: belongs to the tables in `parts`; expected it to be left out")
            for change in (
                {"n": False},
                {"cells": "estimate"},
                {"significance": ()},
                {"p": True},
                {"difference": ("one", "two")},
            )
            for key in change
        ),
        (
            {"parts": ("main", "main")},
            "parts: 'main' is named twice; expected it once",
        ),
    ],
)
def test_what_is_wrong_with_a_table_of_others(change: dict[str, Any], line: str) -> None:
    with pytest.raises(StudyError) as caught:
        check(replace(STUDY, tables=(LAYOUT, replace(PARTS, **change))))
    assert f"study.toml: tables[1].{line}" in str(caught.value).split("\n")


def test_every_column_that_statistics_group_by_is_known_to_hold_names_or_none() -> None:
    """Kills: a new column with names of systems or judges that blinding does not know."""
    without_names = {"other", "size", "level", "effect", "case", "instrument", "length"}
    without_names |= {"sentences", "minutes", "version"}
    statistics = [Analysis("a", name, "correct", "experts") for name in CATALOGUE]
    columns = {column for each in statistics for column in columns_of_groups(each)}
    assert columns - without_names <= set(NAME_COLUMNS)
    assert not without_names & set(NAME_COLUMNS)
    assert set(SINGLE_NAME_COLUMNS) <= set(NAME_COLUMNS)


def test_a_difference_that_no_analysis_estimates_is_refused() -> None:
    plain = replace(KAPPA, compare=None)
    tables = (replace(LAYOUT, difference=("one", "two")),)
    with pytest.raises(StudyError, match="compares groups by 'system'; expected compare = 'sys"):
        check(replace(STUDY, analyses=(plain,), tables=tables))


def test_identifiers_of_tables_occur_once() -> None:
    with pytest.raises(StudyError, match=r"tables\[1\]: the identifier 'main' occurs twice"):
        check(replace(STUDY, tables=(LAYOUT, LAYOUT)))


def test_a_table_is_no_part_of_the_frozen_plan_and_none_changes_no_digest() -> None:
    without = replace(STUDY, tables=())
    assert plan_of_analyses(STUDY) == plan_of_analyses(without)
    assert study_digest(STUDY) != study_digest(without)
    assert "tables" not in str(without.tables)


def test_an_unknown_key_of_a_table_is_refused_with_the_nearest() -> None:
    text = """
title = "A"
seed = 1
[[tables]]
id = "t"
title = "T"
analyses = ["a"]
rows = ["criterion"]
colums = ["system"]
"""
    with pytest.raises(StudyError, match="colums"):
        parse(text, lambda name: "")
