"""Sets of columns that may be rated together: they share labels, or have the same kind of name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from konsil.analysis.roles.columns import NEAR, Column, Table
from konsil.analysis.roles.names import Kind, best_fit, kinds, pattern_regex, words
from konsil.analysis.roles.reading import StatedRoles

_SPLIT_KINDS: tuple[Kind, ...] = ("rater", "criterion", "item", "system", "label")
_MOST = 16
"""Columns up to which a family is also tried without each one of them."""


def families(table: Table, stated: StatedRoles) -> list[tuple[str, ...]]:
    """Sets of columns that may be rated together, each in the table's order."""
    if len(stated.raters) > 1:
        return [stated.raters]
    if stated.names:
        return [named_by_pattern(table, stated)]
    able = [c.name for c in table.columns if c.is_ratings and c.name not in taken_columns(stated)]
    sets: list[tuple[str, ...]] = []
    for group in connected(table, able):
        plain = tuple(name for name in group if kinds(name)["other"] < 0.7)
        sets += [group, plain, tuple(n for n in plain if not word_behind(n, plain))]
        # Beside numbers of raters are their sum and the commonest label.
        sets += [tuple(n for n in group if best_fit(n, ("sum", "weight", "label")) < 1)]
        sets += [tuple(n for n in group if kinds(n)[kind] >= 0.5) for kind in _SPLIT_KINDS]
        sets += [
            tuple(n for n in group if table.share(table.by_name[n], table.by_name[m]) >= 0.7)
            for m in group[:8]
        ]
        for base in dict.fromkeys((group, plain)):
            if len(base) < _MOST:
                sets += [tuple(n for n in base if n != m) for m in base]
    sets += [tuple(n for n in able if kinds(n)[kind] >= 0.5) for kind in _SPLIT_KINDS[:4]]
    return [names for names in dict.fromkeys(sets) if len(names) > 1]


def named_by_pattern(table: Table, stated: StatedRoles) -> tuple[str, ...]:
    """The columns of ratings that the stated pattern describes; texts beside ratings are none."""
    aside = {*taken_columns(stated), *stated.groups, *stated.unused}
    names = matching(stated.names or "", [name for name in table.by_name if name not in aside])
    rated = tuple(name for name in names if not _is_prose(table.by_name[name]))
    return rated or names


def _is_prose(column: Column) -> bool:
    """Whether the values are texts of which most occur once, so that none is a label."""
    return column.is_long and 2 * len(column.distinct) > len(column.filled)


def taken_columns(stated: StatedRoles) -> set[str]:
    """The columns that are stated to be something else than ratings."""
    singles = (stated.criterion, stated.system, stated.repeat, stated.weight, stated.cluster)
    return {*stated.units, *stated.raters, *(name for name in singles if name is not None)}


def matching(pattern: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that a pattern such as 'R{rater}_Q{criterion}' describes."""
    regex = pattern_regex(pattern)
    return tuple(name for name in names if regex.fullmatch(name))


def connected(table: Table, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Groups of columns that are connected by common labels."""
    rest = dict.fromkeys(names)
    while rest:
        group = queue = {next(iter(rest))}
        while queue:
            rest = {name: None for name in rest if name not in queue}
            near = (_near(table, name) for name in queue)
            queue = rest.keys() & frozenset[str]().union(*near) if rest else set()
            group = group | queue
        yield tuple(name for name in names if name in group)


def _near(table: Table, name: str) -> frozenset[str]:
    """The columns that have so many labels of one that they can be rated on its scale."""
    near_by_name = _near_columns(table)
    if name not in near_by_name:
        column = table.by_name[name]
        near = (c.name for c in table.columns if table.share(column, c) >= NEAR)
        near_by_name[name] = frozenset(near)
    return near_by_name[name]


@lru_cache(maxsize=4)
def _near_columns(table: Table) -> dict[str, frozenset[str]]:  # noqa: ARG001  a store of its own
    return {}


def word_behind(name: str, names: Iterable[str]) -> str:
    """What stands behind the name of a rater that is another column's name; empty: nothing.

    >>> word_behind("dr_a_conf", ["dr_a", "dr_b"]), word_behind("reader1b", ["reader1"])
    ('conf', 'b')
    >>> word_behind("Dr. B", ["Dr. A"]), word_behind("R12", ["R1"])
    ('', '')
    """
    parts, people = words(name), _words_of_raters(tuple(names))
    places = range(len(parts) - 1, 0, -1)
    return next((" ".join(parts[n:]) for n in places if parts[:n] in people), "")


@lru_cache(maxsize=8)
def _words_of_raters(names: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """The words of those names that are raters'."""
    return frozenset(words(name) for name in names if kinds(name)["rater"] >= _PERSON)


_PERSON = 0.8
"""How well a name fits a rater whose own columns can have further words behind it."""
