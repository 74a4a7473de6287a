"""konsil new: a folder to start from."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import click

from konsil.errors import StudyError, nearest


@click.command(short_help="Make a folder with a study.toml to start from.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--protocol", default="starter", show_default=True, help="Which study to start from.")
def command(folder: Path, protocol: str) -> None:
    """Make FOLDER with a protocol, a codebook and small example files; an existing folder is left alone."""
    known = sorted(p.name for p in files("konsil.protocols").iterdir() if p.joinpath("study.toml").is_file())
    if protocol not in known:
        raise StudyError(f"--protocol {protocol!r}: there is no such protocol; {nearest(protocol, known)}")
    with as_file(files("konsil.protocols").joinpath(protocol)) as source:
        copy_new(source, folder)
    click.echo(f"{folder}: made from {protocol!r}; next: konsil check {folder}")


def copy_new(source: Path, folder: Path) -> None:
    """Copy a folder to a new place, whole or not at all; refuse one that has something in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(f"{folder}: exists and is not empty; choose a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".konsil-", dir=folder.parent))
    try:
        shutil.copytree(source, draft, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
        for path in (draft, *draft.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        if folder.exists():
            folder.rmdir()
        os.rename(draft, folder)  # noqa: PTH104 - one atomic step
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
