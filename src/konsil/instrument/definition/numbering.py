"""Which numbers labels are: declared ones, their own where they are numbers, or their places."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
"""A comma that separates thousands or decimals, which the label alone does not decide."""


def own_numbers(labels: Sequence[str]) -> tuple[float | None, ...]:
    """The number that each label is; None of a label that is none.

    A point is a decimal point, and a comma a decimal comma. 1,234 is a number only beside a label
    whose comma is a decimal one, such as 1,5: alone it may be a thousand. The rule is that of
    studies, of tables and of values that are compared with labels.

    >>> own_numbers(("1", "4.0", "-1", "\u22120,5", "2e1")), own_numbers(("yes", "nan", ""))
    ((1.0, 4.0, -1.0, -0.5, 20.0), (None, None, None))
    >>> own_numbers(("1,234", "2")), own_numbers(("1,234", "1,5"))
    ((None, 2.0), (1.234, 1.5))
    """
    texts = [label.strip().replace("\u2212", "-") for label in labels]
    settled = any(
        "," in text and _NUMBER.fullmatch(text) and not _GROUPED.fullmatch(text) for text in texts
    )
    return tuple(_number(text, settled=settled) for text in texts)


def label_numbers(
    labels: Sequence[str], level: str, declared: Mapping[str, float] | None = None
) -> tuple[float, ...] | None:
    """The numbers of a scale's labels, in their order: the one decision for studies and tables.

    These are the `declared` numbers where each label has one, or else the labels themselves where
    all are numbers. Words of a nominal or ordinal scale have their places 0, 1, 2, ... None: words
    of an interval or ratio scale, whose distances nobody stated.

    >>> label_numbers(("1", "2", "10"), "ordinal"), label_numbers(("mild", "severe"), "ordinal")
    ((1.0, 2.0, 10.0), (0.0, 1.0))
    >>> label_numbers(("mild", "severe"), "interval"), label_numbers(("a",), "ratio", {"a": 3})
    (None, (3.0,))
    """
    if declared and all(label in declared for label in labels):
        return tuple(float(declared[label]) for label in labels)
    of_labels = tuple(number for number in own_numbers(labels) if number is not None)
    if len(of_labels) == len(labels):
        return of_labels
    return None if level in {"interval", "ratio"} else places(labels)


def places(labels: Sequence[str]) -> tuple[float, ...]:
    """The labels' places in their order: 0, 1, 2, ..."""
    return tuple(map(float, range(len(labels))))


def rise(numbers: Sequence[float]) -> bool:
    """Whether each number is greater than the one before."""
    return all(low < high for low, high in pairwise(numbers))


def _number(text: str, *, settled: bool) -> float | None:
    if not _NUMBER.fullmatch(text) or (_GROUPED.fullmatch(text) and not settled):
        return None
    number = float(text.replace(",", "."))
    # Minus zero, which programs write after a multiplication by -1, is zero.
    return number + 0.0 if math.isfinite(number) else None
