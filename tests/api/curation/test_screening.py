"""Questions are screened by a command, decided on by people in a table, and left out of the draw
and the report."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from konsil.api import open_folder
from konsil.api.curation.preparing import prepare
from konsil.api.curation.requests import ScreeningRequest
from konsil.api.curation.screening import screen_items
from konsil.api.rehearsal.rehearsal import simulate, truth_of
from konsil.api.running.planning import make_plan
from konsil.cli import main
from konsil.errors import PlanError, SourceError, StudyError
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

STUDY = study_text(
    "Screened",
    form(abstain="cannot judge"),
    systems("a"),
    raters("p1", "p2"),
    ITEMS,
    '[prepare.screen]\nundecided = "kept"',
    plan(),
    share_correct(),
    seed=3,
    licence="CC0-1.0",
    simulated=True,
)
TEXTS = (
    "My patient Mrs Smith has AF",
    "And what about children?",
    "=Which dose?",
    "Which dose at GFR 30?",
    "Stop aspirin?",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "simulation.toml").write_text("[panels.people]\naccuracy = 0.9\n", "utf-8")
    return import_items(
        tmp_path, STUDY, [("item", "text"), *((f"q{n}", text) for n, text in enumerate(TEXTS))]
    ).path


def test_from_the_rules_to_the_study_flow(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PlanError, match="run 'konsil screen' first"):
        prepare(open_folder(folder))
    table = folder / "suspects.csv"
    main(["screen", str(folder), "--table", str(table)])
    said = capsys.readouterr().out
    assert (
        "5 items\n  excluded, follow-up: 1\n  excluded, identifier: 1\n3 items eligible\n" in said
    )
    assert said.count("58% (70/120; 95% CI, 49% to 67%)") == 1
    assert "3 of the eligible items were not read by any person" in said
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item"] for row in rows] == ["q0", "q1", "q2", "q3", "q4"]
    assert (rows[0]["reason"], rows[0]["evidence"]) == ("identifier", "Mrs Smith")
    assert rows[2]["text"] == "'=Which dose?"  # no spreadsheet calculates it
    rows[1]["decision"], rows[4]["decision"] = "Keep", "duplicate"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    main(["screen", str(folder), "--decisions", str(table), "--by", "p-1"])
    assert "excluded, duplicate: 1" in capsys.readouterr().out
    main(["screen", str(folder)])
    assert "nothing has changed" in capsys.readouterr().out
    main(["log", str(folder)])
    decided = [line for line in capsys.readouterr().out.splitlines() if "by staff-1 (p-1)" in line]
    assert [line.split("  ")[-2:] for line in decided] == [["by staff-1 (p-1)", "3 events"]]
    main(["curation", str(folder)])
    who = "by staff-1 (p-1)"
    listed = (
        f"screening\n  kept: 1 {who}\nduplicates\n  excluded: duplicate: 1 {who}\nduplicates: not"
        " searched"
    )
    assert capsys.readouterr().out.startswith(listed)
    study = open_folder(folder)
    assert prepare(study).drawn.drawn == {"": {"": ["q1", "q2", "q3"]}}
    simulate(study, truth_of(study))
    page = study.report().read_text("utf-8")
    assert "possible identifier" in page
    assert "duplicate" in page
    assert {r.item for r in study.data().ratings} == {"q1", "q2", "q3"}
    with pytest.raises(PlanError, match="the assignment plan already exists"):
        screen_items(open_folder(folder), ScreeningRequest(decisions=table_with(folder, "q3,late")))


def table_with(folder: Path, *rows: str) -> Path:
    path = folder / "decisions.csv"
    path.write_text("\n".join(["item,decision", *rows]) + "\n", "utf-8")
    return path


def test_a_screening_after_the_draw_is_noticed(folder: Path) -> None:
    study = open_folder(folder)
    screen_items(study)
    prepare(study)
    screen_items(study, ScreeningRequest(decisions=table_with(folder, "q3,duplicate")))
    with pytest.raises(PlanError, match="run 'konsil prepare' again"):
        make_plan(study)
    assert prepare(study).drawn.drawn == {"": {"": ["q2", "q4"]}}


def test_a_rehearsal_screens_by_the_rules(folder: Path) -> None:
    study = open_folder(folder)
    simulate(study, truth_of(study))
    assert {r.item for r in study.data().ratings} == {"q2", "q3", "q4"}


def test_a_rehearsal_keeps_what_waits_for_people_where_all_of_it_does(folder: Path) -> None:
    protocol = folder / "study.toml"
    protocol.write_text(protocol.read_text("utf-8").replace('undecided = "kept"\n', ""))
    study = open_folder(folder)
    assert len(screen_items(study).screened.reasons()) == 5
    simulate(study, truth_of(study))
    assert {r.item for r in study.data().ratings} == {"q2", "q3", "q4"}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (("q9,keep",), "decisions.csv: line 2: there is no item 'q9'"),
        (
            ("q1,keep", "q1,late"),
            "decisions.csv: line 3: item 'q1' is decided as 'late' and as 'keep'",
        ),
    ],
)
def test_broken_decisions_change_nothing(folder: Path, rows: tuple[str, ...], says: str) -> None:
    with pytest.raises(SourceError, match=says):
        screen_items(open_folder(folder), ScreeningRequest(decisions=table_with(folder, *rows)))
    with open_folder(folder).store() as store:
        assert not [e for e in store.events() if e.kind == "screening"]


def test_a_misspelt_column_is_told(folder: Path) -> None:
    path = folder / "wrong.csv"
    path.write_text("item,decisions\nq1,keep\n", "utf-8")
    with pytest.raises(
        SourceError, match="there is no column 'decision'; did you mean 'decisions'"
    ):
        screen_items(open_folder(folder), ScreeningRequest(decisions=path))


def test_nothing_stored_on_a_dry_run_and_without_a_screen(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["screen", str(folder), "--dry-run"])
    assert "nothing stored" in capsys.readouterr().out
    (folder / "study.toml").write_text(
        STUDY.replace('[prepare.screen]\nundecided = "kept"', ""), "utf-8"
    )
    with pytest.raises(StudyError, match="expected one with reasons for exclusion"):
        screen_items(open_folder(folder))


@pytest.mark.slow
def test_languages_are_recognised(folder: Path) -> None:
    pytest.importorskip("py3langid")
    (folder / "items.csv").write_text(
        "item,text\nq0,Which dose of amoxicillin should I give?\n"
        "q1,Welche Dosis soll ich bei Niereninsuffizienz geben?\nq2,apixaban vs rivaroxaban\n",
        "utf-8",
    )
    other = folder / "other"
    other.mkdir()
    (other / "items.csv").write_text((folder / "items.csv").read_text("utf-8"), "utf-8")
    (other / "study.toml").write_text(
        STUDY.replace("[prepare.screen]", '[prepare.screen]\nlanguages = ["en"]'), "utf-8"
    )
    study = open_folder(other)
    study.import_sources()
    assert screen_items(study).screened.out == {"other language": ["q1"]}
