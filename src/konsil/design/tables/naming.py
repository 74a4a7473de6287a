"""What a study calls the raters and the systems that the user's files name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count

from konsil.analysis.roles.candidates.families import matching
from konsil.analysis.roles.names import kinds, named_parts
from konsil.design.tables.columns import Role
from konsil.design.tables.loaded import Loaded, Names
from konsil.errors import SourceError
from konsil.errors.message import COMMA, Listed, message


def pseudonym(name: str, names: Names) -> str:
    """The identifier of a rater: a code stays, a person's name becomes a number.

    >>> names = Names()
    >>> [pseudonym(name, names) for name in ("R1", "Dr. Meier", "___", "😀")]
    ['R1', 'rater-1', 'rater-2', 'rater-3']
    """
    if name not in names.raters:
        plain = re.fullmatch(r"(?=.*[A-Za-z0-9])[A-Za-z0-9_.-]{1,20}", name)
        is_code = plain is not None and kinds(name)["rater"] < 1
        numbered = (f"rater-{n}" for n in count(1))
        free = (name for name in numbered if name not in names.raters.values())
        names.raters[name] = name if is_code else next(free)
    return names.raters[name]


def headings(loaded: Loaded) -> Mapping[str, Mapping[str, str]]:
    """What headings with a rater or a question say: rater, criterion -> column -> the part."""
    columns = [name for name, role in loaded.roles.items() if role in _IN_HEADINGS]
    parts = named_parts(loaded.names, columns) if loaded.names and columns else {}
    return {gap: parts.get(gap, {}) for gap in ("rater", "criterion")}


_IN_HEADINGS: frozenset[Role] = frozenset(("label_of_both", "label_of_rater", "label_of_criterion"))
"""Roles of columns of ratings whose headings say of what or by whom they are."""
_MOST_NAMED = 20
"""Columns whose names an error states."""


def roles_by_pattern(roles: Mapping[str, Role], pattern: str) -> dict[str, Role]:
    """The roles of columns by a pattern of the headings of ratings; all others stay.

    Without a pattern each of these headings is that of a rater.
    """
    check_pattern(pattern, [*roles])
    free = {"unused", *_IN_HEADINGS}
    rated: dict[frozenset[str], Role] = {
        frozenset({"rater", "criterion"}): "label_of_both",
        frozenset({"criterion"}): "label_of_criterion",
    }
    role = rated.get(frozenset(_gaps(pattern)), "label_of_rater")
    if not pattern:
        return {name: role if of in _IN_HEADINGS else of for name, of in roles.items()}
    named = {name for name in matching(pattern, [*roles]) if roles[name] in free}
    others = {name: "unused" if of in _IN_HEADINGS else of for name, of in roles.items()}
    return {name: role if name in named else others[name] for name in roles}


def _gaps(pattern: str) -> list[str]:
    return re.findall(r"\{(\w*)\}", pattern)


def check_pattern(pattern: str, columns: Sequence[str]) -> None:
    """Refuse a pattern of headings that is none, or that no column has."""
    gaps = _gaps(pattern)
    if (
        bool(gaps) != bool(pattern)
        or len({*gaps}) < len(gaps)
        or not {*gaps} <= {"rater", "criterion"}
    ):
        raise SourceError(
            message(
                "{pattern!r}: expected {{rater}} or {{criterion}} or both, each once",
                message_id="setup.pattern_gaps",
                pattern=pattern,
            )
        )
    if pattern and not matching(pattern, columns):
        raise SourceError(
            message(
                "{pattern!r}: no column has such a name; the columns are {columns}",
                message_id="setup.pattern_of_none",
                pattern=pattern,
                columns=Listed(tuple(map(repr, columns[:_MOST_NAMED])), end=COMMA),
            )
        )


def without_common_words(headings: Sequence[str]) -> dict[str, str]:
    """Headings without the words that all of them begin or end with, where the rest names them.

    >>> without_common_words(["Answer from Alpha", "Answer from Beta 2"])
    {'Answer from Alpha': 'Alpha', 'Answer from Beta 2': 'Beta 2'}
    >>> without_common_words(["Llama 3", "Llama 4"])
    {'Llama 3': 'Llama 3', 'Llama 4': 'Llama 4'}
    """
    words = [heading.split() for heading in headings]
    shortest = min(map(len, words), default=0)
    before = 0
    while before < shortest and len({row[before] for row in words}) == 1:
        before += 1
    after = 0
    while before + after < shortest and len({row[-1 - after] for row in words}) == 1:
        after += 1
    short = [" ".join(row[before : len(row) - after]) for row in words]
    are_names = len({*short}) == len(headings) > 1 and all(re.search(r"[^\W\d]", n) for n in short)
    return dict(zip(headings, short if are_names else headings, strict=True))


def systems_in_headings(loaded: Loaded) -> dict[str, str]:
    """Columns of answers -> the identifier of their system."""
    columns = [name for name, role in loaded.roles.items() if role == "answer_of"]
    short = without_common_words(columns)
    return {name: loaded.new_names.systems.get(name, short[name]) for name in columns}


def renamed_values(loaded: Loaded) -> dict[str, Mapping[str, str]]:
    """Raters and systems in rows: field -> name in the file -> identifier, where they differ."""
    names: dict[str, Mapping[str, str]] = {}
    for column in loaded.table.columns:
        role, values = loaded.roles.get(column.name), [v.strip() for v in column.distinct]
        if role == "rater":
            listed = {value: pseudonym(value, loaded.new_names) for value in values}
        elif role in ("system", "system_a", "system_b"):
            listed = {value: loaded.new_names.systems.get(value, value) for value in values}
        else:
            continue
        names[role] = {value: name for value, name in listed.items() if value != name}
    return names


def systems_of(loaded: Loaded) -> dict[str, str]:
    """System's name in a table -> its identifier."""
    names = systems_in_headings(loaded)
    for column in loaded.table.columns:
        if loaded.roles.get(column.name) in ("system", "system_a", "system_b"):
            values = (value.strip() for value in column.distinct)
            names |= {value: loaded.new_names.systems.get(value, value) for value in values}
    if system := loaded.fixed.get("system"):
        names[system] = loaded.new_names.systems.get(system, system)
    return names
