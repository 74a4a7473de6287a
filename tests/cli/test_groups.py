"""The headings of the help and the examples at the end of each command's help."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from konsil.cli import main
from konsil.cli.examples import EXAMPLES
from konsil.cli.groups import GROUPS
from konsil.cli.main import COMMANDS, group

GROUPED = [name for names in GROUPS.values() for name in names]


def test_each_command_is_in_exactly_one_group() -> None:
    assert sorted(GROUPED) == sorted(COMMANDS)
    assert list(GROUPS) == ["Design", "Collect", "People", "Analyse", "Data"]


def test_the_help_has_the_headings_and_below_each_its_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["--help"])
    listed: dict[str, list[str]] = {}
    for line in capsys.readouterr().out.splitlines():
        if heading := re.fullmatch(r"(\w+):", line):
            names = listed.setdefault(heading[1], [])
        elif listed and (command := re.match(r"  ([a-z-]+)  ", line)):
            names.append(command[1])
    del listed["Options"]
    assert listed == {heading: list(names) for heading, names in GROUPS.items()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_of_a_command_ends_with_its_examples(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    main([*name.split(), "--help"])
    last = capsys.readouterr().out.split("Examples:\n")[1]
    assert [line.strip() for line in last.splitlines()] == list(EXAMPLES[name])
    assert len(EXAMPLES[name]) in (1, 2)


def test_each_command_and_subcommand_has_examples() -> None:
    context = click.Context(group)
    names = []
    for name in COMMANDS:
        command = group.get_command(context, name)
        names.append(name)
        if isinstance(command, click.Group):
            names += [f"{name} {subcommand}" for subcommand in command.commands]
    assert sorted(EXAMPLES) == sorted(names)


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_click_accepts_every_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(line)
    assert program == "konsil"
    for word in words:
        if word.endswith(".csv"):
            Path(word).touch()
    command: click.Command | None = group
    context = click.Context(group, info_name=program)
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)
        assert command is not None
        context = command.make_context(name, words.copy(), parent=context)


def test_an_example_with_an_unknown_option_would_be_refused() -> None:
    command = group.get_command(click.Context(group), "status")
    assert command is not None
    with pytest.raises(click.NoSuchOption):
        command.make_context("status", ["my-study", "--nonesuch"])
