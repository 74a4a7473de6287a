"""Runners give the same results in the same order, also where workers die."""

from __future__ import annotations

from functools import partial

import pytest

from compute_parts import killed, refused, square, square_after_a_death
from konsil.compute.clusters import check_cluster, open_runner
from konsil.compute.runners import Cores, ThisProcess
from konsil.errors import AnalysisError

PARTS = range(8)


def test_this_process_computes_in_order():
    with open_runner("", 8, is_small=True) as runner:
        assert isinstance(runner, ThisProcess)
        assert list(runner.map(square, PARTS)) == [n * n for n in PARTS]


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
