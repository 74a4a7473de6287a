"""The Containerfile: no engine builds it here, so its instructions are read and compared with the
package and its commands; the package is installed from the copied files alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from konsil.cli.main import group
from test_docs import blocks

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def instructions() -> list[tuple[str, str]]:
    """Each instruction with its words, lines continued, without comments."""
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


def words(name: str) -> list[str]:
    return [rest for instruction, rest in instructions() if instruction == name]


def final() -> list[tuple[str, str]]:
    """The instructions of the image itself, after those of the stage that builds."""
    found = instructions()
    return found[max(n for n, (name, _) in enumerate(found) if name == "FROM") :]


def copied() -> set[str]:
    """What is copied from the checkout."""
    return {
        source
        for rest in words("COPY")
        if not rest.startswith("--from=")
        for source in rest.split()[:-1]
    }


def needed() -> set[str]:
    """What building the package reads."""
    package = Path(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"][0])
    project = PROJECT["project"]
    return {"pyproject.toml", project["readme"], *project["license-files"], package.parts[0]}


def test_it_copies_what_the_package_needs_and_nothing_else():
    assert copied() == needed()
    ignored = (ROOT / ".containerignore").read_text("utf-8").split()
    assert ignored[0] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == needed()


def test_its_python_is_one_that_the_package_supports():
    versions = {re.fullmatch(r"python:(\d+\.\d+)-slim( AS build)?", w)[1] for w in words("FROM")}
    assert len(versions) == 1
    assert (
        f"Programming Language :: Python :: {versions.pop()}" in PROJECT["project"]["classifiers"]
    )


def test_its_extras_exist():
    [extras] = re.findall(r'"/source\[([a-z,]+)\]"', " ".join(words("RUN")))
    assert set(extras.split(",")) <= set(PROJECT["project"]["optional-dependencies"])


def test_it_runs_without_root_privileges():
    """What runs in the image: nothing after USER needs root, and the user owns the volume."""
    names = [name for name, _ in final()]
    [user] = [rest for name, rest in final() if name == "USER"]
    assert user.isdigit()
    assert int(user) > 0
    after = names[names.index("USER") :]
    assert not {"RUN", "COPY", "ADD"} & set(after)
    run = " ".join(rest for name, rest in final() if name == "RUN")
    assert f"useradd --uid {user} " in run
    [volume] = words("VOLUME")
    assert re.search(rf"install --directory --owner konsil --group konsil {volume}$", run)


def test_its_command_and_options_exist():
    [entry] = words("ENTRYPOINT")
    [command] = words("CMD")
    assert json.loads(entry) == ["konsil"]
    name, *arguments = json.loads(command)
    serve = group.get_command(None, name)
    assert serve is not None
    values = serve.make_context(name, list(arguments), resilient_parsing=False).params
    assert [str(values["folder"])] == words("VOLUME")
    assert values["host"] == "0.0.0.0"
    port = str(values["port"])
    assert words("EXPOSE") == [port]
    [health] = words("HEALTHCHECK")
    assert f"http://127.0.0.1:{port}/health'" in health
    compile(json.loads(health.removeprefix("CMD "))[2], "health", "exec")


def test_the_deployment_page_says_that_the_image_was_not_built():
    text = (ROOT / "docs" / "howto-deploy.md").read_text("utf-8")
    assert "**The image was not built in konsil's automatic tests**" in text


def test_the_commands_of_the_deployment_page_parse():
    """Also those inside of the container, after `konsil`, and of the services that it names."""
    page = ROOT / "docs" / "howto-deploy.md"
    units = [path.read_text("utf-8") for path in sorted((ROOT / "deploy").glob("*.service"))]
    text = "\n".join([b.text for b in blocks(page) if b.language == "sh"] + units)
    lines = re.findall(r"(?:bin/| )konsil ((?:[a-z-]+) .*)", text.replace("\\\n", ""))
    assert len(lines) >= 6
    for line in lines:
        name, *arguments = line.split()
        command = group.get_command(None, name)
        assert command is not None, line
        known = {option for p in command.params for option in p.opts}
        assert {word for word in arguments if word.startswith("--")} <= known, line


@pytest.mark.slow
def test_the_package_is_built_from_the_copied_files_alone(tmp_path: Path):
    for name in copied():
        source, target = ROOT / name, tmp_path / "source" / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, "./source"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    assert list(tmp_path.glob("konsil-*.whl"))
