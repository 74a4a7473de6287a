"""Numbers of labels that changed with a version: told by check and report, kept by a freeze."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.api.folder import blinded
from konsil.cli.main import group
from konsil.instrument import PlacesScale
from konsil.study import study_digest
from konsil.study.data import label_numbering
from konsil.study.data.freezing import NUMBERING, deviations, frozen, plan_of_analyses

PROTOCOL = """schema = 1
title = "Scores"
seed = 1
raters = [{ id = "r1", panel = "p" }, { id = "r2", panel = "p" }]
sources = [
    { file = "items.csv", records = "items" },
    { file = "answers.csv", records = "answers" },
    { file = "ratings.csv", records = "ratings" },
]
[[systems]]
id = "labels"
[resampling]
draws = 100
[[instruments]]
id = "form"
codebook = "One\\nsentence."
[[instruments.criteria]]
id = "score"
question = "How good?"
scale = { level = "interval", labels = ["1", "2", "10"] }
[[analyses]]
name = "mean"
statistic = "mean"
criterion = "score"
raters = "p"
[[analyses]]
name = "alpha"
statistic = "krippendorff_alpha"
criterion = "score"
raters = "p"
"""
LABELS = ("1", "2"), ("10", "10"), ("2", "1"), ("1", "1")
CHANGED = "The labels of 'score' count as 1, 2, 10 (up to version 0.9.0: 0, 1, 2)."
KEPT = (
    "The labels of 'score' count as 0, 1, 2, by their places, as when the analysis plan was"
    " frozen; without that freeze they count as 1, 2, 10."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ratings = [
        f"r{r},i{n},a{n},score,{label}"
        for n, row in enumerate(LABELS)
        for r, label in enumerate(row, 1)
    ]
    numbers = range(len(LABELS))
    tables = {
        "items": ["item,text", *(f"i{n},Q{n}" for n in numbers)],
        "answers": ["answer,item,system,text", *(f"a{n},i{n},labels,A" for n in numbers)],
        "ratings": ["rater,item,answer,criterion,label", *ratings],
    }
    for name, rows in tables.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "study.toml").write_text(PROTOCOL)
    return tmp_path


def freeze_as_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The freeze of a version in which labels counted by their places."""

    def older_plan(study: object) -> dict[str, object]:
        return {k: v for k, v in plan_of_analyses(study).items() if k != NUMBERING}  # type: ignore[arg-type]

    opened = open_folder(folder)
    opened.import_sources()
    with monkeypatch.context() as older:
        older.setattr(blinded, "plan_of_analyses", older_plan)
        blinded.freeze(opened, "analyst")


def means(folder: Path) -> dict[str, float]:
    rows = open_folder(folder).results().rows
    return {row.analysis: row.estimate.value for row in rows if row.kind == "estimate"}


def check_lines(folder: Path) -> tuple[int, str]:
    result = CliRunner().invoke(group, ["check", str(folder)])
    return result.exit_code, result.output


def test_a_study_states_its_numbers_and_those_of_before(folder: Path) -> None:
    code, out = check_lines(folder)
    assert (code, f"  {CHANGED}\n" in out) == (0, True)
    results = open_folder(folder)
    results.import_sources()
    assert means(folder)["mean"] == 28 / 8
    methods = [str(sentence) for sentence in results.results().methods]
    assert CHANGED in methods
    assert "Numbers of the labels of 'score': 1, 2, 10." in methods
    # Once values are stated, nothing changed.
    text = PROTOCOL.replace('"10"] }', '"10"], values = [0, 1, 2] }')
    (folder / "study.toml").write_text(text)
    code, out = check_lines(folder)
    assert (code, "count as" in out) == (0, False)
    # The same ratings are analysed without 'konsil accept'.
    assert means(folder)["mean"] == 6 / 8
    assert any(
        "1 = 0, 2 = 1, 10 = 2" in str(sentence)
        for sentence in open_folder(folder).results().methods
    )


def test_a_plan_frozen_by_places_keeps_its_numbers_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = open_folder(folder)
    freeze_as_before(folder, monkeypatch)
    # A study that was opened before its freeze was imported follows the log as well.
    assert "1 = 0, 2 = 1, 10 = 2" in " ".join(map(str, earlier.results().methods))
    opened = open_folder(folder)
    scale = opened.study.instruments[0].criteria[0].scale
    assert isinstance(scale, PlacesScale)
    assert scale.numbers() == (0, 1, 2)
    assert means(folder)["mean"] == 6 / 8
    code, out = check_lines(folder)
    assert (code, f"  {KEPT}\n" in out) == (0, True)
    methods = [str(sentence) for sentence in opened.results().methods]
    assert KEPT in methods
    assert CHANGED not in methods
    with opened.store() as store:
        freeze = frozen(store.events())
    assert freeze is not None
    assert freeze.data["study"] == study_digest(opened.study)
    assert not deviations(opened.study, freeze).rules
    opened.report()
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "1 = 0, 2 = 1, 10 = 2" in page
    german = f"{PROTOCOL}".replace("seed = 1\n", 'seed = 1\nlanguage = "de"\n', 1)
    (folder / "study.toml").write_text(german)
    open_folder(folder).report()
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "zählen nach ihrer Stelle als 0, 1, 2, wie beim Festschreiben" in page
    assert "Zahlen der Labels" in page


def test_words_of_an_interval_scale_of_a_frozen_plan_keep_their_places(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = PROTOCOL.replace('["1", "2", "10"]', '["low", "mid", "high"]')
    word_by_number = {"10": "high", "2": "mid", "1": "low"}
    rows = (folder / "ratings.csv").read_text().splitlines()
    cells = (row.rpartition(",") for row in rows[1:])
    named = [f"{head},{word_by_number[label]}" for head, _, label in cells]
    (folder / "ratings.csv").write_text("\n".join([rows[0], *named]) + "\n")
    (folder / "study.toml").write_text(words)
    with monkeypatch.context() as older:
        older.setattr("konsil.study.rules.form_rules._label_numbers", lambda *_: iter(()))
        freeze_as_before(folder, monkeypatch)
    assert means(folder)["mean"] == 6 / 8
    code, out = check_lines(folder)
    assert code == 0
    assert "without that freeze labels of level interval that are words need numbers" in out
    # A study without that freeze is refused.
    (folder / "konsil.db").unlink()
    assert check_lines(folder)[0] == 1


def test_a_plan_frozen_today_has_todays_numbers(folder: Path) -> None:
    opened = open_folder(folder)
    opened.import_sources()
    blinded.freeze(opened, "analyst")
    assert means(folder)["mean"] == 28 / 8
    with opened.store() as store:
        events = store.events()
    assert label_numbering.with_frozen_numbers(opened.study, events) is opened.study
    assert not label_numbering.numbering_sentences(opened.study, events)
    stated = dataclasses.replace(opened.study, analyses=opened.study.analyses[:0])
    assert not label_numbering.numbering_sentences(stated)
