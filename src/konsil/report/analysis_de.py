"""What analyses say, in German: template -> template with the same gaps. A test finds gaps and leftovers."""

from __future__ import annotations

_REASONS: dict[str, str] = {
    "one cluster has no interval": "ein einzelner Cluster hat kein Intervall",
    "one rater has no interval": "eine einzelne bewertende Person hat kein Intervall",
    "no labels to compute it from": "keine Labels, aus denen sich etwas berechnen ließe",
    "undefined on these labels": "mit diesen Labels nicht definiert",
    "one of the two has no labels": "eine der beiden Gruppen hat keine Labels",
    "one of the two is undefined": "eine der beiden Zahlen ist nicht definiert",
    "no ratings selected": "keine Bewertungen ausgewählt",
    "panel {panel} has no ratings": "das Panel {panel} hat keine Bewertungen",
    "no rater rated anything twice (no task repeats another)": (
        "niemand hat etwas zweimal bewertet (keine Aufgabe wiederholt eine andere)"
    ),
    "fewer than three raters": "weniger als drei Bewertende",
    "undefined without one of the raters": "ohne eine der bewertenden Personen nicht definiert",
    "the groups have other raters": "die Gruppen haben verschiedene Bewertende",
    "no unit was labelled by two raters": "keine Einheit hat Labels von zwei Bewertenden",
    "all labels are the same, so agreement beyond chance is undefined": (
        "alle Labels sind gleich; Übereinstimmung über den Zufall hinaus ist dann nicht definiert"
    ),
    "needs at least two units that every rater labelled; there are {n}": (
        "nötig sind mindestens zwei Einheiten mit Labels aller Bewertenden; es gibt {n}"
    ),
    "units differ no more than chance has it, so that the mean's reliability has no denominator": (
        "die Einheiten unterscheiden sich nicht stärker als durch Zufall; die Zuverlässigkeit des Mittels hat dann"
        " keinen Nenner"
    ),
    "the units or the raters do not vary": "die Einheiten oder die Bewertenden unterscheiden sich nicht",
    "undefined for every pair of raters": "für kein Paar von Bewertenden definiert",
    "not computed: {labels:,} different labels of {raters:,} raters need tables of {cells:,} cells; round the labels to"
    " fewer": (
        "nicht berechnet: {labels:,} verschiedene Labels von {raters:,} Bewertenden bräuchten Tafeln mit {cells:,}"
        " Zellen; durch Runden werden es weniger"
    ),
    "no slot on which it has a majority": "keine Antwort, zu der es eine Mehrheit hat",
    "no resample has a best and clusters left out": "keine Ziehung hat ein bestes Ensemble und ausgelassene Cluster",
    "no answers of its own among them": "keine eigenen Antworten darunter",
    "no judge of another family": "kein Richtermodell einer anderen Familie",
    "phase: practice": "Übung",
    "phase: pilot": "Pilotphase",
    "rater excluded by the protocol": "bewertende Person laut Protokoll ausgeschlossen",
    "item excluded by the protocol": "Item laut Protokoll ausgeschlossen",
    "no time recorded": "keine Zeit verzeichnet",
    "faster than {seconds:g} seconds": "schneller als {seconds:g} Sekunden",
}

_INTERVALS: dict[str, str] = {
    "{cluster}-cluster bootstrap, BCa, {draws:,} resamples": "{cluster}-Cluster-Bootstrap, BCa, {draws:,} Ziehungen",
    "paired difference, {cluster}-cluster bootstrap, BCa, {draws:,} resamples": (
        "gepaarte Differenz, {cluster}-Cluster-Bootstrap, BCa, {draws:,} Ziehungen"
    ),
    "linearised {cluster}-cluster Wald, t with {df} degrees of freedom": (
        "linearisiertes Wald-Intervall ({cluster}-Cluster), t mit {df} Freiheitsgraden"
    ),
    "linearised {cluster}-cluster Wald on the atanh scale, t with {df} degrees of freedom": (
        "linearisiertes Wald-Intervall ({cluster}-Cluster) auf der atanh-Skala, t mit {df} Freiheitsgraden"
    ),
    "linearised two-way Wald ({cluster} and rater), t with {df} degrees of freedom": (
        "zweifaches linearisiertes Wald-Intervall ({cluster} und bewertende Person), t mit {df} Freiheitsgraden"
    ),
    "linearised rater-cluster Wald, t with {df} degrees of freedom": (
        "linearisiertes Wald-Intervall (Bewertende als Cluster), t mit {df} Freiheitsgraden"
    ),
    "delete-one-rater jackknife": "Jackknife ohne je eine bewertende Person",
    "delete-one-rater jackknife, t with {df} degrees of freedom": (
        "Jackknife ohne je eine bewertende Person, t mit {df} Freiheitsgraden"
    ),
    "chance level (two labels drawn from all labels given), {method}": (
        "Zufallsniveau (zwei Labels aus allen vergebenen gezogen), {method}"
    ),
    "F interval of Shrout and Fleiss: independent, normal units": (
        "F-Intervall nach Shrout und Fleiss: unabhängige, normalverteilte Einheiten"
    ),
    "out of bag: in each of {draws:,} resamples the best is chosen and scored on the clusters left out": (
        "out of bag: in jeder von {draws:,} Ziehungen wird das beste gewählt und an den ausgelassenen Clustern gemessen"
    ),
    "Wilson": "Wilson",
    "Clopper-Pearson": "Clopper-Pearson",
}

