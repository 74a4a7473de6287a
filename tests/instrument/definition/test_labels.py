"""One label is read by the scale, never guessed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.instrument import (
    Criterion,
    Instrument,
    LabelError,
    Scale,
    digest,
    number_word,
    read_label,
)
from konsil.records.numerals import own_numbers

GRADE = Criterion("grade", "?", Scale(("1", "2", "3"), level="ordinal", abstain="?"))
HOURS = Criterion("hours", "?", Scale(kind="number", low=0, high=24))


@pytest.mark.parametrize("text", ["3", "3.0", "3.00", "3e0", "+3"])
def test_numbers_written_differently_are_one_label(text: str) -> None:
    assert read_label(GRADE, text) == ("rated", "3")
    assert read_label(HOURS, text) == ("rated", "3")


def test_an_abstention_is_no_label() -> None:
    assert read_label(GRADE, "?") == ("abstained", None)


@pytest.mark.parametrize("text", ["4", "", "three", "1, 2", "nan", "Yes"])
def test_what_is_not_on_the_scale_is_refused(text: str) -> None:
    with pytest.raises(LabelError, match="is not a label of criterion 'grade'"):
        read_label(GRADE, text)


def test_case_matters_and_is_hinted_at() -> None:
    with pytest.raises(LabelError, match="did you mean 'Yes'"):
        read_label(Criterion("c", "?", Scale(("No", "Yes"))), "yes")


@pytest.mark.parametrize("text", ["nan", "inf", "soon", "", "1,5"])
def test_a_number_is_a_finite_number(text: str) -> None:
    with pytest.raises(LabelError, match="is not a number, as criterion 'hours' expects"):
        read_label(HOURS, text)


@pytest.mark.parametrize("text", ["-1", "24.5", "1e9"])
def test_a_number_is_within_its_range(text: str) -> None:
    with pytest.raises(LabelError, match="is outside 0 to 24, the range of criterion 'hours'"):
        read_label(HOURS, text)


def test_a_text_is_taken_as_it_is() -> None:
    assert read_label(Criterion("why", "?", Scale(kind="text")), " 3.0 ") == ("rated", " 3.0 ")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_equal_and_has_one_word(number: float) -> None:
    word = number_word(number)
    assert float(word) == number
    assert number_word(float(word)) == word


def test_the_digest_changes_with_everything_a_rater_sees() -> None:
    form = Instrument("form", (GRADE,), codebook="# a")
    others = [
        replace(form, codebook="# b"),
        replace(form, criteria=(replace(GRADE, question="Really?"),)),
        replace(form, criteria=(replace(GRADE, guidance="Look twice."),)),
        replace(form, show_reference=True),
    ]
    assert len({digest(i) for i in (form, *others)}) == 5
    assert digest(form) == digest(replace(form))


@given(
    st.floats(-1e6, 1e6, allow_nan=False), st.sampled_from(("{!r}", "{:+.3f}", " {:.1f}", "{:e}"))
)
def test_a_number_is_its_own_number_with_a_point_or_a_comma(number: float, form: str) -> None:
    text = form.format(number)
    assert own_numbers((text,)) == (float(text),)
    # Beside a label whose comma is a decimal one, every comma is.
    assert own_numbers((text.replace(".", ","), "0,5")) == (float(text), 0.5)


@pytest.mark.parametrize(
    "text", ["nan", "inf", "1_000", "1.2.3", "1,2,3", "1e999", "0x10", "\u0663", "4 of 5"]
)
def test_what_is_no_number(text: str) -> None:
    assert own_numbers((text, "1,5")) == (None, 1.5)


def test_a_comma_that_may_group_thousands_is_settled_by_another_label() -> None:
    scale = Scale(("1,125", "1,25"), level="ordinal")
    assert scale.numbers() == (1.125, 1.25)
    assert read_label(Criterion("c", "?", scale), "1.125") == ("rated", "1,125")
    assert Scale(("1,125", "2"), level="ordinal").numbers() == (0, 1)
    for text in ("0,125", "1234,567"):
        assert own_numbers((text,)) == (float(text.replace(",", ".")),)
