"""The record of entered functions: every function leaves its mark, and nothing else changes."""

from __future__ import annotations

import builtins
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULE = '''"A module."
from __future__ import annotations

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


class Looked(dict[str, None]):
    """What is looked up for the first time, in this order."""

    def __missing__(self, place: str) -> None:
        self[place] = None


def test_marks_are_left_by_what_runs_and_nothing_else_changes(
    entered, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = Looked()
    monkeypatch.setattr(builtins, entered.MARK, marks, raising=False)
    names: dict[str, object] = {"Protocol": object}
    exec(compile(entered.with_marks(MODULE, "m"), "m", "exec"), names)
    assert [*marks] == ["m:0"]
    holder, unused = names["Holder"], names["unused"]
    assert holder().value() == 7
    assert [*marks][1:] == ["m:5", "m:9"]
    assert (holder.value.__doc__, unused.__doc__) == ("What it holds.", "Nothing but words.")
    assert names["__doc__"] == "A module."
    assert unused() is None
    assert [*marks][3:] == ["m:13"]
    assert "m:17" not in marks, "a stub of a protocol is not run"


def test_an_empty_module_has_a_mark(entered, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = Looked()
    monkeypatch.setattr(builtins, entered.MARK, marks, raising=False)
    exec(compile(entered.with_marks("", "m"), "m", "exec"), {})
    assert [*marks] == ["m:0"]


def test_each_context_has_what_was_entered_for_it(
    entered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(entered.CONTEXT, "first")
    marks = entered.Marks(str(tmp_path))
    marks["a"], marks["a"], marks["b"]
    monkeypatch.setenv(entered.CONTEXT, "second")
    marks.clear()
    marks["b"]
    # Without its environment a process goes on for what it was started for.
    monkeypatch.delenv(entered.CONTEXT)
    marks["c"]
    assert entered.contexts(tmp_path) == {"first": {"a", "b", "c"}, "second": {"b"}}
    [file] = tmp_path.glob("*.entered")
    assert file.read_text().count("\na\n") == 1


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("docs/guide.md", "docs/guide.md"),
        (".", "."),
        (".ci/run", ".ci/run"),
        ("tests/__pycache__/forks.cpython-311-pytest-8.4.pyc", "tests/forks.py"),
        ("tests/__pycache__/forks.cpython-311.pyc.1234", "tests/forks.py"),
        (".git/HEAD", ""),
        (".venv/lib/x.py", ""),
        ("tests/__pycache__", ""),
        ("..", ""),
    ],
)
def test_paths_are_those_of_the_checkout_that_a_test_may_depend_on(
    entered, path: str, inside: str
) -> None:
    assert entered.in_checkout(ROOT / path) == inside
    assert entered.in_checkout(os.fsencode(ROOT / path)) == inside
    assert entered.in_checkout(7) == ""


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
