"""A blinded study tells no system's name anywhere until it is unblinded, and every step stands in
the log."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from konsil.api import open_folder
from konsil.cli.main import group
from konsil.errors import StudyError
from pocqi_tables import SYSTEMS, read_inner_tables, tables, write

MADE = tables(3, questions=24, comparisons=48, raters=6, specialties=3, fast=2)


def konsil(*words: str) -> str:
    done = CliRunner().invoke(group, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    konsil("new", str(tmp_path / "study"), "--protocol", "real-pocqi")
    write(MADE, tmp_path / "study" / "tables")
    read_inner_tables(tmp_path / "study")
    text = (tmp_path / "study" / "study.toml").read_text()
    few = text[: text.index("[[analyses]]")] + "\n".join(
        f'[[analyses]]\nname = "{s}"\nstatistic = "{s}"\ncriterion = "accuracy"\nraters ='
        ' "physicians"\n'
        for s in ("within_one", "win_difference")
    )
    (tmp_path / "study" / "study.toml").write_text(few + "[resampling]\ndraws = 100\n")
    konsil("import", str(tmp_path / "study"))
    return tmp_path / "study"


def told_in(*places: Path) -> dict[str, list[str]]:
    """File -> the systems that it names, also where a PDF or SVG hides them in its bytes."""
    files = [
        p
        for place in places
        for p in ([place] if place.is_file() else sorted(place.rglob("*")))
        if p.is_file()
    ]
    found = {p.name: [s for s in SYSTEMS if s.encode() in p.read_bytes().lower()] for p in files}
    return {name: systems for name, systems in found.items() if systems}


@pytest.mark.slow
def test_no_name_is_told_while_blinded(folder: Path) -> None:
    said = [
        konsil(*words)
        for words in (
            ("report", str(folder)),
            ("analyse", str(folder)),
            ("status", str(folder)),
            ("check", str(folder)),
            *(
                ("export", str(folder), str(folder / f"out-{f}"), "--format", f)
                for f in ("csv", "jsonl", "parquet")
            ),
        )
    ]
    assert not [s for s in SYSTEMS if any(s in text for text in said)]
    assert told_in(folder / "report", folder / "estimates.csv", folder / "estimates.json") == {}
    assert told_in(*(folder / f"out-{f}" for f in ("csv", "jsonl", "parquet"))) == {}
    opened = open_folder(folder)
    data = opened.data()
    assert not [
        s for s in SYSTEMS if s in repr((data.answers, data.raters, data.tasks[:], data.ratings[:]))
    ]
    assert set(opened.ratings().get_column("system").str.split(" | ").explode()) == {
        "K",
        "L",
        "M",
        "N",
    }
    page = (folder / "report" / "index.html").read_text()
    assert "Blinded: systems carry codes" in page
    with pytest.raises(
        StudyError, match=r"a release names the systems: run 'konsil unblind' first"
    ):
        opened.release(folder / "release")


@pytest.mark.slow
def test_no_name_of_systems_judges_families_and_models_that_were_called(tmp_path: Path) -> None:
    """A deck, called systems and judges, a drawn sample: whatever knows a name is in the report or
    in an export."""
    folder = tmp_path / "study"
    konsil("new", str(folder), "--protocol", "medqade", "--language", "en")
    shutil.copy(Path(__file__).parents[3] / "docs" / "example" / "deck.json", folder)
    protocol = folder / "study.toml"
    text = (
        protocol.read_text().replace("deck.apkg", "deck.json").replace("size = 3800", "size = 46")
    )
    text = text.replace("core = 200, split = 3600", "core = 10, split = 36").replace(
        "family-", "canary-family-"
    )
    text = re.sub(
        r'#model = "hosted:MODEL-(\d)"', r'model = "fake:system-\1,right=0.08"', text, count=5
    )
    text = re.sub(r"\b(system|judge)-(\d)\b", r"canary-\1-\2", text)
    text = (
        text[: text.index("# A question's difficulty")]
        + '[[analyses]]\nname = "correct"\nstatistic = "share"\nof = ["Correct"]\ncriterion ='
        ' "correctness"\nraters = "judges"\nby = ["rater", "system"]\n[[analyses]]\nname ='
        ' "two"\nstatistic = "percent_agreement"\ncriterion = "correctness"\nraters ='
        ' "judges"\nby = ["rater_pair"]\n'
    )
    judges = "".join(
        f'[[judges]]\nrater = "canary-judge-{n}"\nmodel = "fake:canary-{n}"\n' for n in range(1, 10)
    )
    protocol.write_text(
        text.replace("seed = 2026", "seed = 2026\nblinded = true")
        + judges
        + "[resampling]\ndraws = 100\n"
    )
    for words in (
        ["import"],
        ["answer"],
        ["prepare"],
        ["plan"],
        ["judge"],
        ["report"],
        ["analyse"],
    ):
        said = konsil(*words, str(folder))
        assert words[0] not in ("report", "analyse") or "canary" not in said
    konsil("export", str(folder), str(tmp_path / "out"))
    found = [
        p
        for place in (folder / "report", tmp_path / "out")
        for p in place.rglob("*")
        if p.is_file()
    ]
    assert len(found) > 20
    assert [p.name for p in found if b"canary" in p.read_bytes()] == []


@pytest.mark.slow
def test_letters_change_no_number(folder: Path) -> None:
    blind = konsil("analyse", str(folder)) and json.loads((folder / "estimates.json").read_text())
    konsil("freeze", str(folder), "--by", "analyst")
    konsil("unblind", str(folder), "--by", "chair", "--reason", "the plan stands")
    konsil("analyse", str(folder))
    named = json.loads((folder / "estimates.json").read_text())
    assert blind["study_digest"] == named["study_digest"] != ""
    letters, names = (
        {round(r["value"], 12): r["group"].get("system") for r in rows["rows"]}
        for rows in (blind, named)
    )
    assert letters.keys() == names.keys()
    assert len({(letters[v], names[v]) for v in letters if names[v]}) == 4


@pytest.mark.slow
def test_no_order_of_pairs_tells_the_order_of_names(tmp_path: Path) -> None:
    """Forty random comparisons of four systems: sorted by real names, each pair would stand one way
    round only."""
    systems, draw = ("alpha-1", "mid-2", "zeta-3", "omega-4"), random.Random(3)
    folder = tmp_path / "study"
    folder.mkdir()
    form = (
        '[[instruments]]\nid = "pairs"\nunit = "pair"\ncodebook = "Which is'
        ' better?"\n[[instruments.criteria]]\nid = "better"\nquestion = "Which?"\nscope ='
        ' "pair"\nscale = { labels = ["A", "same", "B"], level = "ordinal" }\n'
    )
    (folder / "study.toml").write_text(
        'title = "Blind pairs"\nseed = 7\nblinded = true\n'
        + form
        + "".join(f'[[systems]]\nid = "{s}"\n' for s in systems)
        + "".join(f'[[raters]]\nid = "dr-{n}"\npanel = "p"\n' for n in range(3))
        + '[[sources]]\nfile = "r.csv"\nrecords = "ratings"\nfixed = { criterion = "better"'
        ' }\n[[analyses]]\nname = "w"\nstatistic = "win_difference"\ncriterion = "better"\nraters'
        ' = "p"\n[resampling]\ndraws = 100\n'
    )
    rows = [("rater", "item", "system_a", "system_b", "label")]
    rows += [
        (f"dr-{n % 3}", f"q{n}", *draw.sample(systems, 2), draw.choice(["A", "same", "B"]))
        for n in range(40)
    ]
    with (folder / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    konsil("import", str(folder))
    konsil("export", str(folder), str(tmp_path / "out"))
    tables = {}
    for name in ("answers", "ratings", "tasks"):
        with (tmp_path / "out" / f"{name}.csv").open(newline="") as file:
            tables[name] = list(csv.DictReader(file))
    system = {row["id"]: row["system"] for row in tables["answers"]}
    exported = [tuple(system[a] for a in json.loads(row["answers"])) for row in tables["ratings"]]
    read = [tuple(system[a] for a in r.answers) for r in open_folder(folder).data().ratings]
    assert sorted(exported) == sorted(read)
    # By letters each pair has one order, and it is that of the letters.
    assert all(a < b for a, b in exported)
    tasks = [tuple(system[a] for a in json.loads(row["answers"])) for row in tables["tasks"]]
    assert {(b, a) in tasks for a, b in tasks} != {False} or all(a < b for a, b in tasks)
    wins = {
        (r.group["system"], round(r.estimate.value, 12))
        for r in open_folder(folder).results().rows
        if r.kind == "estimate"
    }
    assert len(wins) == 4
    konsil("freeze", str(folder), "--by", "analyst")
    konsil("unblind", str(folder), "--by", "chair", "--reason", "the plan stands")
    named = {
        round(r.estimate.value, 12)
        for r in open_folder(folder).results().rows
        if r.kind == "estimate"
    }
    assert named == {value for _, value in wins}


@pytest.mark.slow
def test_freeze_then_unblind_and_both_in_the_log(folder: Path) -> None:
    opened = open_folder(folder)
    for words, sentence in (
        (
            ["unblind", str(folder), "--by", "chair", "--reason", "curious"],
            "the analysis plan is not frozen",
        ),
        (["unblind", str(folder), "--by", "chair"], "--reason"),
        (["freeze", str(folder), "--by", " "], "--by: is empty; the log keeps it"),
    ):
        done = CliRunner().invoke(group, words)
        assert done.exit_code
        assert sentence in f"{done.output} {done.exception}"
    assert re.search(
        r"2 analyses frozen at .*; checksum \(SHA-256\) [0-9a-f]{64}",
        konsil("freeze", str(folder), "--by", "analyst"),
    )
    assert told_in(folder / "report") == {}
    with pytest.raises(
        StudyError, match=r"was frozen at .* by 'staff-1'; the report lists later changes"
    ):
        from konsil.api.folder.blinded import freeze

        freeze(opened, "another")
    konsil("unblind", str(folder), "--by", "chair", "--reason", "the plan stands")
    assert (
        CliRunner().invoke(group, ["unblind", str(folder), "--by", "x", "--reason", "y"]).exit_code
    )
    with opened.store() as store:
        assert store.verify_log() == ()
        kinds = [e.kind for e in store.events() if e.kind in ("freeze", "unblind")]
    assert kinds == ["freeze", "unblind"]
    konsil("analyse", str(folder))
    assert told_in(folder / "estimates.json") == {"estimates.json": list(SYSTEMS)}


def test_what_was_changed_after_the_freeze_is_exploratory(folder: Path) -> None:
    konsil("freeze", str(folder), "--by", "analyst")
    protocol = folder / "study.toml"
    protocol.write_text(protocol.read_text().replace('name = "within_one"', 'name = "another"'))
    said = konsil("analyse", str(folder))
    assert "Exploratory (added after the analysis plan was frozen): another." in said
    assert "Removed after the analysis plan was frozen: within_one." in said
    rows = json.loads((folder / "estimates.json").read_text())["rows"]
    assert {r["analysis"]: r["declared"] for r in rows} == {
        "another": False,
        "win_difference": True,
    }
    assert not any(r["prespecified"] for r in rows), "the ratings were there before"


def test_a_study_that_is_not_blinded_cannot_be_unblinded(folder: Path) -> None:
    protocol = folder / "study.toml"
    protocol.write_text(protocol.read_text().replace("blinded = true", ""))
    with pytest.raises(
        StudyError, match="the study is not blinded; set blinded = true to blind it"
    ):
        from konsil.api.folder.blinded import unblind

        unblind(open_folder(folder), "chair", "why not")


@pytest.mark.slow
def test_letters_that_are_lifted_by_a_mark_are_in_the_log_once(folder: Path) -> None:
    protocol = folder / "study.toml"
    text = protocol.read_text()
    protocol.write_text("simulated = true\n" + text)
    for _ in range(2):
        konsil("analyse", str(folder))
    konsil("export", str(folder), str(folder / "out"), "--format", "jsonl")
    with open_folder(folder).store() as store:
        assert [(e.kind, e.data["reason"]) for e in store.events() if "lifted" in e.kind] == [
            ("letters lifted", "simulated = true in the protocol")
        ]
        assert store.verify_log() == ()
    protocol.write_text(text)
    said = konsil("analyse", str(folder))
    assert re.search(
        r"Systems were already named at \S+ when the study was marked as simulated\.", said
    )
    assert told_in(folder / "estimates.json") == {}


def test_an_export_alone_lifts_letters_too(folder: Path) -> None:
    protocol = folder / "study.toml"
    protocol.write_text("simulated = true\n" + protocol.read_text())
    konsil("export", str(folder), str(folder / "out"), "--format", "jsonl")
    with open_folder(folder).store() as store:
        assert [e.kind for e in store.events() if "lifted" in e.kind] == ["letters lifted"]
