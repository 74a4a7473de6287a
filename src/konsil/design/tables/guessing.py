"""Which column holds what: a guess for every column, with its reason and how sure it is.

The reading of the table is that of `analysis.roles`: what is read without a question is what is
called likely here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import polars as pl

from konsil.analysis.roles.columns import FEW, TEXT
from konsil.analysis.roles.names import fit, kinds
from konsil.analysis.roles.proposal import LEAST, MARGIN, propose
from konsil.analysis.roles.reading import (
    COMPARISONS,
    SHAPES_OF,
    TEXTS,
    Proposal,
    Shape,
    StatedRoles,
    TableReading,
)
from konsil.analysis.roles.reading import Role as EngineRole
from konsil.analysis.roles.vocabulary import NAMED, NameRole, TextRole
from konsil.design.tables.columns import OWN, REPEATABLE, Column, Role

Confidence = Literal["sure", "likely", "unsure"]
Reason = Literal[
    "name",
    "content",
    "known systems",
    "a column for each system",
    "a column for each rater",
    "a column for each question",
    "a column for each rater and question",
    "a column for each item",
    "a column for each label",
    "konsil's own name",
    "nothing fits",
]
"""Why a role is proposed; the pages and the command line have a sentence for each."""

TableForm = Literal[
    "questions", "answers", "wide", "long", "raters-in-rows", "pairs", "counts", "cross-table"
]
"""How a table can be laid out: a row for each question, or for each answer; ratings in a column for
each rater, in a row for each, or in a row for each rater; a row for each comparison. Counts of
labels and cross tables are no ratings of a study: they do not say who gave which."""

_RATED: Mapping[Shape, Role] = {
    "wide": "label_of_rater",
    "long": "label_of_criterion",
    "long-criteria": "label_of_criterion",
    "repeats": "label_of_criterion",
    "rows-to-combine": "label_of_criterion",
    "criteria": "label_of_criterion",
    "one-rating": "label_of_criterion",
    "rater-by-criterion": "label_of_both",
    "raters-in-rows": "label_of_item",
    "counts": "count",
    "cross-table": "count",
    "questions": "answer_of",
    "answers": "answer",
}
"""Shape -> what its columns of ratings or answers hold. Tables of other shapes have no records."""

_BY_RATER: frozenset[Shape] = frozenset({"wide", "rater-by-criterion"})

_ROLES: Mapping[EngineRole, Role] = {
    "unit": "item",
    "rater": "rater",
    "criterion": "criterion",
    "system": "system",
    "group": "stratum",
    "question": "text",
    "text": "text",
    "reference": "reference",
    "gold": "reference",
    "comment": "note",
    "time": "seconds",
    "repeat": "repeat",
    "first": "system_a",
    "second": "system_b",
}
_REASONS: Mapping[Role, Reason] = {
    "answer_of": "a column for each system",
    "label_of_rater": "a column for each rater",
    "label_of_criterion": "a column for each question",
    "label_of_both": "a column for each rater and question",
    "label_of_item": "a column for each item",
    "count": "a column for each label",
}
_NAMED_AS: Mapping[Role, NameRole | TextRole] = {
    "item": "unit",
    "text": "question",
    "reference": "reference",
    "stratum": "group",
    "system": "system",
    "answer": "answer",
    "rater": "rater",
    "criterion": "criterion",
    "label": "label",
    "seconds": "time",
    "note": "comment",
    "repeat": "repeat",
}
_BESIDE: frozenset[Role] = frozenset({"stratum", "text", "reference", "note", "seconds"})
"""Roles of columns beside those that a reading needs; only a name makes them likely."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column is taken for until the user decides."""

    column: str
    role: Role
    reason: Reason
    confidence: Confidence


@dataclass(frozen=True)
class Hints:
    """What other tables of the study contain."""

    systems: Collection[str] = field(default=frozenset())
    """Names of systems."""
    criteria: Collection[str] = field(default=frozenset())
    """Identifiers and titles of criteria."""


def frame_of(columns: Sequence[Column]) -> pl.DataFrame:
    """The cells of a table as the engine of roles reads them."""
    schema = dict.fromkeys((column.name for column in columns), pl.String)
    return pl.DataFrame({column.name: list(column.values) for column in columns}, schema=schema)


