"""What the first releases of Python 3.11 do wrongly, Debian 12's 3.11.2 among them, is not used."""

from __future__ import annotations

import ast
import re
import re._parser as parser  # type: ignore[import-untyped]
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "konsil"
MODULES = sorted(SOURCE.rglob("*.py"))


def _possessive_groups(pattern: str) -> bool:
    """Whether a possessive quantifier follows more than one character or class of characters."""

    def inside(node: object) -> bool:
        if isinstance(node, parser.SubPattern):
            return any(inside(each) for each in node.data)
        if isinstance(node, (tuple, list)):
            if node and node[0] is parser.POSSESSIVE_REPEAT:
                repeated = node[1][2].data
                simple = {parser.LITERAL, parser.NOT_LITERAL, parser.IN, parser.ANY}
                if len(repeated) > 1 or any(op not in simple for op, _ in repeated):
                    return True
            return any(inside(each) for each in node)
        return False

    return inside(parser.parse(pattern))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("a*+", False), ("[a-z]*+b", False), ("(?:ab)*+", True), ("x((?:(?!b).)*+)b", True)],
)
def test_groups_with_possessive_quantifiers_are_recognised(pattern: str, *, expected: bool):
    assert _possessive_groups(pattern) is expected


@pytest.mark.slow
def test_no_possessive_quantifier_follows_a_group():
    """Python 3.11.2 matches such patterns wrongly: formulas of flash cards stayed as they were."""
    hits = []
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if not any(mark in node.value for mark in (")*+", ")++", ")?+", "}+")):
                    continue
                try:
                    is_possessive = _possessive_groups(node.value)
                except re.error:
                    continue
                if is_possessive:
                    hits.append(f"{module.relative_to(SOURCE)}:{node.lineno}")
    assert hits == []


@pytest.mark.slow
def test_no_error_is_raised_out_of_except_star():
    """Python 3.11.2 wraps an error that is raised there in a group: the user saw a traceback."""
    hits = [
        f"{module.relative_to(SOURCE)}:{node.lineno}"
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.TryStar)
    ]
    assert hits == []
