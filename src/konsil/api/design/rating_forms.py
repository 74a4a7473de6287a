"""Ratings that exist already: the questions and the raters that a table of them implies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from konsil.design.edits import Data
from konsil.design.people import Panel, panels_of, with_panels
from konsil.design.questions import About, from_ratings, questions_of, with_questions
from konsil.design.tables.columns import Column
from konsil.design.tables.loaded import Loaded
from konsil.design.tables.naming import headings, pseudonym
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
            words[column] = wording(language)["rating"]
    return words


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
    words = _question_words(loaded, str(data.get("language", "en")))
    new = []
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
    if new:
        # Where no system is named, the items themselves are rated.
        has_systems = {"system", "system_a"} & {*by_role, *loaded.fixed}
        about: About = "answer" if has_systems else "item"
        questions = (replace(question, about=about) for question in from_ratings(new))
        data = with_questions(data, (*questions_of(data), *questions))
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


def _labels_by(criterion: Column, label: Column) -> dict[str, tuple[str, ...]]:
    labels: dict[str, dict[str, None]] = {}
    for name, value in zip(criterion.values, label.values, strict=True):
        if name and value and name.strip() and value.strip():
            labels.setdefault(name.strip(), {})[value.strip()] = None
    return {name: tuple(values) for name, values in labels.items()}
