"""The recipes of CONTRIBUTING.md, carried out in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test_docs import Block, as_shown, blocks, commands

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "CONTRIBUTING.md"
NAMES = ["A statistic", "A source", "A language", "A page", "A protocol"]


def recipes() -> dict[str, list[Block]]:
    """Title of a recipe -> its blocks that name a file, or are run."""
    lines = DOCUMENT.read_text("utf-8").splitlines()
    first = lines.index("## Recipes") + 1
    titles = {
        n: line[4:] for n, line in enumerate(lines, 1) if n > first and line.startswith("### ")
    }
    steps: dict[str, list[Block]] = {title: [] for title in titles.values()}
    for block in blocks(DOCUMENT):
        earlier = [n for n in titles if n < block.line]
        if earlier and re.match("new=|into=|recipe", block.info):
            steps[titles[earlier[-1]]].append(block)
    return steps


def put(block: Block, copy: Path) -> None:
    """Write a new file, or insert a block after the line that it names; at the end without one."""
    verb, path = re.match(r"(new|into)=(\S+)", block.info).groups()
    file = copy / path
    if verb == "new":
        assert not file.exists(), f"{path} exists already"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, "utf-8")
        return
    text = file.read_text("utf-8")
    after = re.search(r'after="(.*)"$', block.info)
    if after is None:
        file.write_text(f"{text.rstrip()}\n\n{block.text}", "utf-8")
        return
    line = f"{after.group(1)}\n"
    assert text.count(line) == 1, (
        f"{path}: the line {line.strip()!r} occurs {text.count(line)} times"
    )
    file.write_text(text.replace(line, line + block.text), "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_works_in_a_copy(name: str, tmp_path: Path) -> None:
    steps = recipes()[name]
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    script = tmp_path / "bin" / "konsil"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable}\nfrom konsil.cli.main import main\n\nraise SystemExit(main())\n"
    )
    script.chmod(0o755)
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    surroundings = {
        **os.environ,
        "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    assert any(block.info == "recipe" for block in steps)
    for block in steps:
        if block.info != "recipe":
            put(block, tmp_path)
            continue
        for command, expected in commands(block):
            outcome = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=surroundings,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
            )
            printed = "\n".join(line.rstrip() for line in outcome.stdout.strip("\n").splitlines())
            assert outcome.returncode == 0, f"{command}\n{printed}"
            assert as_shown(expected).fullmatch(printed), f"{command}\n{printed}"


def test_the_recipes_are_those_that_are_carried_out() -> None:
    assert list(recipes()) == NAMES
