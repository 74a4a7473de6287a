"""Recruitment, in German."""

from __future__ import annotations

RECRUITED: dict[str, str] = {
    "Recruitment": "Rekrutierung",
    "Recruitment of the raters": "Rekrutierung der Beurteilenden",
    "From those who could have been asked to those who completed.": (
        "Von denen, die hätten gefragt werden können, zu denen, die abschlossen."
    ),
    "not contacted": "nicht angeschrieben",
    "no response": "keine Antwort",
    "not eligible": "nicht geeignet",
    "no consent": "keine Einwilligung",
    "not completed": "nicht abgeschlossen",
    "everybody": "alle",
    "Stratum": "Stratum",
    "Recruitment by stratum.": "Rekrutierung nach Strata.",
    "Could have been asked": "Hätten gefragt werden können",
    "Contacted": "Angeschrieben",
    "Responded": "Antworteten",
    "Eligible": "Geeignet",
    "Consented": "Willigten ein",
    "Completed": "Schlossen ab",
    "Who could have been asked": "Wer hätte gefragt werden können",
    "How they were reached": "Wie sie erreicht wurden",
    "Recruitment from": "Rekrutierung von",
    "Recruitment until": "Rekrutierung bis",
    "Compensation": "Vergütung",
    "Ethics committee": "Ethikkommission",
    "Its reference": "Ihr Aktenzeichen",
    "Its decision": "Ihre Entscheidung",
    "Registration": "Registrierung",
    "Protection of personal data": "Schutz personenbezogener Daten",
    "approved": "zustimmend",
    "waived": "verzichtet",
    "not required": "nicht erforderlich",
    "pending": "ausstehend",
}
