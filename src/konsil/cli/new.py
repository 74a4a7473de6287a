"""konsil new: a folder to start from."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import click

from konsil.api.copying import copy_new
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
        copy_new(folder, lambda draft: _copy(source, draft))
    click.echo(f"{folder}: made from {protocol!r}; next: konsil check {folder}")


def _copy(source: Path, draft: Path) -> None:
    for file in sorted(source.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            target = draft / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
