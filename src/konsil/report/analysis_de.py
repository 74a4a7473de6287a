"""What analyses say, in German: template -> template with the same gaps. A test finds gaps and leftovers."""

from __future__ import annotations

from konsil.report.called_de import CALLED
from konsil.report.cases_de import CASE_SENTENCES
from konsil.report.designs_de import DESIGN_SENTENCES
from konsil.report.freezing_de import FREEZING
from konsil.report.methods_de import METHODS, SIMULATED
from konsil.report.pairs_de import PAIRS

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
    "no labels with a confidence": "keine Labels mit angegebener Sicherheit",
    "no judge of another family": "kein Richtermodell einer anderen Familie",
    "phase: practice": "Übung",
    "phase: pilot": "Pilotphase",
    "consent withdrawn": "Einwilligung widerrufen",
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
    "Shares whose rarer outcome fewer than {few} clusters hold have Wilson intervals at the sample size that the"
    " clusters are worth.": (
        "Anteile, deren selteneres Ergebnis in weniger als {few} Clustern vorkommt, haben Wilson-Intervalle mit dem"
        " Stichprobenumfang, den die Cluster wert sind."
    ),
    "Wilson": "Wilson",
    "Wilson at the sample size that the {cluster} clusters are worth": (
        "Wilson mit dem Stichprobenumfang, den die {cluster}-Cluster wert sind"
    ),
    "Clopper-Pearson, each {cluster} counted once": "Clopper-Pearson, jedes {cluster} einmal gezählt",
    "Clopper-Pearson": "Clopper-Pearson",
}

_NOTES: dict[str, str] = {
    "The interval rests on {n:.0f} {n|cluster|clusters}, fewer than {few:.0f}.": (
        "Das Intervall beruht auf {n:.0f} {n|Cluster|Clustern}, weniger als {few:.0f}."
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
    "{n:,} {n|item has|items have} no {covariate} and {n|is|are} left out.": (
        "{n:,} {n|Item hat|Items haben} kein {covariate} und {n|ist|sind} ausgelassen."
    ),
    "Compared on {n:,} of {all:,} units: those with a majority of the panel on which every judge gave a label.": (
        "Verglichen an {n:,} von {all:,} Einheiten: denen mit einer Mehrheit des Panels, zu denen jedes Richtermodell"
        " ein Label gab."
    ),
    "{n:,} {n|rating is|ratings are} excluded by the protocol's rules; the coverage table says why.": (
        "{n:,} {n|Bewertung ist|Bewertungen sind} nach den Regeln des Protokolls ausgeschlossen; warum, sagt"
        " die Tabelle im Verlauf der"
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
    "any order": "beliebige Reihenfolge",
    "best of {n}, out of bag": "bestes von {n}, out of bag",
    "own minus peers, leniency included": "eigene minus andere Familien, Milde eingeschlossen",
    "{a} and {b}": "{a} und {b}",
    "{some} and {last}": "{some} und {last}",
    "{analysis}: {where}": "{analysis}: {where}",
    "{what} minus {other}": "{what} minus {other}",
    "item": "Item",
    "case": "Fall",
    "rater": "Bewertenden",
    "abstained": "enthalten",
    "unweighted": "ungewichtet",
    "linear": "linear",
    "quadratic": "quadratisch",
    "ordinal": "ordinal",
    "radical": "radikal",
    "ratio": "verhältnisbezogen",
}

_OUTCOMES: dict[str, str] = {
    "ok": "lesbar",
    "repaired": "lesbar nach Reparatur",
    "re-asked": "lesbar nach Rückfrage",
    "rated, call not recorded": "bewertet, Aufruf nicht verzeichnet",
    "not json": "kein JSON",
    "off schema": "nicht nach Schema",
    "truncated": "abgeschnitten",
    "empty": "leer",
    "refused": "verweigert",
    "filtered": "gefiltert",
    "ended otherwise": "anders beendet",
    "http error": "HTTP-Fehler",
    "gave up": "aufgegeben",
    "no majority": "keine Mehrheit",
    "inconsistent": "widersprüchlich",
    "no call": "kein Aufruf",
}

SAID: dict[str, str] = {
    **_REASONS, **_INTERVALS, **_NOTES, **_GROUPS, **_OUTCOMES, **METHODS, **CALLED, **PAIRS, **SIMULATED, **FREEZING,
    **CASE_SENTENCES, **DESIGN_SENTENCES,
}  # fmt: skip
"""Everything that analyses say."""
