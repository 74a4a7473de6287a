"""What models write is harmless on the page, and nothing of what they said is lost."""

from __future__ import annotations

import html as html_lib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.instrument.screens.rendering import Piece
from konsil.web.rating.text.richtext import TAGS, html_of, source_of

ALLOWED = re.compile(
    r"</?(?:"
    + "|".join(sorted(TAGS))
    + r")>|<ol start=\"\d+\">|<mark data-sentence=\"\d+\">|</mark>"
    r"|<a(?: (?:href=\"https?://[^\"<>]*\"|target=\"_blank\"|rel=\"noopener noreferrer"
    r" nofollow\"))*>|<br>|<hr>"
)


def words(html: str) -> str:
    return html_lib.unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("Dose <5 mg/dL and p<0.05", "Dose <5 mg/dL and p<0.05"),
        ("a <b>bold</b> claim", "a <b>bold</b> claim"),
        ("x ![photo](https://evil.example/x.png) y", "x [photo] y"),
        ("5 * 3 * 2", "5 * 3 * 2"),
        ("~~old~~ new", "old new"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](/leave)", "[x](/leave)"),
    ],
)
def test_texts_survive(source: str, wanted: str) -> None:
    assert words(html_of(source)).strip() == wanted


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,x)",
        "<a href='https://x.org' onclick='x()'>y</a>",
        '[x](https://x.org "t\\" onmouseover=alert(1) y=\\"")',
        "<https://x.org/'\"><script>>",
        "[a]: javascript:alert(1)\n\n[a]",
        "<style>body{display:none}</style>",
        "[x](vbscript:x) [y](JaVaScRiPt:x) [z](//evil.example/x)",
        "`<svg onload=alert(1)>`",
    ],
)
def test_nothing_runs(source: str) -> None:
    html = html_of(source)
    for tag in re.findall(r"<[^>]*>", html):
        assert ALLOWED.fullmatch(tag), tag


@given(
    st.text(
        alphabet="ab<>&\"'()[]!*_~`#-|\\\n :/\U000f0000\U000fffff" + "javscript:https", max_size=80
    )
)
@settings(max_examples=150, deadline=None)
def test_nothing_gets_through_whatever_is_written(source: str) -> None:
    for tag in re.findall(
        r"<[^>]*>", html_of(source_of([Piece(source), Piece(source, 0), Piece("end")]))
    ):
        assert ALLOWED.fullmatch(tag), tag


def test_headings_do_not_tell_systems_apart() -> None:
    assert html_of("# A\n\n### B\n\nC\n===") == html_of("#### A\n\n#### B\n\n#### C")


@pytest.mark.parametrize(
    ("pieces", "marked"),
    [
        (["One. ", 0, "Two. ", 1, "Three."], ["One.", "Two."]),
        (["- first.", 0, "\n", None, "- second.", 1], ["first.", "second."]),
        (["**Bold one.**", 0, " and ", None, "a *half* one.", 1], ["Bold one.", "a half one."]),
        (["## Head.", 0, "\n\n", None, "1. Item <5.", 1], ["Head.", "Item <5."]),
        (["A sentence\n\n- with a list.", 0], ["A sentencewith a list."]),
        (["| a | b |\n|---|---|\n", None, "| 1 | 2 |", 0], ["12"]),
    ],
)
def test_sentences_are_marked_where_they_stand(pieces: list[object], marked: list[str]) -> None:
    made, n = [], 0
    while n < len(pieces):
        span = pieces[n + 1] if n + 1 < len(pieces) and not isinstance(pieces[n + 1], str) else None
        made.append(Piece(str(pieces[n]), span))  # type: ignore[arg-type]
        n += 1 if n + 1 >= len(pieces) or isinstance(pieces[n + 1], str) else 2
    html = html_of(source_of(made))
    plain = html_of("".join(p.text for p in made))
    assert re.sub(r"</?mark[^>]*>", "", html) == plain, "marks change nothing else"
    for number, text in enumerate(marked, start=1):
        runs = re.findall(rf'<mark data-sentence="{number}">(.*?)</mark>', html, re.DOTALL)
        assert words("".join(runs)) == text


@pytest.mark.parametrize(
    "alike",
    [
        ("- a\n- b", "* a\n* b", "+ a\n+ b"),
        ("1. a\n2. b", "1) a\n2) b"),
        ("**a** and *b*", "__a__ and _b_"),
        ("a\n\n---\n\nb", "a\n\n***\n\nb", "a\n\n___\n\nb"),
        ("```python\nx\n```", "~~~\nx\n~~~", "```\nx\n```"),
        ("| a |\n|---|\n| 1 |", "|a|\n|:-:|\n|1|"),
        ("[x](https://x.org 'By a vendor')", "[x](https://x.org)", "[x](<https://x.org>)"),
    ],
)
def test_the_manners_of_markdown_do_not_tell_systems_apart(alike: tuple[str, ...]) -> None:
    assert len({html_of(source) for source in alike}) == 1
