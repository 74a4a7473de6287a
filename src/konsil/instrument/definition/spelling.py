"""Words that models write differently: which word is meant, and when none is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def meant(text: str, words: Iterable[str]) -> str | None:
    """The word that the text is, exactly or but for case, spaces and Unicode form.

    None where no word is like it, or several are and none is equal: nothing is guessed.

    >>> meant(" yes", ["no", "yes"]), meant("Score", ["score"]), meant("CO2", ["co2", "Co2"])
    ('yes', 'score', None)
    """
    all_words = list(words)
    if text in all_words:
        return text
    key = _without_spelling(text)
    alike = {word for word in all_words if _without_spelling(word) == key}
    return alike.pop() if len(alike) == 1 else None


def _without_spelling(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).casefold().split())
