"""The methods paragraph, the simulation's words and the sources of the statistics, in German."""

from __future__ import annotations

from konsil.report.cases_de import CASE_SOURCES
from konsil.report.designs_de import DESIGN_SOURCES
from konsil.report.pairs_de import PAIR_SOURCES

METHODS: dict[str, str] = {
    "{n} ({panel}; {ratings:,} {ratings|rating|ratings})": "{n} ({panel}; {ratings:,} {ratings|Bewertung|Bewertungen})",
    "No ratings were available.": "Es lagen keine Bewertungen vor.",
    "Raters were {raters}, on {items:,} {items|item|items}.": (
        "Es bewerteten {raters}, und zwar {items:,} {items|Item|Items}."
    ),
    "No rating was faster than the protocol's {seconds:g} seconds.": (
        "Keine Bewertung war schneller als die {seconds:g} Sekunden des Protokolls."
    ),
    "{n:,} {n|rating|ratings} ({reason})": "{n:,} {n|Bewertung|Bewertungen} ({reason})",
    "Excluded: {what}.": "Ausgeschlossen: {what}.",
    "The {n:,} {n|abstention is not a label|abstentions are not labels}: statistics use the"
    " labels given (pairwise deletion).": (
        "Die {n:,} {n|Enthaltung ist kein Label|Enthaltungen sind keine Labels}: Es zählen die vergebenen"
        " Labels (paarweiser Ausschluss)."
    ),
    "In {analyses} an abstention counts as a label of its own.": (
        "In {analyses} zählt eine Enthaltung als eigenes Label."
    ),
    "{statistic} ({source})": "{statistic} ({source})",
    "Agreement was measured by {statistics}; statistics of two raters are averaged over rater pairs.": (
        "Übereinstimmung wurde gemessen als {statistics}; Zahlen zweier Bewertender sind über alle Paare gemittelt."
    ),
    "Krippendorff's alpha has his own difference of the scale's level of measurement; for ordinal scales that is the"
    " distance of mid-ranks, not Gwet's ordinal weights.": (
        "Krippendorffs Alpha hat den Abstand, den er selbst für das Messniveau der Skala angibt; bei ordinalen Skalen"
        " ist das der Abstand der mittleren Ränge, nicht Gwets ordinale Gewichte."
    ),
    "The weights of Gwet's AC2 are {weights}.": "Die Gewichte von Gwets AC2 sind {weights}.",
    "Beside agreement within one step stands its chance level, that of two labels drawn from all labels given.": (
        "Neben der Übereinstimmung bis auf eine Stufe steht ihr Zufallsniveau: das zweier Labels, die aus allen"
        " vergebenen gezogen sind."
    ),
    "A majority is strictly more than half of the raters who did not abstain; otherwise it is undefined.": (
        "Eine Mehrheit ist strikt mehr als die Hälfte derer, die sich nicht enthielten; sonst ist sie nicht definiert."
    ),
    "Where the panel's labels contradicted one another and none had a majority, those of {panels} joined them in the"
    " majority, and nowhere else.": (
        "Wo Labels des Panels einander widersprachen und keines eine Mehrheit hatte, kamen die von {panels} zur"
        " Mehrheit hinzu, und nirgends sonst."
    ),
    "Leave-one-out agreement compares each rater with the majority of the others.": (
        "Die Übereinstimmung mit den übrigen vergleicht jede bewertende Person mit der Mehrheit der anderen."
    ),
    "Judges were scored on the same leave-one-out majorities and slots as the held-out rater, so that a judge"
    " exchangeable with the panel differs by zero on average.": (
        "Richtermodelle wurden an denselben Mehrheiten der übrigen und an denselben Antworten gemessen wie die jeweils"
        " ausgelassene Person; ein Richtermodell, das mit dem Panel austauschbar ist, weicht so im Mittel um null ab."
    ),
    "In paper mode judges were scored on the majority of the whole panel, which biases the difference.": (
        "„Wie in der Arbeit“ wurden Richtermodelle an der Mehrheit des ganzen Panels gemessen, was die Differenz"
        " verzerrt."
    ),
    "With raters as clusters the interval is linearised for sums of single ratings and a delete-one-rater jackknife"
    " otherwise.": (
        "Mit Bewertenden als Clustern ist das Intervall bei Summen einzelner Bewertungen linearisiert, sonst ein"
        " Jackknife ohne je eine bewertende Person."
    ),
    "Shares without clustering have Wilson intervals, Clopper-Pearson at 0 and 1.": (
        "Anteile ohne Cluster haben Wilson-Intervalle, bei 0 und 1 solche nach Clopper und Pearson."
    ),
    "Differences are paired on the same resamples.": "Differenzen sind auf denselben Ziehungen gepaart.",
    "Two-sided p values of differences invert the bootstrap interval.": (
        "Zweiseitige p-Werte von Differenzen kehren das Bootstrap-Intervall um."
    ),
    "Where raters are the clusters, p values are from the t distribution.": (
        "Wo Bewertende die Cluster sind, stammen p-Werte aus der t-Verteilung."
    ),
}

