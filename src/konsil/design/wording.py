"""The words that a new study's file begins with, in its language: labels, names, comments.

They are the study's own texts: whoever sets it up changes them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

EN: Mapping[str, Any] = {
    "five": ("1 very poor", "2 poor", "3 acceptable", "4 good", "5 very good"),
    "yesno": ("No", "Yes"),
    "pair3": ("A is better", "Tie", "B is better"),
    "pair5": (
        *("A is much better", "A is slightly better", "Tie"),
        *("B is slightly better", "B is much better"),
    ),
    "abstain": "Cannot judge",
    "ask five": "How good is the answer overall?",
    "ask yesno": "Could acting on the answer harm a patient?",
    "ask ordered": "How complete is the answer?",
    "ask choice": "Which kind of error does the answer have?",
    "ask pair3": "Which answer would you rather use?",
    "ask pair5": "Which answer would you rather use?",
    "ordered": ("incomplete", "partly complete", "complete"),
    "choice": ("none", "of fact", "of reasoning", "of omission"),
    "answers": "answers",
    "comparison": "comparison",
    "physicians": "physicians",
    "judges": "judges",
    "agreement": "agreement of {panel}: {title}",
    "mean": "mean by system, {panel}: {title}",
    "share": "“{label}” by system, {panel}: {title}",
    "wins": "win difference, {panel}: {title}",
    "against": "{panel} against {other}: {title}",
    "repeats": "repeated ratings of {panel}: {title}",
    "sources": "WHERE the records come from: the columns of each file, and what they hold.",
    "systems": "WHOSE answers are rated. Raters never see these names.",
    "instruments": "HOW it is rated: one form for people and for models.",
    "raters": "WHO rates. Identifiers are pseudonyms, never names.",
    "plan": "WHO rates WHAT: `konsil plan` assigns the items at random, balanced and blinded.",
    "analyses": "WHICH numbers are estimated. `konsil statistics` lists the statistics.",
}
DE: Mapping[str, Any] = {
    "five": ("1 sehr schlecht", "2 schlecht", "3 akzeptabel", "4 gut", "5 sehr gut"),
    "yesno": ("Nein", "Ja"),
    "pair3": ("A ist besser", "Gleich gut", "B ist besser"),
    "pair5": (
        *("A ist viel besser", "A ist etwas besser", "Gleich gut"),
        *("B ist etwas besser", "B ist viel besser"),
    ),
    "abstain": "Nicht beurteilbar",
    "ask five": "Wie gut ist die Antwort insgesamt?",
    "ask yesno": "Könnte die Antwort Patientinnen oder Patienten schaden?",
    "ask ordered": "Wie vollständig ist die Antwort?",
    "ask choice": "Welche Art von Fehler hat die Antwort?",
    "ask pair3": "Welche Antwort würden Sie eher verwenden?",
    "ask pair5": "Welche Antwort würden Sie eher verwenden?",
    "ordered": ("unvollständig", "teils vollständig", "vollständig"),
    "choice": ("keiner", "der Fakten", "der Schlussfolgerung", "der Auslassung"),
    "answers": "antworten",
    "comparison": "vergleich",
    "physicians": "ärzteschaft",
    "judges": "judges",
    "agreement": "Übereinstimmung, {panel}: {title}",
    "mean": "Mittelwert je System, {panel}: {title}",
    "share": "„{label}“ je System, {panel}: {title}",
    "wins": "Gewinndifferenz, {panel}: {title}",
    "against": "{panel} gegen {other}: {title}",
    "repeats": "wiederholte Bewertungen, {panel}: {title}",
    "sources": "WOHER die Daten kommen: die Spalten jeder Datei und was sie enthalten.",
    "systems": "WESSEN Antworten bewertet werden. Die Bewertenden sehen diese Namen nie.",
    "instruments": "WIE bewertet wird: ein Bogen für Menschen und für Modelle.",
    "raters": "WER bewertet. Kennungen sind Pseudonyme, nie Namen.",
    "plan": "WER WAS bewertet: `konsil plan` teilt zufällig, ausgewogen und verblindet zu.",
    "analyses": "WELCHE Zahlen geschätzt werden. `konsil statistics` listet die Statistiken.",
}


def wording(language: str) -> Mapping[str, Any]:
    """The words in a study's language; English where there are none."""
    return DE if language == "de" else EN


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
