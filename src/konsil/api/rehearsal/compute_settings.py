"""Where a study's simulations run: [compute] of compute.toml, which is not part of the protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from konsil.api.folder.opened import read_text
from konsil.study.sections.decode import decode, toml_data

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
    return decode(ComputeFile, toml_data(read_text(file), str(file)), str(file)).compute
