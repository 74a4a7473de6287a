"""The lexical match: whether at least one system gave an item's reference word for word."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from konsil.records import Answer, Item

Sameness = Literal["exact", "folded"]
"""When two texts are the same: as strings, or after `folded`."""

MATCH = "lexical_match"
"""The stratum's name; its values are 'yes' and 'no'."""


def folded(text: str) -> str:
    """A text folded for comparison, without what rarely changes its meaning.

    This is case, white space, compatibility forms and marks at its ends.

    >>> folded("  Morbus\u00a0Crohn."), folded("Ca²⁺")
    ('morbus crohn', 'ca2+')
    """
    text = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return text.strip(" .,;:!?\"'„“”‚‘’«»").strip()


def lexical_matches(
    items: Iterable[Item],
    answers: Iterable[Answer],
    *,
    systems: Collection[str] = (),
    same: Sameness = "exact",
    aliases: bool = False,
) -> Mapping[str, bool | None]:
    """Item -> whether the answer of at least one system is its reference.

    None where that is not known.

    Args:
        items: the items; one without a reference is not known.
        answers: their answers.
        systems: whose answers count; none: everybody's. An item that one of them has not answered
            is not known, unless another one matched.
        same: string equality, as published, or equality after `folded`.
        aliases: whether an item's aliases count as its reference.
    """
    forms_by_item: dict[str, dict[str, str]] = {}
    for answer in answers:
        if not systems or answer.system in systems:
            forms_by_item.setdefault(answer.item, {})[answer.system] = _form(answer.text, same)
    match_by_item: dict[str, bool | None] = {}
    for item in items:
        answer_forms = forms_by_item.get(item.id, {})
        reference_forms = {
            _form(name, same) for name in (item.reference or "", *(item.aliases if aliases else ()))
        } - {""}
        if not reference_forms or not answer_forms:
            match_by_item[item.id] = None
        elif reference_forms & set(answer_forms.values()):
            match_by_item[item.id] = True
        else:
            match_by_item[item.id] = None if set(systems) - set(answer_forms) else False
    return match_by_item


def with_lexical_match(
    items: Sequence[Item], matches: Mapping[str, bool | None]
) -> tuple[Item, ...]:
    """The items with the stratum `lexical_match`; items of which it is not known go without.

    >>> [item] = with_lexical_match([Item("i", "?", "Insulin")], {"i": True})
    >>> item.strata
    {'lexical_match': 'yes'}
    """
    new_items = []
    for item in items:
        strata = {name: value for name, value in item.strata.items() if name != MATCH}
        match = matches.get(item.id)
        if match is not None:
            strata[MATCH] = "yes" if match else "no"
        new_items.append(replace(item, strata=strata))
    return tuple(new_items)


def _form(text: str, same: Sameness) -> str:
    # An umlaut is the same string whether it is written as one character or as two.
    return unicodedata.normalize("NFC", text) if same == "exact" else folded(text)
