"""What is built and installed: the wheel has everything in it and works away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import konsil

ROOT = Path(__file__).resolve().parents[1]
TAKEN = ("src", "docs", "pyproject.toml", "README.md", "LICENSE", "CITATION.cff")
"""What is needed to build; tests are copied apart."""

pytestmark = pytest.mark.slow


def run(command: Sequence[str | Path], folder: Path) -> str:
    # Who runs the tests may have told pip to be quiet; here it is asked what there is.
    left_out = ("KONSIL", "PYTHON", "VIRTUAL", "PIP_QUIET")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        # Compiling all that is installed takes longer than compiling what is imported.
        env={
            **kept,
            "HOME": str(folder),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_COMPILE": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def environment(folder: Path) -> Path:
    """A fresh environment without a pip of its own, which would take seconds to install: ours
    installs into it."""
    run([sys.executable, "-m", "venv", "--without-pip", "venv"], folder)
    return folder / "venv/bin/python"


def pip(python: Path, *words: str | Path) -> str:
    """What our pip does in that environment, and says."""
    return run([sys.executable, "-m", "pip", "--python", python, *words], python.parents[2])


def copy_of_the_checkout(folder: Path) -> Path:
    """A clean copy: nothing that building or testing leaves behind."""
    left = shutil.ignore_patterns("__pycache__", "*.db*", "*.egg-info")
    folder.mkdir()
    for name in TAKEN:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=left)
        else:
            shutil.copyfile(source, folder / name)
    return folder


def data_files() -> set[str]:
    """Every file of the package that is no cache: also templates, migrations, studies, py.typed."""
    return {
        p.relative_to(ROOT / "src").as_posix()
        for p in (ROOT / "src" / "konsil").rglob("*")
        if p.is_file() and "__pycache__" not in p.parts and not p.name.startswith(".")
    }


def built_wheel(source: Path, folder: Path) -> Path:
    """The wheel that pip makes of a folder or an archive."""
    run([sys.executable, "-m", "pip", "wheel", source, "--no-deps", "-q", "-w", folder], folder)
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_checkout(tmp_path_factory.mktemp("build") / "checkout")


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of a clean copy."""
    return built_wheel(checkout, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built of a clean copy."""
    folder = tmp_path_factory.mktemp("sdist")
    hook = f"import hatchling.build as b; print(b.build_sdist({str(folder)!r}))"
    python = environment(folder)
    pip(python, "install", "-q", "hatchling>=1.25")
    return folder / run([python, "-c", hook], checkout).split()[-1]


@pytest.fixture(scope="module")
def wheel_of_sdist(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of the source distribution, as whoever has no wheel installs it."""
    return built_wheel(sdist, tmp_path_factory.mktemp("second"))


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def metadata(wheel: Path) -> Message:
    [text] = [c for name, c in contents(wheel).items() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(text.decode())


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path):
    names = set(contents(wheel))
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == data_files()
    for needed in (
        "konsil/py.typed",
        "konsil/report/templates/page.html.j2",
        "konsil/protocols/starter/study.toml",
        "konsil/study/study.schema.json",
        "konsil/locale/de.po",
    ):
        assert needed in inside
    for folder, ending in (
        ("konsil/store/migrations/versions/", ".py"),
        ("konsil/demo/", ".csv"),
        ("konsil/web/templates/", ".html"),
        ("konsil/protocols/medqade/", ".md"),
    ):
        assert any(name.startswith(folder) and name.endswith(ending) for name in inside), folder
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_wheel_states_what_the_project_states(wheel: Path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    about = metadata(wheel)
    assert (about["Name"], about["Version"]) == ("konsil", konsil.__version__)
    assert about["License-Expression"] == project["license"] == "Apache-2.0"
    assert about.get_all("License-File") == project["license-files"]
    # Builders may write the bounds in another order.
    assert set(about["Requires-Python"].split(",")) == set(project["requires-python"].split(","))
    assert about.get_all("Classifier") == project["classifiers"]
    assert about["Description-Content-Type"] == "text/markdown"
    required = [Requirement(text) for text in about.get_all("Requires-Dist") or []]
    always = {str(r) for r in required if r.marker is None}
    assert always == {str(Requirement(text)) for text in project["dependencies"]}
    assert set(about.get_all("Provides-Extra") or []) == set(project["optional-dependencies"])
    [points] = [c for n, c in contents(wheel).items() if n.endswith(".dist-info/entry_points.txt")]
    assert points.decode().split() == ["[console_scripts]", "konsil", "=", "konsil.__main__:main"]


def test_the_source_distribution_makes_the_same_wheel(wheel: Path, wheel_of_sdist: Path):
    assert wheel_of_sdist.name == wheel.name == f"konsil-{konsil.__version__}-py3-none-any.whl"
    assert contents(wheel_of_sdist) == contents(wheel)


def test_the_installed_wheel_works_away_from_the_checkout(wheel_of_sdist: Path, tmp_path: Path):
    python = environment(tmp_path)
    version, command = konsil.__version__, python.with_name("konsil")
    pip(python, "install", "-q", wheel_of_sdist)
    away = tmp_path / "away"
    away.mkdir()
    assert "agreement" in run([command, "--help"], away)
    assert run([command, "--version"], away).split()[-1] == version
    run([command, "new", "mine"], away)
    assert (away / "mine/study.schema.json").is_file()
    run([command, "report", "mine"], away)
    assert (away / "mine/report/index.html").stat().st_size > 10_000
    said = run([command, "demo"], away)
    assert "konsil-demo/report/index.html" in said
    assert (away / "konsil-demo/report/index.html").stat().st_size > 10_000
    # Nothing but what pyproject.toml names: the tests' own packages are not here to help out.
    listed = pip(python, "list", "--format=freeze")
    assert "konsil" in listed
    assert "pytest" not in listed
    assert "pandas" not in listed
    pip(python, "check")


def test_the_source_distribution_has_what_building_needs_and_no_data(sdist: Path):
    with tarfile.open(sdist) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    assert sdist.name == f"konsil-{konsil.__version__}.tar.gz"
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "PKG-INFO"} <= names
    assert {f"src/{name}" for name in data_files()} <= names
    assert not [n for n in names if n.endswith((".db", ".pyc", ".konsil-key")) or ".venv" in n]
