"""Where a study's simulations run: [compute] of compute.toml, which is not part of the protocol."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from konsil.api.folder.opened import read_text
from konsil.errors import StudyError
from konsil.study.sections.decode import decode

FILE = "compute.toml"
"""The file of a study's folder; it is optional, and is neither frozen nor part of the checksum."""


@dataclass(frozen=True, slots=True)
class ComputeSettings:
    """Where parts of a study's computations run."""

    workers: str = ""
    """local:N, or tcp://HOST:PORT; empty: this machine, without Dask."""


@dataclass(frozen=True, slots=True)
class ComputeFile:
    """What compute.toml contains."""

    compute: ComputeSettings = field(default_factory=ComputeSettings)


def read_compute(folder: Path) -> ComputeSettings:
    """The settings of a study's compute.toml; a StudyError in a sentence where they are wrong."""
    file = folder / FILE
    if not file.is_file():
        return ComputeSettings()
    try:
        data = tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{file}: is no TOML file ({error})") from None
    return decode(ComputeFile, data, str(file)).compute
