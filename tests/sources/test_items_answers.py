"""Rows as items and answers: equal rows are one record, unequal ones a problem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from konsil.errors import SourceError
from konsil.records import Answer, Citation, Item, Source
from konsil.records.source import FileSettings
from konsil.sources.files.table import Table, read_table
from konsil.sources.tables.answers import read_answers
from konsil.sources.tables.items import read_items


def table(folder: Path, text: str, name: str = "t.csv") -> Table:
    path = folder / name
    path.write_text(text)
    return read_table(path)


def items(**mapping: Any) -> Source:
    return Source("t.csv", "items", **mapping)


def answers(**mapping: Any) -> Source:
    return Source("t.csv", "answers", **mapping)


def test_items(tmp_path: Path) -> None:
    text = (
        "item,text,reference,aliases,case,sets,Level\n"
        "1,What?,Aspirin,ASA | acetylsalicylic acid,c1,core|split,hard\n"
        "2,Why?,,,,,\n"
        "1,What?,Aspirin,ASA | acetylsalicylic acid,c1,core|split,hard\n"
    )
    parsed = read_items(table(tmp_path, text), items(strata=("level",)))
    assert parsed.records == (
        Item(
            "1",
            "What?",
            "Aspirin",
            ("ASA", "acetylsalicylic acid"),
            "c1",
            ("core", "split"),
            {"level": "hard"},
        ),
        Item("2", "Why?"),
    )
    assert parsed.lines == (2, 3)


def test_lists_from_json(tmp_path: Path) -> None:
    parsed = read_items(
        table(tmp_path, '{"item": 1, "aliases": ["a|b", "c"], "text": "x"}', "t.jsonl"), items()
    )
    assert parsed.records[0].aliases == ("a|b", "c")


def test_hashed_items(tmp_path: Path) -> None:
    one = read_items(table(tmp_path, "text\nWhat?\nWhat?\nWhy?\n"), items(hashed=("item",)))
    two = read_items(
        table(tmp_path, "q\nWhat?\nWhy?\n"), items(hashed=("item",), columns={"text": ("q",)})
    )
    assert one.records == two.records
    assert [len(i.id) for i in one.records] == [11, 11]


def test_items_that_contradict(tmp_path: Path) -> None:
    parsed = read_items(table(tmp_path, "item,text\n1,What?\n2,Why?\n1,Who?\n,Where?\n"), items())
    assert not parsed.records
    assert sorted(map(str, parsed.problems)) == [
        "line 4: text: item '1' has 'Who?' here and 'What?' on line 2",
        "line 5: item: is empty",
    ]
    with pytest.raises(SourceError, match="items need 'item'"):
        read_items(table(tmp_path, "text\nWhat?\n"), items())
    with pytest.raises(
        SourceError, match=r"strata: there is no column 'levle'; did you mean 'level'\?"
    ):
        read_items(table(tmp_path, "item,level\n1,2\n"), items(strata=("levle",)))


def test_answers(tmp_path: Path) -> None:
    text = (
        "item,system,text,reasoning\n1,gpt,Aspirin,because\n1,claude,ASA,\n1,gpt,Aspirin,because\n"
    )
    parsed = read_answers(table(tmp_path, text), answers())
    assert parsed.records == (
        Answer("1:gpt", "1", "gpt", "Aspirin", "because"),
        Answer("1:claude", "1", "claude", "ASA"),
    )
    assert parsed.lines == (2, 3)
    parsed = read_answers(table(tmp_path, "item,system,answer\n1,gpt,a7\n"), answers())
    assert parsed.records[0].id == "a7"


def test_sources_of_products_come_as_structure(tmp_path: Path) -> None:
    cells = (
        "Guide https://a.org/x\nhttps://b.org",
        '[{""title"": ""Trial"", ""url"": """"}, ""https://c.org""]',
        "",
    )
    text = "item,system,text,citations\n" + "".join(
        f'{n},gpt,t,"{cell}"\n' for n, cell in enumerate(cells)
    )
    parsed = read_answers(table(tmp_path, text), answers())
    assert [a.citations for a in parsed.records] == [
        (Citation("Guide", "https://a.org/x"), Citation("https://b.org", "https://b.org")),
        (Citation("Trial"), Citation("https://c.org", "https://c.org")),
        (),
    ]
    wrong = read_answers(
        table(tmp_path, 'item,system,citations\n1,gpt,"[{""titel"": ""x""}]"\n2,gpt,[]\n'),
        answers(),
    )
    [problem] = wrong.problems
    assert str(problem).startswith(
        'line 2: citations: \'[{"titel": "x"}]\' cannot be read as sources; expected'
    )


def test_answers_that_contradict(tmp_path: Path) -> None:
    parsed = read_answers(
        table(tmp_path, "item,system,text\n1,gpt,a\n1,gpt,b\n2,,c\n,gpt,d\n"), answers()
    )
    assert sorted(map(str, parsed.problems)) == [
        "line 3: text: answer '1:gpt' has 'b' here and 'a' on line 2",
        "line 4: system: is empty",
        "line 5: item: is empty",
    ]


@pytest.mark.slow
def test_cardiology(data: Callable[[str], Path]) -> None:
    path = data("cardiology_llm_eval") / "data" / "2_Data.xlsx"
    read = read_table(path, FileSettings(sheet="Accuracy"))
    columns = {"item": ("Request",)}
    found = read_items(read, items(columns=columns, strata=("Origin", "Diagnosis")))
    assert len(found.records) == 70
    assert {i.strata["Origin"] for i in found.records} == {"Patient", "Doctor"}
    given = read_answers(read, answers(columns={**columns, "system": ("Model",)}))
    assert (len(given.records), given.problems) == (210, ())


def test_kqa(data: Callable[[str], Path]) -> None:
    path = data("kqa") / "dataset" / "questions_w_answers.jsonl"
    source = items(
        columns={"text": ("Question",), "reference": ("Free_form_answer",)}, hashed=("item",)
    )
    parsed = read_items(read_table(path), source)
    assert len(parsed.records) == 201
    assert not parsed.problems
