"""Numbers of a table's cells, one by one: an estimate and its limits are three cells of a sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from konsil.errors.message import message
from konsil.report.material.language import Language
from konsil.report.material.tables import MINUS, THIN, Numbers

_N = r"[-\u2212]?\d[\d\u202f]*(?:[.,]\d+)?"
"""A number as tables have it."""


@dataclass(frozen=True)
class NumberParts:
    """The cells of one column of numbers as one or several columns."""

    names: tuple[str, ...]
    """What each column has; empty: that of the head alone."""
    rows: tuple[list[str | float | None], ...]
    """For each row a value for each column; a text where a cell is no number."""


def number_parts(texts: Sequence[str], language: Language) -> NumberParts:
    """Split the texts of a column into their numbers.

    >>> from konsil.report.material.language import ENGLISH
    >>> split = number_parts(["0.612 [0.540, 0.684]", "undefined"], ENGLISH)
    >>> split.names
    ('', 'lower', 'upper')
    >>> split.rows
    ([0.612, 0.54, 0.684], ['undefined', None, None])
    """
    _ = language.gettext
    words = {"low": _("lower"), "high": _("upper"), "n": "n", "all": "N", "percent": "%"}
    words |= {"spread": "SD", "value": "", "first": _("first group"), "second": _("second group")}
    cells = [_values(text, language) for text in texts]
    present = {name for cell in cells for name in cell}
    names = [name for name in _ORDER if name in present]
    has_texts = any(text and not cell for cell, text in zip(cells, texts, strict=True))
    if not names or (has_texts and "value" not in names):
        names.insert(0, "value")
    rows: list[list[str | float | None]] = []
    for cell, text in zip(cells, texts, strict=True):
        if cell:
            rows.append([cell.get(name) for name in names])
        else:
            rows.append([text or None, *[None] * (len(names) - 1)])
    return NumberParts(tuple(words[name] for name in names), tuple(rows))


_ORDER = ("value", "n", "all", "percent", "first", "second", "spread", "low", "high")


def _values(text: str, language: Language) -> dict[str, float]:
    """The numbers of a cell by what they are; none where it is no number."""
    unit = rf"(?:{re.escape(language.per_cent)})?"
    limits_words = message("{low} to {high}", message_id="answer.limits", low="", high="")
    between = Numbers(language).translated(limits_words)
    to = f"{re.escape(language.between)}|{re.escape(between)}"
    limits = rf"(?:\[(?P<low>{_N})(?:{to})(?P<high>{_N})\]|(?P<low2>{_N})(?:{to})(?P<high2>{_N}))"
    forms = (
        rf"(?P<value>{_N}){unit}(?: {limits})?",
        rf"(?P<value>{_N}){unit} \((?P<low>{_N})(?:{to})(?P<high>{_N})\)",
        limits,
        rf"(?P<n>{_N})/(?P<all>{_N}) \((?P<percent>{_N}){re.escape(language.per_cent)}\)",
        rf"(?P<n>{_N}) \((?P<percent>{_N}){re.escape(language.per_cent)}\)",
        rf"(?P<value>{_N}) \((?P<spread>{_N})\)",
        rf"(?P<first>{_N}) / (?P<second>{_N})",
    )
    for form in forms:
        match = re.fullmatch(form, text.replace("\u00a0", " "))
        if match is not None:
            groups = {k.rstrip("2"): v for k, v in match.groupdict().items() if v is not None}
            return {name: _number(value, language) for name, value in groups.items()}
    return {}


def _number(text: str, language: Language) -> float:
    plain = text.replace(THIN, "").replace(MINUS, "-").replace(language.decimal, ".")
    number = float(plain)
    return int(number) if number.is_integer() and "." not in plain else number
