"""Marks of sources, bullets and emoji in one form; powers, units, ranges and dates stay what they
are."""

from __future__ import annotations

import time

import pytest

from konsil.instrument.screens.house_style import STYLED, alike, marks_of, without_marks
from konsil.instrument.screens.rendering import show
from konsil.instrument.screens.words import words
from konsil.records import Answer


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("It helps【3†source】.", "It helps [3]."),
        ("It helps[^3].", "It helps [3]."),
        ("It helps.³", "It helps. [3]"),
        ("It helps^3.", "It helps [3]."),
        ("It helps^3^.", "It helps [3]."),
        ("It helps<sup>[3]</sup>.", "It helps [3]."),
        ("It helps[3].", "It helps [3]."),
        ("It helps¹,².", "It helps [1][2]."),
        ("It helps [1] [2].", "It helps [1][2]."),
        ("It helps [1-3].", "It helps [1][2][3]."),
        ("• one\n‣ two\n🔹 three\n- four", "- one\n- two\n- three\n- four"),
        ("1️⃣ first", "1. first"),
        ("## 🩺 Therapy 💊", "## Therapy "),
        ("✅ yes, ❌ no ➡️ stop ⬆️", "✓ yes, ✗ no → stop ↑"),
    ],
)
def test_one_form(written: str, seen: str) -> None:
    assert STYLED.search(written)
    assert alike(written, marks_of(written, 3)) == seen


@pytest.mark.parametrize(
    "text",
    [
        "10⁹/L, 5 kg/m², Ca²⁺, 10^9, m^2, effect^2.5 and (x)²",
        "95% CI [1-3]; KI [1, 2]; a range of [5, 9]",
        "in (March 2020), (Stand 2021), (born in 1990), (since June 2019)",
        "♀ and ♂; ✓ ✗ → ↑ ★",
        "benzo[1,2-b] and f(x) [a] (b)",
        "[a guideline 2020](https://x.org/a)",
    ],
)
def test_what_is_no_mark_stays(text: str) -> None:
    assert alike(text, marks_of(text, 3)) == text
    assert without_marks(text) == text


def test_authors_and_years_are_numbered_behind_the_other_sources() -> None:
    text = (
        "Yes (Smith et al., 2020; Lee & Kim 2019). No [Smith et al., 2020]. Vgl. (vgl. Müller u. a."
        " 2018) [^4]."
    )
    marks = marks_of(text, 2)
    assert alike(text, marks) == "Yes [5][6]. No [5]. Vgl. [7][4]."
    assert marks.sources() == (
        "[5] Smith et al., 2020",
        "[6] Lee & Kim 2019",
        "[7] Müller u. a. 2018",
    )
    found = show(Answer("a", "i", "s", text), "", words("en"))
    assert found.sources == marks_of(text, 0).sources()
    assert without_marks(text).startswith("Yes. No.")


def test_the_text_arm_has_none_of_them() -> None:
    text = "It helps¹ much^2 (Smith 2020) indeed<sup>3</sup>【4†source】. 🎉"
    found = show(Answer("a", "i", "s", text), "text", words("en"))
    assert (found.text.strip(), found.sources) == ("It helps much indeed.", ())


@pytest.mark.parametrize(
    "text",
    [
        "(A" + " A" * 20_000,
        "(" + "Aa, " * 20_000,
        "[1" + ",1" * 20_000,
        "word" + "¹," * 20_000,
        "☀️" * 20_000 + "x",
        " " * 20_000 + "•",
        "(A 1990; " * 8_000,
        "<sup>" * 20_000,
        "[" * 20_000,
        "(ab" * 20_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    begun = time.process_time()
    alike(text, marks_of(text, 0))
    without_marks(text)
    STYLED.search(text)
    assert time.process_time() - begun < 5
