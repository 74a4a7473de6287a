"""Runners give the same results in the same order, also where workers die."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from compute_parts import (
    killed,
    refused,
    refused_with,
    scaled_after_a_death,
    square,
    square_after_a_death,
)
from konsil.compute.clusters import check_cluster, open_runner
from konsil.compute.runners import Cores, Runner, ThisProcess, Work
from konsil.errors import AnalysisError

PARTS = range(8)


def test_this_process_computes_in_order():
    with open_runner("", 8, is_small=True) as runner:
        assert isinstance(runner, ThisProcess)
        assert list(runner.map(square, PARTS)) == [n * n for n in PARTS]


def check_shared(runner: Runner, folder: Path, *, is_killed: bool) -> None:
    """Shared data reach each process once, also those that replace a killed one."""
    folder.mkdir()
    if not is_killed:
        (folder / "killed").touch()
    scaled = partial(scaled_after_a_death, folder=folder)
    results = list(runner.map_with(scaled, [3], PARTS))
    assert [product for product, *_ in results] == [3 * n * n for n in PARTS]
    numbers: dict[int, list[int]] = {}
    for _, process, number in results:
        numbers.setdefault(process, []).append(number)
    # The process that was killed took numbers of parts that no result has.
    for of_process in numbers.values():
        assert sorted(of_process) == [*range(min(of_process), min(of_process) + len(of_process))]
        assert is_killed or min(of_process) == 1
    # Other data of the same function are others.
    assert next(iter(runner.map_with(scaled, [5], PARTS[2:3])))[0] == 5 * 4


def test_shared_data_of_this_process(tmp_path):
    check_shared(ThisProcess(), tmp_path / "a", is_killed=False)


@pytest.mark.slow
def test_shared_data_of_processes(tmp_path):
    check_shared(Cores(2), tmp_path / "a", is_killed=True)
    with pytest.raises(AnalysisError, match="part 0: refused"):
        list(Cores(1).map_with(refused_with, [3], [0]))


# Dask's own threads may warn while they end.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_shared_data_outlive_the_only_worker_of_dask(tmp_path):
    pytest.importorskip("distributed")
    with open_runner("local:1", 8, is_small=False) as runner:
        check_shared(runner, tmp_path / "a", is_killed=True)
        with pytest.raises(AnalysisError, match="part 0: refused"):
            list(runner.map_with(refused_with, [3], [0]))


@pytest.mark.slow
def test_processes_compute_in_order_and_parts_of_a_dead_one_run_again(tmp_path):
    expected = [n * n for n in PARTS]
    assert list(Cores(2).map(square, PARTS)) == expected
    function = partial(square_after_a_death, folder=tmp_path)
    assert list(Cores(2).map(function, PARTS)) == expected
    assert (tmp_path / "killed").exists()


@pytest.mark.slow
def test_a_part_that_always_ends_its_process_is_one_sentence():
    with pytest.raises(AnalysisError, match="its process ended 3 times"):
        list(Cores(1).map(killed, [0]))
    with pytest.raises(AnalysisError, match=r"^statistic 1 of 1: .* 3 times, .*; use fewer$"):
        list(Cores(1).of(Work("statistic", "use fewer")).map(killed, [0]))
    with pytest.raises(AnalysisError, match="part 0: refused"):
        list(Cores(1).map(refused, [0]))


# Dask's own threads may warn while they end.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_dask_computes_in_order_and_a_killed_worker_changes_nothing(tmp_path):
    pytest.importorskip("distributed")
    expected = [n * n for n in PARTS]
    with open_runner("local:2", 8, is_small=False) as runner:
        assert list(runner.map(square, PARTS)) == expected
        function = partial(square_after_a_death, folder=tmp_path)
        assert list(runner.map(function, PARTS)) == expected
        assert (tmp_path / "killed").exists()
        with pytest.raises(AnalysisError, match="part 0: refused"):
            list(runner.map(refused, [0]))


def test_addresses_without_a_scheduler_are_one_sentence(monkeypatch):
    dask_runner = pytest.importorskip("konsil.compute.dask_runner")
    monkeypatch.setattr(dask_runner, "_SECONDS", 0.2)
    with (
        pytest.raises(AnalysisError, match="no Dask scheduler answers"),
        open_runner("tcp://127.0.0.1:9", 1, is_small=False),
    ):
        pass


@pytest.mark.parametrize("word", ["two", "local:0", "local:", "http://host:80", "tcp://host"])
def test_what_names_no_cluster_is_refused(word):
    with pytest.raises(AnalysisError, match="expected local:N"):
        check_cluster(word)
