"""Analyses of a study on workers: the same files and sentences, and where compute.toml counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import konsil.api.folder.computing as computing
import konsil.compute.clusters as clusters
from compute_parts import outcome_after_a_death
from konsil.api import open_folder
from konsil.compute.runners import ThisProcess
from konsil.errors import KonsilError
from small_studies import (
    exit_code,
    form,
    import_ratings,
    raters,
    share_correct,
    study_text,
    systems,
)

SOURCE = """[[sources]]
file = "r.csv"
records = "ratings"
"""
PROTOCOL = study_text(
    "Workers",
    systems("a", "b"),
    form(),
    raters("r1", "r2"),
    SOURCE,
    share_correct(by=["system"], compare="system", leave_out=["rater"]),
    share_correct(name="By site", by=["site"]),
    share_correct(name="All"),
    share_correct(name="Items", cluster="item"),
    seed=3,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "study"
    place.mkdir()
    (place / "study.toml").write_text(PROTOCOL, "utf-8")
    rows = [("rater", "item", "system", "criterion", "label")]
    for n in range(12):
        for system in ("a", "b"):
            for k, rater in enumerate(("r1", "r2")):
                word = "yes" if (n * 5 + k * (n % 3) + (system == "b")) % 3 else "no"
                rows.append((rater, f"q{n}", system, "correct", word))
    import_ratings(place, rows)
    return place


# Dask's own threads may warn while they end.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_files_and_sentences_are_those_of_one_process_when_a_worker_is_killed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    dask_runner = pytest.importorskip("konsil.compute.dask_runner")

    def analysed(*options: str) -> tuple[int, str, str, list[bytes]]:
        output = tmp_path / "results"
        output.mkdir(exist_ok=True)
        code = exit_code("analyse", folder, "--output", output, *options)
        files = [file.read_bytes() for file in sorted(output.iterdir())]
        return (code, *capsys.readouterr(), files)

    alone = analysed()
    map_with = dask_runner.DaskRunner.map_with

    def dying(runner: Any, function: Any, shared: Any, parts: Sequence[Any]) -> Any:
        function = partial(outcome_after_a_death, function=function, folder=tmp_path)
        return map_with(runner, function, shared, parts)

    monkeypatch.setattr(dask_runner.DaskRunner, "map_with", dying)
    assert analysed("--compute", "local:2") == alone
    assert (tmp_path / "killed").exists()
    code, _, errors, files = alone
    assert code == 2
    assert "By site" in errors
    assert len(files) == 2


class Recorded:
    """Opens runners of this process, and records what was requested."""

    def __init__(self) -> None:
        self.clusters: list[str] = []

    @contextmanager
    def open(self, cluster: str, *_: object, **__: object) -> Iterator[ThisProcess]:
        self.clusters.append(cluster)
        yield ThisProcess()


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    pytest.importorskip("distributed")
    recorded = Recorded()
    monkeypatch.setattr(clusters, "open_runner", recorded.open)
    return recorded


@pytest.mark.slow
def test_reports_take_workers_and_small_studies_take_none_of_compute_toml(
    folder: Path, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert exit_code("report", folder, "--compute", "local:2") == 2  # an analysis is refused
    (folder / "compute.toml").write_text('[compute]\nworkers = "local:3"\n', "utf-8")
    study = open_folder(folder)
    alone = repr(study.results())
    monkeypatch.setattr(computing, "LARGE", 480_000)
    assert repr(study.results()) == alone
    monkeypatch.setattr(computing, "LARGE", 480_001)
    assert repr(study.results(compute="tcp://scheduler:8786")) == alone
    # Cores need not be worth their start: they are those of the file for small studies, too.
    (folder / "compute.toml").write_text('[compute]\nworkers = "cores:1"\n', "utf-8")
    assert repr(study.results()) == alone
    places = ["local:2", "", "local:3", "tcp://scheduler:8786", "cores:1"]
    assert recorded.clusters == places


@pytest.mark.parametrize("run", ["results", "report"])
def test_what_names_no_place_is_refused_before_anything_is_read(
    folder: Path, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = open_folder(folder)

    def read(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(type(study), "_blinded_data", read)
    compute: Callable[..., object] = getattr(study, run)
    with pytest.raises(KonsilError, match="expected local:N"):
        compute(compute="two")
    (folder / "compute.toml").write_text('[compute]\nworkers = "local"\n', "utf-8")
    with pytest.raises(KonsilError, match="expected local:N"):
        compute()
