"""The words about patients, in German."""

from __future__ import annotations

PATIENTS: dict[str, str] = {
    "The %(n)s cases by age in years and sex, each case once.": (
        "Die %(n)s Fälle nach Alter in Jahren und Geschlecht, jeder Fall einmal."
    ),
    "Of %(n)s the age or the sex is not told.": "Von %(n)s sind Alter oder Geschlecht nicht angegeben.",
    "Age and sex": "Alter und Geschlecht",
}
