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
        "Wie gut einige Sätze einer Antwort ihre Bewertung durch alle erkennen lassen; zu lesen neben dem, was schon"
        " die Überschneidung ergibt, da der Teil im Ganzen steckt, und neben den Sätzen, die nicht dazugehören.",
    ),
    "part_variance": (
        "Varianz zwischen Bewertenden",
        "Wie weit die Bewertungen derselben Antwort auseinanderliegen, wenn so viele ihrer Sätze bewertet werden oder"
        " das Ganze.",
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
    "Seconds are those of all screens of a rater about an answer, its sentences together; repeats are left out.": (
        "Sekunden sind die aller Seiten einer Person zu einer Antwort, ihre Sätze zusammen; Wiederholungen zählen"
        " nicht."
    ),
    "Judges are held against the label that is nearest to the panel's mean number; where it lies halfway between two"
    " labels the unit is left out.": (
        "Richtermodelle werden mit dem Label verglichen, das dem Mittel des Panels am nächsten liegt; liegt es genau"
        " zwischen zweien, bleibt die Einheit weg."
    ),
    "Parts of answers are all subsets of their sentences, each as likely as any other; overlap alone is what is left"
    " when the sentences are dealt to the answers anew.": (
        "Teile von Antworten sind alle Teilmengen ihrer Sätze, jede gleich wahrscheinlich; Überschneidung allein ist,"
        " was bleibt, wenn die Sätze neu auf die Antworten verteilt werden."
    ),
    "Reliability is the squared correlation of a panel's mean over some sentences with the answer's true mean over all"
    " of them, from variance components of answers, sentences, raters and the rest, none below zero.": (
        "Reliabilität ist die quadrierte Korrelation des Panelmittels über einige Sätze mit dem wahren Mittel der"
        " Antwort über alle, aus Varianzkomponenten von Antworten, Sätzen, Bewertenden und Rest, keine unter null."
    ),
    "Some of an answer's sentences are taken to need their share of the time of all of them.": (
        "Für einige Sätze einer Antwort ist ihr Anteil an der Zeit für alle angesetzt."
    ),
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
    "In {n:,} of {all:,} resamples no number of raters reaches it: the interval has no upper end.": (
        "In {n:,} von {all:,} Ziehungen erreicht sie keine Zahl von Bewertenden: Das Intervall hat kein oberes Ende."
    ),
    "share of the joint resamples": "Anteil der gemeinsamen Ziehungen",
    "chance of being the best": "Chance, am besten zu sein",
    "Hours of all raters together for {n} answers.": "Stunden aller Bewertenden zusammen für {n} Antworten.",
    "A part of the sentences is taken to need its share of the time of all of them.": (
        "Für einen Teil der Sätze ist sein Anteil an der Zeit für alle angesetzt."
    ),
    "Reliability of the mean of {n:.2g} {n|rater|raters}.": (
        "Reliabilität des Mittels von {n:.2g} {n|bewertenden Person|Bewertenden}."
    ),
}

DESIGN_SOURCES: dict[str, str] = {
    "mean of a random part against the mean of the whole or of the rest, over all subsets; Spearman's rho": (
        "Mittel eines zufälligen Teils gegen das Mittel des Ganzen oder des Rests, über alle Teilmengen; Spearmans Rho"
    ),
    "Brennan, Generalizability Theory, 2001; mean products: Koch, Technometrics 9:93, 1967": (
        "Brennan, Generalizability Theory, 2001; mittlere Produkte: Koch, Technometrics 9:93, 1967"
    ),
}

DESIGN_FIGURES: dict[str, str] = {
    **{
        text: DESIGN_SENTENCES[text]
        for text in ("whole answer", "overlap alone", "against the other sentences", "chance of being the best")
    },
    "Whole answers or sentences": "Ganze Antworten oder Sätze",
    "Agreement by design": "Übereinstimmung nach Design",
    "Self-agreement by design": "Übereinstimmung mit sich selbst nach Design",
    "Judges against the panel, by design": "Richtermodelle gegen das Panel, nach Design",
    "Seconds by design": "Sekunden nach Design",
    "Rating and length by design": "Bewertung und Länge nach Design",
    "Ratings of the designs themselves": "Bewertungen der Designs selbst",
    "Systems by design": "Systeme nach Design",
    "%(what)s: estimates (dots) with their intervals (lines), and the differences on the same resamples.": (
        "%(what)s: Schätzungen (Punkte) mit ihren Intervallen (Linien) und die Differenzen auf denselben Ziehungen."
    ),
    "%(what)s: estimates with their intervals.": "%(what)s: Schätzungen mit ihren Intervallen.",
    "%(what)s, with intervals.": "%(what)s, mit Intervallen.",
    "%(what)s by the number of sentences that are rated, with intervals.": (
        "%(what)s nach der Zahl der bewerteten Sätze, mit Intervallen."
    ),
    "Dashed: what is there only because the part is in the whole, and its range over the shuffles.": (
        "Gestrichelt: was nur da ist, weil der Teil im Ganzen steckt, und sein Bereich über die Vertauschungen."
    ),
    "Dotted: whole answers.": "Gepunktet: ganze Antworten.",
    "part and whole": "Teil und Ganzes",
    "so many sentences": "so viele Sätze",
    "1 sentence": "1 Satz",
    "%(n)s sentences": "%(n)s Sätze",
    "Analysis": "Analyse",
    "Recommendation": "Empfehlung",
    "Fewest hours": "Wenigste Stunden",
    "Hours": "Stunden",
    "Hours, whole answers": "Stunden, ganze Antworten",
    "Hours of all raters together for 100 answers, until the mean ratings are so reliable.": (
        "Stunden aller Bewertenden zusammen für 100 Antworten, bis die mittleren Bewertungen so zuverlässig sind."
    ),
    "What takes the fewest hours of raters to a reliability.": (
        "Was bis zu einer Reliabilität die wenigsten Stunden von Bewertenden braucht."
    ),
    "Systems from best to worst under each design.": "Systeme vom besten zum schlechtesten in jedem Design.",
    "Best": "Am besten",
    "Reliability": "Reliabilität",
    "Chance of being the best": "Chance, am besten zu sein",
    "Sentences that are enough": "Sätze, die genügen",
    "Reliability of whole answers": "Reliabilität ganzer Antworten",
    "Sentences that are enough: the fewest whose reliability is at most %(near)s below the best.": (
        "Sätze, die genügen: die wenigsten, deren Reliabilität höchstens %(near)s unter der besten liegt."
    ),
    "Minutes of all raters of an answer together; its raters need be no whole number on average.": (
        "Minuten aller Bewertenden einer Antwort zusammen; ihre Zahl muss im Mittel keine ganze sein."
    ),
    "How many sentences are enough for a budget.": "Wie viele Sätze für ein Budget genügen.",
}
