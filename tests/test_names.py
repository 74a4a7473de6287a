"""Names of variables, parameters and functions are nouns and verbs of the field or the craft."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "konsil"
VAGUE = frozenset(
    {
        "told",
        "found",
        "said",
        "kept",
        "keep",
        "seen",
        "one",
        "ones",
        "asked",
        "held",
        "given",
        "made",
        "done",
        "left",
        "known",
        "wanted",
        "stands",
        "here",
        "there",
        "whole",
        "beside",
        "mine",
        "own",
        "gone",
        "back",
        "met",
        "taken",
        "who",
        "what",
        "how",
        "why",
        "few",
        "many",
        "most",
    }
)
"""Words that do not state what a variable holds."""
HIGHEST = 0.0015
"""The highest proportion of all bindings: names in data, and the public API, keep some."""
IN_DATA = frozenset(
    {
        "BatchRecord.who",
        "Call.asked",
        "Call.who",
        "Callee.asked",
        "Callee.who",
        "Drawn.asked",
        "Drawn.found",
        "Duplicates.how",
        "Ended.who",
        "Entry.who",
        "Entry.why",
        "Invitation.who",
        "InvitationRequest.who",
        "Passkey.who",
        "RehearsalRequest.most",
        "Screened.asked",
        "Screened.seen",
        "Themed.found",
        "Usage.who",
        "Visitor.who",
    }
)
"""Fields that are columns of the database, of exports, keys of stored events or options of commands:
they change only with a migration, or with what users type."""


def bindings(tree: ast.AST) -> Iterator[str]:
    """Every name that a module binds: of functions, classes, parameters and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname


def fields(tree: ast.AST) -> Iterator[str]:
    """Every annotated field of a module's classes, as Class.field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    yield f"{node.name}.{line.target.id}"


def test_the_vague_words_are_counted() -> None:
    tree = ast.parse("def told(one, *, label):\n    found = [x for x in one]\n    return found")
    names = list(bindings(tree))
    assert sorted(names) == ["found", "label", "one", "told", "x"]
    assert sum(name in VAGUE for name in names) == 3
    tree = ast.parse("class View:\n    who: str\n    rater: str = ''\n    def told(self): ...")
    assert list(fields(tree)) == ["View.who", "View.rater"]


@pytest.mark.slow
def test_fields_state_what_they_hold() -> None:
    """Beside the fields that are names in data, none is vague; the list has no other entry."""
    names = [
        name
        for path in sorted(SOURCE.rglob("*.py"))
        for name in fields(ast.parse(path.read_text("utf-8")))
    ]
    vague = {name for name in names if name.partition(".")[2].strip("_") in VAGUE}
    assert len(names) > 2_000
    assert vague == IN_DATA


@pytest.mark.slow
def test_names_state_what_they_hold() -> None:
    names = [
        name.strip("_")
        for path in sorted(SOURCE.rglob("*.py"))
        for name in bindings(ast.parse(path.read_text("utf-8")))
    ]
    vague = [name for name in names if name in VAGUE]
    assert len(names) > 30_000
    assert len(vague) <= HIGHEST * len(names), f"{len(vague)} of {len(names)}"
