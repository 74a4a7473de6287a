"""What a study calls the raters and the systems that the user's files name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count

from konsil.analysis.roles.names import kinds, named_parts
from konsil.design.tables.loaded import Loaded, Names


def pseudonym(name: str, names: Names) -> str:
    """The identifier of a rater: a code stays, a person's name becomes a number."""
    if name not in names.raters:
        is_code = re.fullmatch(r"[A-Za-z0-9_.-]{1,20}", name) and kinds(name)["rater"] < 1
        numbered = (f"rater-{n}" for n in count(1))
        free = (name for name in numbered if name not in names.raters.values())
        names.raters[name] = name if is_code else next(free)
    return names.raters[name]


def headings(loaded: Loaded) -> Mapping[str, Mapping[str, str]]:
    """What headings with a rater and a question say: rater, criterion -> column -> the part."""
    columns = [name for name, role in loaded.roles.items() if role == "label_of_both"]
    parts = named_parts(loaded.names, columns) if loaded.names and columns else {}
    return {gap: parts.get(gap, {}) for gap in ("rater", "criterion")}


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
