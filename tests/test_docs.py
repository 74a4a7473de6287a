"""What the documents claim: their commands, their output, their code, their links, their words."""

from __future__ import annotations

import dataclasses
import datetime
import doctest
import importlib
import importlib.util
import json
import math
import os
import pkgutil
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tomllib
import types
import typing
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import konsil
from document_edits import edit
from forks import Forks, forks
from konsil.analysis import (
    known_statistics,
)
from konsil.analysis.model.catalogue.known import CATALOGUE
from konsil.analysis.model.options import OPTIONS
from konsil.cli.main import COMMANDS, group
from konsil.records.inline import INLINE
from konsil.sources.tables import answers, items, ratings
from konsil.stats.agreement.label_sets import SET_STATISTICS
from konsil.stats.agreement.registry import STATISTICS, statistic
from konsil.stats.engine.contract import Codes
from konsil.study import Study, decode
from published_data import DATA
from store.conftest import server  # noqa: F401  a fixture

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
TOP = [
    ROOT / n
    for n in ("README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "CHANGELOG.md")
]
ALL = [*TOP, *DOCS]


@dataclass(frozen=True)
class Block:
    """One fenced block: ```console``` or ```csv ratings.csv```, with its line in the document."""

    language: str
    info: str
    text: str
    line: int


def blocks(path: Path) -> list[Block]:
    found = []
    lines = path.read_text("utf-8").splitlines()
    start = None
    for n, line in enumerate(lines, start=1):
        if start is None and re.match(r"```\w", line):
            start = n
        elif start is not None and line == "```":
            language, _, info = lines[start - 1][3:].partition(" ")
            found.append(
                Block(language, info.strip(), "\n".join(lines[start : n - 1]) + "\n", start)
            )
            start = None
    assert start is None, f"{path.name}:{start}: a block that does not end"
    return found


def commands(block: Block) -> list[tuple[str, str]]:
    """Each command after `$ ` (continued after a backslash) with the output shown below it."""
    found: list[tuple[str, str]] = []
    lines = block.text.splitlines()
    n = 0
    while n < len(lines):
        assert lines[n].startswith("$ "), f"line {block.line + n}: expected '$ ' before a command"
        command = lines[n][2:]
        while command.endswith("\\"):
            n += 1
            command = command[:-1] + lines[n].removeprefix("> ").strip()
        n += 1
        output = []
        while n < len(lines) and not lines[n].startswith("$ "):
            output.append(lines[n])
            n += 1
        found.append((command, "\n".join(output)))
    return found


def as_shown(expected: str) -> re.Pattern[str]:
    """The output shown, where a line of `...` stands for any lines and `...` in a line for anything
    in it."""
    lines = [
        ".*" if line.strip() == "..." else _within(line)
        for line in expected.strip("\n").splitlines()
    ]
    return re.compile("\n".join(lines), re.DOTALL)


def _within(line: str) -> str:
    return r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("..."))


def environment(home: Path) -> dict[str, str]:
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("KONSIL", "PYTHON", "PIP_USER", "VIRTUAL"))
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {
        **kept,
        "PATH": path,
        "HOME": str(home),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
    }


PLAIN = re.compile(r"""konsil( +([\w./:=,%+@-]+|'[^']*'|"[^"$`\\]*"))*""")
"""One command of konsil in which the shell has nothing to do but to split words."""


def run(command: str, folder: Path, ready: Forks | None = None) -> subprocess.CompletedProcess[str]:
    if ready is not None and PLAIN.fullmatch(command.strip()):
        return ready.run(shlex.split(command)[1:], folder, environment(folder))
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; {command}"],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )


def place(tmp_path: Path) -> Path:
    """An empty folder with the example files where a reader of the checkout has them."""
    folder = tmp_path / "reader"
    shutil.copytree(ROOT / "docs" / "example", folder / "docs" / "example")
    return folder


RELEASED = DATA / "real_pocqi_public"
"""The released tables of a paper, which are not in the repository; blocks that need them are
marked `released` and skipped without them."""


