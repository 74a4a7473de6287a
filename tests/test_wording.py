"""No figure, verdict or rule depends on the wording of a sentence: code compares identifiers."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import konsil

ROOT = Path(konsil.__file__).parent
PROSE = re.compile(r"[A-Za-z]{2,},? [A-Za-z]{2,}")
"""Two words: an identifier has one."""
TRANSLATING = {"_", "gettext", "ngettext", "message", "translate", "translated", "word"}
SEARCHING = {
    "count",
    "endswith",
    "find",
    "index",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rpartition",
    "rsplit",
    "split",
    "startswith",
}
SENTENCES = {"finding", "method", "reason"}
"""Attributes of results that are sentences."""

FOREIGN = {
    "errors/message.py": "a text that no catalogue has is its own id",
    "api/curation/duplicates.py": "an error is retold with the option that mends it",
    "api/curation/marks.py": "the hint of an error",
    "api/running/checking.py": "the hint of an error",
    "sources/anki/collection.py": "SQL",
    "web/design/forms.py": "values of buttons, which no reader sees",
    "sources/files/delimited.py": "an error of Python's reader of CSV",
}
"""Modules that search in texts all the same, and in which: most are in no catalogue."""


@cache
def trees() -> tuple[tuple[str, ast.Module], ...]:
    return tuple(
        (path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8")))
        for path in sorted(ROOT.rglob("*.py"))
    )


def declared() -> set[str]:
    """Identifiers of two words that the code declares: members of a Literal, or of a constant
    tuple, set or mapping of a module."""
    names: set[str] = set()
    for _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
                names |= strings(node.slice)
        for statement in tree.body:
            target = (
                statement.targets[0]
                if isinstance(statement, ast.Assign)
                else statement.target
                if isinstance(statement, ast.AnnAssign)
                else None
            )
            if isinstance(target, ast.Name) and target.id.lstrip("_").isupper():
                names |= strings(statement)
    return names


def strings(node: ast.AST) -> set[str]:
    return {
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }


def is_translated(node: ast.AST, words: set[str]) -> bool:
    """Whether an expression is a text of a catalogue."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) in TRANSLATING
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(is_translated(e, words) for e in node.elts)
    return isinstance(node, ast.Name) and node.id in words


def words_in(function: ast.AST) -> set[str]:
    """The variables of a function that hold a text of a catalogue."""
    words: set[str] = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        pairs = (
            zip(target.elts, value.elts, strict=False)
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            else [(target, value)]
        )
        words |= {t.id for t, v in pairs if isinstance(t, ast.Name) and is_translated(v, set())}
    return words


def is_prose(node: ast.AST, allowed: set[str]) -> bool:
    if isinstance(node, ast.Name | ast.Attribute):
        return False
    return any(PROSE.search(text) and text not in allowed for text in strings(node))


def is_sentence(node: ast.AST) -> bool:
    """Whether an expression is a sentence of a result, such as `row.estimate.method`."""
    return isinstance(node, ast.Attribute) and node.attr in SENTENCES


def breaches(tree: ast.Module, allowed: set[str]) -> list[str]:
    """The comparisons with sentences, and searches in them, of a module."""
    found: dict[int, str] = {}
    parts = [p for n in tree.body for p in (n.body if isinstance(n, ast.ClassDef) else [n])]
    for part in parts:
        words = words_in(part)
        for node in ast.walk(part):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                searched = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
                texts = [s for s in sides if isinstance(s, ast.Constant | ast.Tuple | ast.Set)]
                wrong = (
                    any(is_translated(s, words) for s in sides)
                    or any(is_prose(s, allowed) for s in texts)
                    or (searched and is_sentence(node.comparators[-1]))
                )
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                wrong = node.func.attr in SEARCHING and (
                    is_sentence(node.func.value)
                    or is_translated(node.func.value, words)
                    or any(is_translated(a, words) or is_prose(a, allowed) for a in node.args)
                )
            elif isinstance(node, ast.MatchValue):
                wrong = is_prose(node.value, allowed)
            else:
                continue
            if wrong:
                found[node.lineno] = f"{node.lineno}: {ast.unparse(node)[:100]}"
    return [found[line] for line in sorted(found)]


@pytest.mark.slow
def test_no_code_compares_with_a_sentence_or_searches_in_one() -> None:
    allowed = declared()
    wrong = {name: breaches(tree, allowed) for name, tree in trees()}
    assert {name: lines for name, lines in wrong.items() if lines and name not in FOREIGN} == {}
    assert sorted(name for name in FOREIGN if not wrong[name]) == []


def test_planted_breaches_are_noticed() -> None:
    plants = (
        'def f(row, _):\n    return row.group["sentences"] == _("whole answer")',
        'def f(row, _):\n    whole = _("whole")\n    return row.group["sentences"] == whole',
        'def f(e):\n    return "bootstrap" in e.method',
        'def f(e):\n    return e.method.startswith("Wilson")',
        'def f(text):\n    return "no comparison" in text',
        'def f(text):\n    match text:\n        case "no comparison":\n            return 1',
        'def f(text, numbers):\n    return text == numbers.translated("rest")',
    )
    assert [bool(breaches(ast.parse(plant), set())) for plant in plants] == [True] * len(plants)
    assert not breaches(ast.parse('def f(e):\n    return has(e.method, "bootstrap")'), set())
    assert not breaches(ast.parse('def f(t):\n    return t == "like these"'), {"like these"})
