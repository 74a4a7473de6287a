"""Answers get their sentences when they are written, where a study rates sentences, and keep
them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.running.planning import make_plan
from konsil.cli.main import group
from konsil.errors import PlanError
from konsil.records import Answer, Span

PROTOCOL = """
title = "Answers, sentence by sentence"
seed = 1
language = "{language}"

[[instruments]]
id = "form"
unit = "{unit}"
[[instruments.criteria]]
id = "correctness"
question = "Is it correct?"
scope = "{unit}"
scale = {{ labels = ["no", "yes"] }}

[[systems]]
id = "system-1"
model = "fake:seed=1,right=1"
[[systems]]
id = "physician"

[[raters]]
id = "rater-1"
panel = "raters"

[[sources]]
file = "items.csv"
records = "items"
[[sources]]
file = "answers.csv"
records = "answers"

[[plan]]
panel = "raters"
instrument = "form"
show = "each"
"""

ITEMS = "item,text,reference\ni1,Fever?,Rest. Drink plenty.\n"
ANSWERS = 'item,system,text\ni1,physician,"Take 500 mg p.o., e.g. at noon. Do not exceed 4 g/d."\n'


def write(folder: Path, unit: str = "sentence", language: str = "en") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(PROTOCOL.format(unit=unit, language=language), "utf-8")
    (folder / "items.csv").write_text(ITEMS, "utf-8")
    (folder / "answers.csv").write_text(ANSWERS, "utf-8")
    return folder


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def stored(folder: Path) -> dict[str, Answer]:
    with open_folder(folder).store() as store:
        return {a.system: a for a in store.answers()}


def spoken(answer: Answer) -> list[str]:
    return [answer.text[s.start : s.end] for s in answer.sentences]


def test_imported_and_asked_answers_are_cut(tmp_path: Path):
    folder = write(tmp_path / "study")
    run("import", folder)
    run("answer", folder)
    found = stored(folder)
    assert spoken(found["physician"]) == ["Take 500 mg p.o., e.g. at noon.", "Do not exceed 4 g/d."]
    assert spoken(found["system-1"]) == ["Rest.", "Drink plenty."]
    assert "nothing; 2 records were already stored" in run("import", folder)
    tasks = make_plan(open_folder(folder)).tasks
    assert {t.answers: t.spans for t in tasks} == {(a.id,): a.sentences for a in found.values()}


def test_answers_of_a_study_that_rates_no_sentences_have_none(tmp_path: Path):
    folder = write(tmp_path / "study", unit="answer")
    run("import", folder)
    assert spoken(stored(folder)["physician"]) == []


def test_what_was_cut_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A later version may cut otherwise; what raters have seen does not change, nor is the file a
    contradiction."""
    folder = write(tmp_path / "study")
    run("import", folder)
    before = stored(folder)
    monkeypatch.setattr("konsil.study.data.cutting.sentences", lambda text: (Span(0, len(text)),))
    assert "nothing; 2 records" in run("import", folder)
    assert stored(folder) == before


def test_another_text_is_a_contradiction(tmp_path: Path):
    folder = write(tmp_path / "study")
    run("import", folder)
    (folder / "answers.csv").write_text(ANSWERS.replace("500", "50"), "utf-8")
    done = CliRunner().invoke(group, ["import", str(folder)])
    assert done.exit_code != 0
    assert "500" in str(done.exception)


def test_answers_from_before_the_form_asked_about_sentences_are_named(tmp_path: Path):
    folder = write(tmp_path / "study", unit="answer")
    run("import", folder)
    run("answer", folder)
    write(folder)
    with pytest.raises(
        PlanError, match=r"'i1:\S+' has no sentences.*split into sentences at import or collection"
    ):
        make_plan(open_folder(folder))


@pytest.mark.parametrize(("language", "word"), [("en", "Sentence"), ("de", "Satz")])
def test_a_rehearsal_has_sentences_before_anybody_answered(
    tmp_path: Path, language: str, word: str
):
    folder = write(tmp_path / "study", language=language)
    (folder / "answers.csv").unlink()
    protocol = folder / "study.toml"
    text = re.sub(
        r'\[\[sources\]\]\nfile = "answers.csv"\nrecords = "answers"\n',
        "",
        protocol.read_text("utf-8"),
    )
    protocol.write_text(text.replace('\nmodel = "fake:seed=1,right=1"', ""), "utf-8")
    (folder / "simulation.toml").write_text("[systems.system-1]\nquality = 0.5\n", "utf-8")
    run("simulate", folder, "--to", tmp_path / "copy")
    with open_folder(tmp_path / "copy").store() as store:
        assert {a.text.split()[0] for a in store.answers()} == {word}
        assert {len(t.spans) for t in store.tasks()} == {8}
        assert len(store.ratings()) == 16
