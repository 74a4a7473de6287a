"""What the report says of cases in several versions, in German."""

from __future__ import annotations

CASE_STATISTICS: dict[str, tuple[str, str]] = {
    "information_sensitivity": (
        "Empfindlichkeit gegen Informationsmangel (ISS)",
        "Um wie viel der Anteil richtiger Antworten vom ganzen Fall bis zum wenigsten davon fällt; 0,6 sind 60 Punkte.",
    ),
    "monotonicity_violation": (
        "Verletzung der Monotonie (MVR)",
        "Der Anteil der Fälle, die mit weniger Information richtig beantwortet werden, nachdem sie mit mehr davon"
        " falsch beantwortet wurden.",
    ),
    "diagnostic_potential": (
        "Diagnostisches Potenzial (MDA)",
        "Der Anteil der Fälle, die auf mindestens einer Stufe richtig beantwortet werden.",
    ),
    "label_dependence": (
        "Abhängigkeit vom Namen (LDF)",
        "Der Anteil der Fälle, in denen allein das Weglassen des Namens der Diagnose richtig zu falsch macht oder"
        " falsch zu richtig.",
    ),
    "stability": (
        "Stabilität",
        "Wie viele Stufen hintereinander, vom ganzen Fall an, im Mittel richtig beantwortet werden.",
    ),
    "reasoning_gap": (
        "Lücke der Begründung",
        "Um wie viel die mittlere Bewertung vom ganzen Fall bis zum wenigsten davon fällt.",
    ),
}
"""Name -> title and one plain sentence."""

CASE_SENTENCES: dict[str, str] = {
    "{n:,} of {all:,} cases lack a level and may be left out.": (
        "{n:,} von {all:,} Fällen fehlt eine Stufe; sie können fehlen."
    ),
    "Of the cases that are right at {level} alone.": "Allein unter den Fällen, die auf {level} richtig sind.",
}
"""Sentences of the analyses -> the same in German."""

CASE_SOURCES: dict[str, str] = {
    "CLExEval, appendix D": "CLExEval, Anhang D",
}
"""Where formulas come from -> the same in German."""
