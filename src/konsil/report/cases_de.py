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
    "accuracy": ("Genauigkeit", "Der Anteil der Antworten, die nach dem Mittel des Panels richtig sind."),
    "illusion_gap": (
        "Lücke der Illusion",
        "Um wie viel besser sich die Antworten lesen, als sie zutreffen, im Mittel über die Antworten.",
    ),
    "crossover": (
        "Kreuzung",
        "Um wie viel sich die Reihenfolge zweier Systeme umkehrt, wenn Fälle mit weniger Information gestellt werden;"
        " über 0 liegt auf einer Stufe das eine vorn und auf einer späteren das andere.",
    ),
    "mismatch": (
        "Kluft zwischen Begründung und Antwort (ROM)",
        "Der Anteil der gescheiterten Antworten, deren Begründung die Diagnose nennt, der Schluss aber nicht.",
    ),
    "hallucination": (
        "Rate der Halluzinationen",
        "Der Anteil der gescheiterten Antworten, die eine bestimmte falsche Krankheit nennen.",
    ),
    "approval": (
        "Billigung von Fehlern (HAR)",
        "Der Anteil der Fehler nach den Fachleuten, denen ein Richtermodell trotzdem genügende Punkte gibt.",
    ),
    "strictness": (
        "Trennschärfe",
        "Wie oft ein Richtermodell einen Erfolg über einen Fehler stellt, was auch immer seine Schwelle ist: 1 trennt"
        " alle, 0,5 ist Zufall.",
    ),
    "mann_whitney": (
        "Cohens d",
        "Wie weit zwei Systeme auseinanderliegen, in Standardabweichungen; der p-Wert ist der eines Rangtests.",
    ),
    "anova": (
        "Partielles Eta-Quadrat",
        "Welcher Teil der Streuung innerhalb der Fälle auf das System, die Stufe oder beides zurückgeht.",
    ),
    "tukey": (
        "Tukeys Test",
        "Alle Unterschiede zwischen Systemen und Stufen, zusammen gegen den Zufall gehalten.",
    ),
    "criteria_correlation": (
        "Korrelation der Kriterien",
        "Wie ähnlich zwei Kriterien die Antworten ordnen, als Spearmans Rho der Mittel des Panels.",
    ),
}
"""Name -> title and one plain sentence."""

