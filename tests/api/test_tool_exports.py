"""Exports of tools in a study: recognised where columns are not stated, and in the set-up."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import get_args

import polars as pl
import pytest
from tests.sources.exports.examples import (
    EXPORTS,
    PLAIN,
    RATERS,
    RATINGS,
    SURVEYS,
    UNITS,
    flat_record,
    lines,
    potato_state,
    table,
    write,
)

from konsil.api import open_folder
from konsil.api.design.draft import Draft
from konsil.errors import SourceError, UnclearTableError
from konsil.records import Source
from konsil.records.source import Tool

PROTOCOL = """
schema = 1
title = "Exports"
seed = 1
systems = [{ id = "x" }]
raters = [{ id = "ann", panel = "p" }, { id = "ben", panel = "p" }, { id = "cleo", panel = "p" }]

[[instruments]]
id = "form"
codebook = "codebook.en.md"
"""
WORDS = '["bad", "good"]'
NUMBERS = '["1", "2", "3", "4", "5"]'
SYSTEM = {"system": "x"}


def study(folder: Path, labels: str = WORDS, *, sources: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "codebook.en.md").write_text("A codebook.\n", "utf-8")
    criterion = f'{{ id = "quality", question = "?", scale = {{ labels = {labels} }} }}'
    text = f"{PROTOCOL}criteria = [{criterion}]\n{sources}"
    (folder / "study.toml").write_text(text, "utf-8")
    return folder


def stored(folder: Path) -> dict[tuple[str, str], str | None]:
    with open_folder(folder).store() as store:
        return {(r.answers[0].split(":")[0], r.rater): r.label for r in store.ratings()}


def notes(folder: Path, source: Source) -> tuple[str, ...]:
    return open_folder(folder).import_sources([source]).notes


@pytest.mark.parametrize("name", EXPORTS)
def test_the_ratings_of_every_tool_are_imported(name: str, tmp_path: Path) -> None:
    tool, ending, content = EXPORTS[name]
    path = write(study(tmp_path / "s"), ending, content)
    first, *_ = notes(path.parent, Source(path.name, "ratings", fixed=SYSTEM))
    assert tool in first
    assert stored(path.parent) == RATINGS


def test_the_states_of_users_are_imported_where_the_tool_is_stated(tmp_path: Path) -> None:
    """Potato writes a file for each user. Kills: a pattern of files whose tool is not read."""
    folder = study(tmp_path / "s")
    for rater in RATERS:
        write(folder, ".json", json.dumps(potato_state(rater)), f"state-{rater}")
    notes(folder, Source("state-*.json", "ratings", fixed=SYSTEM, tool="Potato"))
    assert stored(folder) == RATINGS


def test_a_file_for_each_annotator_is_imported_by_its_name(tmp_path: Path) -> None:
    """doccano's JSONL with its labels mapped. Kills: a rater by another name than the file's."""
    folder = study(tmp_path / "s")
    for rater in RATERS:
        texts = [
            {"id": int(unit), "text": f"Answer {unit}", "label": [label]}
            for (unit, name), label in RATINGS.items()
            if name == rater
        ]
        write(folder, ".jsonl", lines(texts), rater)
    source = Source(
        "*.jsonl",
        "ratings",
        named="rater",
        columns={"item": ("id",), "label": ("label",)},
        labels={'["good"]': "good", '["bad"]': "bad"},
        fixed={**SYSTEM, "criterion": "quality"},
    )
    notes(folder, source)
    assert stored(folder) == RATINGS


def test_double_data_entry_is_imported(tmp_path: Path) -> None:
    """REDCap's records of two persons each. Kills: a merged record that is read as a rating."""
    folder = study(tmp_path / "s")
    entered = {key: label for key, label in RATINGS.items() if key[1] != "cleo"}
    rows = [
        {"record_id": f"{unit}--{1 + (rater == 'ben')}", "quality": label, "form_complete": "2"}
        for (unit, rater), label in entered.items()
    ]
    merged = [{"record_id": "1", "quality": "bad", "form_complete": "2"}]
    path = write(folder, ".csv", table([*rows, *merged]))
    first, *_ = notes(
        folder,
        Source(path.name, "ratings", fixed=SYSTEM, values={"rater": {"1": "ann", "2": "ben"}}),
    )
    assert "REDCap" in first
    assert stored(folder) == entered


def test_rows_of_a_data_set_in_parquet_are_imported(tmp_path: Path) -> None:
    """Argilla's data sets. Kills: lists that are read as texts."""
    folder = study(tmp_path / "s")
    pl.DataFrame([flat_record(unit) for unit in UNITS]).write_parquet(folder / "data.parquet")
    first, *_ = notes(folder, Source("data.parquet", "ratings", fixed=SYSTEM))
    assert "Argilla" in first
    assert stored(folder) == RATINGS


def test_ratings_that_are_left_out_are_counted(tmp_path: Path) -> None:
    path = write(study(tmp_path / "s"), *EXPORTS["mturk"][1:])
    text = path.read_text("utf-8").replace("Approved", "Rejected", 1)
    assert text != path.read_text("utf-8")
    path.write_text(text, "utf-8")
    first, *_ = notes(path.parent, Source(path.name, "ratings", fixed=SYSTEM))
    assert "1 rejected assignment" in first
    assert len(stored(path.parent)) == len(RATINGS) - 1


