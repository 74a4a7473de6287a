"""The demo with a real model; here a fake one speaks for it."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from importlib.resources import files

import pytest

from konsil.api import open_folder
from konsil.api.rehearsal import local_demo as made
from konsil.api.rehearsal.rehearsal import report
from konsil.collect.fake.fake import FakeProvider, Script
from konsil.collect.local import local
from konsil.errors import CollectError, StudyError
from konsil.records import Answer, Item
from konsil.study import check, parse

PLACE = files("konsil.demo") / "local"


def test_its_protocol_and_parameters_are_accepted():
    study = parse(
        (PLACE / "study.toml").read_text("utf-8"), lambda name: (PLACE / name).read_text("utf-8")
    )
    check(study)
    assert study.simulated
    assert {s.model for s in study.systems} == {"local:smollm2", None}
    tomllib.loads(
        made.with_answers(
            (PLACE / "physicians.toml").read_text("utf-8"), [Answer("q:a", "q", "a")], ["q:a"]
        )
    )


def test_an_answer_is_wrong_where_no_name_of_the_reference_is_in_it():
    item = Item("q", "Which vitamin?", "Vitamin C", aliases=("ascorbic acid",))
    texts = {"a": "It is vitamin C", "b": "Ascorbic  Acid.", "c": "Vitamin B12", "d": ""}
    answers = [Answer(f"q:{s}", "q", s, t) for s, t in texts.items()]
    assert list(made.wrong_answers([item], answers)) == ["q:c", "q:d"]


def test_a_short_name_is_not_found_within_another_word():
    item = Item("q", "Which artery?", "Right coronary artery", aliases=("RCA",))
    assert list(made.wrong_answers([item], [Answer("q:a", "q", "a", "The forcaval vein")])) == [
        "q:a"
    ]


def yes_man(request, rng):
    """A judge that likes everything, and a system that always says the same."""
    if request.schema is None:
        return "It is the aorta"
    names = (
        request.schema["properties"]["correctness"]["properties"]
        if "correctness" in request.schema["properties"]
        else request.schema["properties"]
    )
    return "{" + ", ".join(f'"{n}": "Correct"' for n in names) + "}"


@pytest.fixture
def faked(monkeypatch):
    provider = FakeProvider(Script(yes_man))
    monkeypatch.setattr(local, "must_run", lambda model: None)
    monkeypatch.setattr(local, "LocalModels", lambda: provider)
    return provider


@pytest.mark.slow
def test_the_whole_demo_goes_on_where_it_was_stopped(faked, tmp_path, monkeypatch):
    folder = tmp_path / "demo"
    monkeypatch.setattr(
        "konsil.collect.jobs.judges.judge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        made.local_demo(folder)
    monkeypatch.undo()
    assert faked.calls == 40
    monkeypatch.setattr(local, "must_run", lambda model: None)
    monkeypatch.setattr(local, "LocalModels", lambda: faked)
    page = made.local_demo(folder)
    assert faked.calls == 60
    text = page.read_text("utf-8")
    assert "About the small model" in text
    assert "No person gave these ratings, and no model except smollm2-judge." in text
    assert "No person and no model" not in text
    assert "it gave 60 of 60 answers the same label" in text
    opened = open_folder(folder)
    with opened.store() as store:
        ratings, answers = store.ratings(), store.answers()
    assert Counter(a.system for a in answers) == {
        "smollm2": 20,
        "smollm2-drawn": 20,
        "system-a": 20,
    }
    by_rater = Counter(r.rater for r in ratings)
    assert set(by_rater.values()) == {60} and len(by_rater) == 6
    assert {r.label for r in ratings if r.rater == "smollm2-judge"} == {"Correct"}
    # The simulated raters know a wrong answer from a right one.
    physicians = [
        r for r in ratings if r.rater.startswith("physician") and r.answers[0].endswith(":smollm2")
    ]
    assert sum(r.label == "Incorrect" for r in physicians) > 0.7 * len(physicians)
    before = page.read_bytes()
    assert report(opened).read_bytes() == before
    rows = list(csv.DictReader((folder / "items.csv").read_text("utf-8").splitlines()))
    assert set(Counter(r["specialty"] for r in rows).values()) == {4} and {
        r["language"] for r in rows
    } == {"en"}


def test_nothing_is_made_where_the_model_is_not_there_or_the_folder_is_not_ours(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("KONSIL_MODELS", str(tmp_path / "none"))
    monkeypatch.setattr(local, "missing", lambda: "")
    with pytest.raises(CollectError, match="run 'konsil local install'"):
        made.local_demo(tmp_path / "demo")
    assert not (tmp_path / "demo").exists()
    monkeypatch.setattr(local, "must_run", lambda model: None)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "study.toml").write_text("mine")
    with pytest.raises(StudyError, match="is not empty"):
        made.local_demo(tmp_path / "other")
