"""Sentences that remember how they were made."""

from __future__ import annotations

import copy
import pickle

from konsil.errors.message import COMMA, TranslatableMessage, listed, message, translate


def shout(text: str) -> str:
    return (
        text.upper()
        .replace("{N", "{n")
        .replace("{WHAT", "{what")
        .replace("{SOME", "{some")
        .replace("{LAST", "{last")
    )


def test_a_text_is_its_english_sentence() -> None:
    text = message("{n:,} of {all} units", n=1200, all=3)
    assert text == "1,200 of 3 units"
    assert {text: 1}["1,200 of 3 units"] == 1


def test_what_is_said_within_is_told_too() -> None:
    inner = message("{n} cells", n=2)
    outer = message("no {what}", what=inner)
    assert outer.translated(shout, format) == "NO 2 CELLS"
    assert outer.translated(shout, lambda number, form: f"<{number}{form}>") == "NO <2> CELLS"


def test_lists_end_in_the_language() -> None:
    some = message("x {what}", what=listed([message("a"), "b", "c"]))
    assert some == "x a, b and c"
    assert some.translated(shout, format) == "X A, b AND c"
    assert message("{what}", what=listed(["a"])) == "a"
    assert message("{what}", what=listed([])) == ""
    assert message("{what}", what=listed(["a", "b"], end=COMMA)) == "a, b"


def test_copies_remember() -> None:
    text = message("{n} raters", n=4)
    for other in (copy.copy(text), copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert isinstance(other, TranslatableMessage)
        assert (other, other.template, other.values) == (text, "{n} raters", {"n": 4})


def test_plain_texts_stay() -> None:
    assert translate("physician {1}", shout, format) == "physician {1}"