SOURCES: dict[str, str] = {
    "Brennan and Prediger, Educ Psychol Meas 41:687, 1981; many raters: Gwet 2014, chapter 2": (
        "Brennan und Prediger, Educ Psychol Meas 41:687, 1981; viele Bewertende: Gwet 2014, Kapitel 2"
    ),
    "Byrt, Bishop and Carlin, J Clin Epidemiol 46:423, 1993": "Byrt, Bishop und Carlin, J Clin Epidemiol 46:423, 1993",
    "Cohen, Educ Psychol Meas 20:37, 1960; weighted: Psychol Bull 70:213, 1968": (
        "Cohen, Educ Psychol Meas 20:37, 1960; gewichtet: Psychol Bull 70:213, 1968"
    ),
    "Conger, Psychol Bull 88:322, 1980; missing labels and weights: Gwet 2014, chapters 2 and 3": (
        "Conger, Psychol Bull 88:322, 1980; fehlende Labels und Gewichte: Gwet 2014, Kapitel 2 und 3"
    ),
    "Fleiss, Psychol Bull 76:378, 1971; missing labels and weights: Gwet 2014, chapters 2 and 3": (
        "Fleiss, Psychol Bull 76:378, 1971; fehlende Labels und Gewichte: Gwet 2014, Kapitel 2 und 3"
    ),
    "Gwet, Br J Math Stat Psychol 61:29, 2008; missing labels and weights: Handbook, 4th ed. 2014": (
        "Gwet, Br J Math Stat Psychol 61:29, 2008; fehlende Labels und Gewichte: Handbook, 4. Aufl. 2014"
    ),
    "Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, chapter 2": (
        "Gwet, Handbook of Inter-Rater Reliability, 4. Aufl. 2014, Kapitel 2"
    ),
    "Kendall and Babington Smith, Ann Math Stat 10:275, 1939; ties: Kendall, Rank Correlation Methods, 1948": (
        "Kendall und Babington Smith, Ann Math Stat 10:275, 1939; Bindungen: Kendall, Rank Correlation Methods, 1948"
    ),
    "Kendall, Biometrika 33:239, 1945": "Kendall, Biometrika 33:239, 1945",
    "Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011": (
        "Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011"
    ),
    "Light, Psychol Bull 76:365, 1971": "Light, Psychol Bull 76:365, 1971",
    "Randolph, Free-marginal multirater kappa, 2005": "Randolph, Free-marginal multirater kappa, 2005",
    "Scott, Public Opin Q 19:321, 1955": "Scott, Public Opin Q 19:321, 1955",
    "Searle, Casella and McCulloch, Variance Components, 1992: one-way analysis of variance of unequal groups": (
        "Searle, Casella und McCulloch, Variance Components, 1992: einfache Varianzanalyse ungleicher Gruppen"
    ),
    "Shrout and Fleiss, Psychol Bull 86:420, 1979; McGraw and Wong, Psychol Methods 1:30, 1996": (
        "Shrout und Fleiss, Psychol Bull 86:420, 1979; McGraw und Wong, Psychol Methods 1:30, 1996"
    ),
    "Spearman, Am J Psychol 15:72, 1904; ties as the correlation of mid-ranks": (
        "Spearman, Am J Psychol 15:72, 1904; Bindungen als Korrelation der mittleren Ränge"
    ),
    "Wilson, J Am Stat Assoc 22:209, 1927": "Wilson, J Am Stat Assoc 22:209, 1927",
    "James, Bloch, Lee, Kraemer and Fuller, Stat Med 15:1421, 1996": (
        "James, Bloch, Lee, Kraemer und Fuller, Stat Med 15:1421, 1996"
    ),
    "McNemar, Psychometrika 12:153, 1947; Tango, Stat Med 17:891, 1998 (interval and test of the paired difference)": (
        "McNemar, Psychometrika 12:153, 1947; Tango, Stat Med 17:891, 1998 (Intervall und Test der gepaarten Differenz)"
    ),
    "Bang, Ni and Davis, Control Clin Trials 25:143, 2004": "Bang, Ni und Davis, Control Clin Trials 25:143, 2004",
    "Geifman, Uziel and El-Yaniv, ICLR 2019; ties in one step": (
        "Geifman, Uziel und El-Yaniv, ICLR 2019; Bindungen in einem Schritt"
    ),
    "convention": "üblich",
    "share of units with equal labels, pair by pair": "Anteil der Einheiten mit gleichen Labels, Paar für Paar",
    "share of units whose two labels are equal or neighbours on the scale, pair by pair": (
        "Anteil der Einheiten, deren zwei Labels gleich oder auf der Skala benachbart sind, Paar für Paar"
    ),
    **PAIR_SOURCES,
    **CASE_SOURCES,
    **DESIGN_SOURCES,
}
"""Where the statistics come from."""

SIMULATED: dict[str, str] = {
    "Recovery of the true parameters": "Wiederfinden der wahren Parameter",
    "The ratings are simulated from stated parameters, so the true value of most estimates is known: the value in the"
    " population of new items with these raters, found by large-sample simulation.": (
        "Die Bewertungen sind aus angegebenen Parametern simuliert; deshalb ist für die meisten Schätzwerte der wahre"
        " Wert bekannt: der Wert in der Grundgesamtheit neuer Items mit diesen Bewertenden, gefunden durch Simulation"
        " großer Stichproben."
    ),
    "{inside} of {judged} intervals hold their true value. One study shows single hits and misses; how often intervals"
    " hold is measured over many simulated studies.": (
        "{inside} von {judged} Intervallen enthalten ihren wahren Wert. Eine Studie zeigt einzelne Treffer und Fehler;"
        " wie oft Intervalle halten, wird über viele simulierte Studien gemessen."
    ),
}
