"""From a deck to a study's items: what the import keeps, tells and refuses."""

from __future__ import annotations

import io
import json
import tracemalloc
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import pytest

from konsil.api import open_folder
from konsil.api.folder.decks import REPEAT, counts
from konsil.cli.main import main
from konsil.prepare import single_cloze
from konsil.records import Item
from konsil.sources.anki import read_anki

STUDY = """
title = "Deck"
seed = 1
[[sources]]
file = "deck.apkg"
records = "anki"
"""
TOLD = (
    "deck.apkg: 3 notes, 1 included as items, 2 excluded (not a cloze note 1, several deletions 1)"
)


@pytest.fixture
def study(tmp_path: Path, anki: Any) -> Path:
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    (tmp_path / "deck.apkg").write_bytes(anki().package())
    return tmp_path


def konsil(*words: object) -> str:
    """What a command says, whichever way it ends."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), suppress(SystemExit):
        main([str(w) for w in words])
    return (out.getvalue() + err.getvalue()).strip()


def test_a_deck_becomes_items_and_the_import_tells_what_was_dropped(study: Path):
    assert konsil("import", study) == f"new: 1 item, 1 event\n{TOLD}"
    with open_folder(study).store() as store:
        assert store.items() == (
            Item(
                "g3",
                "Insulin senkt ____ (was?).",
                "den Blutzucker",
                strata={"deck": "Medizin::Endo", "tags": "a inner::endo"},
            ),
        )
        [event] = store.events()
        assert (event.kind, event.subject) == ("preparation", "deck.apkg")
        assert event.data == {
            "filter": "single cloze",
            "read": 3,
            "kept": 1,
            "dropped": {"not a cloze note": 1, "several deletions": 1},
        }
        assert store.verify_log() == ()


def test_the_same_deck_again_changes_nothing(study: Path, anki: Any):
    konsil("import", study)
    assert konsil("import", study) == f"new: nothing; 1 record was already stored\n{TOLD}"
    (study / "deck.apkg").write_bytes(anki().package(anki().legacy()))
    assert konsil("import", study).startswith("new: nothing")


def test_another_file_by_flags(study: Path, anki: Any):
    (study / "deck.json").write_text(json.dumps(anki().crowdanki()), "utf-8")
    options = (
        "--records",
        "anki",
        "--no-hints",
        "--stratum",
        "type",
        "--fixed",
        "sets=pilot | other",
    )
    told = konsil("import", study, "--file", study / "deck.json", *options)
    assert told == f"new: 1 item, 1 event\n{TOLD.replace('apkg', 'json')}"
    with open_folder(study).store() as store:
        [item] = store.items()
    assert (item.text, item.sets, item.strata) == (
        "Insulin senkt ____.",
        ("pilot", "other"),
        {"type": "Cloze"},
    )


def test_a_note_that_was_changed_is_a_conflict_and_nothing_is_written(study: Path, anki: Any):
    konsil("import", study)
    guid, *rest = anki().notes[0]
    changed = (guid, rest[0], ("Insulin senkt {{c1::ihn}}.", ""), *rest[2:])
    (study / "deck.apkg").write_bytes(anki(notes=[changed]).package())
    assert (
        "item 'g3': text stored 'Insulin senkt ____ (was?).', got 'Insulin senkt ____.'"
        in konsil("import", study)
    )
    assert open_folder(study).preparations() == (TOLD,)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('sheet = "x"', "deck.apkg: sheet does not apply to an Anki deck; leave it out"),
        ('labels = { a = "b" }', "deck.apkg: labels does not apply to an Anki deck; leave it out"),
        (
            'strata = ["decks"]',
            "deck.apkg: strata: no note has a field 'decks'; did you mean 'deck'?",
        ),
        (
            'columns = { text = "text" }',
            "deck.apkg: columns: no note has a field 'text'; did you mean 'Text'?",
        ),
        (
            'columns = { item = "x" }',
            "columns: an Anki deck has no field 'item' to set; expected 'text'",
        ),
        (
            'fixed = { case = "x" }',
            "fixed: an Anki deck has no field 'case' to set; expected 'sets'",
        ),
        ('media = "keep"', "source 'deck.apkg', media: 'keep' is not one of 'drop', 'mark'"),
        (
            'columns = { text = "Back Extra" }',
            (
                "deck.apkg: no note becomes an item: deck.apkg: 3 notes, 0 included as items, 3 excluded"
                " (no deletion 2, not"
            ),
        ),
    ],
)
def test_what_a_deck_has_not_is_refused(study: Path, line: str, sentence: str):
    with (study / "study.toml").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert sentence in konsil("import", study)


def test_a_file_that_is_not_there(study: Path):
    (study / "deck.apkg").unlink()
    assert "deck.apkg: there is no such file" in konsil("import", study)


N_NOTES, N_SINGLE = 44_185, 26_598
"""The size of the collection of the published study, and how many of its notes have a single
deletion."""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["newest", "legacy"])
def test_a_deck_of_the_published_size(form: str, anki: Any, tmp_path: Path):
    cloze = next(iter(anki().types))
    filler = "Ein Satz mit <b>Auszeichnung</b>, Umlauten (äöü) und &nbsp;Leerzeichen.<br>" * 4
    rows = [
        (
            f"g{n:05}",
            cloze,
            (
                f"{filler}Nummer {n}: {{{{c1::Begriff {n}}}}}"
                + ("" if n < N_SINGLE else " {{c2::noch einer}}"),
                filler,
            ),
            " innere::kardio m2 ",
            1,
        )
        for n in range(N_NOTES)
    ]
    file = tmp_path / "deck.apkg"
    made = anki(notes=rows)
    file.write_bytes(made.package(getattr(made, form)()))
    deck = read_anki(file)
    found = single_cloze(deck.notes)
    assert (found.read, len(found.items)) == (N_NOTES, N_SINGLE)
    assert found.dropped == {"several deletions": N_NOTES - N_SINGLE}
    del deck, found
    tracemalloc.start()
    deck = read_anki(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(deck.notes) == N_NOTES
    assert peak < 400 << 20


def test_repeats_of_a_note_are_counted(tmp_path: Path, anki) -> None:
    deck = anki().crowdanki()
    n, again = len(deck["notes"]), deck["notes"][0]
    deck["notes"] += [again, again]
    file = tmp_path / "deck.json"
    file.write_text(json.dumps(deck))
    found = read_anki(file)
    assert found.repeats - read_anki_of(tmp_path, anki().crowdanki()).repeats == 2
    told = counts(single_cloze(found.notes), found.repeats)
    assert told["dropped"][REPEAT] == found.repeats
    assert told["read"] == told["kept"] + sum(told["dropped"].values()) >= n + 2


def read_anki_of(folder: Path, deck: object):
    (folder / "once.json").write_text(json.dumps(deck))
    return read_anki(folder / "once.json")
