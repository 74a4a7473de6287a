"""The mutants' script: its places exist in the code of today, and a seed draws the same ones."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    place = ROOT / "benchmarks" / "mutants.py"
    spec = importlib.util.spec_from_file_location("mutants", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


def test_the_fixed_mutants_change_one_line_each(mutants: ModuleType) -> None:
    fixed = mutants.by_hand()
    assert len(fixed) == len(mutants.BY_HAND)
    assert all(mutant.before != mutant.after for mutant in fixed)


def test_what_is_equivalent_differs_in_one_place_from_a_line_of_the_code(
    mutants: ModuleType,
) -> None:
    for path, after in mutants.EQUIVALENT:
        module = ROOT / "src" / "konsil" / path
        made = {mutant.after.strip() for mutant in mutants.mutants_of(module)}
        assert after in made, path


def test_a_seed_draws_the_same_mutants_of_every_package(
    mutants: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {(ROOT / "src" / "konsil" / name).is_dir() for name in mutants.PACKAGES} == {True}
    monkeypatch.setattr(mutants, "PACKAGES", ("records", "plan"))
    first = mutants.drawn(3, 2)
    assert first == mutants.drawn(3, 2)
    assert first != mutants.drawn(4, 2)
    assert [mutant.path.split("/")[0] for mutant in first] == ["records"] * 2 + ["plan"] * 2


def test_several_mutants_are_applied_together_and_undone(
    mutants: ModuleType, tmp_path: Path
) -> None:
    module = tmp_path / "src" / "konsil" / "m.py"
    module.parent.mkdir(parents=True)
    module.write_text("a = 1\nb = 2\n", "utf-8")
    both = [mutants.Mutant("m.py", n, "", f"c = {n}") for n in (1, 2)]
    with mutants.applied(both, tmp_path):
        assert module.read_text("utf-8") == "c = 1\nc = 2\n"
        first = module.stat().st_mtime
    assert module.read_text("utf-8") == "a = 1\nb = 2\n"
    # Else Python would take the bytecode of the mutant.
    assert module.stat().st_mtime > first
