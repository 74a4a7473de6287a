"""A sample of the fuzzer's inputs, the same every time: each is read, or refused in a sentence."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FUZZER = Path(__file__).resolve().parents[1] / "benchmarks" / "fuzz.py"
IN_CHILD = "child"


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz", FUZZER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module
    spec.loader.exec_module(module)
    return module


NAMES = (
    "csv",
    "jsonl",
    "json",
    "parquet",
    "xlsx",
    "labelstudio",
    "crowdanki",
    "apkg",
    "inspect",
    "inspect json",
    "kit",
    "pages",
    "signed kit",
    "study.toml",
    "simulation.toml",
)


def test_every_reader_is_fuzzed_here(fuzzer: ModuleType) -> None:
    assert {*NAMES, IN_CHILD} == {*fuzzer.READERS}


SLOW = {"apkg", "inspect", "inspect json", "pages", "signed kit", "xlsx", "parquet"}
"""What takes a second or more: an application or a child process for every input."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in NAMES]
)
def test_a_few_inputs(fuzzer: ModuleType, name: str) -> None:
    found = fuzzer.fuzz(name, iter(range(20)))
    assert found.tracebacks == []
    assert found.inputs == 20 == found.read + found.sentences


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [*((name, 150) for name in NAMES), (IN_CHILD, 8)])
def test_many_inputs(fuzzer: ModuleType, name: str, n: int) -> None:
    found = fuzzer.fuzz(name, iter(range(1_000, 1_000 + n)), seed=2)
    assert found.tracebacks == []
    assert found.sentences > 0


def test_inputs_can_be_made_again_and_faults_are_counted(
    fuzzer: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs: list[bytes] = []

    def fail(path: Path) -> None:
        inputs.append(path.read_bytes())
        raise KeyError("x")

    monkeypatch.setitem(fuzzer.READERS, "csv", fuzzer.Reader(fuzzer.make_csv, "t.csv", fail))
    found = fuzzer.fuzz("csv", iter([7, 7, 8]))
    assert found.tracebacks == [f"csv {n}: KeyError: 'x'" for n in (7, 7, 8)]
    assert inputs[0] == inputs[1] != inputs[2]
