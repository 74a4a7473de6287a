"""When two medical words are the same: spelt in German or English, inflected, mistyped."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from konsil.errors import edit_distance

Likeness = Literal["same", "form", "misspelt"]

_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "κ": "kappa",
    "λ": "lambda",
    "µ": "mu",
    "μ": "mu",
}
# German, British and American spellings of one Greek or Latin word: Ödem, oedema, edema; Karzinom,
# carcinoma.
_SPELLINGS = (
    ("ä", "e"),
    ("ö", "e"),
    ("ü", "u"),
    ("ß", "ss"),
    ("æ", "e"),
    ("œ", "e"),
    ("ae", "e"),
    ("oe", "e"),
    ("ue", "u"),
    ("sch", "k"),
    ("ph", "f"),
    ("th", "t"),
    ("rh", "r"),
    ("ck", "k"),
    ("c", "k"),
    ("z", "k"),
    ("y", "i"),
)
_DOUBLED = re.compile(r"([^\W\d])\1")
_ENDINGS = frozenset(
    (
        "",
        "s",
        "es",
        "e",
        "n",
        "en",
        "em",
        "er",
        "ern",
        "ens",
        "a",
        "as",
        "ata",
        "um",
        "us",
        "i",
        "is",
        "iden",
        "ides",
        "on",
        "os",
        "ms",
        "ns",
        "sus",
        "des",
    )
)
"""What a word may end in and be the same word: cases, plurals and adjectives of German, English and
Latin, folded."""
_ADJECTIVES = frozenset(("ous", "ese", "esen", "eser", "eses", "ik", "ike", "iken", "iker", "ikes"))
"""Endings of adjectives: like one another and like an adjective's cases (tuberous, tuberöse);
cystic is no cyst."""
_CASES = frozenset(("e", "en", "em", "er", "es"))
_KINDS = {
    "itis": "inflamed",
    "osis": "process",
    "ose": "process",
    "oma": "tumour",
    "om": "tumour",
    "emi": "blood",
    "emia": "blood",
    "emie": "blood",
    "uria": "urine",
    "urie": "urine",
}
"""Endings that say what kind of a disease it is: endometritis is no misspelling of
endometriosis."""
_STEM = 4
_CONFUSABLE = (
    ("hiper", "hipo"),
    ("inter", "intra"),
    ("nefr", "neur"),
    ("arter", "artr"),
    ("makro", "mikro"),
    ("perone", "perine"),
    ("ileu", "iliu"),
    ("adren", "andren"),
    ("limfo", "lipo"),
    ("mielo", "mio"),
)
"""Roots of different things that are a letter or two apart: no misspelling of one another."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text."""

    text: str
    """As it stands."""
    start: int
    """Where it begins."""
    end: int
    """Where it ends."""

    @property
    def folded(self) -> str:
        """The word in the one spelling that all of its spellings have."""
        return folded_word(self.text)


_WORD = re.compile(r"[^\W_]+")


def words_in(text: str) -> tuple[Word, ...]:
    """The words of a text with their places; hyphens and apostrophes part words."""
    return tuple(Word(m[0], m.start(), m.end()) for m in _WORD.finditer(text))


@lru_cache(maxsize=65_536)
def folded_word(word: str) -> str:
    """A word in one spelling.

    >>> words = ("Karzinom", "carcinoma", "Ödem", "oedema")
    >>> tuple(folded_word(word) for word in words)
    ('karkinom', 'karkinoma', 'edem', 'edema')
    """
    word = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", word).casefold())
    for letter, name in _GREEK.items():
        word = word.replace(letter, name)
    for spelling, common in _SPELLINGS:
        word = word.replace(spelling, common)
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return _DOUBLED.sub(r"\1", plain)


@lru_cache(maxsize=65_536)
def likeness(first: str, other: str) -> Likeness | None:
    """Whether two folded words are the same word, and how; None where they are not.

    >>> likeness(folded_word("Sarkoidose"), folded_word("sarcoidosis"))
    'form'
    >>> likeness(folded_word("sarcodosis"), folded_word("sarcoidosis"))
    'misspelt'
    >>> likeness(folded_word("hypotension"), folded_word("hypertension")) is None
    True
    """
    if first == other:
        return "same"
    if first[:1] != other[:1] or any(c.isdigit() for c in first + other):
        return None
    shared = _shared(first, other)
    if shared >= max(_STEM, min(len(first), len(other)) // 2) and _endings(
        first[shared:], other[shared:]
    ):
        return "form"
    least = min(len(first), len(other))
    allowed = 0 if least < 6 else 1 if least < 11 else 2
    if not allowed or abs(len(first) - len(other)) > allowed or _confusable(first, other):
        return None
    return "misspelt" if edit_distance(first, other, allowed) <= allowed else None


def _endings(first: str, other: str) -> bool:
    if first in _ADJECTIVES or other in _ADJECTIVES:
        return {first, other} <= _ADJECTIVES | _CASES
    return first in _ENDINGS and other in _ENDINGS


def _shared(first: str, other: str) -> int:
    n = 0
    for a, b in zip(first, other, strict=False):
        if a != b:
            break
        n += 1
    return n


def _confusable(first: str, other: str) -> bool:
    kinds = {
        kind for word in (first, other) for ending, kind in _KINDS.items() if word.endswith(ending)
    }
    return len(kinds) > 1 or any(
        (a in first and b in other and a not in other)
        or (b in first and a in other and a not in first)
        for a, b in _CONFUSABLE
    )
