"""Bounds for missing judgements, joint adjustment of tests, and ranges of numbers in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from konsil.analysis.model.results import Bounds
from konsil.errors.message import message
from konsil.report.material.overview import Material
from konsil.report.material.tables import Cell


def case_cell(material: Material, bounds: Bounds | None) -> Cell:
    """The range that missing judgements leave open, and how many they are."""
    if bounds is None:
        return Cell("", number=True)
    numbers = material.numbers
    missing = f"({numbers.count(bounds.n_missing)})"
    return Cell(f"{numbers.interval(bounds.low, bounds.high) or '–'} {missing}", number=True)


def notes(material: Material, *, together: bool, bounds: bool) -> Iterator[str]:
    """What the columns mean."""
    _ = material.language.gettext
    if together:
        yield material.numbers.translated(
            message(
                (
                    "max-T: p value adjusted over all declared win differences and mean"
                    " preferences together, using their correlations due to common items and"
                    " raters."
                ),
                message_id="two_way.max_t_column",
            )
        )
    if bounds:
        yield _(
            "Worst-case bounds: lowest and highest possible estimate if the missing"
            " ratings (number given) had any labels. Blank: none missing; dash: not"
            " available."
        )


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
"""A number as either language writes it."""


def _size(number: str) -> float:
    """What a written number is worth: three digits after a mark are thousands, fewer a fraction."""
    return float(re.sub(r"[.,](?=\d{3}(?:\D|$))", "", number).replace(",", "."))


def alike_key(method: str) -> str:
    """What methods have in common that differ in numbers only.

    >>> alike_key("t with 8.5 degrees")
    't with # degrees'
    """
    return _NUMBER.sub("#", method)


def alike(methods: Sequence[str]) -> list[str]:
    """Methods that differ in one number only, as one with that number's range.

    >>> alike(["t with 9 degrees", "t with 8.5 degrees", "t with 62.1 degrees"])
    ['t with 8.5–62.1 degrees']
    """
    families: dict[str, list[list[str]]] = {}
    for method in dict.fromkeys(methods):
        families.setdefault(alike_key(method), []).append(_NUMBER.findall(method))
    merged = []
    for pattern, numbers in families.items():
        parts = pattern.split("#")
        columns = [sorted(set(column), key=_size) for column in zip(*numbers, strict=True)]
        ranges = [
            column[0] if len(column) == 1 else f"{column[0]}–{column[-1]}" for column in columns
        ]
        merged.append("".join(a + b for a, b in zip(parts, [*ranges, ""], strict=True)))
    return merged
