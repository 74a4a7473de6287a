"""Comparisons of two answers in German: what analyses say, the statistics, their sources."""

from __future__ import annotations

PAIRS: dict[str, str] = {
    "the lengths of the answers are not known": "die Längen der Antworten sind nicht bekannt",
    "With raters as a second source of chance the interval is {wider:.0%} wider than that by items alone.": (
        "Mit den Bewertenden als zweiter Quelle des Zufalls ist das Intervall um {wider:.0%} breiter als das nach Items"
        " allein."
    ),
    "The {n:.0f} raters are fewer than {few:.0f}: of raters in general so few tell little.": (
        "Die {n:.0f} Bewertenden sind weniger als {few:.0f}: Über Bewertende im Allgemeinen sagen so wenige kaum etwas."
    ),
    "The interval rests on {n:.0f} {n|item|items}, fewer than {few:.0f}.": (
        "Das Intervall beruht auf {n:.0f} {n|Item|Items}, weniger als {few:.0f}."
    ),
    "It met {n:.0f} of the {all:.0f} other systems; the others do not enter its mean.": (
        "Es wurde mit {n:.0f} der {all:.0f} anderen Systeme verglichen; die übrigen gehen in sein Mittel nicht ein."
    ),
    "longer": "länger",
    "shorter": "kürzer",
    "no comparison of the two": "kein Vergleich der beiden",
    "no comparison with another system": "kein Vergleich mit einem anderen System",
    "one item, one rater or comparisons that all say the same have no interval": (
        "ein einziges Item, eine einzige bewertende Person oder lauter gleiche Urteile haben kein Intervall"
    ),
    "{cluster}-cluster bootstrap, percentiles, {draws:,} resamples": (
        "{cluster}-Cluster-Bootstrap, Perzentile, {draws:,} Ziehungen"
    ),
    "{method}; p: all comparisons of an item change sides together, exact": (
        "{method}; p: alle Vergleiche eines Items wechseln gemeinsam die Seiten, exakt"
    ),
    "{method}; p: all comparisons of an item change sides together, {flips:,} flips": (
        "{method}; p: alle Vergleiche eines Items wechseln gemeinsam die Seiten, {flips:,} Münzwürfe"
    ),
    "{method}; p: single comparisons change sides, exact": (
        "{method}; p: einzelne Vergleiche wechseln die Seiten, exakt"
    ),
    "{method}; p: single comparisons change sides, {flips:,} flips": (
        "{method}; p: einzelne Vergleiche wechseln die Seiten, {flips:,} Münzwürfe"
    ),
    "by the model's information, votes taken as independent": (
        "aus der Information des Modells, Urteile als unabhängig genommen"
    ),
    "Tie parameter: {d:.3f}.": "Parameter der Gleichstände: {d:.3f}.",
    "ratio to the best": "Verhältnis zum besten",
    "the reference": "die Bezugsgröße",
    "there are no comparisons": "es gibt keine Vergleiche",
    "there is no tie, so that ties have no parameter; Bradley and Terry's model needs none": (
        "es gibt keinen Gleichstand und damit keinen Parameter dafür; das Modell von Bradley und Terry braucht keinen"
    ),
    "every comparison is a tie": "alle Vergleiche enden unentschieden",
    "some systems were never compared with the others, not even by way of third ones": (
        "manche Systeme wurden mit den anderen nie verglichen, auch nicht über dritte"
    ),
    "some systems lost to none of the others, directly or by way of third ones": (
        "manche Systeme haben gegen keines der anderen verloren, auch nicht über dritte"
    ),
    "no comparison goes against the order of the others, so that the worths have no bounds": (
        "kein Vergleich widerspricht der Reihenfolge der übrigen; die Stärken haben dann keine Grenzen"
    ),
    "the likelihood's maximum was not found": "das Maximum der Likelihood wurde nicht gefunden",
    "no two raters compared the same two answers": "niemand sonst hat dieselben zwei Antworten verglichen",
    "no task says what was shown first": "keine Aufgabe sagt, was zuerst gezeigt wurde",
    "one of the two rankings puts all systems level": "eine der beiden Rangfolgen stellt alle Systeme gleich",
    "Rankings of {n} systems have only {k} values of tau.": "Rangfolgen von {n} Systemen haben nur {k} Werte von Tau.",
    "jury of {panel}": "Jury aus {panel}",
    "mean over criteria": "Mittel über die Kriterien",
    "minus the experts": "minus Fachleute",
    "minus the judges of other families": "minus Richtermodelle anderer Familien",
    "Win differences give every rival the same weight, however often it was met; the weights are computed again in"
    " every resample, and ties stay in the denominators.": (
        "Siegdifferenzen geben jedem Gegner dasselbe Gewicht, wie oft er auch vorkam; die Gewichte werden in jeder"
        " Ziehung neu berechnet, und Gleichstände bleiben im Nenner."
    ),
    "In paper mode comparisons have percentile intervals by item and flips of single comparisons, which reject too"
    " often where comparisons share items or raters.": (
        "Im Modus der Veröffentlichung haben Vergleiche Perzentilintervalle nach Items und Münzwürfe für jeden"
        " einzelnen Vergleich, die zu oft ablehnen, wo Vergleiche Items oder Bewertende teilen."
    ),
    "A jury's outcome is the mean of its judges' steps, a win beyond {line:g} steps.": (
        "Das Urteil einer Jury ist das Mittel der Stufen ihrer Richtermodelle, ein Sieg jenseits von {line:g} Stufen."
    ),
}
"""What analyses of pairs say."""

