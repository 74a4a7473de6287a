"""The reading of a complete statement: nothing is proposed where everything is stated."""

from __future__ import annotations

from konsil.analysis.roles.candidates.families import matching, taken_columns
from konsil.analysis.roles.candidates.leftover import explain
from konsil.analysis.roles.columns import Table
from konsil.analysis.roles.evidence import Draft
from konsil.analysis.roles.reading import Shape, StatedRoles

_POINTS = 3.0


def stated_draft(table: Table, stated: StatedRoles) -> Draft | None:
    """The reading of a complete statement; None where something is open."""
    draft = _comparisons(stated) if stated.first or stated.second else _ratings(table, stated)
    if draft is None:
        return None
    draft.criterion, draft.repeat, draft.weight = stated.criterion, stated.repeat, stated.weight
    draft.system = stated.system
    if not draft.used.keys() <= table.by_name.keys():
        return None
    explain(table, draft, ())
    draft.evidence, draft.points = [(_POINTS, "stated", ", ".join(draft.used))], _POINTS
    return draft


def _ratings(table: Table, stated: StatedRoles) -> Draft | None:
    """A complete statement about ratings."""
    layout, rater = stated.layout, stated.raters[0] if len(stated.raters) == 1 else None
    if len(stated.raters) > 1 and layout in {None, "wide"}:
        return Draft("wide", stated.units, rated=stated.raters)
    if stated.names:
        free = [name for name in table.by_name if name not in taken_columns(stated)]
        rated = matching(stated.names, free)
        return Draft("rater-by-criterion", stated.units, rated=rated, names=stated.names)
    if layout == "counts" and len(stated.declared) > 1 and stated.units:
        return Draft("counts", stated.units, rated=stated.declared)
    if layout == "raters-in-rows" and rater:
        aside = {rater, stated.cluster, *stated.units}
        return Draft(
            "raters-in-rows", rater=rater, rated=tuple(n for n in table.by_name if n not in aside)
        )
    if stated.labels and stated.units and (rater or stated.split or layout == "lists"):
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


def _comparisons(stated: StatedRoles) -> Draft | None:
    """A complete statement about comparisons: systems, outcomes, items and raters."""
    has_units = bool(stated.units) or stated.has_no_units
    has_raters = bool(stated.raters) or stated.has_no_raters
    if not stated.first or not stated.second or not has_units or not has_raters:
        return None
    sides, rater = (stated.first, stated.second), next(iter(stated.raters), None)
    if stated.outcome:
        shape: Shape = "pairs-on-scale" if stated.scale else "pairs"
        return Draft(shape, stated.units, rater, sides=sides, outcome=stated.outcome)
    if not stated.won or not stated.lost:
        return None
    wins = {"won": stated.won, "lost": stated.lost, "tied": stated.tied}
    counted = {role: name for role, name in wins.items() if name is not None}
    return Draft("pair-counts", stated.units, rater, sides=sides, wins=counted)
