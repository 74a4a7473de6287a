"""The group of commands: help, misspelt words, and what goes wrong outside of konsil, each with its
exit code."""

from __future__ import annotations

import importlib
import subprocess
import sys

import click
import pytest

from konsil.cli import main
from konsil.cli.main import COMMANDS


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_every_command(capsys: pytest.CaptureFixture[str], flag: str) -> None:
    main([flag])
    out = capsys.readouterr().out
    for name, (_, text) in COMMANDS.items():
        assert name in out
        assert text.split(";")[0].split(",")[0][:30] in out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_help(capsys: pytest.CaptureFixture[str], name: str) -> None:
    command = importlib.import_module(COMMANDS[name][0]).command
    assert isinstance(command, click.Command)
    main([name, "--help"])
    out = capsys.readouterr().out
    assert "Usage:" in out
    assert "\b" not in out
    assert "\\b" not in out
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_a_misspelt_command_has_its_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "reprot") == "konsil: no such command 'reprot'; did you mean 'report'?\n"
    assert refused(capsys, "--verson").count("\n") == 1


def test_nothing_at_all_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "agreement" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (
            PermissionError(13, "Permission denied", "/root/x"),
            "konsil: /root/x: Permission denied\n",
        ),
        (OSError(28, "No space left on device"), "konsil: No space left on device\n"),
    ],
)
def test_the_surroundings_faults_are_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fault: OSError, says: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr("konsil.sources.exports.recognition.read_table", broken)
    assert refused(capsys, "agreement", "x.csv") == says


@pytest.mark.slow
def test_a_process_of_its_own_says_the_same_and_no_traceback() -> None:
    call = [sys.executable, "-c", "from konsil.cli import main; main()", "agreement", "nowhere.csv"]
    found = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("konsil: nowhere.csv: there is no such file")
    assert found.stderr.count("\n") == 1


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys, konsil; from konsil.cli import main\nmain(['--help'])\nheavy = {'numpy',"
        " 'scipy', 'polars', 'sqlalchemy', 'matplotlib', 'pandas', 'rich'} &"
        " set(sys.modules)\nsys.exit(repr(heavy) if heavy else 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("command", ["agreement", "preference"])
def test_the_help_of_a_command_of_tables_loads_nothing_that_reads_or_computes(command: str) -> None:
    """Polars alone takes longer to load than all that the help needs."""
    code = (
        f"import sys; from konsil.cli import main\nmain([{command!r}, '--help'])\nheavy ="
        " {'scipy.special', 'scipy.sparse', 'scipy.stats', 'polars', 'pandas', 'sqlalchemy',"
        " 'matplotlib', 'rich'} & set(sys.modules)\nsys.exit(repr(heavy) if heavy else 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.slow
def test_a_study_is_opened_and_served_without_what_only_analyses_need() -> None:
    """SciPy's functions took a third of the time in which a command starts: they load when a number
    is computed."""
    code = (
        "import sys, konsil.api.folder.folder, konsil.web.app.serve\nheavy = {'scipy.special',"
        " 'scipy.sparse', 'scipy.stats', 'polars', 'matplotlib'} &"
        " set(sys.modules)\nsys.exit(repr(heavy) if heavy else 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
