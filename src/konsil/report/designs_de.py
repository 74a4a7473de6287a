"""German for whole answers against sentences: statistics, what analyses say of them, and their figures."""

from __future__ import annotations

DESIGN_STATISTICS: dict[str, tuple[str, str]] = {
    "seconds": ("Sekunden", "Die mittlere Zeit für das, was auf einmal zu sehen war, alle seine Seiten zusammen."),
    "median_seconds": ("Sekunden, Median", "Die Zeit, die die Hälfte der Seiten höchstens brauchte."),
    "geometric_seconds": (
        "Sekunden, geometrisches Mittel",
        "Die mittlere Zeit auf der Skala der Verhältnisse; wenige sehr lange Seiten bewegen sie kaum.",
    ),
    "length_correlation": (
        "Zusammenhang mit der Länge",
        "Wie viel höher längere Antworten bewertet werden: die Rangkorrelation der mittleren Bewertung einer Antwort"
        " und ihrer Wörter.",
    ),
    "part_whole": (
        "Teil und Ganzes",
        "Wie gut einige Sätze einer Antwort ihre Bewertung durch alle erkennen lassen; zu lesen neben dem, was schon die"
        " Überschneidung ergibt, da der Teil im Ganzen steckt, und neben den Sätzen, die nicht dazugehören.",
    ),
    "part_variance": (
        "Varianz zwischen Bewertenden",
        "Wie weit die Bewertungen derselben Antwort auseinanderliegen, wenn so viele ihrer Sätze bewertet werden oder das"
        " Ganze.",
    ),
    "reliability": (
        "Reliabilität des Panelmittels",
        "Wie viel der Unterschiede zwischen mittleren Bewertungen an den Antworten liegt, wenn andere Bewertende und"
        " andere Sätze hätten an der Reihe sein können.",
    ),
    "rater_hours": (
        "Stunden für eine Reliabilität",
        "Wie viele Stunden aller Bewertenden zusammen 100 Antworten brauchen, bis ihre mittleren Bewertungen so"
        " zuverlässig sind wie verlangt.",
    ),
    "budget_reliability": (
        "Reliabilität für ein Budget",
        "Die Reliabilität, die so viele Minuten von Bewertenden je Antwort erkaufen: wenige Sätze für mehr Bewertende"
        " oder mehr Sätze für weniger.",
    ),
}

DESIGN_SENTENCES: dict[str, str] = {
    "no time is known of these screens": "von diesen Seiten ist keine Zeit bekannt",
    "On {n:,} of {all:,} units the average of {panel} lies halfway between two labels; they are left out.": (
        "Bei {n:,} von {all:,} Einheiten liegt das Mittel von {panel} genau zwischen zwei Labels; sie bleiben weg."
    ),
    "no sentences are rated": "es sind keine Sätze bewertet",
    "overlap alone": "Überschneidung allein",
    "against the other sentences": "gegen die übrigen Sätze",
    "{n} shuffles of the sentences among the answers": "{n}-mal Sätze unter den Antworten vertauscht",
    "whole answer": "ganze Antwort",
    "no number of raters reaches a reliability of {target:g}": (
        "keine Zahl von Bewertenden erreicht eine Reliabilität von {target:g}"
    ),
    "{minutes:g} minutes do not pay one rater for an answer": (
        "{minutes:g} Minuten reichen nicht für eine bewertende Person je Antwort"
    ),
    "share of the joint resamples": "Anteil der gemeinsamen Ziehungen",
    "chance of being the best": "Chance, am besten zu sein",
    "Hours of all raters together for {n} answers.": "Stunden aller Bewertenden zusammen für {n} Antworten.",
    "A part of the sentences is taken to need its share of the time of all of them.": (
        "Für einen Teil der Sätze ist sein Anteil an der Zeit für alle angesetzt."
    ),
    "Reliability of the mean of {n:.2g} raters.": "Reliabilität des Mittels von {n:.2g} Bewertenden.",
}
