"""Ratings that exist already: the questions and the raters that a table of them implies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from konsil.design.edits import Data
from konsil.design.people import Panel, panels_of, with_panels
from konsil.design.questions import (
    About,
    Question,
    from_outcomes,
    from_ratings,
    questions_of,
    with_questions,
)
from konsil.design.tables.columns import Column
from konsil.design.tables.loaded import Loaded
from konsil.design.tables.naming import headings, pseudonym
from konsil.design.tables.sources import RATED
from konsil.design.wording import identifier, wording

PANEL = "raters"
"""The panel of the raters that tables name."""


def rating_questions(loaded: Loaded, data: Data) -> dict[str, str]:
    """Ratings in columns: column -> the identifier of the question that it is rated on."""
    id_by_words: dict[str, str] = {}
    for instrument in data.get("instruments", ()):
        for criterion in instrument.get("criteria", ()):
            id_by_words[str(criterion.get("question"))] = criterion["id"]
            id_by_words[criterion["id"]] = criterion["id"]
    names: dict[str, str] = {}
    for column, words in _question_words(loaded, str(data.get("language", "en"))).items():
        if words not in id_by_words:
            id_by_words[words] = identifier(words, id_by_words.values())
        names[column] = id_by_words[words]
    return names


def _question_words(loaded: Loaded, language: str) -> dict[str, str]:
    """Column of ratings -> the words of its question: of its heading, or those of any ratings."""
    parts = headings(loaded)
    words = {}
    for column, role in loaded.roles.items():
        if role in ("label_of_criterion", "label_of_both"):
            words[column] = parts["criterion"].get(column, column)
        elif role in ("label_of_rater", "label_of_item"):
            is_compared = "system_a" in loaded.roles.values()
            words[column] = wording(language)["ask_pair3" if is_compared else "rating"]
    return words


def fields_of_winners(loaded: Loaded, data: Data) -> dict[str, str]:
    """The criterion and the label of all rows, where the first system is the one that won."""
    roles, reading = {*loaded.roles.values()}, loaded.reading
    if (
        reading is None
        or not reading.names_winners
        or not {"system_a", "system_b"} <= roles
        or roles & {*RATED}
    ):
        return {}
    words = wording(str(data.get("language", "en")))
    forms = (c for i in data.get("instruments", ()) for c in i.get("criteria", ()))
    labels_by_id = {
        str(c["id"]): c["scale"]["labels"] for c in forms if c.get("question") == words["ask_pair3"]
    }
    new = identifier(words["ask_pair3"])
    name, labels = next(iter(labels_by_id.items()), (new, words["pair3"]))
    return {"criterion": name, "label": labels[0]}


def rating_raters(loaded: Loaded) -> dict[str, str]:
    """Ratings with a column for each rater: column -> the rater's pseudonym."""
    parts = headings(loaded)["rater"]
    by_column = {
        column: parts.get(column, column)
        for column, role in loaded.roles.items()
        if role in ("label_of_rater", "label_of_both")
    }
    return {column: pseudonym(name, loaded.new_names) for column, name in by_column.items()}


def with_rating_forms(loaded: Loaded, names: Mapping[str, str], data: Data) -> Data:
    """The questions and raters that a table of ratings names and the study does not have."""
    columns = {column.name: column for column in loaded.table.columns}
    ids = {c["id"] for i in data.get("instruments", ()) for c in i.get("criteria", ())}
    language = str(data.get("language", "en"))
    words = _question_words(loaded, language)
    new: list[tuple[str, str, Sequence[str]]] = []
    for criterion in dict.fromkeys(names.values()):
        of_it = [name for name, i in names.items() if i == criterion and name in columns]
        values = dict.fromkeys(v.strip() for name in of_it for v in columns[name].distinct)
        if criterion not in ids and of_it:
            new.append((criterion, words[of_it[0]], tuple(values)))
    by_role = {role: columns[name] for name, role in loaded.roles.items()}
    if "criterion" in by_role and "label" in by_role:
        new += [
            (name, name, values)
            for name, values in _labels_by(by_role["criterion"], by_role["label"]).items()
            if name not in ids
        ]
    if (won := fields_of_winners(loaded, data)) and won["criterion"] not in ids:
        new.append((won["criterion"], wording(language)["ask_pair3"], ()))
    if new:
        sides = [by_role[role] for role in ("system_a", "system_b") if role in by_role]
        data = with_questions(data, (*questions_of(data), *_questions(loaded, new, sides)))
    in_rows = [*by_role["rater"].distinct] if "rater" in by_role else []
    in_rows += [loaded.fixed["rater"]] if "rater" in loaded.fixed else []
    raters = [pseudonym(name.strip(), loaded.new_names) for name in in_rows]
    listed = {r["id"] for r in data.get("raters", ())}
    wide = dict.fromkeys(rating_raters(loaded).values())
    unknown = [r for r in (*raters, *wide) if r not in listed]
    if unknown:
        # Raters of several files are one panel.
        panels = {panel.name: panel for panel in panels_of(data)}
        former = panels.get(PANEL, Panel(PANEL, 0))
        panels[PANEL] = replace(former, number=former.number + len(unknown), ids=tuple(unknown))
        data = with_panels(data, [*panels.values()])
    return data


def _questions(
    loaded: Loaded, ratings: Sequence[tuple[str, str, Sequence[str]]], sides: Sequence[Column]
) -> tuple[Question, ...]:
    """Questions for ratings: of two answers, of one, or of the items where no system is named."""
    if len(sides) == 2:
        systems = {name.strip() for side in sides for name in side.distinct}
        return from_outcomes(ratings, systems, (sides[0].name, sides[1].name))
    has_systems = "system" in loaded.fixed or "system" in loaded.roles.values()
    about: About = "answer" if has_systems else "item"
    return tuple(replace(question, about=about) for question in from_ratings(ratings))


def _labels_by(criterion: Column, label: Column) -> dict[str, tuple[str, ...]]:
    labels: dict[str, dict[str, None]] = {}
    for name, value in zip(criterion.values, label.values, strict=True):
        if name and value and name.strip() and value.strip():
            labels.setdefault(name.strip(), {})[value.strip()] = None
    return {name: tuple(values) for name, values in labels.items()}