def play(path: Path, folder: Path, server: str | None = None, ready: Forks | None = None) -> None:
    """Do what the document says, from its first block to its last, as a reader would."""
    names: dict[str, object] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks(path):
            where = f"{path.name}:{block.line}"
            if block.info == "setup" or (block.info == "postgresql" and server is None):
                continue
            if re.match("new=|into=|recipe", block.info):
                # Carried out in a copy of the package, by test_recipes.py.
                continue
            if edit(block.info, block.text, folder):
                continue
            if block.info in {"released", "released-copy"} and not RELEASED.is_dir():
                continue
            if block.info == "released-copy":
                edit("copy", f"{RELEASED}/" + block.text.replace("\n", f"\n{RELEASED}/", 1), folder)
                continue
            if block.language == "console":
                console(block, where, folder, server, ready)
            elif block.language == "python":
                python(block, where, names)
            elif block.info:
                file = folder / block.info
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, "utf-8")
    finally:
        os.chdir(before)


def console(
    block: Block, where: str, folder: Path, server: str | None, ready: Forks | None
) -> None:
    typed = re.fullmatch(r"typed=(\S+)", block.info)
    for command, expected in commands(block):
        command = command.replace(EXAMPLE_SERVER, server or "")
        done = run(f"{command} < {typed[1]}" if typed else command, folder, ready)
        code = 2 if block.info == "fails" else 0
        assert done.returncode == code, f"{where}: {command}\n{done.stdout}"
        got = "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
        assert as_shown(expected).fullmatch(got), (
            f"{where}: {command}\ngot:\n{got}\nexpected:\n{expected}"
        )


def python(block: Block, where: str, names: dict[str, object]) -> None:
    if ">>> " not in block.text:
        exec(compile(block.text, where, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(told)


def runs(path: Path) -> bool:
    return any(b.language in {"console", "python"} and b.info != "setup" for b in blocks(path))


SLOW = {
    "de-start.md",
    "howto-agreement.md",
    "howto-commands.md",
    "howto-compare.md",
    "howto-design.md",
    "howto-interim.md",
    "howto-interop.md",
    "howto-manuscript.md",
    "howto-models.md",
    "howto-pages.md",
    "howto-preference.md",
    "howto-python.md",
    "howto-store.md",
    "howto-study.md",
    "privacy.md",
    "stability.md",
    "start-engineers.md",
    "start-physicians.md",
    "tutorial-clexeval.md",
    "tutorial-cqa-eval.md",
    "tutorial-medqade.md",
    "tutorial-real-pocqi.md",
    "tutorial.md",
}
"""Documents of so many commands that the fast tests leave them out."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            p, id=p.name, marks=[pytest.mark.slow] if p.name in {*SLOW, "README.md"} else []
        )
        for p in ALL
        if p.exists() and runs(p)
    ],
)
def test_the_document_does_what_it_says(path: Path, tmp_path: Path, request: pytest.FixtureRequest):
    # README's commands, which everybody tries first, start by themselves. Most of the time of most
    # commands is that of importing.
    play(
        path, place(tmp_path), ready=request.getfixturevalue("ready") if path.name in SLOW else None
    )


@pytest.mark.slow
def test_a_fork_is_a_command_as_any_other(tmp_path: Path):
    """The same output, code, folder and arguments, whether konsil is started or forked, one command
    after the other."""
    with forks(environment(tmp_path)) as ready:
        for command in (
            "konsil --version",
            "konsil nwe",
            "konsil new 'a study'",
            "konsil check 'a study'",
            "konsil new 'a study'",
        ):
            (tmp_path / "started").mkdir(exist_ok=True)
            (tmp_path / "forked").mkdir(exist_ok=True)
            started, forked = (
                run(command, tmp_path / "started"),
                run(command, tmp_path / "forked", ready),
            )
            assert (forked.returncode, forked.stdout) == (
                started.returncode,
                started.stdout,
            ), command
    assert {p.name for p in (tmp_path / "forked").iterdir()} == {
        p.name for p in (tmp_path / "started").iterdir()
    }


@pytest.mark.parametrize(
    "command",
    ["konsil status a | head", "konsil new a && ls", "konsil new $HOME", "konsil x > y", "ls"],
)
def test_what_a_shell_must_do_goes_to_a_shell(command: str):
    assert not PLAIN.fullmatch(command)


EXAMPLE_SERVER = "postgresql://konsil@db.example"
"""What the documents write instead of the reader's own server."""


@pytest.mark.slow
def test_postgresql_as_documented(server: str, tmp_path: Path, ready: Forks):
    import psycopg

    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE konsil")
    play(ROOT / "docs" / "howto-store.md", place(tmp_path), server, ready)


def test_a_wrong_output_is_found(tmp_path: Path):
    """The runner itself: it must fail on a document that lies."""
    document = tmp_path / "lie.md"
    document.write_text("```console\n$ echo one\ntwo\n```\n", "utf-8")
    with pytest.raises(AssertionError, match=r"lie\.md:1: echo one"):
        play(document, place(tmp_path))
    document.write_text("```console\n$ printf 'a\\nb\\nc 12 d\\n'\na\n...\nc ... d\n```\n", "utf-8")
    play(document, tmp_path / "reader")


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_says():
    import nbformat
    from nbclient import NotebookClient

    path = ROOT / "docs" / "notebook.ipynb"
    with warnings.catch_warnings():
        # Of the notebook's own machinery; ours are errors inside the kernel, see below.
        warnings.simplefilter("ignore")
        notebook = nbformat.read(path, as_version=4)
        shown = [_printed(cell) for cell in notebook.cells]
        client = NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(path.parent)}},
        )
        client.execute()
    assert [_printed(cell) for cell in notebook.cells] == shown
    assert sum(bool(text) for text in shown) >= 5


