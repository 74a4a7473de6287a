"""Changes that a rewording must not make, and content that it must not have.

Numbers and their units, negations and drugs must not change.

It compares words, not meanings. What it finds is a warning that whoever accepts the wording answers
in writing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from konsil.prepare.identifiers.identifiers import identifiers
from konsil.prepare.text.drug_names import drugs_in

WarningKind = Literal["identifier", "number", "negation", "drug", "unchanged"]

_UNITS = {
    "mcg": "µg",
    "ug": "µg",
    "μg": "µg",
    "ie": "iu",
    "i.e.": "iu",
    "units": "iu",
    "einheiten": "iu",
    "liter": "l",
    "percent": "%",
    "prozent": "%",
    "years": "y",
    "year": "y",
    "yo": "y",
    "y/o": "y",
    "yr": "y",
    "yrs": "y",
    "jahre": "y",
    "jahren": "y",
    "jährige": "y",
    "jähriger": "y",
    "j": "y",
    "hours": "h",
    "hour": "h",
    "hrs": "h",
    "std": "h",
    "stunden": "h",
    "days": "d",
    "day": "d",
    "tage": "d",
    "tagen": "d",
    "weeks": "w",
    "week": "w",
    "wochen": "w",
    "wks": "w",
    "woche": "w",
    "months": "mo",
    "month": "mo",
    "monate": "mo",
    "monaten": "mo",
    "minutes": "min",
    "minuten": "min",
    "kilo": "kg",
}
"""Writings of a unit -> the one that stands for all."""
_PLAIN_UNITS = (
    "mg",
    "g",
    "kg",
    "µg",
    "ng",
    "ml",
    "l",
    "dl",
    "mmol",
    "mol",
    "mval",
    "iu",
    "%",
    "cm",
    "mm",
    "mmhg",
    "h",
    "d",
    "min",
    "y",
    "w",
    "mo",
)
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<value>\d+(?:[.,]\d+)*)"
    r"(?:[ -]?(?P<unit>[^\W\d_]+(?:/[^\W\d_]+)*|%|I\.E\.|y/o))?"
)
_WORDS = {
    word: n
    for n, words in enumerate(
        (
            "two zwei",
            "three drei",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
            "eleven elf",
            "twelve zwölf",
        ),
        2,
    )
    for word in words.split()
}
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|neither|nor|without|cannot|denies|denied|absent|negative|nicht|kein(?:e|en|er|em|es)?|nie|"
    r"niemals|weder|ohne|verneint|negativ|unauffällig)\b|n['’]t\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FidelityWarning:
    """One thing in which a rewording differs from the question, or that it must not have."""

    kind: WarningKind
    """What differs."""
    before: str = ""
    """What the question has and the rewording has not."""
    after: str = ""
    """What the rewording has and the question has not; of an identifier what was suspected."""

    def sentence(self) -> str:
        """It in a sentence's words.

        >>> FidelityWarning("number", "5 mg", "50 mg").sentence()
        'numbers: 5 mg in the question, 50 mg in the wording'
        """
        if self.kind == "identifier":
            return f"possible identifier: {self.after}"
        if self.kind == "unchanged":
            return "unchanged: the wording is the question"
        name = {"number": "numbers", "negation": "negations", "drug": "drugs"}[self.kind]
        return (
            f"{name}: {self.before or 'none'} in the question, {self.after or 'none'} in the"
            " wording"
        )


def fidelity_warnings(before: str, after: str) -> tuple[FidelityWarning, ...]:
    """In what a wording differs from its question, and what in it may name a person.

    >>> before, after = "no AF, apixaban 2,5 mg", "AF, apixaban 5 mg, Mr Smith?"
    >>> [warning.kind for warning in fidelity_warnings(before, after)]
    ['identifier', 'number', 'negation']
    """
    warnings = [FidelityWarning("identifier", after=text) for text in _suspected(after)]
    compared: tuple[tuple[WarningKind, Callable[[str], list[str]]], ...] = (
        ("number", numbers),
        ("negation", _negations),
        ("drug", _drugs),
    )
    for kind, extract in compared:
        old, new = Counter(extract(before)), Counter(extract(after))
        # As many negations in other words ("no" for "without") are no finding.
        if kind == "negation" and sum(old.values()) == sum(new.values()):
            continue
        # A drug that is named once more is still the same drug.
        if kind == "drug":
            old, new = Counter(set(old)), Counter(set(new))
        if old != new:
            lost, added = _listed(old - new), _listed(new - old)
            warnings.append(FidelityWarning(kind, lost, added))
    if before.strip() == after.strip():
        warnings.append(FidelityWarning("unchanged"))
    return tuple(warnings)


def _suspected(text: str) -> list[str]:
    return list(dict.fromkeys(text[start:end].strip() for start, end in identifiers(text)))


def numbers(text: str) -> list[str]:
    """The numbers of a text with their units, one writing of each for all.

    A comma or full stop before exactly three digits may stand for thousands and is left out.

    >>> numbers("2,5 mg twice, 5.000 IE over two weeks in a 72-year-old")
    ['2.5 mg', '5000 iu', '2 w', '72 y']
    """
    normalised = []
    spelt = re.sub(r"\b[^\W\d_]+\b", lambda word: str(_WORDS.get(word[0].lower(), word[0])), text)
    for match in _NUMBER.finditer(spelt):
        unit = _unit(match["unit"] or "")
        normalised.append(f"{_value(match['value'])} {unit}".strip())
    return normalised


def _value(text: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", text):
        return re.sub(r"[.,]", "", text)
    integer_part, mark, part = text.replace(",", ".").partition(".")
    part = part.rstrip("0") if "." not in part else part
    return (
        f"{integer_part.lstrip('0') or '0'}{mark}{part}"
        if part
        else integer_part.lstrip("0") or "0"
    )


def _unit(text: str) -> str:
    """The one writing of a unit, of each part of a fraction.

    Empty: the word after the number is no unit.
    """
    unit = _UNITS.get(text.lower(), text.lower())
    parts = [_UNITS.get(part, part) for part in unit.split("/")]
    return "/".join(parts) if parts[0] in _PLAIN_UNITS else ""


def _negations(text: str) -> list[str]:
    return [match[0].lower() for match in _NEGATION.finditer(text)]


def _drugs(text: str) -> list[str]:
    return [name for _, _, name in drugs_in(text)]


def _listed(counts: Iterable[str]) -> str:
    return ", ".join(sorted(counts))