CASE_SENTENCES: dict[str, str] = {
    "{n:,} of {all:,} cases lack a level and may be left out.": (
        "{n:,} von {all:,} Fällen fehlt eine Stufe; sie können fehlen."
    ),
    "{criterion}: whoever labels and people agree": "{criterion}: Beschriftung und Menschen stimmen überein",
    "no answer that failed has labels": "keine gescheiterte Antwort hat solche Labels",
    "Out of {n:,} {n|answer|answers} that failed.": "Von {n:,} {n|gescheiterter Antwort|gescheiterten Antworten}.",
    "{n:,} {n|answer that failed has|answers that failed have} no such label and {n|is|are} left out.": (
        "{n:,} gescheiterte {n|Antwort hat|Antworten haben} kein solches Label und {n|fehlt|fehlen} hier."
    ),
    "all systems": "alle Systeme",
    "all scores of both are the same, or too few": "alle Bewertungen beider sind gleich, oder es sind zu wenige",
    "nobody labelled a sample by hand, so that the labels' own accuracy is not known": (
        "niemand hat eine Stichprobe von Hand beschriftet; wie genau die Labels sind, ist daher nicht bekannt"
    ),
    "no answer has both scores": "keine Antwort hat beide Bewertungen",
    "the intervals of {n} levels at once, {cluster}-cluster bootstrap, BCa, {draws:,} resamples, Bonferroni": (
        "die Intervalle von {n} Stufen zugleich, Bootstrap über Cluster ({cluster}), BCa, {draws:,} Ziehungen,"
        " Bonferroni"
    ),
    "a level has no case that both answered": "auf einer Stufe haben beide keinen Fall beantwortet",
    "No crossover: {a} and {b} keep their order at every level.": (
        "Keine Kreuzung: {a} und {b} behalten ihre Reihenfolge auf jeder Stufe."
    ),
    "Whether the order of {a} and {b} reverses cannot be said.": (
        "Ob sich die Reihenfolge von {a} und {b} umkehrt, lässt sich nicht sagen."
    ),
    "Crossover: {a} is ahead at {early} and {b} at {late}; the intervals of both differences, held for all levels at"
    " once, exclude 0.": (
        "Kreuzung: Auf {early} liegt {a} vorn, auf {late} {b}; die Intervalle beider Differenzen, für alle Stufen"
        " zugleich, schließen 0 aus."
    ),
    "No crossover is shown: {a} is ahead at {early} and {b} at {late} in these cases, but the intervals of the"
    " differences, held for all levels at once, do not exclude 0 on both sides.": (
        "Eine Kreuzung ist nicht gezeigt: In diesen Fällen liegt auf {early} {a} vorn und auf {late} {b}, aber die"
        " Intervalle der Differenzen, für alle Stufen zugleich, schließen 0 nicht auf beiden Seiten aus."
    ),
    "no judgement of a failure that can be read": "kein lesbares Urteil über einen Fehler",
    "no failure or no success among what was judged": "unter dem Beurteilten ist kein Fehler oder kein Erfolg",
    "Out of {n:,} {n|failure|failures}.": "Von {n:,} {n|Fehler|Fehlern}.",
    "{n:,} of {all:,} failures have no judgement that can be read.": (
        "{n:,} von {all:,} Fehlern haben kein lesbares Urteil."
    ),
    "paired d of case means, {interval}; Wilcoxon's signed ranks, W = {w:g}": (
        "gepaartes d der Fallmittel, {interval}; Wilcoxons Vorzeichenrangtest, W = {w:g}"
    ),
    "Cohen's d of case means, unpaired, {interval}; Mann-Whitney, U = {u:g}": (
        "Cohens d der Fallmittel, ungepaart, {interval}; Mann-Whitney, U = {u:g}"
    ),
    "the case means do not differ from one another or are too few": (
        "die Fallmittel unterscheiden sich nicht oder sind zu wenige"
    ),
    "Cohen's d of all scores as if they were independent, without an interval; Mann-Whitney, U = {u:g}": (
        "Cohens d aller Bewertungen, als wären sie unabhängig, ohne Intervall; Mann-Whitney, U = {u:g}"
    ),
    "{n:,} scores of few cases are not {n:,} observations: this p value is far too small.": (
        "{n:,} Bewertungen weniger Fälle sind nicht {n:,} Beobachtungen: Dieser p-Wert ist viel zu klein."
    ),
    "The same cases were given to all systems: taken as others, the test of the system is not the right one.": (
        "Alle Systeme bekamen dieselben Fälle: Als andere genommen, ist der Test des Systems nicht der richtige."
    ),
    "Tukey's range test of {n} cells, paired by case, each two with their own error": (
        "Tukeys Spannweitentest von {n} Zellen, nach Fällen gepaart, je zwei mit ihrem eigenen Fehler"
    ),
    "Tukey's HSD of {n} cells as if they were of other cases": ("Tukeys HSD von {n} Zellen, als wären es andere Fälle"),
    "between systems": "zwischen den Systemen",
    "between levels": "zwischen den Stufen",
    "system × level": "System × Stufe",
    "level within {system}": "Stufe innerhalb von {system}",
    "mixed, systems between, F({df:.0f}, {error:.0f}) = {f:.2f}; no interval": (
        "gemischt, Systeme als Gruppen, F({df:.0f}; {error:.0f}) = {f:.2f}; kein Intervall"
    ),
    "the differences do not vary, or there are too few whole cases": (
        "die Differenzen streuen nicht, oder es gibt zu wenige vollständige Fälle"
    ),
    "{n:,} of {all:,} cases lack a cell and are left out.": (
        "{n:,} von {all:,} Fällen fehlt eine Zelle; sie fehlen hier."
    ),
    "repeated measures, F({df:.2f}, {error:.2f}) = {f:.2f}, Greenhouse-Geisser ε = {epsilon:.3f}; the interval inverts"
    " the F test": (
        "wiederholte Messungen, F({df:.2f}; {error:.2f}) = {f:.2f}, ε nach Greenhouse und Geisser = {epsilon:.3f};"
        " das Intervall kehrt den F-Test um"
    ),
    "fewer than two whole cases, or nothing varies": "weniger als zwei vollständige Fälle, oder nichts streut",
    "a criterion has one score throughout, or no answer has both": (
        "ein Kriterium hat durchweg dieselbe Bewertung, oder keine Antwort hat beide"
    ),
    "recovered": "wiedergefunden",
    "no answer has a score": "keine Antwort hat eine Bewertung",
    "wrong at {level}, right with less": "auf {level} falsch, mit weniger richtig",
    "Hidden knowledge cannot be judged: no case of {system} has all levels.": (
        "Verborgenes Wissen lässt sich nicht beurteilen: Kein Fall von {system} hat alle Stufen."
    ),
    "Hidden knowledge: {system} has {value:.0%} of the cases wrong at {level} and right with less, and the interval"
    " lies above {margin:.0%}. Answers that are right by luck, as often as those of each level are, would give"
    " {luck:.0%}.": (
        "Verborgenes Wissen: {system} hat {value:.0%} der Fälle auf {level} falsch und mit weniger richtig, und das"
        " Intervall liegt über {margin:.0%}. Antworten, die durch Glück so oft richtig sind wie die jeder Stufe,"
        " ergäben {luck:.0%}."
    ),
    "Hidden knowledge is not told from luck: {system} has {value:.0%} of the cases wrong at {level} and right with"
    " less, but answers that are right by luck, as often as those of each level are, would give {luck:.0%}, and the"
    " interval reaches down to {low:.0%}.": (
        "Verborgenes Wissen ist von Glück nicht zu trennen: {system} hat {value:.0%} der Fälle auf {level} falsch und"
        " mit weniger richtig, aber Antworten, die durch Glück so oft richtig sind wie die jeder Stufe, ergäben"
        " {luck:.0%}, und das Intervall reicht hinab bis {low:.0%}."
    ),
    "No hidden knowledge is shown: {system} has {value:.0%} of the cases wrong at {level} and right with less, but the"
    " interval reaches down to {low:.0%}, which is not above {margin:.0%}.": (
        "Verborgenes Wissen ist nicht gezeigt: {system} hat {value:.0%} der Fälle auf {level} falsch und mit weniger"
        " richtig, aber das Intervall reicht hinab bis {low:.0%} und liegt nicht über {margin:.0%}."
    ),
    "An answer counts as right where the panel's mean score is {correct:g} or more.": (
        "Eine Antwort gilt als richtig, wo das Mittel des Panels {correct:g} oder mehr ist."
    ),
    "In {analyses} an answer counts as right where the panel's mean score is {correct:g} or more.": (
        "In {analyses} gilt eine Antwort als richtig, wo das Mittel des Panels {correct:g} oder mehr ist."
    ),
    "A crossover is told only where the differences at two levels lie on opposite sides of 0, with intervals that hold"
    " for all levels at once (Bonferroni).": (
        "Von einer Kreuzung ist nur die Rede, wo die Differenzen auf zwei Stufen auf verschiedenen Seiten von 0 liegen,"
        " mit Intervallen, die für alle Stufen zugleich gelten (Bonferroni)."
    ),
    "Systems were compared on the means of their cases, paired by case (Wilcoxon); unpaired versions (Mann-Whitney)"
    " stand beside.": (
        "Systeme wurden an den Mitteln ihrer Fälle verglichen, nach Fällen gepaart (Wilcoxon); ungepaarte Fassungen"
        " (Mann-Whitney) stehen daneben."
    ),
    "Analyses of variance take system and level as repeated measures of the case, with F tests corrected by Greenhouse"
    " and Geisser.": (
        "Varianzanalysen nehmen System und Stufe als wiederholte Messungen am Fall, mit F-Tests nach Greenhouse und"
        " Geisser korrigiert."
    ),
    "In paper mode scores or cells of the same cases are taken as independent, which they are not.": (
        "Im Modus der Veröffentlichung gelten Bewertungen oder Zellen derselben Fälle als unabhängig, was sie nicht"
        " sind."
    ),
    "Of the cases that are right at {level} alone.": "Allein unter den Fällen, die auf {level} richtig sind.",
}
"""Sentences of the analyses -> the same in German."""

CASE_SOURCES: dict[str, str] = {
    "CLExEval, appendix D": "CLExEval, Anhang D",
    "Hanley and McNeil, Radiology 143:29, 1982: the area as a share of pairs": (
        "Hanley und McNeil, Radiology 143:29, 1982: die Fläche als Anteil der Paare"
    ),
    "Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. 1988, chapter 2": (
        "Cohen, Statistical Power Analysis for the Behavioral Sciences, 2. Aufl. 1988, Kapitel 2"
    ),
    "Kirk, Experimental Design, 4th ed. 2013, chapter 10; Greenhouse and Geisser, Psychometrika 24:95, 1959": (
        "Kirk, Experimental Design, 4. Aufl. 2013, Kapitel 10; Greenhouse und Geisser, Psychometrika 24:95, 1959"
    ),
    "Tukey, Biometrics 5:99, 1949; paired: Maxwell, J Educ Stat 5:269, 1980": (
        "Tukey, Biometrics 5:99, 1949; gepaart: Maxwell, J Educ Stat 5:269, 1980"
    ),
}
"""Where formulas come from -> the same in German."""
