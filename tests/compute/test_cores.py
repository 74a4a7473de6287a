"""How many cores are used: what is stated, else what this process may use."""

from __future__ import annotations

import os

import pytest

from konsil.compute import cores
from konsil.compute.clusters import check_cluster, open_runner
from konsil.compute.cores import n_cores
from konsil.compute.runners import Cores, ThisProcess
from konsil.errors import AnalysisError
from small_studies import exit_code


def test_the_place_comes_before_the_environment(monkeypatch):
    monkeypatch.setenv(cores.CORES, "3")
    assert n_cores() == 3
    assert n_cores("cores:5") == 5
    assert n_cores("local:4") == 3


@pytest.mark.parametrize("number", ["0", "two", "-1", "1.5", "²"])
def test_a_number_of_cores_that_is_none_is_one_sentence(number, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv(cores.CORES, number)
    with pytest.raises(AnalysisError, match="KONSIL_CORES: got"):
        n_cores()
    table = tmp_path / "t.csv"
    table.write_text("unit,a,b\n1,x,x\n2,x,y\n", "utf-8")
    assert exit_code("agreement", table) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("quota", "n"),
    [("200000 100000", 2), ("max 100000", 6), ("50000 100000", 1), ("990000 100000", 6), ("", 6)],
)
def test_containers_limit_the_cores(quota, n, monkeypatch, tmp_path):
    monkeypatch.delenv(cores.CORES, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    if quota:
        (tmp_path / "cpu.max").write_text(quota + "\n", "ascii")
    assert n_cores() == n


def test_many_cores_are_not_all_used_unasked(monkeypatch, tmp_path):
    monkeypatch.delenv(cores.CORES, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(96)), raising=False)
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    assert n_cores() == 8
    assert n_cores("cores:96") == 96


def test_the_runner_of_cores_has_as_many_processes_as_are_stated():
    check_cluster("cores:2")
    with open_runner("cores:3", 9, is_small=False) as runner:
        assert isinstance(runner, Cores)
        assert runner.n == 3
    for place, n_parts, is_small in (("cores:1", 9, False), ("cores:3", 9, True)):
        with open_runner(place, n_parts, is_small=is_small) as runner:
            assert isinstance(runner, ThisProcess)
    for place in ("cores:0", "cores:", "cores"):
        with pytest.raises(AnalysisError, match="or cores:N"):
            check_cluster(place)