_NOTES: dict[str, str] = {
    "The interval rests on {n:.0f} clusters, fewer than {few:.0f}.": (
        "Das Intervall beruht auf {n:.0f} Clustern, weniger als {few:.0f}."
    ),
    "No resample differs from the estimate: the interval has no width and is no evidence.": (
        "Keine Ziehung weicht vom Schätzwert ab: Das Intervall hat keine Breite und belegt nichts."
    ),
    "The resampling interval is {times:.2f} times as wide as the linearised one.": (
        "Das Intervall aus den Ziehungen ist {times:.2f}-mal so breit wie das linearisierte."
    ),
    "The linearised interval has no width while the resampling interval has.": (
        "Das linearisierte Intervall hat keine Breite, das aus den Ziehungen schon."
    ),
    "The statistic was undefined in {n:.0f} of {all:.0f} resamples.": (
        "In {n:.0f} von {all:.0f} Ziehungen war die Statistik nicht definiert."
    ),
    "Resampling would take very long at this size: the interval is the linearised one, which needs none.": (
        "Ziehungen würden bei dieser Größe sehr lange dauern: Das Intervall ist das linearisierte, das keine braucht."
    ),
    "With raters as a second source of chance the interval is {wider:.0%} wider; conclusions about raters in general"
    " need the two-way interval.": (
        "Mit den Bewertenden als zweiter Quelle des Zufalls ist das Intervall um {wider:.0%} breiter; Schlüsse über"
        " Bewertende allgemein brauchen das zweifache Intervall."
    ),
    "The {n} raters are fewer than {few}: the first interval is about these raters, and of raters in general so few"
    " tell little.": (
        "Es sind {n} Bewertende, weniger als {few}: Das erste Intervall gilt für genau diese; über Bewertende allgemein"
        " sagen so wenige kaum etwas."
    ),
    "One of the two labels makes up {share:.0%} of all: kappa and its relatives are unsteady.": (
        "Eines der beiden Labels macht {share:.0%} aller aus: Kappa und seine Verwandten sind dann unstet."
    ),
    "One label makes up {share:.0%} of all: kappa and its relatives are unsteady.": (
        "Ein Label macht {share:.0%} aller aus: Kappa und seine Verwandten sind dann unstet."
    ),
    "undefined for {n:,} of {all:,} pairs of raters, which are left out of the mean": (
        "für {n:,} von {all:,} Paaren von Bewertenden nicht definiert; im Mittel fehlen sie"
    ),
    "Of {all:,} units, the {n:,} that every rater labelled are used.": (
        "Von {all:,} Einheiten zählen die {n:,} mit Labels aller Bewertenden."
    ),
    "Units without a strict majority, left out: {n:,}.": "Einheiten ohne strikte Mehrheit, ausgelassen: {n:,}.",
    "{n:,} of {all:,} units have no strict majority and count only where one rater less has.": (
        "{n:,} von {all:,} Einheiten haben keine strikte Mehrheit und zählen nur, wo sie ohne eine Person eine haben."
    ),
    "{n:,} items have no {covariate} and are left out.": "{n:,} Items haben kein {covariate} und sind ausgelassen.",
    "The interval lies within ±{margin:g}: equivalent at this margin.": (
        "Das Intervall liegt innerhalb von ±{margin:g}: bei dieser Grenze gleichwertig."
    ),
    "The interval does not lie within ±{margin:g}: equivalence at this margin is not shown.": (
        "Das Intervall liegt nicht innerhalb von ±{margin:g}: Gleichwertigkeit bei dieser Grenze ist nicht gezeigt."
    ),
    "The best of {n} was chosen on the same data: its value is too high by about {optimism:.3f}; the out-of-bag value"
    " is what an ensemble chosen in this way reaches on new items.": (
        "Das beste von {n} ist auf denselben Daten gewählt: Sein Wert ist um etwa {optimism:.3f} zu hoch; der"
        " Out-of-bag-Wert ist, was ein so gewähltes Ensemble auf neuen Items erreicht."
    ),
    "{n:,} ratings are excluded by the protocol's rules; the coverage table says why.": (
        "{n:,} Bewertungen sind nach den Regeln des Protokolls ausgeschlossen; warum, sagt die Tabelle im Verlauf der"
        " Studie."
    ),
    "Analyses in paper mode reproduce what a paper computes and are not recommended for conclusions.": (
        "Analysen „wie in der Arbeit“ rechnen eine Veröffentlichung nach; für Schlüsse sind sie nicht zu empfehlen."
    ),
    "Judges of a judged system's family: {names}.": (
        "Richtermodelle aus der Familie eines bewerteten Systems: {names}."
    ),
}

