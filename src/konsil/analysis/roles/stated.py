"""The reading of a complete statement, for which nothing is proposed, and checks of any."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from konsil.analysis.roles.candidates.cells import rater_columns
from konsil.analysis.roles.candidates.compared.scaled_comparisons import known_ends
from konsil.analysis.roles.candidates.families import matching, named_by_pattern
from konsil.analysis.roles.candidates.leftover import explain
from konsil.analysis.roles.columns import Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.outcomes import name_results
from konsil.analysis.roles.reading import (
    COMPARISONS,
    SHAPES_OF,
    Purpose,
    Shape,
    StatedRoles,
    TableReading,
    Task,
)
from konsil.analysis.roles.statement import shape_words
from konsil.errors import SourceError, choice, nearest, option

_POINTS = 3.0


def stated_draft(table: Table, stated: StatedRoles, task: Task | None = None) -> Draft | None:
    """The reading of a complete statement; None where something is open."""
    are_compared = task == "comparisons" or stated.first or stated.second
    draft = _comparisons(table, stated) if are_compared else _ratings(table, stated)
    if draft is None:
        return None
    if draft.shape in {"wide", *SHAPES_OF["long"], *COMPARISONS}:
        draft.criterion = stated.criterion
    if draft.shape in SHAPES_OF["long"] | COMPARISONS:
        draft.repeat = stated.repeat
    draft.weight, draft.system = stated.weight, stated.system
    if not draft.used.keys() <= table.by_name.keys():
        return None
    explain(table, draft, ())
    draft.evidence, draft.points = [(_POINTS, "stated", ", ".join(draft.used))], _POINTS
    return draft


def disregarded(reading: Draft | TableReading, stated: StatedRoles) -> list[str]:
    """The stated roles that a reading does not use: a statement without effect is refused."""
    sides = reading.sides or (None, None)
    raters = reading.rated if reading.shape in {"wide", *COMPARISONS} else ()
    raters = raters or ((reading.rater,) if reading.rater else ())
    is_used = {
        "layout": stated.layout is None or reading.shape in SHAPES_OF[stated.layout],
        "unit": not stated.units or set(stated.units) == set(reading.units),
        "rater": not stated.raters or stated.raters == raters,
        "swapped": not (stated.swapped and reading.second_outcome)
        or stated.swapped in ("-", reading.second_outcome),
        "label": not stated.labels or set(stated.labels) == set(reading.rated),
        "names": not stated.names or reading.shape == "rater-by-criterion",
        "systems": not stated.systems
        or (reading.shape == "systems" and reading.rated == stated.systems),
        "split": not stated.split or reading.split == stated.split,
        "criterion": stated.criterion in (None, reading.criterion),
        "system": stated.system in (None, *reading.units, reading.system),
        "repeat": stated.repeat in (None, reading.repeat),
        "weight": stated.weight in (None, reading.weight),
        "first": stated.first in (None, sides[0]),
        "second": stated.second in (None, sides[1]),
        "outcome": stated.outcome in (None, reading.outcome),
        "second_outcome": stated.second_outcome in (None, reading.second_outcome),
        **{
            role: getattr(stated, role) in (None, reading.wins.get(role))
            for role in ("won", "lost", "tied")
        },
    }
    return [role for role, is_fine in is_used.items() if not is_fine]


def _ratings(table: Table, stated: StatedRoles) -> Draft | None:
    """A complete statement about ratings."""
    layout, rater = stated.layout, stated.raters[0] if len(stated.raters) == 1 else None
    if len(stated.raters) > 1 and layout in {None, "wide"}:
        return Draft("wide", stated.units, rated=stated.raters)
    if stated.names:
        rated = named_by_pattern(table, stated)
        rater_column = None if "{rater}" in stated.names else rater
        return Draft("rater-by-criterion", stated.units, rater_column, rated, names=stated.names)
    has_units = bool(stated.units) or stated.has_no_units
    if stated.systems and has_units:
        return Draft("systems", stated.units, rated=stated.systems)
    if stated.labels and has_units and stated.has_no_raters and not stated.split:
        return Draft("one-rating", stated.units, rated=stated.labels)
    if layout == "counts" and len(stated.declared) > 1 and stated.units:
        return Draft("counts", stated.units, rated=stated.declared)
    if layout == "raters-in-rows" and rater:
        aside = {rater, stated.cluster, stated.system, *stated.units}
        return Draft(
            "raters-in-rows", rater=rater, rated=tuple(n for n in table.by_name if n not in aside)
        )
    is_of_all = layout == "lists" or (bool(stated.split) and not rater_columns(table))
    if stated.labels and stated.units and (rater or is_of_all):
        shape = _long_shape(table, stated)
        return Draft(shape, stated.units, rater, stated.labels, split=stated.split)
    return None


def _long_shape(table: Table, stated: StatedRoles) -> Shape:
    """Which of the shapes with a row for each rating is stated."""
    key = (*stated.units, *stated.raters, stated.criterion)
    if not stated.raters:
        return "lists"
    if stated.repeat:
        return "repeats"
    if not table.is_key(name for name in key if name in table.by_name):
        return "rows-to-combine"
    return "long-criteria" if len(stated.labels) > 1 else "long"


def _comparisons(table: Table, stated: StatedRoles) -> Draft | None:
    """A complete statement about comparisons: systems, outcomes, items and raters."""
    has_units = bool(stated.units) or stated.has_no_units
    has_raters = bool(stated.raters) or stated.has_no_raters
    if not stated.first or not stated.second or not has_units or not has_raters:
        return None
    sides, rater = (stated.first, stated.second), next(iter(stated.raters), None)
    if len(stated.raters) > 1:
        of_raters: Shape = "pairs-on-scale" if stated.scale or stated.ends else "pairs"
        rated = stated.raters
        return Draft(of_raters, stated.units, None, rated, sides=sides, ends=stated.ends)
    if stated.outcome:
        columns = [table.by_name.get(name) for name in (*sides, stated.outcome)]
        ends = stated.ends
        if ends is None and not stated.scale and not stated.second_outcome:
            first, second, outcome = columns
            ends = known_ends(outcome, (first, second)) if first and second and outcome else None
        shape: Shape = "pairs-on-scale" if stated.scale or ends else "pairs"
        draft = Draft(shape, stated.units, rater, sides=sides, outcome=stated.outcome)
        draft.second_outcome, draft.ends = stated.second_outcome, ends
        return draft
    if name_results(sides) and not stated.won:
        return Draft("pairs", stated.units, rater, sides=sides)
    if not stated.won or not stated.lost:
        return None
    wins = {"won": stated.won, "lost": stated.lost, "tied": stated.tied}
    counted = {role: name for role, name in wins.items() if name is not None}
    return Draft("pair-counts", stated.units, rater, sides=sides, wins=counted)


def check_columns(frame: pl.DataFrame, stated: StatedRoles, purpose: Purpose) -> None:
    """Refuse a column that the table does not have, and one with two roles."""
    roles: dict[str, Sequence[str | None]] = {
        "unit": stated.units,
        "rater": stated.raters,
        "label": stated.labels,
        "unused": stated.unused,
        "by": (stated.group,),
        "systems": stated.systems,
        **{
            role: (getattr(stated, role),)
            for role in ("criterion", "system", "repeat", "weight", "cluster")
        },
        **{
            role: (getattr(stated, role),)
            for role in ("first", "second", "outcome", "second_outcome", "won", "lost", "tied")
        },
    }
    role_by_column: dict[str, str] = {}
    for role, names in roles.items():
        flag = option(purpose.flags.get(role, role))
        for name in names:
            if name is None:
                continue
            if name not in frame.columns:
                raise SourceError(
                    f"{purpose.name}: {flag} {name!r}: there is no such column;"
                    f" {nearest(name, frame.columns)}"
                )
            if name in role_by_column and (role != "cluster" or role_by_column[name] == "unused"):
                raise SourceError(
                    f"{purpose.name}: {flag} {name!r}: this column has another role already; name"
                    " each once"
                )
            role_by_column.setdefault(name, role)


def check_names(frame: pl.DataFrame, stated: StatedRoles, purpose: Purpose) -> None:
    """Refuse a pattern of names that is none, or that no column has."""
    if not stated.names:
        return
    gaps = re.findall(r"\{(\w+)\}", stated.names)
    where = f"{purpose.name}: {option(purpose.flags.get('names', 'names'), stated.names)}"
    if not gaps or len({*gaps}) < len(gaps) or not {*gaps} <= {"rater", "criterion", "unit"}:
        raise SourceError(
            f"{where}: expected {{rater}}, {{criterion}} or {{unit}}, each at most once"
        )
    if not matching(stated.names, frame.columns):
        raise SourceError(
            f"{where}: no column has such a name; the columns are"
            f" {', '.join(map(repr, frame.columns[:_MOST_NAMED]))}"
        )


_MOST_NAMED = 20
"""Columns whose names an error states."""


def check_used(reading: TableReading, stated: StatedRoles, purpose: Purpose) -> None:
    """Refuse a statement that changes nothing, as the reading has no such role."""
    for role in disregarded(reading, stated):
        value = getattr(stated, _FIELDS.get(role, role))
        words = (value,) if isinstance(value, str) else value
        flag = option(purpose.flags.get(role, role), words[0])
        raise SourceError(
            f"{purpose.name}: {choice(role, words[0]) if role == 'layout' else flag}: has no"
            f" effect on {shape_words(reading)}"
        )


_FIELDS = {"unit": "units", "rater": "raters", "label": "labels"}
"""Role -> its field of `StatedRoles`, where it has another name."""
