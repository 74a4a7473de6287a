"""The words that a new study's file begins with, in its language: labels, names, comments.

They are the study's own texts: whoever sets it up changes them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from konsil.locale import entries

EN: Mapping[str, Any] = {
    "five": ("1 very poor", "2 poor", "3 acceptable", "4 good", "5 very good"),
    "yesno": ("No", "Yes"),
    "pair3": ("A is better", "Tie", "B is better"),
    "pair5": (
        *("A is much better", "A is slightly better", "Tie"),
        *("B is slightly better", "B is much better"),
    ),
    "abstain": "Cannot judge",
    "ask_five": "How good is the answer overall?",
    "ask_yesno": "Could acting on the answer harm a patient?",
    "ask_ordered": "How complete is the answer?",
    "ask_choice": "Which kind of error does the answer have?",
    "ask_pair3": "Which answer would you rather use?",
    "ask_pair5": "Which answer would you rather use?",
    "ordered": ("incomplete", "partly complete", "complete"),
    "choice": ("none", "of fact", "of reasoning", "of omission"),
    "answers": "answers",
    "comparison": "comparison",
    "physicians": "physicians",
    "judges": "judges",
    "rating": "Rating",
    "agreement": "agreement of {panel}: {title}",
    "mean": "mean by system, {panel}: {title}",
    "share": "“{label}” by system, {panel}: {title}",
    "wins": "win difference, {panel}: {title}",
    "against": "{panel} against {other}: {title}",
    "against two": "{panel} against {other}: {title}",
    "repeats": "repeated ratings of {panel}: {title}",
    "sources": "WHERE the records come from: the columns of each file, and what they hold.",
    "systems": "WHOSE answers are rated. Raters never see these names.",
    "instruments": "HOW it is rated: one form for people and for models.",
    "raters": "WHO rates. Identifiers are pseudonyms, never names.",
    "plan": "WHO rates WHAT: `konsil plan` assigns the items at random, balanced and blinded.",
    "analyses": "WHICH numbers are estimated. `konsil statistics` lists the statistics.",
}


def wording(language: str) -> Mapping[str, Any]:
    """The words in a study's language; English where its catalogue has none.

    Entries are `design.KEY`; a list is one entry with a line for each of its words.
    """
    own = entries(language, "design", EN)
    lists = {
        key: tuple(text.split("\n")) for key, text in own.items() if isinstance(EN[key], tuple)
    }
    return {**EN, **own, **lists}


def comments(language: str) -> dict[str, str]:
    """The sentence above each list of a new study's file."""
    words = wording(language)
    keys = ("sources", "systems", "instruments", "raters", "plan", "analyses")
    return {key: words[key] for key in keys}


def identifier(text: str, used: Collection[str] = (), fallback: str = "question") -> str:
    """A short identifier from a text, different from those that are taken.

    >>> identifier("Könnte die Antwort schaden?"), identifier("Is it safe?", {"is-it-safe"})
    ('koennte-die-antwort-schaden', 'is-it-safe-2')
    """
    plain = text.casefold()
    for umlaut, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        plain = plain.replace(umlaut, letters)
    words = re.findall(r"[a-z0-9]+", plain)[:5]
    name = "-".join(words)[:40].strip("-") or fallback
    n = 1
    unique = name
    while unique in used:
        n += 1
        unique = f"{name}-{n}"
    return unique
