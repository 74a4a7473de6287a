"""Labels of a table that may be none: codes for missing values, and spellings of one label."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

import polars as pl

from konsil.analysis.model.message import TranslatableMessage, listed, message
from konsil.analysis.roles.reading import COMPARISONS, StatedRoles, TableReading
from konsil.analysis.roles.vocabulary import NO_ANSWER, NO_CELL, TRUTH_VALUES
from konsil.errors import option
from konsil.records.numerals import is_number, number_of

_CODE = re.compile(r"-?(9+|66+|77+|88+)|-\d")
"""Whole numbers that usually mean: not rated."""
_DIGIT, _TWO_DIGITS = 9, 99
_RATED = 12
"""The highest label of a rating scale, above which 66 to 99 may be a measured number."""
_BESIDE = 2
"""The highest label from which on a lone -1 beside 0 is no part of a scale around 0."""
_OTHER_CELLS = COMPARISONS | {"counts", "cross-table", "lists", "rows-to-combine"}
"""Shapes of which cells are no single labels of a rater, or are summed."""


def unclear_labels(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> Iterator[TranslatableMessage]:
    """What is asked of the labels of a table, as whether 99 among 1 to 5 is a label."""
    if has_names_again(frame, reading):
        yield message(
            "A row repeats the names of the columns: leave it out of the table.",
            message_id="roles.names_again",
        )
    answers = dict(label_arguments(frame, reading, stated))
    if "missing" in answers:
        yield message(
            "{codes} may be codes for missing values and no labels: state them with {missing}, or"
            " all labels with {labels}.",
            message_id="roles.may_be_missing",
            codes=listed([repr(code) for code in answers["missing"]]),
            missing=option("missing", example="[...]"),
            labels=option("labels", example="[...]"),
        )
    if "recode" in answers:
        yield message(
            "Labels differ only in case or spaces ({spellings}): state which are the same with"
            " {recode}, or all labels with {labels}.",
            message_id="roles.may_be_spellings",
            spellings=", ".join(answers["recode"]),
            recode=option("recode", example="{...}"),
            labels=option("labels", example="[...]"),
        )


def has_names_again(frame: pl.DataFrame, reading: TableReading) -> bool:
    """Whether a row has the names of the columns, as where tables were copied one below another."""
    names = [name for name in dict.fromkeys(reading.columns) if name in frame.columns]
    rows = frame
    for name in names:
        rows = rows.filter(pl.col(name).cast(pl.String) == name)
    return len(names) > 1 and not rows.is_empty()


def label_arguments(
    frame: pl.DataFrame, reading: TableReading, stated: StatedRoles
) -> list[tuple[str, tuple[str, ...]]]:
    """The options that state which labels are none, and which are the same.

    None where all labels are stated, or labels of this kind. Criteria in columns of their own may
    have scales of their own.
    """
    if stated.scale or reading.split or reading.shape in _OTHER_CELLS:
        return []
    rated = [name for name in reading.rated if name in frame.columns]
    aside = {*stated.missing, *stated.recoded, stated.abstain}
    parts = [[name] for name in rated] if reading.criteria else [rated]
    words = [_words(frame, names) - aside for names in parts]
    options: list[tuple[str, tuple[str, ...]]] = []
    if not {*stated.missing} - {""}:
        options.append(("missing", _each_once(map(_codes, words))))
    if not stated.recoded:
        options.append(("recode", _each_once(map(_recodings, words))))
    return [(name, values) for name, values in options if values]


def _each_once(parts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


def _words(frame: pl.DataFrame, names: Collection[str]) -> set[str]:
    """The different cells of some columns that have a value."""
    cells = (str(v).strip() for name in names for v in frame[name].drop_nulls().unique())
    return {cell for cell in cells if cell.casefold() not in NO_CELL - NO_ANSWER}


def _codes(words: Collection[str]) -> tuple[str, ...]:
    """The words and numbers that probably mean: not rated."""
    answers = {word for word in words if word.casefold() in NO_ANSWER}
    labels = {*words} - answers
    if len(labels) < _FEWEST:
        return ()
    if any(word.startswith("+") for word in labels):
        answers -= {"-"}
    return (*codes_among(labels), *sorted(answers))


def _recodings(words: Collection[str]) -> tuple[str, ...]:
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
    while len(labels) > _FEWEST and labels[-1] in usual and _is_far_above(labels):
        codes.add(labels.pop())
    while negative and len(labels) >= _FEWEST and _is_far_below(negative, labels):
        codes.add(negative.pop(0))
    return tuple(sorted((w for w in words if number_by_word[w] in codes), key=number_of))


_FEWEST = 2
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
