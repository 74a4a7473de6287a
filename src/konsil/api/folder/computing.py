"""Where a study's analyses and simulations are computed: as an option states, or compute.toml."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.folder.opened import read_text
from konsil.study import Study
from konsil.study.sections.decode import decode, toml_data

if TYPE_CHECKING:
    from konsil.analysis.table.frame import Data
    from konsil.stats.engine.parts import Compute

FILE = "compute.toml"
"""The file of a study's folder; it is optional, and is neither frozen nor part of the checksum."""
LARGE = 5_000_000_000
"""Ratings times resamples from which analyses follow compute.toml: with fewer, two workers take as
long as one process (docs/speed.md)."""


@dataclass(frozen=True, slots=True)
class ComputeSettings:
    """Where parts of a study's computations run."""

    workers: str = ""
    """local:N, tcp://HOST:PORT, or cores:N; empty: this machine's cores, without Dask."""


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


@dataclass(frozen=True)
class Analysing:
    """Where a study's analyses are computed."""

    workers: str = ""
    """As the option states it, or compute.toml in cores; empty: not stated."""
    workers_if_large: str = ""
    """As compute.toml states it."""

    @classmethod
    def of(cls, folder: Path, compute: str) -> Analysing:
        """The option's place, else that of compute.toml; refused if it is no place."""
        from konsil.compute.clusters import check_cluster
        from konsil.compute.cores import is_cores, n_cores

        stated = "" if compute else read_compute(folder).workers
        check_cluster(compute or stated)
        n_cores()  # refuses what the environment states wrongly
        return cls(stated) if is_cores(stated) else cls(compute, stated)

    @contextmanager
    def open(self, study: Study, data: Data) -> Iterator[Compute]:
        """What computes the parts of a run of the study's analyses."""
        from konsil.compute.clusters import open_runner
        from konsil.compute.cores import on_cores
        from konsil.compute.runners import Work

        work = Work("analysis", "compute it without workers, in the process of the command")
        is_large = len(data.ratings) * study.resampling.draws >= LARGE
        workers = self.workers or (self.workers_if_large if is_large else "")
        n = len(study.analyses)
        with open_runner(workers, n, is_small=True, work=work) as runner, on_cores(workers):
            yield runner.map_with


IN_THIS_PROCESS = Analysing()
"""Without workers."""
