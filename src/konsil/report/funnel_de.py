"""The study flow of the items before they are drawn and answered, in German."""

from __future__ import annotations

FUNNEL: dict[str, str] = {
    "of these suspected by a model alone": "davon allein vom Modell verdächtigt",
    "Versions of these cases, which are items from here on": "Fassungen dieser Fälle, von hier an die Items",
    "nobody decided": "niemand hat entschieden",
    "Items reworded by a model": "Items, die ein Modell neu formulierte",
    "Wording decided by people": "Wortlaut, über den Menschen entschieden",
    "accepted": "angenommen",
    "edited by people": "von Menschen geändert",
    "kept as asked": "wie gestellt behalten",
    "Wording unchanged by the model": "Wortlaut, den das Modell nicht änderte",
}
