"""All protocols, side by side: made, checked, rehearsed through the pages and reported, by commands alone."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.cli.main import group
from konsil.errors import StudyError

ROOT = Path(__file__).resolve().parents[2]
DRAWS = "\n[resampling]\ndraws = 200\n"
Edits = Sequence[tuple[str, str]]


def run(*arguments: object) -> str:
    done = CliRunner().invoke(group, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def table(file: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([columns, *rows])


def change(folder: Path, edits: Edits, patterns: Edits = ()) -> None:
    """Make a study small: the numbers of its file are its parameters."""
    place = folder / "study.toml"
    text = place.read_text("utf-8")
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    for before, after in patterns:
        text, n = re.subn(before, after, text)
        assert n, before
    place.write_text(text + DRAWS, "utf-8")


def medqade(folder: Path) -> None:
    kind = {
        "crowdanki_uuid": "cloze", "name": "Cloze", "type": 1, "flds": [{"name": "Text"}],
        "tmpls": [{"name": "Cloze", "qfmt": "{{cloze:Text}}", "afmt": "{{cloze:Text}}"}],
    }  # fmt: skip
    notes = [
        {
            "guid": f"n{n}",
            "note_model_uuid": "cloze",
            "tags": [],
            "fields": [f"In case {n} it is {{{{c1::item {n}}}}}."],
        }
        for n in range(60)
    ]
    deck = {"__type__": "Deck", "name": "Medicine", "note_models": [kind], "notes": notes, "children": []}
    (folder / "deck.json").write_text(json.dumps(deck), "utf-8")
    sizes = (('file = "deck.apkg"', 'file = "deck.json"'), ("size = 3800", "size = 20"))
    change(folder, (*sizes, ("core = 200, split = 3600", "core = 2, split = 18")))


def real_pocqi(folder: Path) -> None:
    mine = '[[sources]]\nfile = "questions.csv"\nrecords = "items"\nstrata = ["specialty", "source", "theme"]\n\n'
    sizes = (("per_rater = 18", "per_rater = 2"),)
    change(folder, sizes, ((r"(?s)\[\[sources\]\].*?(?=# WHO rates WHAT)", mine), (r"number = \d", "number = 1")))
    text = (folder / "study.toml").read_text("utf-8")
    places = re.findall(r"  \{ panel = .*\n", text)
    text = text.replace("".join(places), "".join(places[:4]))
    (folder / "study.toml").write_text(text, "utf-8")
    specialties = list(dict.fromkeys(re.findall(r'specialty = "([^"]+)"', "".join(places[:4]))))
    rows = [(f"q{n}", f"What now, {n}?", specialties[n % 2], "real-pocqi", "treatment") for n in range(12)]
    table(folder / "questions.csv", ["item", "text", "specialty", "source", "theme"], rows)


def clexeval(folder: Path) -> None:
    change(
        folder,
        (("size = 42", "size = 5"), ("pilot = 2, half-1 = 20, half-2 = 20", "pilot = 1, half-1 = 2, half-2 = 2")),
    )
    columns = ["item", "text", "reference", "aliases", "age", "sex", "specialty", "findings", "course", "outcome"]
    rows = [
        (f"c{n}", f"A patient came with fever {n} and a rash. It was disease {n}.", f"disease {n}", "", 40 + n,
         "female", "medicine", "fever", "short", "well")
        for n in range(8)
    ]  # fmt: skip
    table(folder / "cases.csv", columns, rows)


def cqa_eval(folder: Path) -> None:
    change(
        folder,
        (
            ("coarse-first = 27", "coarse-first = 1"), ("fine-first = 23", "fine-first = 1"),
            ("size = 106", "size = 6"), ("batches = 9", "batches = 3"),
            ("pilot-coarse = 3", "pilot-coarse = 1"), ("pilot-fine = 3", "pilot-fine = 1"),
            ("spans = 6", "spans = 2"), ("per_rater = 2", "per_rater = 1"),
        ),
    )  # fmt: skip
    table(folder / "questions.csv", ["item", "text"], [(f"q{n}", f"What helps in case {n}?") for n in range(8)])
    said = [(f"q{n}", s, f"Rest for {n} d. Drink.") for n in range(8) for s in ("physician", "system-1", "system-2")]
    table(folder / "answers.csv", ["item", "system", "text"], said)


SMALL: dict[str, Callable[[Path], None]] = {
    "medqade": medqade, "real-pocqi": real_pocqi, "clexeval": clexeval, "cqa-eval": cqa_eval,
}  # fmt: skip


MOST = {"medqade": 4, "real-pocqi": 2, "clexeval": 8, "cqa-eval": 20}
"""Pages of each rater: past the pilot, where there is one."""


def test_every_protocol_is_here_and_in_the_document() -> None:
    there = {p.name for p in files("konsil.protocols").iterdir() if p.joinpath("study.toml").is_file()}
    assert there == {*SMALL, "starter"}
    told = (ROOT / "docs" / "protocols.md").read_text("utf-8")
    for name in SMALL:
        assert f"`{name}`" in told
        assert f"konsil new study --protocol {name}\n" in told


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_made_checked_rehearsed_and_reported(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    run("new", folder, "--protocol", name, "--language", "en")
    SMALL[name](folder)
    assert "digest" in run("check", folder)
    said = run("rehearse", folder, "--to", tmp_path / "rehearsal", "--most", MOST[name])
    assert "0 faults" in said
    run("report", tmp_path / "rehearsal")
    page = (tmp_path / "rehearsal" / "report" / "index.html").read_text("utf-8")
    assert "Rehearsal: " in page
    assert page.count("<figure") > 2
    assert not (folder / "konsil.db").exists(), "the study itself is only read"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_protocol_without_any_file_is_rehearsed_with_pretended_items(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    run("new", folder, "--protocol", name, "--language", "en" if name == "real-pocqi" else "de")
    SMALL[name](folder)
    for file in (*folder.glob("*.csv"), *folder.glob("deck.json")):
        file.unlink()
    with pytest.raises(StudyError, match=r"'--items \d+' rehearses with pretended items") as refused:
        run("rehearse", folder)
    assert not folder.with_name(f"{name}-rehearsal").exists(), "nothing half-made"
    wanted = re.findall(r"--items (\d+)", str(refused.value))
    n = min(int(wanted[0]), 12) if name == "real-pocqi" else int(wanted[0])
    assert "0 faults" in run("rehearse", folder, "--items", n, "--most", 2)
    assert {p.name for p in folder.iterdir()}.isdisjoint({"konsil.db", "report"}), "the study itself is only read"
