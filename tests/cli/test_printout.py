"""--json, --quiet and --verbose of every command."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType

import click
import pytest

from commands_doc import documented_keys
from konsil.api.progress import progress
from konsil.api.rehearsal import rehearsal
from konsil.cli.main import COMMANDS, group
from konsil.cli.printout import WITHOUT_JSON, Printout
from konsil.cli.terminal import Note
from konsil.errors import KonsilError
from konsil.progress import own_verbosity, set_verbosity, stage, tracked, verbosity

Call = Callable[..., tuple[int, str, str]]


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command, those of groups included, by what is typed."""
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {each}", inner) for each, inner in command.commands.items())


def options(command: click.Command) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts]


def test_every_command_prints_json_or_states_why_not() -> None:
    without = {name for name, command in commands() if "--json" not in options(command)}
    assert without == set(WITHOUT_JSON)
    assert all(WITHOUT_JSON.values())


def test_every_json_has_its_keys_in_the_document() -> None:
    with_json = {name for name, command in commands() if "--json" in options(command)}
    listed = documented_keys()
    assert all(listed.values())
    assert {name for name in with_json if name not in listed} == set()
    first_words = {name.partition(" ")[0] for name, _ in commands()}
    assert {name.split()[0] for name in listed} <= first_words


def test_every_command_has_each_verbosity_once() -> None:
    for _ in range(2):  # a command is got again and again
        for name, command in [("", group), *commands()]:
            assert [options(command).count(f"--{level}") for level in ("quiet", "verbose")] == [
                1,
                1,
            ], name


def test_json_has_twelve_digits_null_and_the_notes(capsys: pytest.CaptureFixture[str]) -> None:
    record = MappingProxyType(
        {"value": 2 / 3, "low": math.nan, "page": Path("a"), "of": ("x",), "kinds": {"b", "a"}}
    )
    Printout(record, ["a line", Note("note: look")]).print(as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "value": 0.666666666667,
        "low": None,
        "page": "a",
        "of": ["x"],
        "kinds": ["a", "b"],
        "notes": ["note: look"],
    }


def test_the_error_of_a_printout_comes_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    for as_json, out in ((True, '{\n  "n": 1\n}\n'), (False, "1 item\n")):
        with pytest.raises(KonsilError, match="no more"):
            Printout({"n": 1}, ["1 item"], KonsilError("no more")).print(as_json=as_json)
        assert capsys.readouterr().out == out


def test_a_demonstration_states_its_places(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "demo", lambda place: place / "index.html")
    code, out, _ = call("demo", tmp_path / "d", "--json")
    assert (code, json.loads(out)) == (
        0,
        {"study": str(tmp_path / "d"), "report": str(tmp_path / "d" / "index.html")},
    )


FROZEN = ("--by", "owner-1")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_quiet_command_prints_no_notes(call: Call, tmp_path: Path, *, is_first: bool) -> None:
    folder = tmp_path / "s"
    call("new", folder)
    call("import", folder)
    words = ["freeze", folder, *FROZEN]
    quiet = ["--quiet", *words] if is_first else [*words, "--quiet"]
    code, out, err = call(*quiet)
    assert (code, err) == (0, "")
    assert "analyses frozen at" in out and "note:" not in out
    assert call("unblind", folder, *FROZEN, "--reason", "r", "--quiet")[2].startswith("konsil: ")


def test_what_was_quiet_is_not_quiet_in_the_next_command(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    call("--quiet", "new", folder)
    assert verbosity() == "normal"
    call("import", folder)
    assert call("freeze", folder, *FROZEN)[1].startswith("note: ")


def test_a_verbose_command_prints_stages_and_where_an_error_arose(
    call: Call, tmp_path: Path
) -> None:
    folder = tmp_path / "s"
    call("new", folder)
    code, out, err = call("import", folder, "--verbose")
    assert code == 0
    assert out.startswith("new: ")
    stages = [line.rsplit(": ", 1)[0] for line in err.splitlines()]
    assert (stages[0], stages[-1]) == ("files (2)", "konsil")
    assert "answers stored (3)" in stages
    assert all(line.endswith((" s", " s in all")) for line in err.splitlines())
    code, out, err = call("--verbose", "status", tmp_path / "none")
    assert (code, out) == (2, "")
    assert err.startswith("Traceback")
    assert "open_folder" in err
    assert err.endswith(f"konsil: {tmp_path / 'none'}: there is no such folder\n")
    assert "Traceback" not in call("status", tmp_path / "none")[2]


def test_quiet_and_verbose_contradict_each_other(call: Call) -> None:
    for words in (("--quiet", "statistics", "--verbose"), ("statistics", "--verbose", "--quiet")):
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        assert "--quiet and --verbose contradict each other" in err


def test_stages_are_written_with_their_steps(capsys: pytest.CaptureFixture[str]) -> None:
    with own_verbosity():
        set_verbosity("verbose")
        with progress(), stage("records"):
            list(tracked("abc", "letters"))
    assert [line.partition(": ")[0] for line in capsys.readouterr().err.splitlines()] == [
        "letters (3)",
        "records",
    ]
    with progress(), stage("records"):
        pass
    assert capsys.readouterr().err == ""
