"""Which column holds what: a guess for every column, with its reason and how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from konsil.design.columns import FEW, MAKERS, OWN, REPEATABLE, Column, Role, name_fit

Confidence = Literal["sure", "likely", "unsure"]
Reason = Literal[
    "name",
    "name and content",
    "texts, each once",
    "texts that are repeated",
    "texts that differ",
    "numbers a row",
    "numbers a question",
    "values for each question",
    "few values",
    "known systems",
    "a column for each system",
    "a column for each rater",
    "a column for each question",
    "konsil's own name",
    "nothing fits",
]
"""Why a role is proposed; the pages and the command line have a sentence for each."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column is taken for until the user decides."""

    column: str
    role: Role
    reason: Reason
    confidence: Confidence
    n_values: int = 0
    """How many different values the column has."""


@dataclass(frozen=True)
class Hints:
    """What other tables of the study have told."""

    systems: Collection[str] = field(default=frozenset())
    """Names of systems."""
    criteria: Collection[str] = field(default=frozenset())
    """Identifiers and titles of criteria."""


def guesses(columns: Sequence[Column], hints: Hints | None = None) -> tuple[Guess, ...]:
    """A guess for each column, in the table's order; the order of the columns plays no part."""
    hints = hints or Hints()
    by_name = sorted(columns, key=lambda column: column.name)
    roles: dict[str, Guess] = {}
    names = {column.name.casefold() for column in by_name}
    for column in by_name:
        # A case is the question itself, unless the table has another number of it.
        is_case = column.name.casefold() == "case" and "item" not in names
        if column.name.casefold() in OWN and not is_case:
            _put(roles, column, "own", "konsil's own name", "sure")
    if _are_ratings(by_name, hints):
        _guess_ratings(by_name, hints, roles)
    else:
        _guess_texts(by_name, hints, roles)
    for column in by_name:
        if column.name not in roles:
            _put(roles, column, "unused", "nothing fits", "likely" if column.filled else "sure")
    return tuple(roles[column.name] for column in columns)


def _put(
    roles: dict[str, Guess], column: Column, role: Role, reason: Reason, confidence: Confidence
) -> None:
    roles[column.name] = Guess(column.name, role, reason, confidence, len(column.distinct))


def _free(columns: Sequence[Column], roles: Mapping[str, Guess]) -> list[Column]:
    return [column for column in columns if column.name not in roles and column.filled]


def _best(
    columns: Sequence[Column], roles: Mapping[str, Guess], role: Role, fits: Collection[str]
) -> tuple[Column, float] | None:
    """The free column whose name fits best among those whose content can be it."""
    candidates = [c for c in _free(columns, roles) if c.name in fits]
    if not candidates:
        return None
    best = max(candidates, key=lambda column: (name_fit(column, role), column.is_number))
    return best, name_fit(best, role)


def _are_ratings(columns: Sequence[Column], hints: Hints) -> bool:
    """Whether a table holds ratings.

    It has names of raters or labels beside few values, and no texts of its own.
    """
    categories = [c for c in columns if c.is_category or c.is_number]
    long = [c for c in columns if c.is_long and name_fit(c, "note") < 0.7]
    if any(c.is_unique for c in long) and not any(name_fit(c, "rater") == 1 for c in columns):
        return False
    has_rater = any(name_fit(c, "rater") >= 0.7 and not c.is_long for c in columns)
    has_label = any(name_fit(c, "label") >= 0.7 for c in categories)
    has_criterion = bool(
        {c.name.casefold() for c in columns} & {n.casefold() for n in hints.criteria}
    )
    return has_label or has_criterion or (has_rater and not long) or (not long and _alike(columns))


def _alike(columns: Sequence[Column]) -> bool:
    """Whether two columns or more have the same few values, as those of several raters do."""
    return any(len(group) > 1 for group in _same_values(columns))


def _same_values(columns: Sequence[Column]) -> Iterator[list[Column]]:
    scales = [
        c for c in columns if 1 < len(c.distinct) <= FEW and not c.is_unique and not c.is_long
    ]
    remaining = list(scales)
    while remaining:
        first = remaining.pop(0)
        group = [first, *(c for c in remaining if _overlap(first, c) >= 0.5)]
        remaining = [c for c in remaining if c not in group]
        yield group


