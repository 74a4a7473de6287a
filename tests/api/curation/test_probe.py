"""A model guesses the diagnosis from each level: fewer guesses are right where marks hide it; no
call is repeated."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.curation.masking import mask_cases
from konsil.api.curation.probe import Guess, probe, shares
from konsil.cli import main
from konsil.errors import PlanError, StudyError
from konsil.records import Item
from konsil.store import Batch
from konsil.store.calls.calls import Calls
from small_studies import form, study_text, systems

STUDY = study_text("Masked", form(), systems("a"), "[prepare.mask]", seed=3)
CASES = (
    Item("c1", "Cough. Biopsy had granulomas: sarcoidosis.", "sarcoidosis"),
    Item(
        "c2",
        "Tremor. Later hepatolenticular rings.",
        "Wilson disease",
        aliases=("hepatolenticular degeneration",),
    ),
    Item("c3", "Nobody marked this.", "x"),
)
MARKS = "case,kind,rank,text\nc1,diagnosis,,sarcoidosis\nc1,cue,1,granulomas\nc2,cue,1,hepatolenticular\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    with open_folder(tmp_path).store(create=True) as store:
        store.add(Batch(items=CASES), source="t", at="2025-03-01T12:00:00Z")
    return tmp_path


def test_the_share_of_right_guesses_by_level(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_folder(folder)
    with pytest.raises(PlanError, match="no case is marked yet"):
        probe(opened, "fake:")
    (folder / "marks.csv").write_text(MARKS, "utf-8")
    mask_cases(opened, folder / "marks.csv", by="p-1")
    table = folder / "guesses.csv"
    main(["probe", str(folder), "--model", "fake:", "--table", str(table)])
    said = capsys.readouterr().out
    assert "10 done in 10 calls: 10 ok" in said
    assert "excluded because not marked yet: 1 cases" in said
    assert "narrative: diagnosis guessed in 50% (1/2; 95% CI, 9% to 91%)" in said
    assert "level 0: diagnosis guessed in 0% (0/2; 95% CI, 0% to 66%)" in said
    rows = {
        (row["case"], row["level"]): row
        for row in csv.DictReader(io.StringIO(table.read_text("utf-8")))
    }
    assert rows["c1", "narrative"]["guess"] == "sarcoidosis"
    assert rows["c1", "0"]["guess"] == "granulomas"
    assert [row["right"] for row in rows.values()].count("yes") == 1
    main(["probe", str(folder), "--model", "fake:"])
    assert "no calls to make; 10 were done before" in capsys.readouterr().out
    with opened.store() as store:
        assert {call.who for call in Calls(store).each()} == {"guess"}


def test_a_dry_run_and_a_limit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = open_folder(folder)
    (folder / "marks.csv").write_text(MARKS, "utf-8")
    mask_cases(opened, folder / "marks.csv", by="p-1")
    main(["probe", str(folder), "--model", "fake:", "--dry-run"])
    assert "10 to call" in capsys.readouterr().out
    main(["probe", str(folder), "--model", "fake:", "--limit", "4"])
    assert "6 versions have not been sent to the model yet" in capsys.readouterr().out


def test_what_cannot_be_probed_is_said(folder: Path) -> None:
    with pytest.raises(StudyError, match="model: "):
        probe(open_folder(folder), "nowhere")
    (folder / "study.toml").write_text(STUDY.replace("[prepare.mask]", ""), "utf-8")
    with pytest.raises(StudyError, match=r"there is no \[prepare.mask\]"):
        probe(open_folder(folder), "fake:")


def test_shares_have_an_interval() -> None:
    guesses = [Guess(f"c{n}", "0", "x", "x", n < 3) for n in range(10)]
    k, n, low, high = shares(guesses)["0"]
    assert (k, n, round(low, 3), round(high, 3)) == (3, 10, 0.108, 0.603)
