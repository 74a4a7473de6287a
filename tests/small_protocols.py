"""The protocols as small studies: made by changing the numbers of their files, with material that
says nothing.

Used by the tests of all protocols and by benchmarks/pins.py.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

DRAWS = "\n[resampling]\ndraws = 200\n"
Edits = Sequence[tuple[str, str]]


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
        "crowdanki_uuid": "cloze",
        "name": "Cloze",
        "type": 1,
        "flds": [{"name": "Text"}],
        "tmpls": [{"name": "Cloze", "qfmt": "{{cloze:Text}}", "afmt": "{{cloze:Text}}"}],
    }
    notes = [
        {
            "guid": f"n{n}",
            "note_model_uuid": "cloze",
            "tags": [],
            "fields": [f"In case {n} it is {{{{c1::item {n}}}}}."],
        }
        for n in range(60)
    ]
    deck = {
        "__type__": "Deck",
        "name": "Medicine",
        "note_models": [kind],
        "notes": notes,
        "children": [],
    }
    (folder / "deck.json").write_text(json.dumps(deck), "utf-8")
    sizes = (('file = "deck.apkg"', 'file = "deck.json"'), ("size = 3800", "size = 20"))
    change(folder, (*sizes, ("core = 200, split = 3600", "core = 2, split = 18")))


def real_pocqi(folder: Path) -> None:
    source = (
        '[[sources]]\nfile = "questions.csv"\nrecords = "items"\nstrata = ["specialty", "source",'
        ' "theme"]\n\n'
    )
    sizes = (("per_rater = 18", "per_rater = 2"),)
    change(
        folder,
        sizes,
        (
            (r"(?s)\[\[sources\]\].*?(?=# (WHO rates|WER bewertet) (WHAT|WAS))", source),
            (r"number = \d", "number = 1"),
        ),
    )
    text = (folder / "study.toml").read_text("utf-8")
    places = re.findall(r"  \{ panel = .*\n", text)
    text = text.replace("".join(places), "".join(places[:4]))
    (folder / "study.toml").write_text(text, "utf-8")
    specialties = list(dict.fromkeys(re.findall(r'specialty = "([^"]+)"', "".join(places[:4]))))
    rows = [
        (f"q{n}", f"What now, {n}?", specialties[n % 2], "real-pocqi", "treatment")
        for n in range(12)
    ]
    table(folder / "questions.csv", ["item", "text", "specialty", "source", "theme"], rows)


def clexeval(folder: Path) -> None:
    change(
        folder,
        (
            ("size = 42", "size = 5"),
            ("pilot = 2, half-1 = 20, half-2 = 20", "pilot = 1, half-1 = 2, half-2 = 2"),
        ),
    )
    columns = [
        "item",
        "text",
        "reference",
        "aliases",
        "age",
        "sex",
        "specialty",
        "findings",
        "course",
        "outcome",
    ]
    rows = [
        (
            f"c{n}",
            f"A patient came with fever {n} and a rash. It was disease {n}.",
            f"disease {n}",
            "",
            40 + n,
            "female",
            "medicine",
            "fever",
            "short",
            "well",
        )
        for n in range(8)
    ]
    table(folder / "cases.csv", columns, rows)


def cqa_eval(folder: Path) -> None:
    change(
        folder,
        (
            ("coarse-first = 27", "coarse-first = 1"),
            ("fine-first = 23", "fine-first = 1"),
            ("size = 106", "size = 6"),
            ("batches = 9", "batches = 3"),
            ("pilot-coarse = 3", "pilot-coarse = 1"),
            ("pilot-fine = 3", "pilot-fine = 1"),
            ("spans = 6", "spans = 2"),
            ("per_rater = 2", "per_rater = 1"),
        ),
    )
    table(
        folder / "questions.csv",
        ["item", "text"],
        [(f"q{n}", f"What helps in case {n}?") for n in range(8)],
    )
    answers = [
        (f"q{n}", s, f"Rest for {n} d. Drink.")
        for n in range(8)
        for s in ("physician", "system-1", "system-2")
    ]
    table(folder / "answers.csv", ["item", "system", "text"], answers)


SMALL: dict[str, Callable[[Path], None]] = {
    "medqade": medqade,
    "real-pocqi": real_pocqi,
    "clexeval": clexeval,
    "cqa-eval": cqa_eval,
}
