"""Which numbers labels are: declared ones, their own where they are numbers, or their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from konsil.records.numerals import own_numbers


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
