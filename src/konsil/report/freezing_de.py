"""What is said of a frozen plan of analyses and of a blinded study, in German."""

from __future__ import annotations

FREEZING: dict[str, str] = {
    "Systems are letters, and judges have none of their own, until the plan is frozen and they are named.": (
        "Systeme heißen mit Buchstaben, und Richtermodelle haben kein eigenes, bis der Plan eingefroren und die Studie"
        " entblindet ist."
    ),
    "Added after the plan of analyses was frozen, and therefore exploratory: {names}.": (
        "Nach dem Einfrieren des Analyseplans hinzugekommen und deshalb explorativ: {names}."
    ),
    "Changed after the plan of analyses was frozen, and therefore exploratory: {names}.": (
        "Nach dem Einfrieren des Analyseplans geändert und deshalb explorativ: {names}."
    ),
    "Taken out after the plan of analyses was frozen: {names}.": (
        "Nach dem Einfrieren des Analyseplans herausgenommen: {names}."
    ),
}
