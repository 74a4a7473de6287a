"""Comparisons of a source whose columns are stated: their criteria, and the order of the sides."""

from __future__ import annotations

import itertools
from dataclasses import replace

import polars as pl

from konsil.analysis.roles.candidates.axes import with_axis
from konsil.analysis.roles.proposal import propose
from konsil.analysis.roles.reading import Proposal, StatedRoles
from konsil.api.folder.sources.source_names import StudyNames
from konsil.api.folder.sources.source_outcomes import (
    criteria_on_sides,
    fields_of_sides,
    no_records,
)
from konsil.errors import SourceError
from konsil.records import Source
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import resolve
from konsil.sources.tables.lookalikes import FIELDS_OF


def refuse_sides_of_orders(table: Table, source: Source, names: StudyNames) -> None:
    """Refuse outcomes that name sides beside a column of the order that is not stated as unused."""
    if source.records != "ratings":
        return
    columns = resolve(table, source, FIELDS_OF["ratings"])
    sides = fields_of_sides(columns)
    if sides is None:
        return
    frame = table.frame.with_columns(
        columns.expression(field) for field in sides if len(columns.of.get(field, ())) != 1
    )
    first, second = (
        field if len(of_it := columns.of.get(field, ())) != 1 else of_it[0] for field in sides
    )
    units, raters, labels = (columns.of.get(f, ()) for f in ("item", "rater", "label"))
    criteria = columns.of.get("criterion", ())
    outcomes = tuple(source.criteria) or labels
    several = tuple(source.raters) if len(source.raters) > 1 else ()
    of_fixed = {*source.criteria.values(), columns.fixed.get("criterion", "")} - {""}
    if of_fixed and not of_fixed & {*criteria_on_sides(names.instruments)}:
        return
    for outcome in (None,) if several else outcomes or tuple(source.raters):
        used = {*units, *raters, *criteria, *several, first, second, outcome}
        read = {*itertools.chain(source.unused, *columns.of.values(), outcomes)} - used
        stated = StatedRoles(
            units=units,
            raters=several or raters[:1],
            criterion=next(iter(criteria), None),
            first=first,
            second=second,
            outcome=outcome,
            unused=tuple(name for name in frame.columns if name in read),
            missing=source.missing,
            has_no_units=not units,
            has_no_raters=not (several or raters),
        )
        reading = with_criterion(frame, stated).reading
        if reading is not None and reading.swapped:
            raise SourceError(no_records(table, reading))


def with_criterion(frame: pl.DataFrame, stated: StatedRoles) -> Proposal:
    """What a table of comparisons is read as; a column of criteria may be stated.

    Its comparisons of each criterion are ratings of their own, and nothing is pooled.
    """
    column = stated.criterion
    if column is None:
        return propose(frame, stated, "comparisons")
    aside = replace(stated, criterion=None, unused=(*stated.unused, column))
    proposal = propose(frame, aside, "comparisons")
    if proposal.reading is None:
        return proposal
    return replace(proposal, reading=with_axis(proposal.reading, column))
