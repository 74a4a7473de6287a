"""Columns of a user's table as the guesses see them: names, values, and their properties."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Role = Literal[
    "unused",
    "item",
    "text",
    "reference",
    "stratum",
    "system",
    "answer",
    "answer_of",
    "rater",
    "criterion",
    "label",
    "label_of_criterion",
    "label_of_rater",
    "system_a",
    "system_b",
    "seconds",
    "note",
    "own",
]
"""What a column holds. `answer_of`: the answers of the system that the column is named for;
`own`: a further field of konsil's, under its own name."""
REPEATABLE: frozenset[Role] = frozenset(
    {"unused", "own", "stratum", "answer_of", "label_of_criterion", "label_of_rater"}
)
"""Roles that several columns of a table can have."""

OWN = frozenset(
    {"aliases", "case", "sets", "reasoning", "citations", "state", "confidence", "at", "arm"}
    | {"phase", "batch", "purpose", "repeat", "task", "instrument", "digest"}
    | {"answer_a", "answer_b", "span_start", "span_end"}
)
"""Fields of konsil's without a role: read from the columns of these very names."""
LONG = 30
"""Mean letters of a cell from which a column holds texts."""
FEW = 12
"""Different values up to which a column holds categories whatever its length."""


@dataclass(frozen=True)
class Column:
    """One column: its name and its cells, None where a cell is empty."""

    name: str
    values: Sequence[str | None]

    @cached_property
    def filled(self) -> tuple[str, ...]:
        """The cells that are not empty."""
        return tuple(value for value in self.values if value is not None and value.strip())

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """Its different values, in the order of the file."""
        return tuple(dict.fromkeys(self.filled))

    @cached_property
    def length(self) -> float:
        """The mean letters of a cell."""
        return sum(map(len, self.filled)) / len(self.filled) if self.filled else 0.0

    @property
    def is_long(self) -> bool:
        """Whether it holds texts."""
        return self.length >= LONG and " " in self.filled[0]

    @property
    def is_unique(self) -> bool:
        """Whether no value comes twice."""
        return len(self.distinct) == len(self.filled) > 0

    @property
    def is_number(self) -> bool:
        """Whether all cells are numbers."""
        return bool(self.filled) and all(
            re.fullmatch(r"[+-]?\d+([.,]\d+)?", value.strip()) for value in self.filled
        )

    @property
    def is_category(self) -> bool:
        """Whether it has few values that come again and again."""
        n = len(self.distinct)
        return (
            1 < n < len(self.filled) and not self.is_long and n <= max(FEW, len(self.filled) // 5)
        )

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name, in small letters and without umlauts."""
        spaced = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", " ", self.name)
        return tuple(re.findall(r"[a-z]+|\d+", _without_diacritics(spaced)))


def _without_diacritics(text: str) -> str:
    plain = text.casefold()
    for umlaut, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("é", "e"), ("è", "e")):
        plain = plain.replace(umlaut, letters)
    return plain


NAMES: Mapping[Role, tuple[str, ...]] = {
    "item": ("id", "nr", "no", "num", "number", "nummer", "item", "qid", "case", "fall", "lfd"),
    "text": (
        "q",
        "question",
        "frage",
        "prompt",
        "query",
        "text",
        "vignette",
        "anfrage",
        "stem",
        "cloze",
    ),
    "reference": (
        *("reference", "referenz", "gold", "musterantwort", "musterloesung", "loesung"),
        *("solution", "expected", "truth", "key", "diagnosis", "diagnose", "modelanswer"),
        *("correctanswer", "rightanswer", "sampleanswer", "richtigeantwort", "sollantwort"),
    ),
    "system": (
        *("system", "model", "modell", "llm", "bot", "ki", "assistant", "engine", "vendor"),
        *("produkt", "product", "anbieter", "source"),
    ),
    "answer": (
        *("answer", "antwort", "response", "output", "ausgabe", "reply", "completion"),
        *("generation", "ergebnis"),
    ),
    "rater": (
        *("rater", "reviewer", "annotator", "bewerter", "gutachter", "arzt", "physician"),
        *("expert", "initials", "kuerzel", "judge", "pruefer", "doctor", "user"),
    ),
    "criterion": ("criterion", "kriterium", "dimension", "axis", "aspect", "aspekt"),
    "label": (
        "label",
        "score",
        "rating",
        "bewertung",
        "urteil",
        "points",
        "punkte",
        "grade",
        "wert",
    ),
    "stratum": (
        *("specialty", "speciality", "fach", "fachgebiet", "department", "abteilung", "topic"),
        *("thema", "category", "kategorie", "language", "sprache", "difficulty", "group", "gruppe"),
        *("schwierigkeit", "quelle", "setting", "level", "ward", "station", "klinik"),
    ),
    "seconds": ("seconds", "sekunden", "time", "zeit", "duration", "dauer"),
    "note": ("note", "comment", "kommentar", "bemerkung", "notiz", "remark", "anmerkung"),
    "system_a": ("systema", "modela", "modella", "left", "links"),
    "system_b": ("systemb", "modelb", "modellb", "right", "rechts"),
}
"""Role -> words of column names that speak for it, in English and German."""

MAKERS = ("gpt", "claude", "gemini", "llama", "mistral", "qwen", "deepseek", "grok", "medpalm")
"""Words of names that many models have."""


def name_fit(column: Column, role: Role) -> float:
    """How well a column's name fits a role: 1 a word of its own, 0.7 a part of one, 0 not at all.

    >>> name_fit(Column("Fallnr.", ()), "item"), name_fit(Column("Fach", ()), "stratum")
    (0.7, 1.0)
    """
    names, joined = NAMES.get(role, ()), "".join(column.words)
    if role in ("system_a", "system_b"):
        return 1.0 if joined in names else 0.0
    if joined in names:
        return 1.0
    if set(names) & set(column.words):
        # The last word is what a compound is about: 'Antwort Nr.' is a number.
        return 1.0 if column.words[-1] in names else 0.8
    if any(len(name) >= 4 and name in word for name in names for word in column.words):
        return 0.7
    short = any(len(name) < 4 and word.endswith(name) for name in names for word in column.words)
    return 0.7 if role == "item" and short else 0.0
