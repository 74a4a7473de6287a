"""The end of an error's sentence: a name that is near, or those that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import konsil
from konsil.errors import KonsilError, nearest, options_as_flags

SOURCE = Path(konsil.__file__).parent
FLAG = re.compile(r"(?<![\w-])--[a-z]")


@pytest.mark.parametrize(
    ("name", "known", "end"),
    [
        ("theme", ["item", "case", "stratum"], "known: case, item, stratum"),
        ("sytem", ["item", "system"], "did you mean 'system'?"),
        ("from", ["form", "frame"], "did you mean 'form'?"),
        ("Theme", ["theme"], "did you mean 'theme'?"),
        ("bb", ["a", "b"], "did you mean 'b'?"),
        ("x", [], "none is known"),
    ],
)
def test_only_a_near_name_is_suggested(name: str, known: list[str], end: str) -> None:
    assert nearest(name, known) == end


def test_names_that_are_no_candidates_are_listed_all_the_same() -> None:
    assert nearest("Incorrect", ["Wrong"], ["Correct", "Wrong"]) == "known: Correct, Wrong"
    assert nearest("Wronk", ["Wrong"], ["Correct", "Wrong"]) == "did you mean 'Wrong'?"


def sentences_with_flags(module: Path) -> Iterator[str]:
    """Texts of a module that name a flag otherwise than within a whole command such as 'konsil
    places --add'."""
    text = module.read_text("utf-8")
    # Most modules have no flag anywhere; parsing them all takes seconds.
    tree = ast.parse(text if FLAG.search(text) else "")
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    arguments = {
        id(element)
        for node in ast.walk(tree)
        if isinstance(node, ast.List)
        for element in node.elts
    }
    # The help of a request's field is the command line's.
    helps = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Flag"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documents | arguments | helps
        ):
            bare = re.sub(r"konsil [a-z-]+[^';]*", "", node.value)
            if FLAG.search(bare) and "var(--" not in bare:
                yield f"{module.name}:{node.lineno}: {node.value!r}"


def test_nothing_but_the_command_line_writes_flags_into_sentences() -> None:
    modules = [m for m in SOURCE.rglob("*.py") if m.relative_to(SOURCE).parts[0] != "cli"]
    assert [s for m in modules for s in sentences_with_flags(m)] == []
    catalogues = [*SOURCE.glob("locale/*.po")]
    assert catalogues
    assert [str(c) for c in catalogues if FLAG.search(c.read_text(encoding="utf-8"))] == []


PLANTED = """
def f(x):
    'The flag --rater.'
    run(["serve", "--port", x])
    raise E(f"{x}: --rater is missing; run konsil places --add")
"""


def test_the_search_for_flags_finds_them_in_sentences_alone(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(PLANTED)
    assert len(list(sentences_with_flags(tmp_path / "planted.py"))) == 1


@pytest.mark.parametrize(
    ("options", "parameters", "flags"),
    [
        (
            {"rater": ["ann", "bon"]},
            "table: rater 'bon': there is no such column",
            "table: --rater 'bon': there is",
        ),
        (
            {"unit": "case"},
            "table: unit 'case': there is no such column",
            "table: --unit 'case': there is",
        ),
        ({"statistics": ["kapa"]}, "statistics: ", "--statistic: "),
        (
            {"where": {"ann": "z"}},
            "where={'ann': 'z'}: no row has this value",
            "--where ann=z: no row has this value",
        ),
        (
            {"by": "ann", "compare": "ben"},
            "by and compare: expected one",
            "--by and --compare: expected one",
        ),
        ({"weights": "cubic"}, "weights 'cubic': ", "--weights 'cubic': "),
        ({"labels": ["a", "a"]}, "labels: 'a' occurs twice", "--labels: 'a' occurs twice"),
    ],
)
def test_an_error_names_the_option_as_whoever_reads_it_writes_it(
    options: dict[str, object], parameters: str, flags: str
) -> None:
    table = pl.DataFrame({"ann": list("abab"), "ben": list("abba")})
    with pytest.raises(KonsilError) as python:
        konsil.agreement(table, **options)
    assert parameters in str(python.value)
    assert "--" not in str(python.value)
    with options_as_flags(), pytest.raises(KonsilError) as command:
        konsil.agreement(table, **options)
    assert flags in str(command.value)


def test_notes_of_a_result_name_parameters() -> None:
    table = pl.DataFrame({"ann": list("123412341234"), "ben": list("123412341221")})
    notes = " ".join(konsil.agreement(table, resamples=100).warnings)
    assert "level='ordinal'" in notes
    assert "labels=[...]" in notes
    assert "--" not in notes
