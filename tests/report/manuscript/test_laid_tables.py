"""The tables that the protocol lays out, in every format of the manuscript."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import cache
from typing import Any

import docx
import openpyxl
import pytest
from tests.report.conftest import arguments
from tests.report.manuscript.documents import ALL, cells, files_of, material_of

from konsil.report.answers.layouts import laid_tables
from konsil.report.manuscript.blocks import Manuscript, NumberedTable, Paragraph
from konsil.report.manuscript.content import Sources, documents
from konsil.study.sections.table_layout import TableLayout

WHOLE = TableLayout(
    "whole",
    "Agreement by system",
    ("by_system", "accuracy"),
    ("criterion", "specialty"),
    ("statistic", "system"),
    difference=("small-llm", "Large LLM"),
)
ESTIMATES = TableLayout(
    "values", "Raters in pairs", ("pairs",), ("rater",), ("other",), cells="estimate"
)
pytestmark = pytest.mark.slow


@cache
def given(language: str = "en") -> dict[str, Any]:
    made: Any = arguments(language)
    return made | {"study": replace(made["study"], tables=(WHOLE, ESTIMATES))}


@cache
def whole(language: str = "en") -> Manuscript:
    made, _supplement = documents(Sources(material_of(given(language)), given(language)["results"]))
    return made


def tables(made: Manuscript) -> dict[str, NumberedTable]:
    return {table.key: table for table in made.tables}


def test_tables_of_the_protocol_come_after_the_main_results_with_their_numbers() -> None:
    made = tables(whole())
    laid = made["table-whole"]
    [on_page, _estimates] = laid_tables(material_of(given()))
    assert [[c.text for c in row] for row in laid.table.rows] == [
        [c.text for c in row] for row in on_page.table.rows
    ]
    assert laid.table.caption == on_page.table.caption
    assert (made["study"].number, made["main-results"].number) == (1, 2)
    assert laid.number == 3
    assert not any(cell.href for row in laid.table.rows for cell in row)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "See Table {n}."),
        ("de", "Siehe Tabelle {n}."),
    ],
)
def test_a_number_of_a_laid_table_is_in_no_second_table(language: str, sentence: str) -> None:
    made = whole(language)
    keys = tables(made)
    texts = [block.text for block in made.blocks if isinstance(block, Paragraph)]
    pointers = [x for x in texts if x.endswith(sentence.format(n=keys["table-whole"].number))]
    assert len(pointers) == 1
    outcomes = {row[0].text.partition(":")[0] for row in keys["main-results"].table.rows}
    # Of the differences by system the table has one of three.
    assert "Accuracy" not in outcomes and "By system" in outcomes


def test_every_format_has_the_laid_tables() -> None:
    made = whole()
    laid = tables(made)["table-whole"]
    files = files_of(given(), replace(ALL, checklist=()))
    expected = cells([[c.text for c in row] for row in laid.table.rows])
    word = docx.Document(io.BytesIO(files["manuscript/manuscript.docx"])).tables[laid.number - 1]
    shown = cells([[c.text for c in row.cells] for row in word.rows])[1:]
    assert [[re.sub("[a-z,]*$", "", c) for c in row[1:]] for row in shown] == [
        [re.sub("[a-z,]*$", "", c) for c in row[1:]] for row in expected
    ]
    book = openpyxl.load_workbook(io.BytesIO(files["manuscript/tables.xlsx"]))
    sheet = book[f"Table {laid.number} Agreement by system"]
    assert laid.table.caption in str(sheet["A1"].value)
    assert "estimates.csv#row" not in "".join(
        files[f"manuscript/manuscript.{kind}"].decode() for kind in ("tex", "qmd")
    )
    assert "\\label{tab:table-whole}" in files["manuscript/manuscript.tex"].decode()
    assert "{#tbl-table-whole}" in files["manuscript/manuscript.qmd"].decode()