PAIR_STATISTICS: dict[str, tuple[str, str]] = {
    "win_difference": (
        "Siegdifferenz",
        "Siege minus Niederlagen eines Systems im Vergleich mit den anderen, von -1 bis 1; jeder Gegner hat dasselbe"
        " Gewicht.",
    ),
    "win_difference_strict": (
        "Siegdifferenz, nur deutliche",
        "Die Siegdifferenz, in der nur die äußersten Labels Siege sind und alles andere unentschieden.",
    ),
    "win_rate": (
        "Siegquote",
        "Der Anteil der Vergleiche zweier Systeme, die das erste gewann; Gleichstände bleiben im Nenner.",
    ),
    "win_rate_strict": ("Siegquote, nur deutliche", "Die Siegquote, in der nur die äußersten Labels Siege sind."),
    "margin": (
        "Vorsprung in Stufen",
        "Um wie viele Stufen der Skala ein System im Mittel vor den anderen liegt; jeder Gegner hat dasselbe Gewicht.",
    ),
    "davidson": (
        "Davidson-Stärke",
        "Der Logarithmus der Stärke in Davidsons Modell mit Gleichständen; die Summe über die Systeme ist null.",
    ),
    "bradley_terry": (
        "Bradley-Terry-Stärke",
        "Der Logarithmus der Stärke im Modell von Bradley und Terry, Gleichstände für beide halb; die Summe ist null.",
    ),
    "choice_agreement": (
        "Übereinstimmung im Vergleich",
        "Wie oft zwei Bewertende derselben zwei Antworten um höchstens eine Stufe auseinanderliegen; neben dem"
        " Zufallsniveau zu lesen.",
    ),
    "choice_kappa": (
        "Kappa im Vergleich",
        "Quadratisch gewichtetes Kappa derer, die dieselben zwei Antworten verglichen haben; die Seiten sind"
        " ausgeglichen.",
    ),
    "position_bias": (
        "Vorteil der ersten Stelle",
        "Um wie viel öfter die zuerst gezeigte Antwort gewinnt, als sie verliert; 0, wenn die Stelle nichts ausmacht.",
    ),
    "rank_agreement": (
        "Übereinstimmung der Rangfolgen",
        "Kendalls Tau-b zwischen der Rangfolge der Systeme nach Richtermodellen und der nach Fachleuten.",
    ),
}
"""The statistics of pairs: name -> title and one plain sentence."""

PAIR_SOURCES: dict[str, str] = {
    "Pocock et al., Eur Heart J 33:176, 2012; every rival weighs the same": (
        "Pocock et al., Eur Heart J 33:176, 2012; jeder Gegner hat dasselbe Gewicht"
    ),
    "share of comparisons won, ties in the denominator": "Anteil gewonnener Vergleiche, Gleichstände im Nenner",
    "mean Likert steps in favour; every rival weighs the same": (
        "mittlere Zahl der Likert-Stufen zugunsten; jeder Gegner hat dasselbe Gewicht"
    ),
    "Davidson, J Am Stat Assoc 65:317, 1970": "Davidson, J Am Stat Assoc 65:317, 1970",
    "Bradley and Terry, Biometrika 39:324, 1952": "Bradley und Terry, Biometrika 39:324, 1952",
    "Cohen, Psychol Bull 70:213, 1968; raters not told apart": "Cohen, Psychol Bull 70:213, 1968; ohne Reihenfolge",
    "Kendall, Biometrika 33:239, 1945, of the systems' win differences": (
        "Kendall, Biometrika 33:239, 1945, der Siegdifferenzen der Systeme"
    ),
}
"""Where the formulas come from."""