def _overlap(first: Column, second: Column) -> float:
    a, b = set(first.distinct), set(second.distinct)
    return len(a & b) / len(a | b)


def _guess_system(columns: Sequence[Column], hints: Hints, roles: dict[str, Guess]) -> None:
    for column in _free(columns, roles):
        if hints.systems and set(column.distinct) <= set(hints.systems):
            _put(roles, column, "system", "known systems", "sure")
            return
    fits = {c.name for c in columns if 1 <= len(c.distinct) <= 40 and not c.is_long}
    match = _best(columns, roles, "system", fits - {c.name for c in columns if c.is_unique})
    if match and match[1] >= 0.7:
        _put(roles, match[0], "system", "name and content", "sure" if match[1] == 1 else "likely")


def _guess_ratings(columns: Sequence[Column], hints: Hints, roles: dict[str, Guess]) -> None:
    for side in _SIDES:
        match = _best(columns, roles, side, {c.name for c in columns})
        if match and match[1]:
            _put(roles, match[0], side, "name", "sure")
    if not _has(roles, "system_a"):
        _guess_system(columns, hints, roles)
    short = {c.name for c in columns if not c.is_long}
    for role in _KEYS:
        match = _best(columns, roles, role, short)
        if match and match[1] >= 0.7:
            _put(roles, match[0], role, "name", "sure" if match[1] == 1 else "likely")
    for role in _REMARKS:
        numeric = {c.name for c in columns if c.is_number or role == "note"}
        match = _best(columns, roles, role, numeric)
        if match and match[1] == 1:
            _put(roles, match[0], role, "name", "likely")
    _guess_labels(columns, roles)
    rest = [c for c in _free(columns, roles) if not c.is_long]
    if rest and not _has(roles, "item"):
        longest_list = max(rest, key=lambda column: len(column.distinct))
        _put(roles, longest_list, "item", "values for each question", "unsure")


_SIDES: tuple[Role, ...] = ("system_a", "system_b")
_KEYS: tuple[Role, ...] = ("rater", "criterion", "item")
_REMARKS: tuple[Role, ...] = ("seconds", "note")


def _has(roles: Mapping[str, Guess], role: Role) -> bool:
    return any(guess.role == role for guess in roles.values())


def _guess_labels(columns: Sequence[Column], roles: dict[str, Guess]) -> None:
    scales = [c for c in _free(columns, roles) if 1 <= len(c.distinct) <= FEW and not c.is_unique]
    labels = [c for c in scales if name_fit(c, "label") >= 0.7]
    if _has(roles, "criterion") and (labels or len(scales) == 1):
        _put(roles, (labels or scales)[0], "label", "few values", "sure" if labels else "likely")
    elif _has(roles, "rater"):
        for column in scales:
            _put(roles, column, "label_of_criterion", "a column for each question", "likely")
    elif groups := [g for g in _same_values(_free(columns, roles)) if len(g) > 1]:
        for column in max(groups, key=len):
            _put(roles, column, "label_of_rater", "a column for each rater", "unsure")


def _guess_texts(columns: Sequence[Column], hints: Hints, roles: dict[str, Guess]) -> None:
    pair = _item_and_system(columns, hints)
    long = [c for c in columns if c.is_long]
    if pair is not None:
        item, system, confidence = pair
        _put(roles, item, "item", "values for each question", confidence)
        because: Reason = "known systems" if set(system.distinct) <= set(hints.systems) else "name"
        is_named = name_fit(system, "system") >= 0.7 or because == "known systems"
        _put(
            roles,
            system,
            "system",
            because if is_named else "few values",
            "sure" if is_named else "unsure",
        )
        differing = [c for c in long if not _is_constant(c, item)]
        _guess_long(columns, differing, ("answer",), roles, "texts that differ")
        same = [c for c in long if c.name not in roles and _is_constant(c, item)]
        _guess_long(columns, same, ("text", "reference"), roles, "texts that are repeated")
        _guess_strata(columns, roles, item)
        return
    numbers = {c.name for c in columns if c.is_unique and not c.is_long and c.length <= 40}
    match = _best(columns, roles, "item", numbers)
    if match and (match[1] or match[0].is_number):
        _put(roles, match[0], "item", "numbers a row", "sure" if match[1] else "likely")
    rest = {c.name for c in _free(columns, roles) if not c.is_number}
    reference = _best(columns, roles, "reference", rest)
    if reference and reference[1] >= 0.7:
        _put(roles, reference[0], "reference", "name", "sure")
    for column in _free(columns, roles):
        is_named = name_fit(column, "answer") > 0 or name_fit(column, "system") > 0
        is_made = any(maker in word for maker in MAKERS for word in column.words)
        is_known = column.name in hints.systems
        if ((is_named and column.is_long) or is_made or is_known) and not column.is_category:
            is_sure = is_made or is_known
            reason: Reason = "a column for each system"
            _put(roles, column, "answer_of", reason, "sure" if is_sure else "likely")
    _guess_long(columns, long, ("text",), roles, "texts, each once")
    extra = [c for c in _free(columns, roles) if c.is_long]
    has_answers = any(guess.role == "answer_of" for guess in roles.values())
    for column in extra if len(extra) > 1 or has_answers else ():
        _put(roles, column, "answer_of", "a column for each system", "unsure")
    _guess_strata(columns, roles, None)