_GROUPS: dict[str, str] = {
    "rest": "übrige",
    "{panel}, leave one out": "{panel}, ohne die jeweilige Person",
    "best of {n}, out of bag": "bestes von {n}, out of bag",
    "own minus peers, leniency included": "eigene minus andere Familien, Milde eingeschlossen",
    "{a} and {b}": "{a} und {b}",
    "{some} and {last}": "{some} und {last}",
    "{analysis}: {where}": "{analysis}: {where}",
    "{what} minus {other}": "{what} minus {other}",
    "item": "Item",
    "case": "Fall",
    "abstained": "enthalten",
    "unweighted": "ungewichtet",
    "linear": "linear",
    "quadratic": "quadratisch",
    "ordinal": "ordinal",
    "radical": "radikal",
    "ratio": "verhältnisbezogen",
}

_METHODS: dict[str, str] = {
    "{n} ({panel}; {ratings:,} ratings)": "{n} ({panel}; {ratings:,} Bewertungen)",
    "No ratings were available.": "Es lagen keine Bewertungen vor.",
    "Raters were {raters}, on {items:,} items.": "Es bewerteten {raters}, und zwar {items:,} Items.",
    "No rating was faster than the protocol's {seconds:g} seconds.": (
        "Keine Bewertung war schneller als die {seconds:g} Sekunden des Protokolls."
    ),
    "{n:,} ratings ({reason})": "{n:,} Bewertungen ({reason})",
    "Excluded: {what}.": "Ausgeschlossen: {what}.",
    "The {n:,} abstentions are not labels: statistics use the labels given (pairwise deletion).": (
        "Die {n:,} Enthaltungen sind keine Labels: Es zählen die vergebenen Labels (paarweiser Ausschluss)."
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
    "Intervals are {level:g} % BCa bootstrap intervals over {draws:,} resamples of clusters ({clusters}), seeded by the"
    " study's seed {seed}, the same resamples in all analyses of the same clusters; a linearised cluster interval stands"
    " beside each.": (
        "Intervalle sind BCa-Bootstrap-Intervalle zum Niveau {level:g} % aus {draws:,} Ziehungen von Clustern"
        " ({clusters}), mit dem Startwert {seed} der Studie, dieselben in allen Auswertungen derselben Cluster; daneben"
        " steht jeweils ein linearisiertes Cluster-Intervall."
    ),
    "Where single ratings are averaged, a two-way interval (items and raters) stands beside them.": (
        "Wo einzelne Bewertungen gemittelt sind, steht ein zweifaches Intervall (Items und Bewertende) daneben."
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
    "In {analyses} the p value is from swapping the two groups in whole clusters by fair coins.": (
        "In {analyses} stammt der p-Wert aus dem Tausch der beiden Gruppen in ganzen Clustern durch faire Münzen."
    ),
    "Where raters are the clusters, p values are from the t distribution.": (
        "Wo Bewertende die Cluster sind, stammen p-Werte aus der t-Verteilung."
    ),
    "Holm's adjustment is over all prespecified differences.": (
        "Holms Adjustierung umfasst alle vorab festgelegten Differenzen."
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
    "convention": "üblich",
    "share of units with equal labels, pair by pair": "Anteil der Einheiten mit gleichen Labels, Paar für Paar",
}
"""Where the statistics come from."""

_SIMULATED: dict[str, str] = {
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

SAID: dict[str, str] = {**_REASONS, **_INTERVALS, **_NOTES, **_GROUPS, **_METHODS, **_SIMULATED}
"""Everything that analyses say."""
