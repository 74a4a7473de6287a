"""Ratings that exist already: the questions and the raters that a table of them implies."""

from __future__ import annotations

from collections.abc import Mapping

from konsil.design.columns import Column
from konsil.design.edits import Data
from konsil.design.people import Panel, panels_of, with_panels
from konsil.design.questions import from_ratings, questions_of, with_questions
from konsil.design.tables import Loaded
from konsil.design.wording import identifier


def rating_questions(loaded: Loaded, data: Data) -> dict[str, str]:
    """Ratings with a column for each question: column -> its criterion's identifier."""
    id_by_words: dict[str, str] = {}
    for instrument in data.get("instruments", ()):
        for criterion in instrument.get("criteria", ()):
            id_by_words[str(criterion.get("question"))] = criterion["id"]
            id_by_words[criterion["id"]] = criterion["id"]
    names: dict[str, str] = {}
    for column, role in loaded.roles.items():
        if role == "label_of_criterion":
            used_ids = {*id_by_words.values(), *names.values()}
            names[column] = id_by_words.get(column) or identifier(column, used_ids)
    return names


def with_rating_forms(loaded: Loaded, names: Mapping[str, str], data: Data) -> Data:
    """The questions and raters that a table of ratings names and the study does not have."""
    columns = {column.name: column for column in loaded.table.columns}
    ids = {c["id"] for i in data.get("instruments", ()) for c in i.get("criteria", ())}
    new = [(i, name, columns[name].distinct) for name, i in names.items() if i not in ids]
    by_role = {role: columns[name] for name, role in loaded.roles.items()}
    if "criterion" in by_role and "label" in by_role:
        new += [
            (name, name, values)
            for name, values in _labels_by(by_role["criterion"], by_role["label"]).items()
            if name not in ids
        ]
    if new:
        data = with_questions(data, (*questions_of(data), *from_ratings(new)))
    raters = by_role["rater"].distinct if "rater" in by_role else ()
    wide = [name for name, role in loaded.roles.items() if role == "label_of_rater"]
    listed = {r["id"] for r in data.get("raters", ())}
    unknown = [r for r in (*raters, *wide) if r not in listed]
    if unknown:
        panel = Panel("raters", len(unknown), ids=tuple(unknown))
        data = with_panels(data, (*panels_of(data), panel))
    return data


def _labels_by(criterion: Column, label: Column) -> dict[str, tuple[str, ...]]:
    labels: dict[str, dict[str, None]] = {}
    for name, value in zip(criterion.values, label.values, strict=True):
        if name and value and name.strip() and value.strip():
            labels.setdefault(name.strip(), {})[value.strip()] = None
    return {name: tuple(values) for name, values in labels.items()}