def _guess_long(
    columns: Sequence[Column],
    candidates: Sequence[Column],
    sequence: Sequence[Role],
    roles: dict[str, Guess],
    reason: Reason,
) -> None:
    """Texts by the names that fit best; without such a name the first role is the only text."""
    names = {c.name for c in candidates}
    for role in sequence:
        match = _best(columns, roles, role, names)
        if match and match[1] > 0:
            _put(roles, match[0], role, "name and content", "sure")
    roles_present = {guess.role for guess in roles.values()}
    free = [c for c in candidates if c.name not in roles]
    if (
        free
        and sequence[0] not in roles_present
        and not any(name_fit(free[0], r) for r in ("note",))
    ):
        _put(roles, free[0], sequence[0], reason, "likely" if len(free) == 1 else "unsure")


def _guess_strata(columns: Sequence[Column], roles: dict[str, Guess], item: Column | None) -> None:
    for column in _free(columns, roles):
        if item is not None and not _is_constant(column, item):
            continue
        fit = name_fit(column, "stratum")
        if fit and not column.is_long and not column.is_unique:
            _put(roles, column, "stratum", "name and content", "sure" if fit == 1 else "likely")
        elif column.is_category and not column.is_number:
            _put(roles, column, "stratum", "few values", "unsure")


def _item_and_system(
    columns: Sequence[Column], hints: Hints
) -> tuple[Column, Column, Confidence] | None:
    """The columns by which a table has a row for each answer: the question's and the system's.

    Together they name each row once, and the question comes again with every system.
    """
    best: tuple[float, str, Column, Column] | None = None
    for item in columns:
        if item.is_long or item.is_unique or len(item.filled) < len(item.values):
            continue
        for system in columns:
            n = len(system.distinct)
            if system is item or system.is_long or not 2 <= n <= 40:
                continue
            rows, complete_rows = len(item.values), n * len(item.distinct)
            # Each system comes again and again, and most questions have an answer of each.
            if rows < 2 * n or not complete_rows / 2 <= rows <= complete_rows:
                continue
            if len(set(zip(item.values, system.values, strict=True))) < rows:
                continue
            is_known = bool(hints.systems) and set(system.distinct) <= set(hints.systems)
            fit = (
                name_fit(item, "item")
                + 2 * name_fit(system, "system")
                + 3 * is_known
                - name_fit(system, "item")
                - name_fit(item, "system")
                - name_fit(item, "stratum")
                + (len(item.distinct) > n) * 0.5
            )
            if best is None or fit > best[0]:
                best = (fit, item.name, item, system)
    if best is None or not any(c.is_long and not _is_constant(c, best[2]) for c in columns):
        return None
    return best[2], best[3], "sure" if name_fit(best[2], "item") == 1 else "likely"


def _is_constant(column: Column, item: Column) -> bool:
    """Whether a column has the same value in all rows of a question."""
    value_by_item: dict[str | None, str | None] = {}
    return all(
        value_by_item.setdefault(key, value) == value
        for key, value in zip(item.values, column.values, strict=True)
    )


def repeated_roles(roles: Mapping[str, Role]) -> tuple[Role, ...]:
    """Roles that more columns have than can."""
    chosen = [role for role in roles.values() if role not in REPEATABLE]
    return tuple(dict.fromkeys(role for role in chosen if chosen.count(role) > 1))
