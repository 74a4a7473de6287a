"""Cloze markup: what Anki reads is read, formulas keep their braces, and no text makes it fail."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from konsil.prepare.text.cloze import (
    DEEPEST,
    Deletion,
    Part,
    answer,
    deletions,
    expected,
    numbers,
    parse,
    question,
    write,
)
from konsil.sources.anki import read_anki


def texts(markup: str) -> list[str]:
    return [one.text() for one in deletions(parse(markup))]


@pytest.mark.parametrize(
    ("markup", "deleted"),
    [
        ("", []),
        ("no deletion", []),
        ("{{c1::a}}", ["a"]),
        ("{{c12::a::hint}}", ["a"]),
        ("{{c1::a::}}", ["a"]),
        ("{{c1::}}", [""]),
        ("{{c1::a}} {{c1::b}}", ["a", "b"]),
        ("{{c1::a {{c2::b}} c}}", ["a b c", "b"]),
        ("{{c1::two\nlines}}", ["two\nlines"]),
        ("{{c1::<b>bold</b> &amp; <i>more</i>}}", ["<b>bold</b> &amp; <i>more</i>"]),
        ('{{c1::<img src="a.png">}}', ['<img src="a.png">']),
        ("{{c1,3::a}}", ["a"]),
        ("{{C1::a}} {{c::a}} {{c-1::a}} {{cx::a}} {{c1:a}}", []),
        ("{{c1::never ends", []),
        ("{{c1::a {{c2::b}}", ["b"]),
        ("}} {{c1::a}} }}", ["a"]),
        ("{{{c1::a}}}", ["a"]),
        ("{{c1::f(x) {y} z}}", ["f(x) {y} z"]),
        # Braces of formulas are the formulas'.
        (r"{{c1::\(\frac{a}{b}\)}}", [r"\(\frac{a}{b}\)"]),
        (r"{{c1::\(a^{b_{c}}\)}} d", [r"\(a^{b_{c}}\)"]),
        (r"{{c1::\(a^{b_{c_{d}}}\)::which?}}", [r"\(a^{b_{c_{d}}}\)"]),
        (r"\(x^{ {{c1::y_{z}}} }\)", ["y_{z}"]),
        (r"\({{c1::\frac{a}{b^{2}}}}\)", [r"\frac{a}{b^{2}}"]),
        (r"{{c1::\[ \{a\} \]}}", [r"\[ \{a\} \]"]),
        (r"{{c1::[latex]$x^{y^{z}}$[/latex]}}", ["[latex]$x^{y^{z}}$[/latex]"]),
        (r"{{c1::[$]x_{y_{z}}[/$]}} and {{c2::b}}", ["[$]x_{y_{z}}[/$]", "b"]),
        (
            r"{{c1::<anki-mathjax>x_{y_{z}}</anki-mathjax>}}",
            ["<anki-mathjax>x_{y_{z}}</anki-mathjax>"],
        ),
        # Where the formula's braces do not come out even, Anki's rule stands.
        (r"{{c1::\(a^{b\)}} c", [r"\(a^{b\)"]),
        (r"{{c1::\( {a }} b", [r"\( {a "]),
        (r"{{c1::\(a}} b {{c2::c\)}}", [r"\(a", r"c\)"]),
    ],
)
def test_what_is_deleted(markup: str, deleted: list[str]):
    assert texts(markup) == deleted


def test_hints():
    [one] = deletions(parse("{{c1::a::b::c}}"))
    assert (one.text(), one.hint) == ("a", "b::c")
    [outer, inner] = deletions(parse("{{c1::a {{c2::b::in}} c::out}}"))
    assert (outer.text(), outer.hint) == ("a b c", "out")
    assert (inner.text(), inner.hint) == ("b", "in")
    assert (
        question(parse("{{c1::a::}} {{c1::b::<i>h</i>}}"), 1)
        == '<span class="cloze">[]</span> <span class="cloze">[<i>h</i>]</span>'
    )


def test_cards_of_nested_deletions():
    parts = parse("x {{c1::a {{c2::b}} c}} {{c2::d}}")
    assert numbers(parts) == (1, 2)
    assert question(parts, 1) == 'x <span class="cloze">[...]</span> d'
    assert (
        question(parts, 2)
        == 'x a <span class="cloze">[...]</span> c <span class="cloze">[...]</span>'
    )
    assert answer(parts, 2) == 'x a <span class="cloze">b</span> c <span class="cloze">d</span>'
    assert expected(parts, 2) == "b, d"


def test_numbers_of_several_cards_and_of_none():
    assert numbers(parse("{{c3,1::a}} {{c0::b}}")) == (1, 3)
    assert question(parse("{{c0::b}} {{c1::a}}"), 1) == 'b <span class="cloze">[...]</span>'


@pytest.mark.slow
def test_deletions_stand_in_one_another_to_a_depth():
    deep = "{{c1::" * 50_000 + "a" + "}}" * 50_000
    assert len(list(deletions(parse(deep)))) == DEEPEST
    assert len(list(deletions(parse("{{c1::" * 50_000)))) == 0


ORDINARY = st.text(
    st.characters(exclude_characters="{}:\\[]<>", exclude_categories=["Cs"]), min_size=1, max_size=8
)


def _merged(parts: list[Part]) -> tuple[Part, ...]:
    made: list[Part] = []
    for part in parts:
        if isinstance(part, str) and made and isinstance(made[-1], str):
            made[-1] += part
        else:
            made.append(part)
    return tuple(made)


def deletion(inner: st.SearchStrategy[Part]) -> st.SearchStrategy[Deletion]:
    return st.builds(
        Deletion,
        st.lists(st.integers(0, 99), min_size=1, max_size=2).map(tuple),
        st.lists(inner, max_size=3).map(_merged),
        st.none() | ORDINARY,
    )


FORMULA = st.recursive(
    st.just("x"),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda p: f"{{{''.join(p)}}}"),
    max_leaves=6,
).map(lambda body: rf"\({body}\)")
FLAT: st.SearchStrategy[Part] = ORDINARY | FORMULA
PARTS = st.lists(FLAT | deletion(FLAT | deletion(FLAT)), max_size=4).map(_merged)


@given(PARTS)
def test_what_is_written_is_read_back_equal(parts: tuple[Part, ...]):
    # A hint after a nested deletion needs a text to stand in; without one it is read as the same
    # hint all the same.
    assert parse(write(parts)) == parts


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "{{c1::",
            "{{c2::",
            "}}",
            "{",
            "}",
            "::",
            r"\(",
            r"\)",
            r"\[",
            r"\]",
            "[latex]",
            "[/latex]",
            "[$]",
            "[/$]",
            "\\",
            "<anki-mathjax block>",
            "</anki-mathjax>",
            "a",
            "\n",
            "<br>",
            "{{c",
            "c1::",
            "&amp;",
        ]
    )
    | st.text(max_size=3),
    max_size=25,
).map("".join)


@given(FRAGMENTS)
@example("{{c1::" * 20)
def test_no_text_makes_it_fail_and_none_gets_lost(markup: str):
    parts = parse(markup)
    assert all(isinstance(p, (str, Deletion)) for p in parts)
    assert parse(write(parts)) is not None
    for number in numbers(parts):
        question(parts, number)
        answer(parts, number)
        expected(parts, number)
    # Without markup of deletions and hints, every character is where it was.
    if "::" not in re.sub(r"\{\{c[0-9]+::", "", markup):
        assert write(parts) == markup


@given(FRAGMENTS)
def test_without_formulas_it_is_anki_s_rule(markup: str):
    """A deletion ends at the next braces: no text of a card holds them."""
    plain = (
        markup.replace("\\", "")
        .replace("[", "")
        .replace("<", "")
        .replace("{{{", "{{")
        .replace("}}}", "}}")
    )
    for one in deletions(parse(plain)):
        assert "}}" not in one.text()


def shown(text: str) -> str:
    """The expected cards' questions are without tags, with their entities resolved and one blank
    for white space."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def test_every_card_of_a_real_deck_is_as_anki_shows_it(data: Callable[[str], Path]):
    folder = data("anki_eth_cs")
    notes = {n.id: n for n in read_anki(folder / "eth_cs_anki21b.apkg").notes}
    cards = [
        json.loads(line)
        for line in (folder / "eth_cs_expected_cards.jsonl").read_text("utf-8").splitlines()
    ]
    assert len(cards) == 904
    for card in cards:
        parts = parse(notes[card["guid"]].fields["Text"])
        assert shown(question(parts, card["ordinal"])) == card["question"]
        assert expected(parts, card["ordinal"]) == card["answer"]
    made = {
        (n.id, number)
        for n in notes.values()
        if n.clozed == ("Text",)
        for number in numbers(parse(n.fields["Text"]))
    }
    assert made == {(c["guid"], c["ordinal"]) for c in cards}
