"""The record of entered functions: every function leaves its mark, and nothing else changes."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULE = '''
class Holder:
    def value(self, n=1):
        """What it holds."""
        return [inner() for _ in range(n)][0]

def inner():
    "Only a docstring and a number."
    return 7

def unused():
    """Nothing but words."""

class Shape(Protocol):
    def stub(self): ...
'''


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    sys.modules.pop("entered", None)
    import entered

    yield entered
    sys.modules.pop("entered", None)


def test_marks_are_left_by_what_runs_and_nothing_else_changes(
    entered, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks: list[str] = []
    monkeypatch.setattr(builtins, entered.MARK, marks.append, raising=False)
    names: dict[str, object] = {"Protocol": object}
    exec(compile(entered.with_marks(MODULE, "m"), "m", "exec"), names)
    holder, unused = names["Holder"], names["unused"]
    assert holder().value() == 7
    assert marks == ["m:3", "m:7"]
    assert (holder.value.__doc__, unused.__doc__) == ("What it holds.", "Nothing but words.")
    assert unused() is None
    assert marks[2:] == ["m:11"]
    assert "m:15" not in marks, "a stub of a protocol is not run"


@pytest.mark.slow
def test_modules_without_an_entered_function_are_named(entered) -> None:
    everything = [
        f"{'.'.join(p.relative_to(entered.SOURCE.parent).with_suffix('').parts)}:1"
        for p in entered.SOURCE.rglob("*.py")
    ]
    tests = {"test": [p.replace(".__init__:", ":") for p in everything]}
    assert entered.untouched(tests) == []
    tests = {"test": [p for p in tests["test"] if not p.startswith("konsil.plan.draw.assign:")]}
    assert entered.untouched(tests) == ["konsil.plan.draw.assign"]


def test_reasons_are_given_for_modules_that_there_are(entered) -> None:
    for name in entered.SLOW_ALONE:
        assert (entered.SOURCE.parent / f"{name.replace('.', '/')}.py").is_file()