def _printed(cell: Mapping[str, typing.Any]) -> str:
    assert not any(
        o.get("name") == "stderr" and "Warning" in o["text"] for o in cell.get("outputs", [])
    )
    return "".join(o["text"] for o in cell.get("outputs", []) if o.get("name") == "stdout")


def test_no_two_walks_write_the_same_folder():
    made = [
        folder
        for path in (ROOT / "docs").glob("tutorial*.md")
        for folder in re.findall(
            r"^\$ konsil (?:new|simulate \S+ --to) (\S+)", path.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert len(made) > 6
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path):
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        if target.startswith(("https://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), f"{path.name}: {target}"
        assert file.is_relative_to(ROOT), f"{path.name}: {target} leads out of the project"
        assert not anchor or anchor in anchors(file), f"{path.name}: {target}"


def anchors(file: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_document_can_be_reached_from_the_readme():
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        file = ahead.pop()
        if file in reached or not file.exists():
            continue
        reached.add(file)
        if file.suffix == ".md":
            links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", file.read_text("utf-8"))
            ahead += [(file.parent / link).resolve() for link in links if "://" not in link]
    assert not {*ALL, ROOT / "docs" / "notebook.ipynb"} - reached


def texts() -> list[Path]:
    """Everything that people read or that is installed."""
    found = [
        *ALL,
        ROOT / "CITATION.cff",
        ROOT / "pyproject.toml",
        ROOT / "docs" / "notebook.ipynb",
        ROOT / ".ci" / "run",
    ]
    for folder in ("src", "tests", "benchmarks"):
        found += [
            p
            for p in (ROOT / folder).rglob("*")
            if p.suffix in {".py", ".toml", ".md", ".csv", ".j2", ".css"}
        ]
    return sorted(p for p in found if "__pycache__" not in p.parts and p != Path(__file__))


WORKPLACE = re.compile(
    r"/work\b|issue #|issues show|\bpypi\b|pythonhosted|\bfiles\.python", re.IGNORECASE
)
"""What belongs to a workplace and not to the project, anywhere."""
IN_PROSE = re.compile(r"\bshared/|\bsessions?\b|\bagents?\b", re.IGNORECASE)
"""The same, in what people read; in code these words have meanings of their own."""


@pytest.mark.slow
def test_nothing_of_the_workplace_is_left_in():
    found = []
    for path in texts():
        for n, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
            if WORKPLACE.search(line) or (path in ALL and IN_PROSE.search(line)):
                found.append(f"{path.relative_to(ROOT)}:{n}: {line.strip()}")
    assert not found, "\n".join(found)


def test_two_commands_set_everything_up():
    setup = [
        command
        for block in blocks(ROOT / "README.md")
        if block.info == "setup"
        for command, _ in commands(block)
    ]
    assert len(setup) == 2
    assert setup[0].endswith("konsil demo")
    assert setup[1].endswith(TESTS)


TESTS = 'pytest -m "not slow" -n 2'
"""README's command for the tests."""


def test_the_tests_of_readme_are_run_before_all_other_checks():
    """The command that README gives, word for word, on a copy of the checkout: nothing else is
    installed before it."""
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    [reads] = [line for line in lines if line.startswith('command="$(')]
    [runs] = [
        n
        for n, line in enumerate(lines)
        if line.startswith("bash ") and "$python' $command" in line
    ]
    command = subprocess.run(
        ["bash", "-c", f'{reads}; echo "$command"'], cwd=ROOT, capture_output=True, check=True
    )
    documented = [
        command
        for block in blocks(ROOT / "README.md")
        if block.info == "setup"
        for command, _ in commands(block)
    ]
    assert f"python3 {command.stdout.decode().rstrip()}" == documented[1]
    before = [line for line in lines[:runs] if line != reads and not line.lstrip().startswith("#")]
    others = ("pip install", "ruff", "mypy", "konsil local", "pytest -m")
    assert not any(word in line for line in before for word in others)
    assert any('pytest -m "slow and not long" -n 2' in line for line in lines[runs:])
    readme, contributing = (
        (ROOT / name).read_text("utf-8") for name in ("README.md", "CONTRIBUTING.md")
    )
    assert '`.venv/bin/pytest -m "slow and not long" -n 2`' in readme
    assert f"`{TESTS}`" in contributing


def test_fast_tests_need_no_more_than_readme_installs():
    """A peer that only .ci/run can install is imported inside of slow tests, which skip without
    it."""
    peers = re.findall(r'--no-deps "([A-Za-z]+)', (ROOT / ".ci" / "run").read_text("utf-8"))
    assert peers == ["irrCAC"]
    files = (ROOT / "tests").rglob("*.py")
    assert not [
        p.name for p in files if re.search(r"(?m)^\s*(import|from) irrCAC", p.read_text("utf-8"))
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_and_helps(name: str):
    everything = "\n".join(path.read_text("utf-8") for path in [ROOT / "README.md", *DOCS])
    assert re.search(rf"konsil {name}\b", everything), f"no document shows konsil {name}"
    told = CliRunner().invoke(group, [name, "--help"])
    assert told.exit_code == 0
    command = group.get_command(None, name)
    assert command is not None
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert getattr(parameter, "help", None), (
                f"konsil {name} {parameter.opts[0]} has no help"
            )


def test_help_lists_every_command():
    told = CliRunner().invoke(group, ["--help"])
    listed = re.findall(r"^  ([a-z-]+)  ", told.output.split("Design:")[1], flags=re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.name)
def test_commands_that_are_written_exist(path: Path):
    text = path.read_text("utf-8")
    written = re.findall(r"`konsil ([a-z-]+)", text)
    written += [
        w
        for b in blocks(path)
        if b.language == "console"
        for w in re.findall(r"\bkonsil ([a-z-]+)", b.text)
    ]
    unknown = {w for w in written if w not in COMMANDS and not w.startswith("-")}
    assert not unknown


# Names --------------------------------------------------------------------------------------------


def known_names() -> dict[str, object]:
    """Every public class and function of konsil by its bare name."""
    found: dict[str, object] = {}
    for module in pkgutil.walk_packages(konsil.__path__, "konsil."):
        if ".migrations" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if not name.startswith("_") and getattr(value, "__module__", "").startswith("konsil"):
                found.setdefault(name, value)
    return found


def is_known(name: str, names: Mapping[str, object]) -> bool:
    """A class or function, a field of a class, a statistic, or a word that a field can be set
    to."""
    first, _, rest = name.partition(".")
    if rest:
        kind = names.get(first)
        return dataclasses.is_dataclass(kind) and rest in {f.name for f in dataclasses.fields(kind)}
    return name in names or name in {*known_statistics(), *SET_STATISTICS, *words(names)}


DECLARED = (
    "konsil.records",
    "konsil.instrument",
    "konsil.plan.model.allocation",
    "konsil.analysis.model.options",
    "konsil.analysis.model.spec",
)
"""Where the fields are that a study.toml can set."""


def words(names: Mapping[str, object]) -> set[str]:
    found: set[str] = set()
    for kind in names.values():
        if (
            isinstance(kind, type)
            and dataclasses.is_dataclass(kind)
            and kind.__module__.startswith(DECLARED)
        ):
            for hint in typing.get_type_hints(kind).values():
                found |= {str(a) for a in typing.get_args(hint) if isinstance(a, str)}
    return found


def test_the_glossarys_names_exist():
    written = re.findall(r"`([A-Za-z_][A-Za-z_0-9.]*)`", (ROOT / "GLOSSARY.md").read_text("utf-8"))
    written = [w for w in written if not w.endswith((".toml", ".md"))]
    assert len(written) > 60
    names = known_names()
    assert [w for w in written if not is_known(w, names)] == []


def test_the_glossary_has_every_noun_and_every_statistic():
    text = (ROOT / "GLOSSARY.md").read_text("utf-8")
    for noun in (
        "Item",
        "System",
        "Answer",
        "Rater",
        "Task",
        "Rating",
        "Scale",
        "Criterion",
        "Instrument",
        "Study",
    ):
        assert f"(`{noun}`)" in text
    for name in STATISTICS:
        assert f"(`{name}`)" in text


def test_the_glossary_has_one_entry_for_each_term_in_alphabetical_order():
    sections = (ROOT / "GLOSSARY.md").read_text("utf-8").split("\n## ")[1:]
    terms = [re.findall(r"^\*\*(.+?)\*\*", section, flags=re.MULTILINE) for section in sections]
    assert [names for names in terms if names != sorted(names, key=str.casefold)] == []
    assert max(Counter(name for names in terms for name in names).values()) == 1


# Tables of keys and of statistics -----------------------------------------------------------------


def tables(path: Path) -> list[list[dict[str, str]]]:
    found = []
    for block in re.findall(r"(?:^\|.*\|\n)+", path.read_text("utf-8"), flags=re.MULTILINE):
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in block.strip().splitlines()
        ]
        found.append([dict(zip(rows[0], row, strict=True)) for row in rows[2:]])
    return found


def _schema_script() -> types.ModuleType:
    """docs/schema.py, which makes the schema's descriptions from the same tables."""
    spec = importlib.util.spec_from_file_location("konsil_schema", ROOT / "docs" / "schema.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_key_of_a_study_is_documented():
    documented = [
        t
        for t in tables(ROOT / "docs" / "howto-study.md")
        if "key" in t[0] and "family" not in t[0]
    ]
    for kind, rows in zip(_schema_script().KEYS, documented, strict=True):
        fields = {f.name: f for f in dataclasses.fields(kind) if INLINE not in f.metadata}
        assert [row["key"].strip("`") for row in rows] == list(fields), kind.__name__
        for row in rows:
            assert row["default"] == shown_default(fields[row["key"].strip("`")]), (
                f"{kind.__name__}.{row['key']}"
            )
            assert row["says"]


def test_every_key_of_a_family_is_documented():
    [rows] = [t for t in tables(ROOT / "docs" / "howto-study.md") if "family" in t[0]]
    documented = {(row["family"], row["key"].strip("`")): row["default"] for row in rows}
    assert documented == {
        (family, field.name): shown_default(field)
        for family, kind in OPTIONS.items()
        for field in dataclasses.fields(kind)
    }
    assert all(row["says"] for row in rows)


def shown_default(field: dataclasses.Field[typing.Any]) -> str:
    """A field's default as the document writes it."""
    if field.default is not dataclasses.MISSING:
        value = field.default
    elif field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    else:
        return "required"
    if dataclasses.is_dataclass(value):
        return "a table"
    if value is None or value in ((), {}):
        return "none"
    if value == "":
        return "empty"
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)}`".replace(
        ".0`", "`"
    )


def test_every_field_of_a_source_is_documented():
    [rows] = [t for t in tables(ROOT / "docs" / "howto-study.md") if "fields" in t[0]]
    written = {row["records"].strip("`"): re.findall(r"`([a-z_]+)`", row["fields"]) for row in rows}
    assert written == {
        "items": list(items.FIELDS),
        "answers": list(answers.FIELDS),
        "ratings": list(ratings.FIELDS),
    }


def test_the_comparison_with_other_tools_is_recent():
    """Other tools change: after six months, look at each of them again, and at its version."""
    page = (ROOT / "docs" / "comparison.md").read_text("utf-8")
    [day] = re.findall(r"as of (\d{4}-\d\d-\d\d)", page)
    assert (datetime.date.today() - datetime.date.fromisoformat(day)).days < 183
    [versions] = [t for t in tables(ROOT / "docs" / "comparison.md") if "version compared" in t[0]]
    assert len(versions) >= 8
    for row in versions:
        name = row["tool"].split(" (")[0]
        assert re.fullmatch(r"\d+(\.\d+)+", row["version compared"]), name
        assert page.count(name) > 1, name


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.name)
def test_pieces_of_toml_are_what_a_study_takes(path: Path):
    for block in blocks(path):
        if block.language == "toml":
            piece = tomllib.loads(block.text)
            decode(Study, {"title": "x", "seed": 1, **piece}, f"{path.name}:{block.line}")


def test_the_table_of_statistics_is_the_programs():
    agreement, others = (t for t in tables(ROOT / "docs" / "statistics.md") if "name" in t[0])
    rows = {row["name"].strip("`"): row for row in agreement}
    assert list(rows) == list(STATISTICS)
    assert {*rows, *(row["name"].strip("`") for row in others)} == set(known_statistics())
    for name, entry in STATISTICS.items():
        row = rows[name]
        assert (row["title"], row["source"]) == (entry.title, entry.source)
        assert row["levels"] == ("all" if "nominal" in entry.levels else "from ordinal")
        assert row["what it says"] == entry.description
        assert row["also undefined if"] == CATALOGUE[name].undefined
    for row in others:
        known = CATALOGUE[row["name"].strip("`")]
        assert (row["what it says"], row["undefined if"]) == (known.definition, known.undefined)


@pytest.mark.parametrize("name", STATISTICS)
def test_undefined_where_the_table_says_so(name: str):
    [agreement, _] = [t for t in tables(ROOT / "docs" / "statistics.md") if "name" in t[0]]
    [row] = [r for r in agreement if r["name"] == f"`{name}`"]
    assert math.isnan(value_of(name, [[0, -1, -1], [-1, 1, -1], [-1, -1, 2], [1, -1, -1]], 3))
    same = value_of(name, [[1, 1, 1]] * 5, 3)
    assert row["all labels the same"] == ("undefined" if math.isnan(same) else f"{same:g}")
    if "only one category is declared" in row["also undefined if"]:
        assert math.isnan(value_of(name, [[0, 0, 0]] * 5, 1))
    if "the same single category throughout" in row["also undefined if"]:
        assert math.isnan(value_of(name, [[2, 2]] * 5, 3))
    if "one gave all units the same rating" in row["also undefined if"]:
        assert math.isnan(value_of(name, [[0, 2], [1, 2], [2, 2]], 3))


def value_of(name: str, labels: list[list[int]], n_labels: int) -> float:
    codes = Codes(
        np.array(labels), np.arange(len(labels)), n_labels, tuple(map(float, range(n_labels)))
    )
    level = "ordinal" if "nominal" not in STATISTICS[name].levels else "nominal"
    found = statistic(name, codes, level=level)
    return float(found.finalise(found.tally(codes).sum(axis=0))[0])


def test_the_pictures_are_of_the_size_they_should_be():
    pictures = sorted((ROOT / "docs" / "images").glob("*.png"))
    parts = [p for p in pictures if p.stem.startswith("protocol-")]
    assert {struct.unpack(">I", p.read_bytes()[16:20]) for p in parts} == {(748,)}, (
        "parts of reports have one width"
    )
    pictures = [p for p in pictures if p not in parts]
    pages = {"office.png", "rating-dark.png", "rating-de.png", "rating-en.png", "rating-phone.png"}
    assert {p.name for p in pictures} == {"analysis.png", "report.png", *pages}
    for path in pictures:
        head = path.read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        expected = (390, 844) if path.stem.endswith("phone") else (1280, 900)
        assert struct.unpack(">II", head[16:24]) == expected, path.name
