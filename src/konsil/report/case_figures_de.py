"""The report's interface for cases in several versions, in German."""

from __future__ import annotations

CASE_FIGURES: dict[str, str] = {
    "Level": "Stufe",
    "Levels": "Stufen",
    "Systems": "Systeme",
    "Effect": "Effekt",
    "Other criterion": "Anderes Kriterium",
    "Further criteria": "Weitere Kriterien",
    "Right from": "Richtig ab",
    "Failure up to": "Fehler bis",
    "Approved from": "Gebilligt ab",
    "Out of": "Von",
    "all cases": "allen Fällen",
    "cases right at the last level": "Fällen, die auf der letzten Stufe richtig sind",
    "Accuracy and scores by level": "Genauigkeit und Bewertungen nach Stufe",
    "%(what)s of each system by level, with all the information on the left: estimates with their intervals.": (
        "%(what)s jedes Systems nach Stufe, links mit aller Information: Schätzungen mit ihren Intervallen."
    ),
    "Means of the criteria by system, panel “%(panel)s”: estimates (dots) with their intervals (lines).": (
        "Mittel der Kriterien nach System, Panel „%(panel)s“: Schätzungen (Punkte) mit ihren Intervallen (Linien)."
    ),
    "Profile of the criteria: %(panel)s": "Profil der Kriterien: %(panel)s",
    "%(what)s, every two, analysis “%(name)s”.": "%(what)s, je zwei, Analyse „%(name)s“.",
    "%(statistic)s of the panel “%(panel)s” beside the panel “%(against)s”, on the criterion “%(criterion)s”.": (
        "%(statistic)s des Panels „%(panel)s“ neben dem Panel „%(against)s“, zum Kriterium „%(criterion)s“."
    ),
    "Share of the experts' failures that a judge approves, against the share of their successes that it rejects, at"
    " every threshold, analysis “%(name)s”. The dot is the threshold %(value)s; on the dashed line a judge does not"
    " tell failures from successes.": (
        "Welchen Anteil dessen, was die Fachleute als Fehler werten, ein Richtermodell billigt, gegen den Anteil ihrer"
        " Erfolge, den es verwirft, an jeder Schwelle, Analyse „%(name)s“. Der Punkt ist die Schwelle %(value)s; auf"
        " der gestrichelten Linie unterscheidet ein Richtermodell Fehler nicht von Erfolgen."
    ),
    "%(judge)s: %(approved)s of the failures approved, %(rejected)s of the successes rejected": (
        "%(judge)s: %(approved)s der Fehler gebilligt, %(rejected)s der Erfolge verworfen"
    ),
    "Failures approved": "Gebilligte Fehler",
    "Successes rejected": "Verworfene Erfolge",
    "every threshold": "jede Schwelle",
    "the analysis' threshold": "die Schwelle der Analyse",
    "chance": "Zufall",
    "One answer in full": "Eine ganze Antwort",
    "Reasoning": "Begründung",
    "Answer": "Antwort",
    "Marked: where the reference or another name of it is mentioned.": (
        "Markiert: wo die Referenz oder ein anderer Name dafür vorkommt."
    ),
    "Experts' mean": "Mittel der Fachleute",
    "Judges' mean": "Mittel der Richtermodelle",
    "Scores of this answer, the experts' before the judges'.": (
        "Die Bewertungen dieser Antwort, erst die der Fachleute, dann die der Richtermodelle."
    ),
}
"""English text -> German text."""