def form_of(reading: TableReading | None) -> TableForm | None:
    """The form of a reading; None: a study cannot read it."""
    if reading is None or not roles_of(reading):
        return None
    if reading.shape in COMPARISONS:
        return "pairs"
    if reading.shape in SHAPES_OF["wide"]:
        return "wide"
    return next((form for form in get_args(TableForm) if form == reading.shape), "long")


def proposal_of(
    columns: Sequence[Column],
    hints: Hints | None = None,
    form: TableForm | None = None,
    tool_roles: StatedRoles | None = None,
) -> Proposal:
    """What a table is read as: ratings that exist, or texts to be rated.

    A reading of ratings that is not certain is behind one of texts. `form`: as the user states it.
    `tool_roles`: what the tool states whose export the table is.
    """
    hints = hints or Hints()
    frame = frame_of(columns)
    system = min((c.name for c in columns if _is_known(c, hints)), default=None)
    if form is not None:
        return _proposal_in(frame, form, system)
    if tool_roles is not None and tool_roles.has_ratings:
        return propose(frame, tool_roles)
    named = tuple(c.name for c in columns if c.name in hints.criteria)
    ratings = propose(frame, StatedRoles(labels=named, system=system))
    if ratings.reading is None and (named or system):
        ratings = propose(frame, StatedRoles())
    if ratings.is_certain:
        return ratings
    texts = propose(frame, StatedRoles(system=system), "texts")
    if texts.reading is not None and texts.reading.points >= LEAST:
        return texts
    # Ratings without raters are no ratings of a study, where the table can be read with some.
    readings = [] if ratings.reading is None else [ratings.reading, *ratings.rivals]
    with_raters = (r for r in readings if _has_raters(r) and r.points > readings[0].points - MARGIN)
    reading = next(with_raters, None) or ratings.reading or texts.reading
    return replace(ratings, reading=reading)


def _proposal_in(frame: pl.DataFrame, form: TableForm, system: str | None) -> Proposal:
    """What a table is read as in one form, likely or not."""
    if form == "pairs":
        return propose(frame, StatedRoles(), "comparisons")
    if form == "questions" or form == "answers":
        proposal = propose(frame, StatedRoles(system=system), "texts")
    else:
        proposal = propose(frame, StatedRoles(layout=form), "ratings")
    readings = [] if proposal.reading is None else [proposal.reading, *proposal.rivals]
    reading = next((reading for reading in readings if form_of(reading) == form), None)
    is_first = proposal.is_certain and reading is proposal.reading
    return replace(proposal, reading=reading, is_certain=is_first)


def _has_raters(reading: TableReading) -> bool:
    return reading.shape in _RATED and (reading.rater is not None or reading.shape in _BY_RATER)


def guesses(
    columns: Sequence[Column], hints: Hints | None = None, proposal: Proposal | None = None
) -> tuple[Guess, ...]:
    """A guess for each column, in the table's order; the order of the columns plays no part."""
    hints = hints or Hints()
    proposal = proposal or proposal_of(columns, hints)
    names = {column.name.casefold() for column in columns}
    reading = proposal.reading
    roles = roles_of(reading) if reading else {}
    answers = [name for name, role in roles.items() if role == "answer_of"]
    if len(answers) == 1 and fit(answers[0], "answer") == 1:
        roles[answers[0]] = "answer"  # the heading names no system
    keys = {name for name, role in roles.items() if role not in _BESIDE | {"unused"}}
    used_roles = {*roles.values()}
    repeated = repeated_roles(roles)
    listed = []
    for column in columns:
        role, name = roles.get(column.name, "unused"), column.name
        if role == "stratum" and _is_text(column):
            role = (
                "text" if fit(name, "question") >= NAMED and "text" not in used_roles else "unused"
            )
        # A case is the question itself, unless the table has another number of it.
        is_case = name.casefold() == "case" and "item" not in names
        if role in ("unused", "stratum") and reading and _may_be_rated(column, reading):
            listed.append(Guess(name, "label_of_criterion", "a column for each question", "unsure"))
        elif name.casefold() in OWN and name not in keys and not is_case:
            listed.append(Guess(name, "own", "konsil's own name", "sure"))
        elif role == "system" and _is_known(column, hints):
            listed.append(Guess(name, role, "known systems", "sure"))
        else:
            is_certain = role not in repeated and (proposal.is_certain or not column.filled)
            # Readings of texts compete for the questions: the name is not all that speaks for them.
            is_read = role == "text" and reading is not None and reading.shape in TEXTS
            needs_name = role in _BESIDE and not is_read
            listed.append(_guess(name, role, is_certain=is_certain, needs_name=needs_name))
    return tuple(listed)


