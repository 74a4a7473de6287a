"""Errors of study.toml say line and name, as whoever wrote it looks for them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from konsil.errors import Problem
from konsil.study.sections.line_numbers import Position, key_positions, located

PROTOCOLS = sorted(Path(str(files("konsil"))).rglob("study*.toml"))

TEXT = '''title = "a"   # [[raters]] in a comment
text = """
[[raters]]
id = "in a text"
"""
'plain "key"' = 'C:\\'
list = [
  1,
  { a = 2, b = [3] }, # ]
]
[x.y]
z.w = 2026-01-01
[[raters]]
id = "r1"
[raters.strata]
years = "3"
[[raters]]
panel = "p"
"quoted.key" = """ends in quotes\\""""""
after = true
'''


@pytest.mark.parametrize(
    ("place", "line", "column"),
    [
        ("title", 1, 1),
        ("text", 2, 1),
        ('plain "key"', 6, 1),
        ("list", 7, 1),
        ("list[0]", 8, 3),
        ("list[1].b[0]", 9, 17),
        ("x", 11, 1),
        ("x.y", 11, 1),
        ("x.y.z.w", 12, 1),
        ("raters", 13, 1),
        ("raters[0].id", 14, 1),
        ("raters[0].strata", 15, 1),
        ("raters[0].strata.years", 16, 1),
        ("raters[1]", 17, 1),
        ("raters[1].quoted.key", 19, 1),
        ("raters[1].after", 20, 1),
    ],
)
def test_the_position_of_every_kind_of_key(place: str, line: int, column: int) -> None:
    assert key_positions(TEXT)[place] == Position(line, column)
    assert key_positions(TEXT.replace("\n", "\r\n"))[place] == Position(line, column)


def places(data: object, place: str = "") -> Iterator[tuple[str, str]]:
    inside = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in inside:
        here = f"{place}[{key}]" if isinstance(key, int) else f"{place}.{key}" if place else key
        yield here, key if isinstance(key, str) else ""
        yield from places(value, here)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_every_key_of_the_protocols_is_on_its_line(protocol: Path) -> None:
    text = protocol.read_text("utf-8")
    positions, lines = key_positions(text), text.splitlines()
    for place, key in places(tomllib.loads(text)):
        line, column = positions[place]
        statement = lines[line - 1][column - 1 :]
        assert key in statement, place
        assert not lines[line - 1][: column - 1].strip() or lines[line - 1][column - 2] in " [{,"


@pytest.mark.parametrize(
    "text",
    [
        "= 1",
        "[[a",
        "a = [1",
        'a = "',
        "a = '",
        "a = '''b''",
        "'a",
        "[a",
        "a 1",
        "[" * 100_000,
        "a = " + "[" * 100_000,
        "\0",
        "",
    ],
)
def test_what_is_no_toml_has_no_lines(text: str) -> None:
    assert key_positions(text) == {}
    assert located(["s: a: wrong"], text, "s") == [Problem("a: wrong", "s")]


ENTRIES = """[[instruments]]
id = "pairs"
[[instruments.criteria]]
id = "better"
scale = { labels = ["A", "B"] }
[[plan]]
panel = "p"
[[sources]]
file = "a.csv"
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "instruments[0].criteria[0].scale.labels[1]: is empty",
            "5:26: instrument 'pairs', criterion 'better', scale.labels: is empty",
        ),
        ("plan[0].panel: no", "7:1: plan 1, panel: no"),
        ("plan[0].instrument: missing", "6:1: plan 1, instrument: missing"),
        ("sources[0]: a.csv: bad: cell", "8:1: source 'a.csv': a.csv: bad: cell"),
        ("nothing[0]: there", " nothing[0]: there"),
        ("a sentence without a place", " a sentence without a place"),
    ],
)
def test_places_become_names_and_positions(before: str, after: str) -> None:
    [problem] = located([f"s.toml: {before}"], ENTRIES, "s.toml")
    assert str(problem) == f"s.toml:{after}"
