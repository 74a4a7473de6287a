"""HTML of flash cards as plain text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.prepare.text.plain import has_media, plain


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("  a  b\nc ", "a b c"),
        ("a<br>b<br/>c<BR />d", "a\nb\nc\nd"),
        ("<div>a</div><div>b<br></div><div><br></div>c", "a\nb\nc"),
        ("x:<ul><li>a</li><li>b</li></ul>y", "x:\n- a\n- b\ny"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ("a&nbsp;&nbsp;b&thinsp;c\u202fd", "a b c d"),
        ("&lt;b&gt; &amp;amp; &#228;&auml; &unknown;", "<b> &amp; ää &unknown;"),
        ("1 < 2 und 3 > 2", "1 < 2 und 3 > 2"),
        ("Übel&shy;keit", "Übelkeit"),
        ("a\u200bb\ufeff", "ab"),
        ("<!-- nein -->ja<!-- offen", "ja<!-- offen"),
        ("<style>.a{}</style>a<script>b()</script><header>c</header>", "a\nc"),
        ("<span style=\"a > b\" title='<b>'>x</span>", "x"),
        ("<pre>a\n  b</pre>", "a\nb"),
        ("Ca<sup>2+</sup>, H<sub>2</sub>O, 10<sup>-3</sup>", "Ca²⁺, H₂O, 10⁻³"),
        ("V<sub>max</sub>, p<sub>O2</sub>, x<sup>a b</sup>", "Vₘₐₓ, p_O2, x^(a b)"),
        ("x<sub><b>i</b></sub>", "xi"),
        ("[$]x^2[/$] [$$]y[/$$] <anki-mathjax>z</anki-mathjax>", r"\(x^2\) \[y\] \(z\)"),
        (r"\(a &lt; b\) [latex]$c$[/latex]", r"\(a < b\) [latex]$c$[/latex]"),
        ("a<img src='x.png' alt='y'>b", "a [image] b"),
        ("[sound:a.mp3] a <video src='b'></video>", "[sound] a [video]"),
        ("[anki:tts lang=de_DE]hallo[/anki:tts]", "hallo"),
        ("[eckig] und [[doppelt]]", "[eckig] und [[doppelt]]"),
        ("a\x00\x07b", "ab"),
        ("&#0;&#xD800;", "\ufffd\ufffd"),
    ],
)
def test_plain(html: str, text: str):
    assert plain(html) == text


def test_indices_on_the_line():
    assert plain("Ca<sup>2+</sup>", indices=False) == "Ca2+"


def test_words_for_media():
    german = {"image": "[Bild]", "sound": "[Ton]", "video": "[Film]"}
    assert plain("<img>[sound:x]", media=german) == "[Bild] [Ton]"


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<img src=x>", True),
        ("<IMG>", True),
        ("<svg/>", True),
        ("[sound:x.mp3]", True),
        ("{{c1::image-occlusion:rect:left=.1}}", True),
        ("<imgage>", False),
        ("&lt;img&gt;", False),
        ("ein Bild", False),
    ],
)
def test_media(html: str, found: bool):
    assert has_media(html) is found


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_becomes_tidy_text(text: str):
    made = plain(text)
    assert made == made.strip()
    assert "\n\n" not in made
    assert "  " not in made
    assert "\0" not in made


@given(st.text(st.sampled_from(list("abcäöüß ,.-:()")), max_size=60))
def test_what_is_plain_stays(text: str):
    assert plain(text) == " ".join(text.split()).removeprefix("-" if text.strip() == "-" else "")


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        '<a "',
        "<a '",
        "<!--",
        "<script",
        "<style>",
        "<header",
        "[$]",
        "[$$]",
        "<anki-mathjax>",
        "<sub>",
        "[sound:",
        "&#",
        "[anki:",
        "\n ",
        "<sup>x",
    ],
)
@pytest.mark.slow
def test_hostile_texts_take_no_longer_than_others(piece: str):
    """A hundred thousand beginnings without an end: what grew with their square would take
    minutes."""
    started = time.process_time()
    plain(piece * 100_000)
    has_media(piece * 100_000)
    assert time.process_time() - started < 8
