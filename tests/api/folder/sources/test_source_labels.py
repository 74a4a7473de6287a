"""Codes for missing values and other spellings in a study's sources: asked about with their keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.errors import SourceError, UnclearTableError

PROTOCOL = """
schema = 1
title = "Labels"
seed = 1
systems = [{ id = "x" }]
raters = [{ id = "ann", panel = "p" }, { id = "ben", panel = "p" }]

[[instruments]]
id = "form"
criteria = [
    { id = "grade", question = "?", scale = { labels = ["1", "2", "3", "4", "5"] } },
    { id = "shift", question = "?", scale = { labels = ["-1", "0", "1"] } },
    { id = "correct", question = "?", scale = { labels = ["no", "yes"], abstain = "cannot tell" } },
    { id = "dose", question = "?", scale = { kind = "number", low = 0, unit = "mg" } },
    { id = "why", question = "?", scale = { kind = "text" } },
    { id = "big", question = "?", scale = { labels = ["NO", "YES"] } },
]
"""


def study(folder: Path, rows: Sequence[str], keys: str = "") -> Path:
    """A study with one source; rows are criterion and label, of one item each."""
    folder.mkdir(exist_ok=True)
    source = '[[sources]]\nfile = "r.csv"\nrecords = "ratings"\nfixed.system = "x"\n'
    write(folder, keys if keys.startswith("[[") else source + keys)
    cells = [f"q{n},{'ann' if n % 2 else 'ben'},{row}" for n, row in enumerate(rows)]
    head = "item,rater,criterion,label,seconds"
    text = "\n".join([head, *(f"{row},99" for row in cells)])
    (folder / "r.csv").write_text(f"{text}\n", "utf-8")
    return folder


def write(folder: Path, sources: str) -> None:
    (folder / "study.toml").write_text(f"{PROTOCOL}\n{sources}\n", "utf-8")


def stored(folder: Path) -> list[tuple[str, str | None]]:
    with open_folder(folder).store() as store:
        assert all(rating.seconds == 99 for rating in store.ratings())
        ratings = sorted(store.ratings(), key=lambda rating: int(str(rating.item)[1:]))
        return [(rating.criterion, rating.label) for rating in ratings]


def refused(folder: Path) -> UnclearTableError:
    with pytest.raises(UnclearTableError) as caught:
        open_folder(folder).import_sources()
    assert not (folder / "konsil.db").exists()
    return caught.value


SCALE = [f"grade,{n}" for n in (1, 2, 3, 4, 5)]
RIGHT = [("grade", str(n)) for n in (1, 2, 3, 4, 5)]
ASKED = {
    "codes off a scale": ([*SCALE, "grade,-1", "grade,99", "grade,NA"], RIGHT),
    "a code that another scale has": (
        [*SCALE, "grade,-1", "shift,-1", "shift,0"],
        [*RIGHT, ("shift", "-1"), ("shift", "0")],
    ),
    "a code beyond numbers without a bound": (
        ["dose,1", "dose,2", "dose,3", "dose,999", "dose,-9"],
        [("dose", "1"), ("dose", "2"), ("dose", "3")],
    ),
    "spellings": (
        ["correct,Yes", "correct,no", "correct,YES", "correct,Cannot  tell"],
        [("correct", label) for label in ("yes", "no", "yes", None)],
    ),
    "a spelling that another scale has": (
        ["correct,Yes", "correct,no", "big,Yes", "big,NO"],
        [("correct", "yes"), ("correct", "no"), ("big", "YES"), ("big", "NO")],
    ),
    "both": (
        [*SCALE, "grade,99", "correct,No", "correct,yes", "correct,n/a"],
        [*RIGHT, ("correct", "no"), ("correct", "yes")],
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_no_scale_explains_is_asked_about_and_the_keys_settle_it(
    name: str, tmp_path: Path
) -> None:
    """The keys that are printed import the ratings without codes, in the labels of the scales.

    Kills: a code that is stored as a number, a key that empties another field or the label of
    another criterion, a refusal that is repeated.
    """
    rows, right = ASKED[name]
    folder = study(tmp_path / "s", rows)
    error = refused(folder)
    write(folder, error.call)
    open_folder(folder).import_sources()
    assert stored(folder) == right


STATED = {
    "labels of the scale": (["shift,-1", "shift,0", "shift,1"], ""),
    "numbers within bounds": (["dose,1", "dose,2", "dose,3"], ""),
    "numbers as a spreadsheet writes them": (["grade,1.0", "grade,5.0", "grade,2"], ""),
    "texts": (["why,Yes", "why,yes", "why,NA", "why,99"], ""),
    "codes that are stated": ([*SCALE, "grade,99"], 'missing = "99"'),
    "other codes than those of a number": (["dose,1", "dose,2", "dose,99"], 'missing = "-"'),
    "spellings that are stated": (["correct,Yes", "correct,no"], 'labels = { Yes = "yes" }'),
    "labels of one criterion": (["correct,1", "correct,9"], 'labels_of.correct = {1="no",9="yes"}'),
}


@pytest.mark.parametrize("name", STATED)
def test_a_source_that_states_its_labels_is_read_without_a_word(name: str, tmp_path: Path) -> None:
    """Kills: a question about a label by declaration, or about a statement."""
    rows, keys = STATED[name]
    added = open_folder(study(tmp_path / "s", rows, keys)).import_sources()
    assert added.new["ratings"] == len(rows) - ("99" in keys) and added.notes == ()


def test_a_word_that_is_no_label_is_listed_with_its_line_or_beside_the_questions(
    tmp_path: Path,
) -> None:
    """Kills: keys for words that mean something else; a second refusal for what is wrong anyway."""
    folder = study(tmp_path / "a", [*SCALE, "grade,7", "correct,perhaps"])
    with pytest.raises(SourceError, match=r"line 7: '7' .* line 8: 'perhaps'") as caught:
        open_folder(folder).import_sources()
    assert not isinstance(caught.value, UnclearTableError)
    error = refused(study(tmp_path / "b", [*SCALE, "grade,99", "correct,perhaps"]))
    first, second = error.unclear
    assert "'99'" in first and "missing" in first and "scale.labels" in first
    assert second.startswith("'perhaps' is not a label of criterion 'correct'")
    assert "perhaps" not in error.call


def test_columns_and_labels_are_asked_about_at_once(tmp_path: Path) -> None:
    """Kills: a second question after the first one is answered."""
    folder = study(tmp_path / "s", [])
    rows = [f"q{n},{'Yes' if n % 3 else 'no'},{'yes' if n % 2 else 'n/a'}" for n in range(12)]
    (folder / "r.csv").write_text("\n".join(["Question,Ann,Dr. B", *rows]) + "\n", "utf-8")
    error = refused(folder)
    asked = " ".join(error.unclear)
    assert "'Dr. B'" in asked and "'n/a'" in asked and "correct" in asked


def test_labels_in_files_of_a_pattern_are_stated_for_all_of_them(tmp_path: Path) -> None:
    """Kills: keys for one of several files, beside which the entry would read it again."""
    folder = study(tmp_path / "s", [])
    (folder / "forms").mkdir()
    for rater in ("ann", "ben"):
        text = f"item,correct\nq1,yes\nq2,{'No' if rater == 'ben' else 'no'}\n"
        (folder / "forms" / f"{rater}.csv").write_text(text, "utf-8")
    source = '[[sources]]\nfile = "forms/*.csv"\nrecords = "ratings"\nnamed = "rater"\n'
    write(folder, f'{source}fixed.system = "x"\ncriteria.correct = "correct"\n')
    error = refused(folder)
    write(folder, error.call)
    assert open_folder(folder).import_sources().new["ratings"] == 4
    keys = {"labels": {"No": "no"}}
    assert json.dumps(dict(error.arguments)["labels"]) == json.dumps(["No=no"]), keys
