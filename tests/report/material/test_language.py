"""The report's language: sentences with numbers in German style, statistics' titles, decimal
marks."""

from __future__ import annotations

import copy

import pytest

from konsil.errors.message import message
from konsil.report.material.language import ENGLISH, language
from konsil.report.material.tables import Numbers


def test_a_sentence_with_an_id_is_translated_by_it_and_falls_back_to_english() -> None:
    sentence = message("{n} intervals", message_id="interval.count", n=2)
    assert (
        sentence.translated(
            lambda text: {"interval.count": "{n} Intervalle"}.get(text, text), format
        )
        == "2 Intervalle"
    )
    assert sentence.translated(lambda text: text, format) == "2 intervals"
    assert copy.deepcopy(sentence).message_id == "interval.count"


def test_a_german_sentence_has_german_numbers() -> None:
    text = message(
        "The bootstrap CI is {times:.2f} times as wide as the cluster-robust Wald CI.",
        message_id="interval.wider_than_wald",
        times=1.234,
    )
    assert text == "The bootstrap CI is 1.23 times as wide as the cluster-robust Wald CI."
    assert Numbers(language("de")).translated(text).startswith("Das Bootstrap-KI ist 1,23-mal")
    assert (
        Numbers(language("de")).translated(
            message(
                "{n:,} {n|rating|ratings} ({reason})",
                n=12345,
                reason=message("no time recorded", message_id="term.no_time"),
            )
        )
        == "12\u202f345 Bewertungen (keine Zeit verzeichnet)"
    )
    assert Numbers(language("de")).translated("a name") == "a name"


@pytest.mark.parametrize(
    ("code", "spoken"),
    [
        ("de", language("de")),
        ("de-AT", language("de")),
        ("DE", language("de")),
        ("en", ENGLISH),
        ("fr", ENGLISH),
        ("xx", ENGLISH),
    ],
)
def test_language_of_a_code(code: str, spoken: object) -> None:
    assert language(code) is spoken


@pytest.mark.parametrize(
    ("n", "english", "german"),
    [
        (1, "1 item is excluded", "1 Item ist ausgeschlossen"),
        (2, "2 items are excluded", "2 Items sind ausgeschlossen"),
    ],
)
def test_one_is_told_in_the_singular(n: int, english: str, german: str) -> None:
    sentence = message("{n} {n|item is|items are} excluded", message_id="x.y", n=n)
    assert sentence == english
    in_german = {"x.y": "{n} {n|Item ist|Items sind} ausgeschlossen"}
    assert sentence.translated(lambda text: in_german.get(text, text), format) == german