@pytest.mark.parametrize("name", SURVEYS)
def test_a_survey_is_asked_about_and_the_keys_settle_it(name: str, tmp_path: Path) -> None:
    tool, ending, content = SURVEYS[name]
    path = write(study(tmp_path / "s", NUMBERS), ending, content, "f")
    with pytest.raises(UnclearTableError) as error:
        notes(path.parent, Source(path.name, "ratings", fixed=SYSTEM))
    keys = error.value.call
    assert {s["tool"] for s in tomllib.loads(keys)["sources"]} == {tool}
    open_folder(study(tmp_path / "s", NUMBERS, sources=keys)).import_sources()
    questions = {item for item, _ in stored(path.parent)}
    assert len(questions) == 3
    assert {*stored(path.parent)} == {(item, rater) for item in questions for rater in RATERS}


def test_stated_columns_are_those_of_the_file_itself(tmp_path: Path) -> None:
    """Also where the file is an export of a tool: a study reads it as before."""
    _, ending, content = EXPORTS["mturk"]
    path = write(study(tmp_path / "s"), ending, content.replace("Approved", "Rejected"))
    stated = Source(
        path.name,
        "ratings",
        columns={"item": ("HITId",), "rater": ("WorkerId",), "label": ("Answer.quality.label",)},
        fixed={**SYSTEM, "criterion": "quality"},
    )
    notes(path.parent, stated)
    assert stored(path.parent) == RATINGS


@pytest.mark.parametrize("name", ["record", "survey", "scans"])
def test_tables_of_no_tool_are_not_read_as_exports(name: str, tmp_path: Path) -> None:
    path = write(study(tmp_path / "s"), ".csv", PLAIN[name])
    with pytest.raises(SourceError, match='tool = "REDCap"'):
        notes(path.parent, Source(path.name, "ratings", fixed=SYSTEM, tool="REDCap"))


def test_a_tool_without_effect_is_refused(tmp_path: Path) -> None:
    path = write(study(tmp_path / "s"), *EXPORTS["label studio"][1:])
    with pytest.raises(SourceError, match='tool = "Label Studio"'):
        notes(path.parent, Source(path.name, "labelstudio", tool="Label Studio"))


def test_every_tool_can_be_stated() -> None:
    tools = {tool for tool, *_ in (*EXPORTS.values(), *SURVEYS.values())}
    assert tools == {*get_args(Tool)} - {""}


# ---- the set-up ----------------------------------------------------------------------------------


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    (tmp_path / "staging").mkdir()
    return Draft(study(tmp_path / "s"), tmp_path / "staging")


@pytest.mark.parametrize("name", EXPORTS)
def test_the_set_up_reads_and_states_the_tool(name: str, draft: Draft) -> None:
    tool, ending, content = EXPORTS[name]
    loaded = draft.add_table(f"export{ending}", content.encode())
    by_role = {role: column for column, role in loaded.roles.items()}
    assert {"item", "rater", "label_of_criterion"} <= {*by_role}
    assert loaded.table.n_rows == len(RATINGS)
    draft.use_table(loaded.table.name, loaded.roles)
    (source,) = (s for s in draft.data["sources"] if s["records"] == "ratings")
    assert source["tool"] == tool


@pytest.mark.parametrize("name", SURVEYS)
def test_what_the_set_up_has_to_ask_of_a_survey_is_not_likely(name: str, draft: Draft) -> None:
    loaded = draft.add_table("survey.csv", SURVEYS[name][2].encode())
    asked = [g for g in loaded.guesses if g.role != "unused"]
    assert loaded.form == "raters-in-rows"
    assert {guess.confidence for guess in asked} == {"unsure"}


NESTED = [
    {"id": n, "scores": {"ann": ann, "ben": ben}}
    for n, (ann, ben) in enumerate([("good", "bad"), ("bad", "bad"), ("good", "good")] * 2)
]


@pytest.mark.parametrize(
    ("ending", "content", "path"),
    [
        (".json", json.dumps({"made": 2026, "data": {"cases": NESTED}}), "data/cases"),
        (".json", json.dumps(NESTED), "."),
        (".jsonl", "\n".join(map(json.dumps, NESTED)), "."),
        (".json", json.dumps([{"id": 1, "text": "Why?"}, {"id": 2, "text": "How?"}]), ""),
    ],
)
def test_the_set_up_proposes_the_path_of_nested_records(
    ending: str, content: str, path: str, draft: Draft
) -> None:
    loaded = draft.add_table(f"cases{ending}", content.encode())
    assert loaded.table.settings.path == path
    assert "path" in loaded.table.settable
    raters = [column for column, role in loaded.roles.items() if role == "label_of_rater"]
    assert raters == (["scores: ann", "scores: ben"] if path else [])


def test_an_object_without_records_is_refused(draft: Draft) -> None:
    with pytest.raises(SourceError, match=re.escape("'['")):
        draft.add_table("cases.json", b'{"a": {"x": 1}, "b": {"y": 2}}')
