"""Checklists: all items of the guideline, filled in where the study knows, marked where not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from tests.report.conftest import arguments
from tests.report.manuscript.documents import material_of

from konsil.instrument import Instrument
from konsil.records import Source
from konsil.report.manuscript.checklists import checklist_table, data_statement, grras
from konsil.report.manuscript.request import Checklist

MARK = {
    "en": "[to be written by the authors]",
    "de": "[von den Autorinnen und Autoren zu ergänzen]",
}


@pytest.mark.parametrize("language", ["en", "de"])
def test_grras_has_its_fifteen_items_in_their_order(language: str) -> None:
    table = checklist_table(material_of(arguments(language)), "grras")
    assert [row[0].text for row in table.rows] == [str(n) for n in range(1, 16)]
    content = {row[0].text: row[2].text for row in table.rows}
    for number in ("1", "3", "4", "5", "7", "9", "14"):
        assert content[number] == MARK[language], number
    assert MARK[language] in content["6"], "numbers are known, their reason is not"
    assert "60" in content["11"] and "180" in content["11"]
    assert len(table.rows[0]) == 4
    assert all(not row[3].text for row in table.rows if row[2].text == MARK[language])


def test_of_grras_nothing_is_stated_that_no_record_shows() -> None:
    given: Any = arguments()
    bare = replace(given["study"], instruments=(), description="", licence="")
    items = {n: content for n, _, content, _ in grras(material_of(given | {"study": bare}))}
    assert items["2"] == ""
    assert items["9"] == "", "ratings that were imported may have been given together"
    no_rows = given | {"results": replace(given["results"], rows=())}
    assert {n: text for n, _, text, _ in grras(material_of(no_rows))}["13"] == ""


def test_a_data_statement_has_nine_headings() -> None:
    given: Any = arguments()
    items = data_statement(material_of(given))
    assert [number for number, *_ in items] == list("ABCDEFGHI")
    content = {number: text for number, _, text, _ in items}
    assert content["A"] == given["study"].description
    assert "Language of the forms: en." in content["B"]
    assert "Large LLM, small-llm, physician" in content["C"]
    assert "Licence: CC0-1.0." in content["H"]
    assert content["E"] == content["I"] == ""
    study = replace(given["study"], instruments=(Instrument("form", (), "x", language="fr"),))
    changed = {n: text for n, _, text, _ in data_statement(material_of(given | {"study": study}))}
    assert changed["B"] == "Language of the forms: fr."


def test_blinding_is_stated_only_of_blinded_studies() -> None:
    given: Any = arguments()
    blinded = given | {"study": replace(given["study"], blinded=True)}
    words = "Systems have blinding codes in all analyses until unblinding."
    for study, is_stated in ((given, False), (blinded, True)):
        content = {n: text for n, _, text, _ in grras(material_of(study))}
        assert (words in content["8"]) == is_stated


def test_names_of_files_are_withheld_while_systems_are_blinded() -> None:
    given: Any = arguments()
    sources = (Source("answers-of-alpha-70b.csv", "answers"),)
    material = material_of(given | {"study": replace(given["study"], sources=sources)})
    shown = {n: text for n, _, text, _ in data_statement(material)}
    hidden = {n: text for n, _, text, _ in data_statement(replace(material, is_blinded=True))}
    assert shown["I"] == "Files: answers-of-alpha-70b.csv."
    assert not any("alpha-70b" in text for text in hidden.values())


def test_every_checklist_that_is_offered_can_be_made() -> None:
    for name in get_args(Checklist):
        assert checklist_table(material_of(arguments()), name).rows
