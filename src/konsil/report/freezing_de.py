"""What is said of a frozen plan of analyses and of a blinded study, in German."""

from __future__ import annotations

FREEZING: dict[str, str] = {
    "Systems are letters: the study is blinded until its plan of analyses is frozen.": (
        "Systeme heißen mit Buchstaben: Die Studie ist verblindet, bis ihr Analyseplan eingefroren ist."
    ),
    "The plan of analyses was frozen at {at} (digest {digest}).": (
        "Der Analyseplan wurde am {at} eingefroren (Prüfsumme {digest})."
    ),
    "Systems were letters until {at}.": "Bis {at} hießen die Systeme mit Buchstaben.",
    "Added after the plan of analyses was frozen, and therefore exploratory: {names}.": (
        "Nach dem Einfrieren des Analyseplans hinzugekommen und deshalb explorativ: {names}."
    ),
    "Changed after the plan of analyses was frozen, and therefore exploratory: {names}.": (
        "Nach dem Einfrieren des Analyseplans geändert und deshalb explorativ: {names}."
    ),
    "Taken out after the plan of analyses was frozen: {names}.": (
        "Nach dem Einfrieren des Analyseplans herausgenommen: {names}."
    ),
    "Exclusions, forms, seed, resampling or derived columns were changed after the plan was frozen.": (
        "Ausschlüsse, Formulare, Startwert, Resampling oder abgeleitete Spalten wurden nach dem Einfrieren geändert."
    ),
}
