"""Columns, labels and numbers as a request states them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from konsil.errors import AnalysisError, option
from konsil.instrument import number_word
from konsil.records.numerals import own_numbers


def as_columns(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of columns, of which there may be one or none."""
    return (names,) if isinstance(names, str) else tuple(names or ())


def words_of_labels(labels: Sequence[str | float]) -> tuple[str, ...]:
    """Stated labels as words.

    >>> words_of_labels((1.0, "yes", 2))
    ('1', 'yes', '2')
    """
    return tuple(
        number_word(float(v)) if isinstance(v, float) and math.isfinite(v) else str(v)
        for v in labels
    )


def numbers_of(values: Sequence[str | float]) -> tuple[float, ...]:
    """The stated numbers of labels; refuse what is none."""
    texts = [v if isinstance(v, str) else repr(float(v)) for v in values]
    numbers = own_numbers(texts)
    for text, number in zip(texts, numbers, strict=True):
        if number is None:
            raise AnalysisError(f"{option('values')}: {text!r} is not a number")
    return tuple(number for number in numbers if number is not None)
