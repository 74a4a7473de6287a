"""Columns of imported files that study.toml does not state: read in the only way, or refused."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import openpyxl
import pytest

from konsil.api import open_folder
from konsil.errors import SourceError, UnclearTableError
from konsil.records import Rating, Source
from konsil.records.source import Layout

PROTOCOL = """
schema = 1
title = "Columns"
seed = 1
systems = [{ id = "x" }]
raters = [{ id = "ann", panel = "p" }, { id = "bob", panel = "p" }, { id = "cem", panel = "p" }]

[[instruments]]
id = "form"
codebook = "codebook.en.md"
"""
CORRECT = '{ id = "correct", question = "?", scale = { labels = ["no", "yes"] } }'
SAFE = '{ id = "safe", question = "?", scale = { labels = ["no", "yes"] } }'
N = 24
LABELS = {
    (f"q{n}", rater): random.Random(f"{n} {rater}").choice(["no", "yes"])
    for n in range(N)
    for rater in ("ann", "bob", "cem")
}


def study(folder: Path, *criteria: str) -> Path:
    (folder / "codebook.en.md").write_text("A codebook.\n", "utf-8")
    text = f"{PROTOCOL}criteria = [{', '.join(criteria)}]\n"
    (folder / "study.toml").write_text(text, "utf-8")
    return folder


def wide(folder: Path, unit: str, system: str, *names: str) -> None:
    lines = [",".join((unit, system, *names))]
    for n in range(N):
        labels = (LABELS[f"q{n}", rater] for rater in ("ann", "bob", "cem"))
        lines.append(",".join((f"q{n}", "x", *labels)))
    (folder / "r.csv").write_text("\n".join(lines) + "\n", "utf-8")


def long(folder: Path, *names: str) -> None:
    rows = [f"q{n},x,{r},{LABELS[f'q{n}', r]}" for n in range(N) for r in ("ann", "bob", "cem")]
    (folder / "r.csv").write_text("\n".join([",".join(names), *rows]) + "\n", "utf-8")


def stored(folder: Path) -> dict[tuple[str | None, str], str | None]:
    with open_folder(folder).store() as store:
        ratings: tuple[Rating, ...] = tuple(store.ratings())
    assert {(rating.criterion, rating.answers) for rating in ratings} == {
        ("correct", (f"q{n}:x",)) for n in range(N)
    }
    return {(rating.item, rating.rater): rating.label for rating in ratings}


def test_raters_in_columns_and_the_only_criterion_are_read(tmp_path: Path) -> None:
    wide(study(tmp_path, CORRECT), "Frage", "Modell", "Ann", "Bob", "Cem")
    added = open_folder(tmp_path).import_sources([Source("r.csv", "ratings")])
    assert stored(tmp_path) == LABELS
    [note] = added.notes
    assert "Frage" in note and "Ann, Bob, Cem" in note


def test_criteria_in_columns_are_those_of_the_study(tmp_path: Path) -> None:
    long(study(tmp_path, CORRECT, SAFE), "question_id", "model", "annotator", "Correct")
    open_folder(tmp_path).import_sources([Source("r.csv", "ratings")])
    assert stored(tmp_path) == LABELS


def test_all_that_is_unclear_is_asked_once_and_the_keys_settle_it(tmp_path: Path) -> None:
    heading = "verdict"
    long(study(tmp_path, CORRECT, SAFE), "question_id", "model", "annotator", heading)
    with pytest.raises(UnclearTableError) as caught:
        open_folder(tmp_path).import_sources([Source("r.csv", "ratings")])
    assert heading in caught.value.statement
    assert "correct, safe" in " ".join(caught.value.unclear)
    assert "ann" in caught.value.first_row
    entry = tomllib.loads(caught.value.call)["sources"][0]
    assert entry["criteria"] == {heading: "..."}
    assert entry["columns"] == {"item": "question_id", "system": "model", "rater": "annotator"}
    keys = caught.value.call.replace("...", "correct")
    with (tmp_path / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{keys}\n")
    open_folder(tmp_path).import_sources()
    assert stored(tmp_path) == LABELS


def test_raters_that_the_study_does_not_know_are_asked_for(tmp_path: Path) -> None:
    wide(study(tmp_path, CORRECT, SAFE), "Question", "Model", "Dr. A", "Dr. B", "Dr. C")
    with pytest.raises(UnclearTableError) as caught:
        open_folder(tmp_path).import_sources([Source("r.csv", "ratings")])
    rater, criterion, keys = caught.value.unclear
    assert "'...'" in keys
    assert "'Dr. A', 'Dr. B', 'Dr. C'" in rater and "ann" in rater
    assert "correct, safe" in criterion
    entry = tomllib.loads(caught.value.call)["sources"][0]
    assert entry["fixed"] == {"criterion": "..."}
    assert entry["raters"] == {"Dr. A": "...", "Dr. B": "...", "Dr. C": "..."}


def test_a_table_for_which_little_speaks_names_the_column_that_it_lacks(tmp_path: Path) -> None:
    (study(tmp_path, CORRECT) / "r.csv").write_text("alpha,beta\n1,z\n2,w\n", "utf-8")
    with pytest.raises(SourceError, match="'rater'") as caught:
        open_folder(tmp_path).import_sources([Source("r.csv", "ratings")])
    assert not isinstance(caught.value, UnclearTableError)


GRADE = '{ id = "grade", title = "Overall grade", question = "?", scale = { labels = ["1", "2"] } }'


def test_keys_have_the_identifiers_that_the_study_settles(tmp_path: Path) -> None:
    """A criterion by its scale, a rater by nearly its name, the sheet of several.

    Kills: `...` for what is known, a criterion whose scale has other labels, keys for the first of
    several sheets by chance.
    """
    folder = study(tmp_path, CORRECT, GRADE)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "forms"
    sheet.append(["Question", "Model", "Ann", "bobb", "Cem"])
    for n in range(N):
        sheet.append([f"q{n}", "x", *(LABELS[f"q{n}", rater] for rater in ("ann", "bob", "cem"))])
    book.create_sheet("notes").append(["Nothing"])
    book.save(folder / "r.xlsx")
    with pytest.raises(UnclearTableError) as caught:
        open_folder(folder).import_sources([Source("r.xlsx", "ratings")])
    assert "'bobb'; did you mean 'bob'?" in " ".join(caught.value.unclear)
    assert "..." not in caught.value.call
    entry = tomllib.loads(caught.value.call)["sources"][0]
    assert entry["sheet"] == "forms" and entry["fixed"] == {"criterion": "correct"}
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{caught.value.call}\n")
    open_folder(folder).import_sources()
    assert stored(folder) == LABELS


@pytest.mark.parametrize("names", ["Tone,Safety", "Correct,Certain"])
def test_a_column_for_which_there_is_no_criterion_is_not_the_only_one_of_the_study(
    names: str, tmp_path: Path
) -> None:
    """Kills: two columns as one criterion, by which one of them is stored under a wrong name."""
    folder = study(tmp_path, CORRECT)
    rows = [
        f"q{n},x,{r},{LABELS[f'q{n}', r]},{LABELS[f'q{(n + 1) % N}', r]}"
        for n in range(N)
        for r in ("ann", "bob", "cem")
    ]
    text = "\n".join([f"question_id,model,annotator,{names}", *rows])
    (folder / "r.csv").write_text(f"{text}\n", "utf-8")
    if names.startswith("Correct"):
        [note] = open_folder(folder).import_sources([Source("r.csv", "ratings")]).notes
        assert note.endswith("not used: Certain") and stored(folder) == LABELS
        return
    with pytest.raises(UnclearTableError, match="no criterion 'Tone', 'Safety'") as caught:
        open_folder(folder).import_sources([Source("r.csv", "ratings")])
    entry = tomllib.loads(caught.value.call)["sources"][0]
    assert entry["criteria"] == {"Tone": "...", "Safety": "..."}


def test_identifiers_and_titles_of_the_study_state_roles(tmp_path: Path) -> None:
    """Names that are no words of the field. Kills: a role that the study's own names settle."""
    folder = study(tmp_path, CORRECT, GRADE)
    rows = [
        f"q{n},x,{LABELS[f'q{n}', r]},{criterion},{r}"
        for n in range(N)
        for r in ("ann", "bob", "cem")
        for criterion in ("correct",)
    ]
    text = "\n".join(["handle,system,mark,facet,panelist", *rows])
    (folder / "r.csv").write_text(f"{text}\n", "utf-8")
    (folder / "r2.csv").write_text(
        "item,system,rater,Overall grade\n" + "".join(f"q{n},x,ann,1\n" for n in range(N)), "utf-8"
    )
    open_folder(folder).import_sources([Source("r.csv", "ratings")])
    assert stored(folder) == LABELS
    added = open_folder(folder).import_sources([Source("r2.csv", "ratings")])
    assert added.new["ratings"] == N


