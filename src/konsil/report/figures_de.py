"""The words of figures and of the judges' calls, in German."""

from __future__ import annotations

FIGURES: dict[str, str] = {
    "%(n)s ensembles of judges by rank, each with its interval, analysis “%(name)s”. The best was chosen on these data;"
    " the dashed line and its band are what is left of it on items that did not choose it.": (
        "%(n)s Ensembles von Richtermodellen nach Rang, jedes mit seinem Intervall, Analyse „%(name)s“. Das beste ist"
        " auf diesen Daten gewählt; die gestrichelte Linie mit ihrem Band ist, was davon auf Items bleibt, die es nicht"
        " gewählt haben."
    ),
    "%(what)s by %(category)s: estimates with their intervals, analysis “%(name)s”.": (
        "%(what)s nach %(category)s: Schätzwerte mit ihren Intervallen, Analyse „%(name)s“."
    ),
    "%(what)s side by side: estimates (dots) with their intervals (lines).": (
        "%(what)s nebeneinander: Schätzwerte (Punkte) mit ihren Intervallen (Linien)."
    ),
    ", items “%(items)s”": ", Items „%(items)s“",
    "A task counts once, with its last call.": "Eine Aufgabe zählt einmal, mit ihrem letzten Aufruf.",
    "At a glance": "Auf einen Blick",
    "Dashed: pass line %(value)s.": "Gestrichelt: Bestehensgrenze %(value)s.",
    "How the judges' tasks ended.": "Wie die Aufgaben der Richtermodelle endeten.",
    "In grey, for comparison: %(what)s.": "Zum Vergleich in Grau: %(what)s.",
    "Mean of “%(criterion)s”": "Mittel von „%(criterion)s“",
    "Mean of “%(criterion)s” by item, panel “%(panel)s”: %(n)s items.": (
        "Mittel von „%(criterion)s“ je Item, Panel „%(panel)s“: %(n)s Items."
    ),
    "No call: the plan has the task, and neither a call nor a rating is there.": (
        "Kein Aufruf: Der Plan enthält die Aufgabe, doch weder ein Aufruf noch eine Bewertung liegt vor."
    ),
    "Outcomes of the judges' calls": "Ausgang der Aufrufe von Richtermodellen",
    "Panel “%(panel)s”, criterion “%(criterion)s”": "Panel „%(panel)s“, Kriterium „%(criterion)s“",
    "Rank": "Rang",
    "Shaded: differences within ±%(margin)s.": "Grau hinterlegt: Differenzen innerhalb von ±%(margin)s.",
    "Share of each judge's tasks that gave no label, by what became of the call.": (
        "Anteil der Aufgaben jedes Richtermodells ohne Label, danach, was aus dem Aufruf wurde."
    ),
    "Share of tasks": "Anteil der Aufgaben",
    "Share without labels": "Anteil ohne Labels",
    "Tasks": "Aufgaben",
    "Judge": "Richtermodell",
    "Disagreement": "Abweichung",
    "Disagreement with the panel's majority among each judge's most confident labels, by their share, analysis"
    " “%(name)s”. Dashed: in any order.": (
        "Abweichung von der Mehrheit des Panels unter den sichersten Labels jedes Richtermodells, nach deren Anteil,"
        " Analyse „%(name)s“. Gestrichelt: in beliebiger Reihenfolge."
    ),
    "Share of labels, most confident first": "Anteil der Labels, das sicherste zuerst",
    "any order": "beliebige Reihenfolge",
    "most confident first": "das sicherste zuerst",
    "Tasks without labels, by what became of the call.": "Aufgaben ohne Labels, danach, was aus dem Aufruf wurde.",
    "Verbatim match": "Treffer im Wortlaut",
    "Tasks without labels": "Aufgaben ohne Labels",
    "Tasks without labels, all judges together.": "Aufgaben ohne Labels, alle Richtermodelle zusammen.",
    "The judges had %(n)s tasks; %(given)s gave labels and %(without)s gave none. What is missing stays missing: it"
    " counts as no label anywhere. Beside each number that it touches stands the range that labels in its place could"
    " have made of it.": (
        "Die Richtermodelle hatten %(n)s Aufgaben; %(given)s ergaben Labels, %(without)s keine. Was fehlt, bleibt"
        " fehlend: Es zählt nirgends als Label. Neben jeder Zahl, die es berührt, steht der Bereich, den Labels an"
        " seiner Stelle aus ihr hätten machen können."
    ),
    "Without labels": "Ohne Labels",
    "Worst to best case": "Schlechtester bis bester Fall",
    "Worst to best case: between which values the number would lie if labels stood in place of the missing judgements,"
    " whose number follows; empty where none is missing, a dash where no range is known.": (
        "Schlechtester bis bester Fall: zwischen welchen Werten die Zahl läge, wenn an der Stelle der fehlenden Urteile"
        " Labels stünden; deren Anzahl folgt. Leer, wo keines fehlt; ein Strich, wo kein Bereich bekannt ist."
    ),
    "best, out of bag: %(value)s": "bestes, out of bag: %(value)s",
    "best: %(value)s": "bestes: %(value)s",
    "one judge alone": "ein Richtermodell allein",
    "pass line": "Bestehensgrenze",
    "several judges by majority": "Mehrheit mehrerer Richtermodelle",
    "The best: %(name)s.": "Das beste: %(name)s.",
}
