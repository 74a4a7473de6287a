"""A command that makes a study in a new folder and is killed: the next one starts anew, and clears
what was left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from konsil.errors import StudyError
from konsil.store.engine.folders import copy_new
from konsil.store.engine.leftovers import draft_prefix
from small_studies import ITEMS, exit_code, form, plan, raters, study_text, systems

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="processes of Windows are not asked whether they run"
)
STUDY = study_text(
    "To be rehearsed",
    form(question="?"),
    systems("a"),
    raters("p1"),
    ITEMS,
    plan(),
    seed=3,
)
TRUTH = "[systems.a]\nquality = 0.8\n[panels.people]\naccuracy = 0.9\n"
WAITS = """
import sys
from pathlib import Path

def wait(*_, **__):
    print("ready", flush=True)
    sys.stdin.read()

"""
COPIES = (
    WAITS
    + """
from konsil.store.engine.folders import copy_new

def fill(draft):
    (draft / "ratings.csv").write_text("half a file")
    wait()

copy_new(Path(sys.argv[1]), fill)
"""
)
COMMAND = (
    WAITS
    + """
import importlib
module, _, name = sys.argv[1].rpartition(".")
setattr(importlib.import_module(module), name, wait)
from konsil.cli import main
main(sys.argv[2:])
"""
)


def killed(program: str, *arguments: object) -> None:
    """Run a program until it waits in the middle of what it makes, and end it as a power cut
    would."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while (line := process.stdout.readline()) != b"ready\n":
            assert line, "it ended before it waited"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY, "utf-8")
    (folder / "simulation.toml").write_text(TRUTH, "utf-8")
    (folder / "items.csv").write_text("item,text\nq1,Why?\nq2,How?\n", "utf-8")
    return folder


@pytest.mark.slow
def test_the_next_run_clears_what_a_killed_one_left(tmp_path: Path) -> None:
    killed(COPIES, tmp_path / "copy")
    [left] = names(tmp_path)
    assert left.startswith(".copy.") and left.endswith(".partial")
    copy_new(tmp_path / "copy", lambda draft: (draft / "study.toml").touch())
    assert names(tmp_path) == ["copy"]
    assert names(tmp_path / "copy") == ["study.toml"]


def test_a_folder_with_files_of_ones_own_is_never_touched(tmp_path: Path) -> None:
    own = tmp_path / "copy"
    own.mkdir()
    (own / "notes.txt").write_text("mine")
    with pytest.raises(StudyError, match="exists and is not empty; choose a new folder"):
        copy_new(own, lambda draft: None)
    assert names(own) == ["notes.txt"]
    assert names(tmp_path) == ["copy"]


@pytest.mark.slow
def test_only_drafts_of_this_folder_are_cleared(tmp_path: Path) -> None:
    """Names that somebody may choose, drafts of other folders and those of a run that is under way
    stay."""
    killed(COPIES, tmp_path / "copy")
    [left] = names(tmp_path)
    number = left.split(".")[2]
    stay = [
        f".copy.{number}.old",
        f".copy.{number}.My notes.partial",
        f".copy.{number}",
        f"copy.{number}.abc.partial",
        f".other.{number}.abc.partial",
        f"{draft_prefix(tmp_path / 'copy')}abc.partial",
    ]
    for name in stay:
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text("mine")
    copy_new(tmp_path / "copy", lambda draft: None)
    assert names(tmp_path) == sorted([*stay, "copy"])
    assert all((tmp_path / name / "notes.txt").read_text() == "mine" for name in stay)


def test_another_run_that_ended_first_keeps_its_folder(tmp_path: Path) -> None:
    def fill(draft: Path) -> None:
        (draft / "second").touch()
        copy_new(tmp_path / "copy", lambda first: (first / "first").touch())

    with pytest.raises(StudyError, match="exists and is not empty"):
        copy_new(tmp_path / "copy", fill)
    assert names(tmp_path) == ["copy"]
    assert names(tmp_path / "copy") == ["first"]


def test_a_run_that_fails_leaves_nothing_and_names_the_folder_that_was_asked_for(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (study / "items.csv").write_text("item,text\n", "utf-8")
    assert exit_code("rehearse", study) == 2
    assert ".partial" not in capsys.readouterr().err
    assert names(study.parent) == ["study"]


REHEARSE, DEMO = ("rehearse", "study"), ("demo", "demo")
SIMULATE = ("simulate", "study", "--to", "copy")


@pytest.mark.covering(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "waits_in", "made"),
    [
        (REHEARSE, "konsil.api.rehearsal.rehearsing.make_plan", "study-rehearsal"),
        (REHEARSE, "konsil.api.rehearsal.rehearsing.report", "study-rehearsal"),
        (SIMULATE, "konsil.api.rehearsal.rehearsal.simulate", "copy"),
        (DEMO, "konsil.api.rehearsal.rehearsal.simulate", "demo"),
        (DEMO, "konsil.api.rehearsal.rehearsal.report", "demo"),
    ],
)
def test_a_command_that_was_killed_runs_again(
    study: Path, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...], waits_in: str, made: str
) -> None:
    monkeypatch.chdir(study.parent)
    killed(COMMAND, waits_in, *line)
    assert made not in names(study.parent), "nothing half made is under the name that was asked for"
    assert len(names(study.parent)) == 2
    assert exit_code(*line) == 0
    assert names(study.parent) == sorted(["study", made])
    assert exit_code("verify-log", made) == 0
    assert line == SIMULATE or (Path(made) / "report" / "index.html").is_file()
    assert (
        exit_code(*line[:2], *(["--to", "study-rehearsal"] if line == REHEARSE else line[2:])) == 2
    )
