"""Sets of columns that may be rated together: they share labels, or have the same kind of name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from konsil.analysis.roles.columns import NEAR, Table
from konsil.analysis.roles.names import Kind, crossed_parts, kinds
from konsil.analysis.roles.reading import StatedRoles

_SPLIT_KINDS: tuple[Kind, ...] = ("rater", "criterion", "item", "system", "label")
_MOST = 16
"""Columns up to which a family is also tried without each one of them."""


def families(table: Table, stated: StatedRoles) -> list[tuple[str, ...]]:
    """Sets of columns that may be rated together, each in the table's order."""
    if len(stated.raters) > 1:
        return [stated.raters]
    if stated.names:
        used_columns = taken_columns(stated)
        return [
            matching(stated.names, [c.name for c in table.columns if c.name not in used_columns])
        ]
    able = [c.name for c in table.columns if c.is_ratings and c.name not in taken_columns(stated)]
    sets: list[tuple[str, ...]] = []
    for group in _connected(table, able):
        plain = tuple(name for name in group if kinds(name)["other"] < 0.7)
        sets += [group, plain]
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


def taken_columns(stated: StatedRoles) -> set[str]:
    """The columns that are stated to be something else than ratings."""
    singles = (stated.criterion, stated.system, stated.repeat, stated.weight, stated.cluster)
    return {*stated.units, *stated.raters, *(name for name in singles if name is not None)}


def matching(pattern: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that a pattern such as 'R{rater}_Q{criterion}' describes."""
    regex = pattern_regex(pattern)
    return tuple(name for name in names if regex.fullmatch(name))


def pattern_regex(pattern: str) -> re.Pattern[str]:
    """A pattern of names as a regular expression, with a group for each gap."""
    parts = re.split(r"\{(\w+)\}", pattern)
    return re.compile(
        "".join(f"(?P<{part}>.+?)" if n % 2 else re.escape(part) for n, part in enumerate(parts))
    )


def named_parts(pattern: str, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Gap of a pattern -> name -> what is in the gap; names that it does not describe are left out.

    What joins two gaps may be in a part, too: then all names together decide where it joins.

    >>> named_parts("R{rater}_Q{criterion}", ["R1_Q2", "R2_Q2"])
    {'rater': {'R1_Q2': '1', 'R2_Q2': '2'}, 'criterion': {'R1_Q2': '2', 'R2_Q2': '2'}}
    """
    regex, fitting = pattern_regex(pattern), matching(pattern, names)
    pieces = re.split(r"\{(\w+)\}", pattern)
    crossed = None
    if fitting and len(pieces) == _TWO_GAPS:
        begin, first, joint, second, end = pieces
        inner = {name: name.removeprefix(begin).removesuffix(end) for name in fitting}
        crossed = crossed_parts(list(inner.values()), joint)
    if crossed is not None:
        parts = {name: crossed[text] for name, text in inner.items()}
        return {
            gap: {name: parts[name][n].strip() for name in fitting}
            for n, gap in enumerate((first, second))
        }
    matches = {name: regex.fullmatch(name) for name in fitting}
    return {
        gap: {name: match[gap].strip() for name, match in matches.items() if match}
        for gap in regex.groupindex
    }


_TWO_GAPS = 5
"""Pieces of a pattern with two gaps: what is before, between and behind them, and the gaps."""


def _connected(table: Table, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Groups of columns that are connected by common labels."""
    rest = list(names)
    while rest:
        group, queue = set(), [rest.pop(0)]
        while queue:
            name = queue.pop()
            group.add(name)
            column = table.by_name[name]
            near = [n for n in rest if table.share(column, table.by_name[n]) >= NEAR]
            rest = [n for n in rest if n not in near]
            queue += near
        yield tuple(name for name in names if name in group)