def _guess(name: str, role: Role, *, is_certain: bool, needs_name: bool) -> Guess:
    if role == "unused":
        return Guess(name, role, "nothing fits", "likely" if is_certain else "unsure")
    is_named = role in _NAMED_AS and fit(name, _NAMED_AS[role]) >= NAMED
    reason = _REASONS.get(role, "name" if is_named else "content")
    if not is_certain or (needs_name and not is_named):
        return Guess(name, role, reason, "unsure")
    return Guess(name, role, reason, "sure" if is_named else "likely")


def _may_be_rated(column: Column, reading: TableReading) -> bool:
    """Whether a column beside the ratings of a long table may be another question."""
    role, is_named = reading.roles.get(column.name), kinds(column.name)["criterion"] == 1
    # A study has no confidence of raters: few labels with such a name are another question's.
    is_free = role in ("unused", "confidence") or (role == "group" and is_named)
    is_long = reading.shape in SHAPES_OF["long"] and reading.criterion is None
    return is_free and is_long and column.name.casefold() not in OWN and _has_few_values(column)


def _has_few_values(column: Column) -> bool:
    return 1 < len(column.distinct) <= FEW < len(column.filled)


def _is_text(column: Column) -> bool:
    return sum(map(len, column.filled)) > TEXT * len(column.filled)


def _is_known(column: Column, hints: Hints) -> bool:
    return bool(hints.systems) and bool(column.distinct) and {*column.distinct} <= {*hints.systems}


def roles_of(reading: TableReading) -> dict[str, Role]:
    """What the columns of a reading hold; a table without records of a study holds nothing."""
    rated = _of_comparisons(reading) if reading.shape in COMPARISONS else _RATED.get(reading.shape)
    if rated is None:
        return {}
    criterion = reading.criterion
    if criterion is not None and not reading.rater and fit(criterion, "system") >= NAMED:
        # Without a column of raters, what is named for systems is no criterion.
        roles = {**reading.roles, criterion: "system"}
        reading = replace(reading, criterion=None, roles=roles)
    if reading.criterion is not None and len(reading.rated) == 1:
        rated = "label"
    if reading.names and "{criterion}" not in reading.names:
        rated = "label_of_rater"
    elif reading.names and "{rater}" not in reading.names:
        rated = "label_of_criterion"
    return {name: _role(name, role, rated, reading) for name, role in reading.roles.items()}


def _of_comparisons(reading: TableReading) -> Role | None:
    """What the columns of outcomes hold; None where a study has no records of them."""
    if reading.wins or reading.second_outcome or reading.swapped or reading.ends:
        return None
    if reading.rated:
        return "label_of_rater"
    return "label" if reading.criterion else "label_of_criterion"


def _role(name: str, role: EngineRole, rated: Role, reading: TableReading) -> Role:
    if role in {"rating", "answer", "outcome"}:
        return rated
    if role == "unit" and (name == reading.system or _is_second(name, reading)):
        return "system"
    if role == "question" and name in reading.units:
        return "text"
    is_long = reading.shape in SHAPES_OF["long"] or reading.outcome is not None
    has_ratings = reading.shape not in TEXTS
    match role:
        case "row" if reading.shape == "cross-table":
            return "row_label"
        case "comment":
            return "note" if has_ratings and is_long else "unused"
        case "time":
            is_duration = fit(name, "time") == 1 and any(w in name.casefold() for w in _DURATION)
            return "seconds" if has_ratings and is_long and is_duration else "unused"
        case "text":
            return "text" if fit(name, "question") >= NAMED else "unused"
    return _ROLES.get(role, "unused")


_DURATION = ("second", "sekund", "duration", "dauer")


def _is_second(name: str, reading: TableReading) -> bool:
    """Whether a unit's column is a system beside that of the item."""
    is_beside = len(reading.units) > 1 and reading.system is None
    return is_beside and fit(name, "system") >= NAMED and name != reading.units[0]


def repeated_roles(roles: Mapping[str, Role]) -> tuple[Role, ...]:
    """Roles that more columns have than can."""
    chosen = [role for role in roles.values() if role not in REPEATABLE]
    return tuple(dict.fromkeys(role for role in chosen if chosen.count(role) > 1))
