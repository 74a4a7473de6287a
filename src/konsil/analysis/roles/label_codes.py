"""Labels that may be none: codes for missing values, words among numbers, and other spellings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence

from konsil.analysis.roles.vocabulary import (
    CANNOT_JUDGE,
    NO_ANSWER,
    NO_NUMBER,
    TRUTH_VALUES,
    known_pair,
)
from konsil.records.numerals import is_number, number_of

_CODE = re.compile(r"-?(9+|66+|77+|88+)|-\d")
"""Whole numbers that usually mean: not rated."""
_DIGIT, _TWO_DIGITS = 9, 99
_RATED = 12
"""The highest label of a rating scale, above which 66 to 99 may be a measured number."""
_BESIDE = 2
"""The highest label from which on a lone -1 beside 0 is no part of a scale around 0."""


def codes_of(words: Collection[str]) -> tuple[str, ...]:
    """The words and numbers that probably mean: not rated."""
    answers = {word for word in words if word.casefold() in NO_ANSWER}
    labels = {*words} - answers
    if len(labels) < FEWEST:
        return ()
    if any(word.startswith("+") for word in labels):
        answers -= {"-"}
    strangers = strangers_among(labels)
    answers |= strangers - {*abstentions_of(words)}
    return (*codes_among(labels - strangers), *sorted(answers))


def abstentions_of(words: Collection[str]) -> tuple[str, ...]:
    """The words beside numbers that probably mean: a rater cannot judge."""
    return tuple(w for w in sorted(strangers_among(words)) if w.casefold() in CANNOT_JUDGE)


def strangers_among(words: Collection[str]) -> set[str]:
    """The words beside numbers that are hardly labels like these: fewer than half as many.

    >>> strangers_among(["1", "2", "3", "?"]), strangers_among(["1", "2", "5+", "true"])
    ({'?'}, set())
    """
    numbers = {word for word in words if is_number(word)}
    others = {
        word
        for word in {*words} - numbers
        if word.casefold() not in TRUTH_VALUES | NO_NUMBER and not any(map(str.isdigit, word))
    }
    # Signs such as + and ++ are a scale with 0; yes and no are the labels of another rater.
    is_scale = len(numbers) < FEWEST or 2 * len(others) > len(numbers)
    is_scale = is_scale or (len(others) > 1 and known_pair([*others]) is not None)
    return set() if is_scale else others


def recodings_of(words: Collection[str]) -> tuple[str, ...]:
    """Each label as the last one that differs from it in its spelling alone: 'Yes=yes'.

    True and false are one label each anyway.
    """
    groups = [g for g in alike(sorted(words)) if g[0].casefold() not in TRUTH_VALUES]
    return tuple(f"{word}={last}" for *others, last in groups for word in others)


def alike(words: Sequence[str]) -> list[list[str]]:
    """The groups of words that differ in case, spaces or width of letters alone.

    >>> alike(["No", "Yes", "no", "y es"])
    [['No', 'no'], ['Yes', 'y es']]
    """
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(
            "".join(unicodedata.normalize("NFKC", word).casefold().split()), []
        ).append(word)
    return [group for group in groups.values() if len(group) > 1]


def codes_among(words: Collection[str]) -> tuple[str, ...]:
    """The words among whole numbers that are probably codes for missing values, the lowest first.

    A number such as 99 is one where it is as far above all others as they are apart, and 9 above
    labels without a gap. Negative ones are where a gap separates them from the labels, and a lone
    -1 beside 0 to 2 or more; those of a scale around 0, such as -2 to 2, are none.

    >>> codes_among(["1", "3", "2", "99", "-1"]), codes_among(["0", "1", "9"])
    (('-1', '99'), ('9',))
    >>> codes_among(["-2", "1", "2"]), codes_among(["1", "7", "9"]), codes_among(["20", "30", "88"])
    ((), (), ())
    """
    if not all(is_number(word, ".") for word in words):
        return ()
    number_by_word = {word: number_of(word) for word in words}
    usual = {n for n in number_by_word.values() if _CODE.fullmatch(f"{n:g}")}
    negative = sorted(n for n in number_by_word.values() if n < 0)
    labels = sorted({*number_by_word.values()} - {*negative})
    if any(n % 1 for n in number_by_word.values()) or not {*negative} <= usual:
        return ()
    codes: set[float] = set()
    while len(labels) > FEWEST and labels[-1] in usual and _is_far_above(labels):
        codes.add(labels.pop())
    while negative and len(labels) >= FEWEST and _is_far_below(negative, labels):
        codes.add(negative.pop(0))
    return tuple(sorted((w for w in words if number_by_word[w] in codes), key=number_of))


FEWEST = 2
"""Labels beside which another number can be a code."""


def _is_far_above(labels: Sequence[float]) -> bool:
    """Whether the last of some whole numbers is no label like the others."""
    *others, code = labels
    span = others[-1] - others[0]
    is_run = code > _DIGIT or span == len(others) - 1
    is_rated = code > _TWO_DIGITS or others[-1] <= _RATED
    return is_run and is_rated and code - others[-1] >= max(_GAP, span)


def _is_far_below(negative: Sequence[float], labels: Sequence[float]) -> bool:
    """Whether the first of some negative numbers is no label like those from 0 on."""
    if negative[0] == -labels[-1]:
        return False
    others = [*negative[1:], *labels]
    is_lone = len(negative) == 1 and negative[0] == -1 and labels[-1] >= _BESIDE
    is_apart = labels[0] - negative[-1] >= _GAP or others[0] - negative[0] >= max(
        _GAP, labels[-1] - others[0]
    )
    return is_lone or is_apart


_GAP = 2
"""The distance from which on whole numbers are not next to each other."""
