"""The German catalogue of the report's interface: English text -> German text. A test finds gaps and leftovers."""

from __future__ import annotations

from konsil.report.case_figures_de import CASE_FIGURES
from konsil.report.designs_de import DESIGN_FIGURES
from konsil.report.figures_de import FIGURES
from konsil.report.funnel_de import FUNNEL
from konsil.report.pair_figures_de import PAIR_FIGURES
from konsil.report.patients_de import PATIENTS
from konsil.report.recruited_de import RECRUITED
from konsil.report.times_de import TIMES

MESSAGES: dict[str, str] = {
    **CASE_FIGURES,
    **DESIGN_FIGURES,
    **FIGURES,
    **FUNNEL,
    **PAIR_FIGURES,
    **PATIENTS,
    **RECRUITED,
    **TIMES,
    "%(n)s different values": "%(n)s verschiedene Werte",
    "%(n)s more characters": "%(n)s weitere Zeichen",
    "%(statistic)s among the raters of the panel “%(panel)s” on the criterion “%(criterion)s”.": (
        "%(statistic)s unter den Bewertenden des Panels „%(panel)s“ beim Kriterium „%(criterion)s“."
    ),
    "%(statistic)s in the ratings of the panel “%(panel)s” on the criterion “%(criterion)s”.": (
        "%(statistic)s in den Bewertungen des Panels „%(panel)s“ beim Kriterium „%(criterion)s“."
    ),
    "%(statistic)s of each rater of the panel “%(panel)s” against the majority of the panel's other raters, on the"
    " criterion “%(criterion)s”.": (
        "%(statistic)s jedes Mitglieds des Panels „%(panel)s“ mit der Mehrheit der übrigen, beim Kriterium"
        " „%(criterion)s“."
    ),
    "%(statistic)s of the panel “%(panel)s” against the majority of the panel “%(against)s”, on the criterion"
    " “%(criterion)s”.": (
        "%(statistic)s des Panels „%(panel)s“ mit der Mehrheit des Panels „%(against)s“, beim Kriterium"
        " „%(criterion)s“."
    ),
    "%(what)s of each pair of raters, analysis “%(name)s”.": (
        "%(what)s jedes Paars von Bewertenden, Analyse „%(name)s“."
    ),
    "%(what)s: estimates (dots) with their intervals (lines), analysis “%(name)s”.": (
        "%(what)s: Schätzwerte (Punkte) mit ihren Intervallen (Linien), Analyse „%(name)s“."
    ),
    "%(word)s [%(level)s interval]": "%(word)s [%(level)s-Intervall]",
    "A number": "Eine Zahl",
    "Abstained": "Enthalten",
    "Abstentions": "Enthaltungen",
    "All items": "Alle Items",
    "An interval of level 0.95 misses the true value in one of twenty cases, by design.": (
        "Ein Intervall zum Niveau 0,95 verfehlt den wahren Wert bauartbedingt in einem von zwanzig Fällen."
    ),
    "Answers": "Antworten",
    "Items answered by": "Items beantwortet von",
    "Items drawn": "Items gezogen",
    "Items in the set": "Items in der Menge",
    "Items kept": "Items behalten",
    "Items left out": "Items weggelassen",
    "Items in groups of duplicates": "Items in Gruppen von Dubletten",
    "Items fewer than asked for": "Items weniger als verlangt",
    "groups": "Gruppen",
    "duplicate of another item": "Dublette eines anderen Items",
    "Items rated by": "Items bewertet von",
    "Notes dropped": "Notizen weggelassen",
    "Notes kept as items": "Notizen als Items behalten",
    "Notes read from %(file)s": "Notizen gelesen aus %(file)s",
    "Number": "Anzahl",
    "Of these": "Davon",
    "Step": "Schritt",
    "Verbatim match with the reference": "Wörtliche Übereinstimmung mit der Referenz",
    "What became of the items.": "Was aus den Items wurde.",
    "broken deletion": "Lücke ohne Ende",
    "empty deletion": "leere Lücke",
    "identifier not unique": "Kennung nicht eindeutig",
    "repeat of a note": "Wiederholung einer Notiz",
    "media needed": "Bild oder Ton nötig",
    "no": "nein",
    "no deletion": "keine Lücke",
    "no reference to match": "keine Referenz zum Vergleich",
    "not a cloze note": "keine Lückentext-Notiz",
    "possible identifier": "möglicherweise identifizierend",
    "follow-up turn": "Rückfrage",
    "other language": "andere Sprache",
    "no question for a decision": "keine Frage zu einer Entscheidung",
    "not answered by all systems": "nicht von allen Systemen beantwortet",
    "nothing beside the gap": "nichts außer der Lücke",
    "several deletions": "mehrere Lücken",
    "verbatim match: %(value)s": "wörtliche Übereinstimmung: %(value)s",
    "yes": "ja",
    "Arm": "Arm",
    "Beside it: %(method)s.": "Daneben: %(method)s.",
    "Cases": "Fälle",
    "Characters per answer": "Zeichen je Antwort",
    "Clusters": "Cluster",
    "Codebook": "Kodierbuch",
    "Codebook, word for word": "Kodierbuch im Wortlaut",
    "Compared": "Verglichen",
    "Computed as the paper computes it, for reproduction; its interval and p value need not hold.": (
        "So berechnet wie in der Arbeit, zur Reproduktion; Intervall und p-Wert müssen nicht gelten."
    ),
    "Consensus": "Konsens",
    "Tie-breaks": "Stichentscheide",
    "Contents": "Inhalt",
    "Criterion": "Kriterium",
    "Difference": "Differenz",
    "Difference: %(statistic)s": "Differenz: %(statistic)s",
    "Digest of the protocol": "Prüfsumme des Protokolls",
    "Digest of the records": "Prüfsumme der Daten",
    "Distribution of the labels": "Verteilung der Labels",
    "Estimate": "Schätzwert",
    "Estimate and interval": "Schätzwert und Intervall",
    "Estimates of the analysis “%(name)s”.": "Schätzwerte der Analyse „%(name)s“.",
    "Evaluation report": "Evaluationsbericht",
    "Excluded ratings are in no analysis and in no other column.": (
        "Ausgeschlossene Bewertungen stehen in keiner Analyse und in keiner anderen Spalte."
    ),
    "Excluded: %(reason)s": "Ausgeschlossen: %(reason)s",
    "Expected": "Erwartet",
    "Exploratory analyses": "Explorative Analysen",
    "Family": "Familie",
    "Figure %(n)s.": "Abbildung %(n)s.",
    "Free text": "Freier Text",
    "Group": "Gruppe",
    "Groups": "Gruppen",
    "Instruments and codebooks": "Instrumente und Kodierbücher",
    "Interval holds it": "Im Intervall",
    "Interval: %(method)s.": "Intervall: %(method)s.",
    "Items": "Items",
    "Items by set and stratum.": "Items nach Teilmenge und Schicht.",
    "LLM judges": "Richtermodelle",
    "Label counted": "Gezähltes Label",
    "Labels": "Labels",
    "Labels merged": "Zusammengelegte Labels",
    "Labels of %(criterion)s": "Labels von %(criterion)s",
    "Lengths: median [interquartile range].": "Längen: Median [Quartile].",
    "Licence of the data": "Lizenz der Daten",
    "Methods": "Methoden",
    "Missing": "Fehlend",
    "Missing ratings are expected by the plan and absent.": (
        "Fehlende Bewertungen sind im Plan vorgesehen und nicht vorhanden."
    ),
    "Model": "Modell",
    "No person and no model gave them. The numbers below say nothing about any real system.": (
        "Kein Mensch und kein Modell hat sie abgegeben. Die Zahlen sagen nichts über ein wirkliches System."
    ),
    "No person gave them, and no model but %(raters)s. The numbers below say nothing about any real system.": (
        "Kein Mensch hat sie abgegeben, und kein Modell außer %(raters)s. Die Zahlen sagen nichts über ein wirkliches"
        " System."
    ),
    "No reason is recorded.": "Ein Grund ist nicht verzeichnet.",
    "Nothing was computed.": "Es wurde nichts berechnet.",
    "Only": "Nur",
    "Page": "Seite",
    "Panel": "Panel",
    "Parameter": "Parameter",
    "Part %(n)s of %(total)s.": "Teil %(n)s von %(total)s.",
    "Rated": "Bewertet",
    "Raters": "Bewertende",
    "Raters and their work.": "Bewertende und ihre Arbeit.",
    "Raters, items and systems": "Bewertende, Items und Systeme",
    "Ratings": "Bewertungen",
    "Read this first": "Zuerst lesen",
    "Reference": "Referenz",
    "Resampled": "Gezogen werden",
    "Resamples": "Ziehungen",
    "Sample items": "Beispiele",
    "Screens": "Seiten",
    "Seconds are counted once for each screen, however many criteria it has: median [interquartile range].": (
        "Sekunden zählen je Seite einmal, wie viele Kriterien sie auch hat: Median [Quartile]."
    ),
    "Seconds per screen": "Sekunden je Seite",
    "Seed": "Startwert",
    "Design": "Design",
    "Minutes an answer": "Minuten je Antwort",
    "Sentences": "Sätze",
    "Set": "Teilmenge",
    "Share of ratings": "Anteil der Bewertungen",
    "Shares of the labels of %(criterion)s by panel and system.": (
        "Anteile der Labels von %(criterion)s nach Panel und System."
    ),
    "Simulated ratings.": "Simulierte Bewertungen.",
    "Simulated ratings: no person gave them": "Simulierte Bewertungen: kein Mensch hat sie abgegeben",
    "Simulated ratings: no person and no model gave them": (
        "Simulierte Bewertungen: kein Mensch und kein Modell hat sie abgegeben"
    ),
    "Statistic": "Statistik",
    "Statistics and their sources": "Statistiken und ihre Quellen",
    "Strata": "Schichten",
    "Study flow": "Verlauf der Studie",
    "Summary": "Zusammenfassung",
    "System": "System",
    "Systems and their answers.": "Systeme und ihre Antworten.",
    "Table %(n)s.": "Tabelle %(n)s.",
    "There are no ratings for this analysis.": "Für diese Analyse gibt es keine Bewertungen.",
    "There are no ratings.": "Es gibt keine Bewertungen.",
    "There is no plan, so nothing is known of expected and missing ratings.": (
        "Es gibt keinen Plan; über erwartete und fehlende Bewertungen ist deshalb nichts bekannt."
    ),
    "These were not prespecified; their p values are not adjusted and they confirm nothing.": (
        "Diese waren nicht vorab festgelegt; ihre p-Werte sind nicht adjustiert, und sie belegen nichts."
    ),
    "To the content": "Zum Inhalt",
    "True value": "Wahrer Wert",
    "True values (diamonds) and estimates (dots) with their intervals (lines).": (
        "Wahre Werte (Rauten) und Schätzwerte (Punkte) mit ihren Intervallen (Linien)."
    ),
    "True values of the simulation and what the analyses found.": (
        "Wahre Werte der Simulation und was die Analysen gefunden haben."
    ),
    "Units": "Einheiten",
    "Unreadable": "Unlesbar",
    "Value": "Wert",
    "Versions and digests": "Versionen und Prüfsummen",
    "Weights": "Gewichte",
    "What became of the ratings.": "Was aus den Bewertungen wurde.",
    "With ratings": "Mit Bewertungen",
    "Words per answer": "Wörter je Antwort",
    "a label of their own": "ein eigenes Label",
    "all": "alle",
    "all sentences": "alle Sätze",
    "any sentence": "irgendein Satz",
    "cases": "Fälle",
    "from %(low)s (%(lowest)s) to %(high)s (%(highest)s)": "von %(low)s (%(lowest)s) bis %(high)s (%(highest)s)",
    "imported": "importiert",
    "items": "Items",
    "left out, pair by pair": "paarweise ausgelassen",
    "majority of the panel": "Mehrheit des Panels",
    "mean of the panel": "Mittel des Panels",
    "mean of the sentences": "Mittel der Sätze",
    "p": "p",
    "p (Holm)": "p (Holm)",
    "p (max-T)": "p (max-T)",
    "paper mode": "wie in der Arbeit",
    "people": "Menschen",
    "programs": "Programme",
    "raters": "Bewertende",
    "ratings": "Bewertungen",
    "simulated ratings": "simulierte Bewertungen",
    "text not at hand": "Text liegt nicht vor",
    "true value": "wahrer Wert",
    "undefined": "nicht definiert",
    "undefined in every group": "in keiner Gruppe definiert",
    "Rater": "Bewertende Person",
    "Item": "Item",
    "Case": "Fall",
    "Phase": "Phase",
    "Batch": "Stapel",
    "Instrument": "Instrument",
    "Diamonds: %(what)s.": "Rauten: %(what)s.",
    "Against": "Gegen",
    "Length": "Länge",
    "Ensemble": "Ensemble",
    "Judges": "Richtermodelle",
    "Version": "Fassung",
    "Version of this form: %(digest)s": "Fassung dieses Bogens: %(digest)s",
}