NAMES = ("Ann", "ANN")


@pytest.mark.parametrize(
    ("names", "stated", "expected"),
    [
        (NAMES, {}, "'Ann' and 'ANN' would all be 'Ann'"),
        (NAMES, {"ANN": "bob"}, ["Ann", "bob"]),
        (("???", "___"), {}, "There is no rater '???', '___'"),
        (("😀", "🎉"), {"😀": "Ann", "🎉": "bob"}, ["Ann", "bob"]),
        (("???", "___"), {"???": "", "___": "bob"}, "raters: column '???' has no identifier"),
    ],
    ids=["same name", "another one", "signs", "emoji", "nothing"],
)
def test_columns_with_odd_names_have_a_rater_each(
    names: tuple[str, str], stated: dict[str, str], expected: list[str] | str, tmp_path: Path
) -> None:
    """Kills: two columns as one rater, whose equal ratings count once; a rater without a name."""
    folder = tmp_path / "s"
    folder.mkdir()
    raters = 'raters = [{ id = "Ann", panel = "p" }, { id = "bob", panel = "p" }]'
    scale = 'scope = "item", scale = { labels = ["no", "yes"] }'
    (folder / "study.toml").write_text(
        f'title = "T"\nseed = 1\n{raters}\n[[instruments]]\nid = "form"\n'
        f'criteria = [{{ id = "correct", question = "?", {scale} }}]\n',
        "utf-8",
    )
    rows = [
        ",".join(["item", *names]),
        *(f"q{n},yes,{('yes', 'no')[n % 4 == 0]}" for n in range(8)),
    ]
    (folder / "r.csv").write_text("\n".join(rows), "utf-8")
    layout: Layout = "wide" if "" not in stated.values() else ""
    fixed = {"criterion": "correct"}
    source = Source("r.csv", "ratings", layout=layout, raters=stated, fixed=fixed)
    opened = open_folder(folder)
    if isinstance(expected, str):
        with pytest.raises(SourceError) as info:
            opened.import_sources((source,))
        assert expected in str(info.value)
        return
    opened.import_sources((source,))
    assert sorted({*opened.ratings()["rater"]}) == expected
