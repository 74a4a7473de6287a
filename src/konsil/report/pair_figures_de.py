"""The words of the figures of comparisons, in German."""

from __future__ import annotations

PAIR_FIGURES: dict[str, str] = {
    "%(what)s on %(n)s criteria, analyses “%(first)s” to “%(last)s”.": (
        "%(what)s bei %(n)s Kriterien, Analysen „%(first)s“ bis „%(last)s“."
    ),
    "At the right what they are made of: the mean over the rivals of the shares of comparisons.": (
        "Rechts, woraus sie bestehen: die Anteile der Vergleiche, gemittelt über die Gegner."
    ),
    "much better": "viel besser",
    "somewhat": "etwas",
    "equal": "gleich",
    "somewhat worse": "etwas schlechter",
    "much worse": "viel schlechter",
    "Share": "Anteil",
    "Ratio to the best": "Verhältnis zum besten",
    "Judges without answers of their own are left out: %(who)s.": (
        "Ohne Modelle, von denen keine Antwort dabei ist: %(who)s."
    ),
    "Ratios to the best system's worth, which has none itself.": (
        "Verhältnisse zur Stärke des besten Systems, das selbst keines hat."
    ),
    "Each cell: the share of comparisons that the row's system won against the column's; ties count as no win.": (
        "Jede Zelle: der Anteil der Vergleiche, die das System der Zeile gegen das der Spalte gewann; Gleichstände"
        " zählen nicht als Sieg."
    ),
    "Winner": "Sieger",
    "jury": "Jury",
    "Rows are who compared, columns whose answers; framed: judges on their own answers.": (
        "Zeilen: wer verglich; Spalten: wessen Antworten; umrahmt: Richtermodelle zu eigenen Antworten."
    ),
    "Who compared": "Wer verglich",
    "Whose answers": "Wessen Antworten",
    "Lengths of the answers": "Längen der Antworten",
    "Lengths of the answers in characters: median, middle half (box), 5th to 95th percentile (line), mean (diamond).": (
        "Längen der Antworten in Zeichen: Median, mittlere Hälfte (Kasten), 5.–95. Perzentil (Linie), Mittel (Raute)."
    ),
    "Characters": "Zeichen",
    "Rated items by %(stratum)s": "Bewertete Items nach %(stratum)s",
    "Items with at least one rating, by %(stratum)s.": "Items mit mindestens einer Bewertung, nach %(stratum)s.",
    "%(n)s values of %(column)s": "%(n)s Werte von %(column)s",
    "Each rater gets items of the own %(column)s": "Alle erhalten Items aus ihrer eigenen Gruppe: %(column)s",
    "Arm %(arm)s": "Arm %(arm)s",
    "For each item two of %(k)s systems are drawn": "Je Item werden zwei von %(k)s Systemen gezogen",
    "with weights %(weights)s": "mit den Gewichten %(weights)s",
    "those of the arm %(arm)s, sides drawn afresh": "die des Arms %(arm)s, Seiten neu gezogen",
    "sides drawn afresh": "Seiten neu gezogen",
    "%(panel)s: each of %(n)s compares the same": "%(panel)s: alle %(n)s vergleichen dasselbe",
    "How comparisons were drawn": "Wie die Vergleiche gezogen wurden",
    "From items and raters to comparisons: what is drawn at random, and in what order.": (
        "Von Items und Bewertenden zu Vergleichen: was ausgelost wird, und in welcher Reihenfolge."
    ),
    "What judges are sent, word for word": "Was Richtermodelle erhalten, wörtlich",
    "What these systems are told, word for word:": "Was diesen Systemen gesagt wird, wörtlich:",
}
