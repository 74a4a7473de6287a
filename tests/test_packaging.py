"""What is built and installed: the wheel has everything in it and works away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of a clean copy."""
    folder = tmp_path_factory.mktemp("build")
    checkout = copy_of_the_checkout(folder / "checkout")
    run([sys.executable, "-m", "pip", "wheel", checkout, "--no-deps", "-q", "-w", folder], folder)
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == data_files()
    for needed in (
        "konsil/py.typed",
        "konsil/report/templates/page.html.j2",
        "konsil/protocols/starter/study.toml",
    ):
        assert needed in inside
    assert any(name.startswith("konsil/store/migrations/versions/") for name in inside)
    assert any(name.startswith("konsil/demo/") and name.endswith(".csv") for name in inside)
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_installed_wheel_works_away_from_the_checkout(wheel: Path, tmp_path: Path):
    python = environment(tmp_path)
    konsil = python.with_name("konsil")
    pip(python, "install", "-q", wheel)
    away = tmp_path / "away"
    away.mkdir()
    assert "agreement" in run([konsil, "--help"], away)
    run([konsil, "new", "mine"], away)
    run([konsil, "report", "mine"], away)
    assert (away / "mine/report/index.html").stat().st_size > 10_000
    said = run([konsil, "demo"], away)
    assert "konsil-demo/report/index.html" in said
    assert (away / "konsil-demo/report/index.html").stat().st_size > 10_000
    # Nothing but what pyproject.toml names: the tests' own packages are not here to help out.
    listed = pip(python, "list", "--format=freeze")
    assert "konsil" in listed
    assert "pytest" not in listed
    assert "pandas" not in listed
    pip(python, "check")


def test_the_source_distribution_has_what_building_needs(tmp_path: Path):
    checkout = copy_of_the_checkout(tmp_path / "checkout")
    hook = "import hatchling.build as b; print(b.build_sdist('.'))"
    python = environment(tmp_path)
    pip(python, "install", "-q", "hatchling>=1.25")
    name = run([python, "-c", hook], checkout).split()[-1]
    with tarfile.open(checkout / name) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/konsil/py.typed"} <= names
