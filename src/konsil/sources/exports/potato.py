"""Potato's annotations: instances with the labels of their users, or the state of one user.

Marked parts of texts have no label of the whole instance.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from konsil.sources.exports.export import Annotations, Export, Json, rows_of
from konsil.sources.files.table import Table

NAME = "Potato"
_STATE = "instance_id_to_label_to_value"
_BETWEEN = ":::"
_HEADING = re.compile(r"(?P<scheme>.+?)(:::|\.)(?P<name>.+)")
"""A column of one label of a scheme, 'sentiment:::positive' or 'sentiment.positive'."""
_SPANS = "_spans"
"""A column of marked parts, by its name in a scheme."""
_SCALE = "scale_"
_CHECKED, _EMPTY = "true", {"", "false", "none", "null"}

_Entry = tuple[str, str, object]
"""Scheme, name of a label, and its value."""


class _Instance(NamedTuple):
    """What one user gave to one instance."""

    row: int
    name: object
    user: object
    entries: list[_Entry]


def read_instances(table: Table) -> Export | None:
    """Annotated instances, in objects or with a column for each label."""
    names = table.frame.columns
    unit = "instance_id" if "instance_id" in names else "id"
    if unit not in names:
        return None
    if "label_annotations" in names:
        return _export(table, unit, _of_objects)
    others = {*names} - {"instance_id", "user_id"}
    is_table = len(others) == len(names) - 2 and all(map(_HEADING.fullmatch, others))
    if any(_BETWEEN in name for name in names) or (is_table and others):
        return _export(table, unit, _of_columns)
    return None


def read_state(table: Table) -> Export | None:
    """The state of one user, with all instances in one row."""
    if not {"user_id", _STATE} <= {*table.frame.columns}:
        return None
    states = [
        (row, state.get("user_id"), state[_STATE])
        for row, state in rows_of(table)
        if isinstance(state.get(_STATE), dict)
    ]
    instances = [
        _Instance(row, name, user, [*_of_pairs(pairs)])
        for row, user, pairs_by_instance in states
        for name, pairs in pairs_by_instance.items()
    ]
    export = _annotations(table, ("instance_id", "user_id"), instances)
    return replace(export, is_of_one=len({str(user) for _, user, _ in states}) == 1)


def _of_pairs(pairs: object) -> Iterator[_Entry]:
    for pair in pairs if isinstance(pairs, list) else ():
        match pair:
            case [{"schema": scheme, "name": name}, value]:
                yield str(scheme), str(name), value


def _of_objects(row: Json) -> Iterator[_Entry]:
    schemes = row.get("label_annotations")
    for scheme, labels in schemes.items() if isinstance(schemes, dict) else ():
        for name, value in labels.items() if isinstance(labels, dict) else ():
            yield str(scheme), str(name), value


def _of_columns(row: Json) -> Iterator[_Entry]:
    for column, value in row.items():
        match = _HEADING.fullmatch(column)
        if match and match["name"] != _SPANS:
            yield match["scheme"], match["name"], value


def _export(table: Table, unit: str, entries_of: Callable[[Json], Iterator[_Entry]]) -> Export:
    user = next((n for n in ("user_id", "user") if n in table.frame.columns), "user_id")
    instances = [
        _Instance(row, cells.get(unit), cells.get(user), [*entries_of(cells)])
        for row, cells in rows_of(table)
    ]
    return _annotations(table, (unit, user), instances)


def _annotations(table: Table, names: tuple[str, str], instances: list[_Instance]) -> Export:
    annotations = Annotations(NAME, table, *names)
    by_scheme: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for instance in instances:
        for scheme, name, value in _given(instance.entries):
            by_scheme[scheme].append((name, value))
    has_values = {scheme: _are_values(entries) for scheme, entries in by_scheme.items()}
    for instance in instances:
        answers: defaultdict[str, list[object]] = defaultdict(list)
        for scheme, name, value in _given(instance.entries):
            answers[scheme].append(value if has_values[scheme] else name.removeprefix(_SCALE))
        annotations.add((instance.row, instance.name, instance.user), answers)
    return annotations.export()


def _given(entries: list[_Entry]) -> Iterator[tuple[str, str, str]]:
    """The entries without boxes that are not checked."""
    for scheme, name, value in entries:
        text = str(value).strip()
        if text.casefold() not in _EMPTY:
            yield scheme, name, text


def _are_values(entries: list[tuple[str, str]]) -> bool:
    """Whether the labels of a scheme are the values, and not the names.

    A checked box has its label as its name. A text, a number or a slider has one name for all.
    """
    if all(value.casefold() == _CHECKED for _, value in entries):
        return False
    return len({name for name, _ in entries}) == 1
