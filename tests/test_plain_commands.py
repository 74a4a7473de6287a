"""Documents for users work on Windows, macOS and Linux: a command line is a command of konsil and
nothing of one shell, files are changed in an editor, and each page with commands links to the
section on the three systems."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from document_edits import changed, edit
from konsil.cli.main import COMMANDS, group
from test_docs import ALL, DOCS, ROOT, anchors, blocks, commands

OTHERS = {
    "CONTRIBUTING.md": "for people who change konsil",
    "howto-deploy.md": "for administrators of a server",
}
"""Documents whose readers have a Linux shell."""
USERS = [path for path in ALL if path.name not in OTHERS]
PLAIN = re.compile(r"""konsil( +([\w./:=,%+@*-]+|'[^']*'|"[^"$`\\]*"))*""")
"""A command in which the shell has nothing to do but to split words."""
SYSTEMS = "howto-commands.md#on-windows-and-macos"


def shell_commands(path: Path) -> list[str]:
    """The commands of the document's console blocks that a reader without bash could not type."""
    return [
        f"{path.name}:{block.line}: {command}"
        for block in blocks(path)
        if block.language == "console" and block.info != "setup"
        for command, _ in commands(block)
        if not PLAIN.fullmatch(command)
    ]


@pytest.mark.parametrize("path", USERS, ids=lambda p: p.name)
def test_a_users_document_needs_no_particular_shell(path: Path):
    assert not shell_commands(path)


def test_what_needs_a_shell_is_found(tmp_path: Path):
    document = tmp_path / "page.md"
    for command in (
        "sed -i 's/a/b/' study.toml",
        "for n in 1 2; do konsil check $n; done",
        "grep -c x report.html",
        "cp a b",
        "head -n 5 a.csv",
        "export X=1 && konsil check a",
        "konsil check a | more",
        "konsil check a > b",
    ):
        document.write_text(f"```console\n$ {command}\n```\n", "utf-8")
        assert shell_commands(document) == [f"page.md:1: {command}"]
    document.write_text(
        "```console\n$ konsil agreement a.csv --labels 'no,\"yes\"'\n```\n", "utf-8"
    )
    assert not shell_commands(document)


@pytest.mark.parametrize("path", USERS, ids=lambda p: p.name)
def test_python_of_a_document_edits_no_protocol(path: Path):
    for block in blocks(path):
        if block.language == "python" and not re.match("new=|into=", block.info):
            assert not re.search(r"\.replace\(|re\.sub\(", block.text), f"{path.name}:{block.line}"


@pytest.mark.parametrize(
    "path",
    [p for p in USERS if any(b.language == "console" for b in blocks(p)) and p.parent != ROOT]
    + [ROOT / "README.md"],
    ids=lambda p: p.name,
)
def test_a_page_with_commands_links_to_the_section_on_systems(path: Path):
    """Before the first command, where the reader needs it."""
    link = SYSTEMS if path.parent != ROOT else f"docs/{SYSTEMS}"
    if path.name == SYSTEMS.partition("#")[0]:
        link = f"#{SYSTEMS.partition('#')[2]}"
    before = path.read_text("utf-8").partition("```console")[0]
    assert f"]({link})" in before.replace("\n", " ")
    assert SYSTEMS.partition("#")[2] in anchors(ROOT / "docs" / SYSTEMS.partition("#")[0])


WRITTEN = re.compile(
    r"(?:^|bin/|Scripts\\|podman exec \w+ )konsil ([a-z][a-z-]*)((?: [^\n|;&]*)?)", re.MULTILINE
)


@pytest.mark.parametrize("path", [ROOT / "README.md", *DOCS], ids=lambda p: p.name)
def test_lines_for_windows_and_macos_are_of_konsil(path: Path):
    """They are not executed; their commands and options exist."""
    for block in blocks(path):
        if block.language not in {"powershell", "zsh", "sh"}:
            continue
        for name, rest in WRITTEN.findall(block.text):
            where = f"{path.name}:{block.line}: konsil {name}"
            assert name in COMMANDS, where
            assert options(rest) <= known_options(name), where


def options(rest: str) -> set[str]:
    return {word.partition("=")[0] for word in shlex.split(rest) if word.startswith("--")}


def known_options(name: str) -> set[str]:
    command = group.get_command(None, name)
    assert command is not None
    return {option for parameter in command.params for option in parameter.opts} | {"--help"}


def test_the_main_pages_have_lines_for_windows_and_macos():
    for name in ("README.md", "docs/howto-commands.md"):
        languages = {block.language for block in blocks(ROOT / name)}
        assert {"powershell", "zsh"} <= languages, name
    text = (ROOT / "README.md").read_text("utf-8")
    assert "pipx install ." in text
    assert "uv tool install ." in text


# The instructions that the tests carry out ---------------------------------------------------------


def test_a_change_needs_its_lines_exactly_once():
    content = "a = 1\nb = 2\na = 1\nc = 3, long rest\n"
    assert changed(content, [" b = 2", "-a = 1", "+a = 9"], "f") == (
        "a = 1\nb = 2\na = 9\nc = 3, long rest\n"
    )
    assert changed(content, ["-c = 3...", "+d = 4..."], "f").endswith("d = 4, long rest\n")
    assert changed(content, ["+e = 5"], "f") == content + "e = 5\n"
    with pytest.raises(AssertionError, match="2 times"):
        changed(content, ["-a = 1", "+a = 2"], "f")
    with pytest.raises(AssertionError, match="0 times"):
        changed(content, ["-a = ", "+a = 2"], "f")


def test_an_instruction_that_does_not_fit_the_files_fails(tmp_path: Path):
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "a.csv").write_text("one\ntwo\n", "utf-8")
    assert edit("copy", "from/ → to/\n", tmp_path)
    assert edit("files=to", "a.csv\n", tmp_path)
    assert edit("replace=to/a.csv", "two → three\n", tmp_path)
    assert edit("starts=to/a.csv", "one\nthree\n", tmp_path)
    assert not edit("ratings.csv", "one\n", tmp_path)
    for info, text in (
        ("files=to", "a.csv\nb.csv\n"),
        ("starts=to/a.csv", "one\ntwo\n"),
        ("replace=to/a.csv", "four → five\n"),
    ):
        with pytest.raises(AssertionError):
            edit(info, text, tmp_path)
