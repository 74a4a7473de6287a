"""Where a text has a disease's words and means something else: a person, a grade, another disease.

Names of diseases are often those of people, abbreviations have several meanings, and a longer name
that contains a shorter one is another disease. English and German; what is listed here is known,
all else counts as the disease.
"""

from __future__ import annotations

import re

from konsil.prepare.cases.naming import Mention, Name
from konsil.prepare.text.spelling import folded_word, words_in

_TITLE = re.compile(
    r"\b(?:Dr|Prof|Mr|Mrs|Ms|Hr|Fr|Doctor|Professor|Sir|Miss|Nurse|Herrn?|Frau|Doktor|Schwester|Kolleg(?:e|en|in))\.?"
    r"(?:\s+(?:med|dent|rer|nat)\.)*\s+(?:[A-Z]\.\s*)?$"
)
_INITIAL = re.compile(r"\b(?:[A-LN-Z]\.\s*)+$")
"""Initials of a first name; "M." is Morbus."""
_ACTS = re.compile(
    r"\s+(?:et al\b|and colleagues\b|und Kollegen\b|u\. ?a\.|\(?(?:18|19|20)\d\d\b|(?:first"
    r" )?(?:examined|noted"
    r"|reported|described|wrote|recommended|said|reviewed|consulted|operated|found|suggested|called|complains?)\b"
    r"|(?:untersuchte|berichtete?|empfahl|empfiehlt|schrieb|schreibt|meinte?|sagte?|beschrieb|operierte|klagt)\b)"
)
_DISEASE_WORDS = re.compile(
    r"\b(?:disease|syndrome?|morbus|krankheit|erkrankung|crisis|krise|m\.)", re.IGNORECASE
)
_GRADE = re.compile(
    r"\s*(?:is|was|of|von|war|ist|=|:)?\s*[0-4][.,]\d{1,2}\b(?!\s*(?:years?|Jahre))"
)
_LONGER = frozenset(
    map(
        folded_word,
        [
            *(
                "eosinophilic",
                "eosinophile",
                "eosinophiler",
                "microscopic",
                "mikroskopische",
                "non",
                "pseudo",
                "anti",
            ),
            *(
                "induced",
                "atypical",
                "neonatal",
                "neonataler",
                "paraneoplastic",
                "paraneoplastische",
            ),
        ],
    )
)
"""Words directly before a name that make it another disease."""
_KINDS = tuple(
    tuple(frozenset(map(folded_word, kind)) for kind in kinds)
    for kinds in (
        (
            ("primary", "primär", "primäre", "primärer", "primären"),
            ("secondary", "sekundär", "sekundäre", "sekundärer", "sekundären"),
            ("tertiary", "tertiär", "tertiäre", "tertiärer", "tertiären"),
        ),
        (
            ("acute", "akut", "akute", "akuter"),
            ("chronic", "chronisch", "chronische", "chronischer"),
        ),
        (("congenital", "hereditary", "angeborene", "hereditäre"), ("acquired", "erworbene")),
    )
)
"""Words of which a disease has one and another disease another."""


def means_another(text: str, mention: Mention, name: Name) -> bool:
    """Whether the words of a mention mean something else than the disease.

    >>> from konsil.prepare.cases.naming import mentions, names_of
    >>> names = names_of(["Wilson disease"])
    >>> texts = ("Dr. Wilson came.", "Wilson's disease")
    >>> [means_another(t, mentions(t, names)[0], names[0]) for t in texts]
    [True, False]
    """
    before, words, after = (
        text[: mention.start],
        text[mention.start : mention.end],
        text[mention.end :],
    )
    if name.short:
        return _GRADE.match(after) is not None
    bare = (
        len(name.words) == 1
        and words[:1].isupper()
        and not _DISEASE_WORDS.search(words + after[:25])
    )
    if bare and (_TITLE.search(before) or _INITIAL.search(before) or _ACTS.match(after)):
        return True
    return _is_longer(before, words, name)


def _is_longer(before: str, words: str, name: Name) -> bool:
    """Whether it is part of another disease's name, by the word before it or a word of its kind."""
    last = (
        {w.folded for w in words_in(before[-60:])[-1:]}
        if not re.search(r"[.;:,]\s*$", before)
        else set()
    )
    name_words = {w.folded for w in words_in(name.text)}
    if last & _LONGER - name_words:
        return True
    phrase_words = {w.folded for w in words_in(words)} | last
    other_kinds = [
        other
        for kinds in _KINDS
        for kind in kinds
        if kind & name_words
        for other in kinds
        if other is not kind
    ]
    return any(other & phrase_words for other in other_kinds)
