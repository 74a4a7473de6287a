"""Replies with sections: reasoning and final response apart, whatever signs stand around the
headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import StudyError
from konsil.study.sections.calling import settings_of
from konsil.study.sections.section_split import parted

SECTIONS = ("Thinking", "Final Response")


@pytest.mark.parametrize(
    "text",
    [
        "Thinking:\nT one\nT two\nFinal Response:\nF",
        "## Thinking\nT one\nT two\n\n## Final Response\nF",
        "**Thinking**\n\nT one\nT two\n\n**Final Response**\n\nF\n",
        "**Thinking:** T one\nT two\n**Final Response:** F",
        "1. Thinking: T one\nT two\n2. Final  response: F",
        "### **1. THINKING**\nT one\nT two\n### **2. FINAL RESPONSE**\nF",
        "T one\nT two\nFinal Response\nF",
        "  __Thinking__\r\nT one\nT two\n__Final Response__:\r\nF",
    ],
)
def test_headings_as_models_write_them(text: str) -> None:
    assert parted(text, SECTIONS) == ("T one\nT two", "F")


def test_what_is_no_heading_stays() -> None:
    for text in (
        "My final response: gout.",
        "Final responses are hard.",
        "Gout\nFinal Response:\n",
        "",
    ):
        assert parted(text, SECTIONS) == ("", text)
    assert parted("Thinking: a\nFinal Response: b", ()) == ("", "Thinking: a\nFinal Response: b")


def test_the_last_final_heading_counts() -> None:
    text = "Thinking:\nFinal Response: not yet\nmore\nFinal Response:\ngout\nThinking: of gout"
    assert parted(text, SECTIONS) == ("Final Response: not yet\nmore", "gout\nThinking: of gout")


@given(st.text(), st.text())
def test_no_letter_is_lost(one: str, other: str) -> None:
    text = f"Thinking:\n{one}\nFinal Response:\n{other}"
    reasoning, final = parted(text, SECTIONS)
    assert reasoning in text
    assert final in text
    if other.strip() and "final" not in other.casefold():
        assert final == other.strip()
        assert reasoning in (one.strip(), text[: text.rindex("\nFinal")].strip())


@pytest.mark.parametrize("sections", [["Final"], ["A", "a "], ["A", "B", "C"], ["", "B"]])
def test_sections_are_two_headings(sections: list[str]) -> None:
    with pytest.raises(StudyError, match="sections: expected two different headings"):
        settings_of({"sections": sections}, "settings")
