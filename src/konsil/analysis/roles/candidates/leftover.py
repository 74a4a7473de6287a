"""Columns that a reading does not use: what they are, and what speaks against leaving them out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal

from konsil.analysis.roles.candidates.families import word_behind
from konsil.analysis.roles.columns import NEAR, Column, Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.names import (
    Kind,
    best_fit,
    fit,
    is_series,
    kinds,
    stem,
    words,
)
from konsil.analysis.roles.reading import COMPARISONS, TEXTS, Role, Shape
from konsil.analysis.roles.vocabulary import CONFIDENT, NAMED, VOTES, weights_of

OtherRole = Literal[
    "comment", "time", "confidence", "sum", "weight", "gold", "row", "group", "repeat"
]
OTHER_ROLES: tuple[OtherRole, ...] = (
    *("comment", "time", "confidence", "sum", "weight", "gold", "row", "group", "repeat"),
)
"""What columns beside ratings are named for."""
OF_A_RATING: tuple[OtherRole, ...] = ("confidence", "time", "comment")
"""Roles of columns that say more of a rating beside them."""

KIND_OF: Mapping[Shape, Kind] = {
    "wide": "rater",
    "criteria": "criterion",
    "long-criteria": "criterion",
    "raters-in-rows": "item",
    "systems": "system",
    "counts": "label",
}
"""What the columns of ratings are, each, in the shapes with several."""

_ALIKE = -5.0
"""Points against leaving out a column that is like those of the ratings."""
_SERIES = -7.0
"""The same where its name differs from theirs in its number only."""
_PLAIN = {False: -0.3, True: -0.5}
"""The same where raters are plainly named, by numbers: of columns with other labels, and theirs."""
_SHARED = 0.5
"""How far a column has the labels of others so that it can be rated like them."""
_RATER = -3.0
"""Points against leaving out a column named for raters where another one names them."""
_MODEL = -0.3
"""The same for a column that is named for a model beside people."""
_WEIGHT = -4.0
"""Points against leaving out a column of weights or counts: they change the numbers."""


def explain(table: Table, draft: Draft, keys: Sequence[str], floor: float = float("-inf")) -> bool:
    """Give every column that a draft does not use its role, with the evidence against it.

    Whether the draft can have as many points as `floor`: one that cannot is left as it is.

    Args:
        table: the sample.
        draft: the reading; its `roles` are filled.
        keys: columns that name units and raters.
        floor: points below which no reading is needed.
    """
    # Of columns for each rater, a further word in a name may cost less than its role.
    is_bounded = floor > float("-inf") and draft.shape != "wide"
    if is_bounded and most_points(table, draft, tuple(keys)) < floor:
        return False
    used = draft.used
    rated = [table.by_name[name] for name in draft.rated]
    deciding = _deciding(table, keys)
    is_plain = draft.shape == "wide" and _has_numbered_raters(draft.rated)
    is_of_people = draft.shape == "wide" and has_people(draft.rated)
    for column in table.columns:
        if column.name in used or column.name in draft.roles:
            continue
        role, points = _role(table, column, rated, deciding)
        is_count = column.is_number and "".join(words(column.name)) in VOTES
        if is_count and draft.shape in COMPARISONS and len(column.distinct) > 1:
            role = "weight"
        if role == "weight" and draft.shape in TEXTS:
            role, points = "unused", -0.3  # texts are not weighted
        if is_of_people and kinds(column.name)["system"]:
            points = _MODEL  # whether it is rated with the people, only the user knows
        if is_plain and role != "weight":
            points = max(points, _PLAIN[table.shares(column, rated, _SHARED) >= _SHARED])
        is_rater = draft.rater is not None and fit(column.name, "rater") == 1
        points = min(points, _RATER) if is_rater and not column.is_unique else points
        is_alike = _is_alike(table, draft, column, rated)
        if is_alike:
            points = min(points, _SERIES if _is_in_series(column, draft.rated) else _ALIKE)
        if draft.shape == "counts" and fit(column.name, "label") == 1:
            points = max(points, -0.3)  # the label that most raters gave
        if draft.shape == "wide" and fit(column.name, "gold") and kinds(column.name)["rater"]:
            points = min(points, _RATER)  # a surname, or a reference
        reason = "left_out_alike" if is_alike else "left_out"
        if draft.shape == "wide" and (word := word_behind(column.name, draft.rated)):
            role, reason = _role_behind(word)
            points = -0.3
        draft.roles[column.name] = role
        draft.add(points, reason, column.name)
    return True


def _role_behind(word: str) -> tuple[Role, str]:
    """What a column is whose name is that of a rater and a further word, and the evidence.

    It is asked unless the word is known.
    """
    roles = [role for role in OF_A_RATING if fit(word, role) >= NAMED]
    if roles or word in CONFIDENT:
        return (roles or ["confidence"])[0], "left_out"
    return ("repeat" if fit(word, "repeat") else "unused"), "of_one_rater"


def _deciding(table: Table, keys: Sequence[str]) -> Sequence[str]:
    return keys if table.n_groups(keys[:1]) < table.n_rows else ()


def most_points(table: Table, draft: Draft, keys: tuple[str, ...]) -> float:
    """The points that a draft has at most when all columns have their roles.

    Readings that cannot be among the likeliest need no explanation of all columns.
    """
    least, total = least_points(table, keys)
    names = {*draft.used, *draft.roles} & least.keys()
    return draft.points + total - sum(least[name] for name in names)


@lru_cache(maxsize=4)
def least_points(table: Table, keys: tuple[str, ...]) -> tuple[Mapping[str, float], float]:
    """Column -> the points that leaving it out costs at least, and their sum."""
    deciding = _deciding(table, keys)
    decided = frozenset[str]().union(*map(table.decided_by, deciding))
    of_decided = {
        c.name: _role(table, c, (), deciding)[1] for c in table.columns if c.name in decided
    }
    points = _least_points_alone(table) | of_decided
    return points, sum(points.values())


@lru_cache(maxsize=4)
def _least_points_alone(table: Table) -> dict[str, float]:
    """Column -> the points that leaving it out costs at least, where no other one decides it."""
    return {c.name: _role(table, c, (), ())[1] for c in table.columns}


def _role(
    table: Table, column: Column, rated: Collection[Column], keys: Sequence[str]
) -> tuple[Role, float]:
    """What a column is if it is not used, and the points for leaving it out."""
    if column.is_long:
        return ("comment" if fit(column.name, "comment") else "text"), 0.0
    if column.is_date:
        return "time", 0.0
    named = _other_role(column.name)
    is_named = fit(column.name, named) >= 0.7 and _is_no_family_name(column.name)
    shares = table.shares(column, rated, _SHARED) if column.is_ratings else 0.0
    if is_named and named == "weight" and column.is_number and len(column.distinct) > 1:
        return "weight", _WEIGHT
    if any(column.name in table.decided_by(key) for key in keys):
        role: Role = named if is_named and named == "gold" else "group"
        return role, -1.0 * bool(fit(column.name, "label"))
    if is_named:
        return named, -2.5 if named == "group" and shares >= _SHARED else -0.3
    if column.is_unique and (not column.is_number or fit(column.name, "unit")):
        return "row", -0.2 * column.is_number
    if column.is_ratings and shares >= NEAR:
        return "unused", -4.0
    if len(column.distinct) == 1 or column.are_criteria:
        return "group", -0.3
    return "unused", -2.0 if column.is_ratings and column.is_number else -1.0


@cache
def _other_role(name: str) -> OtherRole:
    """What a column beside ratings is most likely named for."""
    return max(OTHER_ROLES, key=lambda role: fit(name, role))


def _is_no_family_name(name: str) -> bool:
    """Whether a name is neither that of a rater nor that of a criterion."""
    return max(kinds(name)["rater"], kinds(name)["criterion"]) < 0.9


def has_people(names: Sequence[str]) -> bool:
    """Whether at least two names are those of raters."""
    return sum(kinds(name)["rater"] >= 0.8 for name in names) > 1


def _has_numbered_raters(names: Sequence[str]) -> bool:
    """Whether some names are those of raters, and differ in a number or a last letter only."""
    raters = [name for name in names if kinds(name)["rater"] >= 0.8]
    return any(is_series((first, name)) for first in raters[:1] for name in raters[1:])


def _is_alike(table: Table, draft: Draft, column: Column, rated: Collection[Column]) -> bool:
    """Whether a column has the kind of name, and of values, that the columns of ratings have."""
    if not column.is_ratings:
        return False
    kind = KIND_OF.get(draft.shape)
    names = kinds(column.name)
    if kind and names[kind] >= 0.8 and (kind == "item" or not column.is_unique):
        return True
    return names["rater"] >= 0.9 and table.shares(column, rated, NEAR) >= NEAR


def _is_in_series(column: Column, rated: Collection[str]) -> bool:
    """Whether a name differs from two names of ratings in its number or last letter only."""
    words_of_name = stem(column.name)
    return words_of_name != () and sum(stem(name) == words_of_name for name in rated) > 1


def is_named_for_other(name: str) -> bool:
    """Whether a name is plainly that of a comment, a date, a sum, a group ..."""
    return best_fit(name, OTHER_ROLES) >= 0.7


FOR_LABELS = 2.5
"""Points of columns that are named for labels."""
OTHER_KIND = -6.0
"""Points of a column of labels that is named for something else beside ratings."""
_ROUNDING = 1e-6
"""Sums of the same points in another order differ by less."""


def label_fits(name: str) -> tuple[float, float]:
    """How well a name fits labels, and how well units or raters."""
    fits = fit(name, "label"), kinds(name)["criterion"]
    return max(fits), best_fit(name, ("rater", "unit")) * (fits[0] < 1)


def is_of_other_kind(name: str) -> bool:
    """Whether a column of labels is named for something else beside ratings."""
    return best_fit(name, OTHER_ROLES) >= NAMED and fit(name, "label") < NAMED


@cache
def _points_of_label(name: str) -> float:
    """The points of a single column of labels by its name."""
    fits, others = label_fits(name)
    return FOR_LABELS * (fits - others) + OTHER_KIND * is_of_other_kind(name)


def needed_labels(
    table: Table, base: Draft, keys: tuple[str, ...], floor: float
) -> Callable[[Column], bool]:
    """Whether a reading can reach `floor` with a column of labels, by sums of points alone.

    Of many columns, each is the labels of a reading: most of these need no draft.
    """
    if floor == float("-inf"):
        return lambda _: True
    least, _ = least_points(table, keys)
    least_of_label = floor - most_points(table, base, keys) - _ROUNDING
    may_have_errors = base.shape == "rows-to-combine"

    def is_needed(column: Column) -> bool:
        points = _points_of_label(column.name) - least[column.name]
        is_enough = points >= least_of_label
        return is_enough or (may_have_errors and bool(weights_of(column.distinct)))

    return is_needed
