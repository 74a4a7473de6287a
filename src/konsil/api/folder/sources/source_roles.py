"""Columns of a file whose protocol does not state them: read in the only way, or refused."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from konsil.analysis.roles.names import named_parts
from konsil.analysis.roles.proposal import LEAST, propose
from konsil.analysis.roles.reading import (
    COMPARISONS,
    Proposal,
    Purpose,
    StatedRoles,
    TableReading,
)
from konsil.analysis.roles.recognition import by_layout
from konsil.analysis.roles.stated import check_used
from konsil.analysis.roles.statement import sentence
from konsil.api.folder.sources.source_keys import of_entry, refusal
from konsil.api.folder.sources.source_labels import label_keys
from konsil.api.folder.sources.source_names import (
    StudyNames,
    criteria_of,
    first_label,
    raters_of,
    same,
    with_own_names,
)
from konsil.api.folder.sources.source_orders import refuse_sides_of_orders, with_criterion
from konsil.api.folder.sources.source_outcomes import (
    SourceTable,
    no_records,
    with_criteria,
    with_outcomes,
)
from konsil.design.tables.columns import OWN, Role
from konsil.design.tables.guessing import repeated_roles, roles_of
from konsil.design.tables.sources import Chosen, missing_roles, sources_of
from konsil.errors import SourceError, UnclearTableError, options_as
from konsil.errors.message import message
from konsil.records import Source
from konsil.records.source import Tool
from konsil.sources.exports.export import Export
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import Columns, require, resolve
from konsil.sources.tables.lookalikes import FIELDS_OF

_SHAPE = ("layout", "names", "unused", "repeat")
"""Keys of a source that only ratings have."""


def leaves_raters_open(table: Table, source: Source) -> bool:
    """Whether nothing says which ratings of a table are whose."""
    if source.records != "ratings" or source.replies or "rater" in source.fixed:
        return False
    return _is_open(source, resolve(table, source, FIELDS_OF["ratings"]))


def with_columns(
    table: Table,
    source: Source,
    names: StudyNames,
    export: Export | None = None,
    entry: Source | None = None,
) -> tuple[tuple[SourceTable, ...], tuple[str, ...]]:
    """The sources that read a table, with the columns that the given one leaves open, and notes.

    Columns that are stated, or have the names of fields, stay what they are; without them a table
    is read in the only way. Where there are several, or labels may be none, UnclearTableError has
    all that is unclear and the keys of study.toml.

    Args:
        table: the table.
        source: what is stated of it.
        names: the identifiers of the study.
        export: the export of a tool that the table is.
        entry: the source of several files, of which this is one.
    """
    completed = _completed(table, source, names, export)
    if completed.reading is None and table.frame.height:
        refuse_sides_of_orders(table, completed.sources[0], names)
    read = [with_outcomes(table, part, names.instruments) for part in completed.sources]
    keyed = [label_keys(part.table, part.source, names.instruments) for part in read]
    of_outcomes = (text for part in read for text in part.questions)
    of_labels = (text for part in keyed for text in part.questions)
    unclear = dict.fromkeys((*completed.unclear, *of_outcomes, *of_labels))
    if unclear:
        sources = [of_entry(each.source, entry or source) for each in keyed]
        raise refusal(table, sources, completed.reading, tuple(unclear))
    notes = dict.fromkeys(note for part in read for note in part.notes)
    return tuple(read), (*completed.notes, *notes)


@dataclass(frozen=True)
class _Completed:
    """The sources that read a table, or what is unclear of its columns."""

    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()
    reading: TableReading | None = None
    """What the table is read as; None where its source states it."""
    unclear: tuple[str, ...] = ()


def _completed(
    table: Table, source: Source, names: StudyNames, export: Export | None
) -> _Completed:
    notes: tuple[str, ...] = ()
    if export is not None:
        source = replace(source, tool=cast(Tool, export.tool))
        notes = (f"{table.name}: read as {export.statement}",)
    _check_keys(table, source)
    as_fields = {name.casefold() for name in source.unused} & {*FIELDS_OF[source.records]}
    source = replace(source, columns={**dict.fromkeys(as_fields, ()), **source.columns})
    resolved = resolve(table, source, FIELDS_OF[source.records], {"item": "text"})
    if not (source.has_shape or _is_open(source, resolved)) or not table.frame.height:
        return _Completed((source,), notes)
    stated = _stated(table, source, resolved, names)
    if export is not None:
        stated = stated.with_known(roles_of_tool(export).without(stated.columns))
    proposal = _proposed(table, source, stated, names)
    reading = proposal.reading
    if reading is not None:
        reading = _with_system(with_criteria(reading, names), table, names)
    roles = {} if reading is None else roles_of(reading)
    is_settled = source.has_shape or proposal.is_certain
    if reading is None or (not is_settled and reading.points < LEAST):
        return _Completed((source,), notes)  # the reader says which column it lacks
    if not roles and reading.shape in COMPARISONS:
        raise SourceError(no_records(table, reading))
    if not roles:
        return _Completed((source,), notes)
    chosen, unclear = _chosen(source, reading, roles, table, names)
    sources = tuple(_sources(source, chosen))
    missing = missing_roles(chosen)
    for role in missing if source.has_shape else ():
        require(resolved, role, table, source)
    if not sources or repeated_roles(chosen.roles) or missing:
        return _Completed((source,), notes)
    if export is not None and export.question:
        unclear.append(export.question)
    if unclear or not proposal.is_certain:
        of_columns = tuple(map(str, (*proposal.unclear, *unclear)))
        return _Completed(sources, notes, reading, of_columns)
    note = message(
        "{file}: read as: {reading}",
        message_id="import.read_as",
        file=table.name,
        reading=sentence(reading, table.frame),
    )
    return _Completed(sources, (*notes, note), reading)


def roles_of_tool(export: Export) -> StatedRoles:
    """What the tool states of its table's columns."""
    return StatedRoles(
        layout=export.layout,
        units=export.units,
        raters=export.raters,
        labels=export.labels,
        unused=export.unused,
    )


def _check_keys(table: Table, source: Source) -> None:
    """Refuse a shape that records do not have, or that is stated twice."""
    stated = [name for name in _SHAPE if getattr(source, name)]
    where = f"{table.name}: {' and '.join(stated)}"
    if stated and source.records != "ratings":
        raise SourceError(f'{where}: only for records = "ratings"')
    if source.names and (source.raters or source.criteria):
        raise SourceError(f"{table.name}: names: states what raters or criteria state, too")
    if source.repeat and source.unknown_raters:
        raise SourceError(
            f"{table.name}: repeat: which ratings are of the same rater is not known, as"
            " unknown_raters states"
        )
    if "{unit}" in source.names:
        raise SourceError(
            f"{table.name}: names: expected {{rater}} or {{criterion}} or both; items are in a"
            " column of a study's ratings"
        )


def _proposed(table: Table, source: Source, stated: StatedRoles, names: StudyNames) -> Proposal:
    """What a table is read as, by all that the source states of its shape."""
    if not source.has_shape:
        if source.records != "ratings":
            return propose(table.frame, stated, "texts")
        if not names.criteria or names.criteria != names.of_comparisons.criteria:
            return propose(table.frame, stated)
        return with_criterion(table.frame, stated)
    purpose = Purpose("ratings", table.name)
    with options_as("keys"):
        laid_out = by_layout(table.frame, stated, purpose)
        if laid_out is not None:
            return Proposal(laid_out, is_certain=True)
        proposal = propose(table.frame, stated, "ratings")
        if proposal.reading is None:
            unclear = [*map(str, proposal.unclear)]
            raise UnclearTableError(table.name, unclear=unclear, columns=table.frame.columns)
        check_used(proposal.reading, stated, purpose)
    return proposal


def _is_open(source: Source, columns: Columns) -> bool:
    """Whether a table of these records does not say by its columns' names what they are."""
    if source.records != "ratings":
        needed = {"items": ("item",), "answers": ("item", "system")}[source.records]
        return any(field not in columns for field in needed)
    if source.unknown_raters:
        return False
    wide = (
        ("rater", "label") if source.raters else ("criterion", "label") if source.criteria else ()
    )
    return any(f not in columns for f in ("rater", "criterion", "label") if f not in wide)


def _stated(table: Table, source: Source, columns: Columns, names: StudyNames) -> StatedRoles:
    """What the source, the names of fields and the systems of the study say of the columns."""

    def named(field: str) -> tuple[str, ...]:
        return columns.of.get(field, ())

    def single(field: str) -> str | None:
        return next(iter(named(field)), None)

    read = {*itertools.chain(*columns.of.values())}
    free = [name for name in table.frame.columns if name not in read]
    criteria = tuple(name for name in free if names.criterion(name))
    has_raters = any(same(name, {r.id for r in names.raters}) for name in free)
    if source.has_shape or has_raters:
        criteria = ()
    # Of two answers, a criterion's column has the outcomes.
    are_pairs = all(names.of_comparisons.criterion(name) for name in criteria)
    outcomes, criteria = (criteria, ()) if are_pairs else ((), criteria)
    rater = _of_identifiers(table, free, source, "rater", {r.id for r in names.raters})
    criterion = _of_identifiers(table, free, source, "criterion", names.criteria)
    return StatedRoles(
        layout=source.layout or None,
        units=named("item"),
        raters=tuple(source.raters) or named("rater") or rater,
        labels=tuple(source.criteria) or named("label") or criteria,
        criterion=single("criterion")
        or next(iter(() if criteria or outcomes else criterion), None),
        outcome=next(iter(outcomes), None),
        system=single("system") if source.has_shape else None,
        repeat=single("repeat"),
        unused=source.unused,
        names=source.names,
        missing=source.missing,
    )


def _of_identifiers(
    table: Table, free: Sequence[str], source: Source, field: str, identifiers: Collection[str]
) -> tuple[str, ...]:
    """The only column whose cells are all identifiers of the study; none if a pattern names it."""
    if source.names or field in source.fixed or field in source.columns:
        return ()
    valid = {*identifiers, *source.values.get(field, ())}
    cells = {name: {*table.frame[name].drop_nulls().unique()} - {""} for name in free}
    columns = tuple(name for name, words in cells.items() if words and words <= valid)
    return columns if len(columns) == 1 else ()


def _with_system(reading: TableReading, table: Table, names: StudyNames) -> TableReading:
    """The reading, in which a column whose cells are all systems of the study is the system."""
    systems = {system.id for system in names.systems}
    free = [name for name, role in roles_of(reading).items() if role in ("stratum", "unused")]
    of_systems = [
        name
        for name in free
        if name.casefold() == "system" or {*table.frame[name].unique()} <= systems
    ]
    if reading.system is not None or "system" in roles_of(reading).values() or len(of_systems) != 1:
        return reading
    [column] = of_systems
    return replace(
        reading,
        units=(*reading.units, column),
        system=column,
        roles={**reading.roles, column: "unit"},
        unused={name: reason for name, reason in reading.unused.items() if name != column},
    )


def _chosen(
    source: Source,
    reading: TableReading,
    roles: Mapping[str, Role],
    table: Table,
    names: StudyNames,
) -> tuple[Chosen, list[str]]:
    """The roles with the identifiers of criteria and raters, and which of them are not known."""
    if "system_a" in roles.values():
        names = names.of_comparisons
    parts = named_parts(reading.names, [*roles]) if reading.names else {}
    raters, unclear = raters_of(source, parts.get("rater", {}), roles, names)
    criteria, of_criteria = criteria_of(source, parts.get("criterion", {}), roles, table, names)
    # Beside a column of criteria, columns of ratings are those of no criterion of their own.
    nameless = (
        n for n, role in roles.items() if role == "label_of_criterion" and n not in criteria
    )
    # A column whose criterion is stated by itself is the labels, and no heading states it again.
    headings = [name for name, role in roles.items() if role == "label_of_criterion"]
    is_fixed = "criterion" in source.fixed and len(headings) == 1
    of_fixed: dict[str, Role] = dict.fromkeys(headings, "label") if is_fixed else {}
    left_out: dict[str, Role] = dict.fromkeys(
        (*nameless, *(name for name, identifier in criteria.items() if not identifier)), "unused"
    )
    of_own_names: dict[str, Role] = {
        name: "own" for name, role in roles.items() if role == "unused" and name.casefold() in OWN
    }
    chosen_roles = {**roles, **of_own_names, **left_out, **of_fixed}
    chosen = Chosen(source.file, chosen_roles, source.settings, criteria, raters)
    fixed = dict(source.fixed)
    if reading.names_winners:
        won, of_won = first_label(names, fixed.get("criterion"))
        fixed, of_criteria = won | fixed, [*of_criteria, *of_won]
    chosen, of_names = with_own_names(source, replace(chosen, fixed=fixed))
    return chosen, [*unclear, *of_criteria, *of_names]


def _sources(source: Source, chosen: Chosen) -> Iterator[Source]:
    """The source with the columns that each entry states."""
    for entry in sources_of(chosen):
        if entry["records"] != source.records:
            continue
        mapped: dict[str, tuple[str, ...]] = {
            field: (name,) if isinstance(name, str) else tuple(name)
            for field, name in entry.get("columns", {}).items()
        }
        fixed = {
            field: source.values.get(field, {}).get(value, value)
            for field, value in entry.get("fixed", {}).items()
        }
        header = {name.casefold() for name in chosen.roles}
        columns = {**mapped, **source.columns}
        yield replace(
            source,
            columns={f: names for f, names in columns.items() if names or f in header},
            layout="",
            names="",
            fixed={**fixed, **source.fixed},
            raters=entry.get("raters", source.raters),
            criteria=entry.get("criteria", source.criteria),
            hashed=tuple(dict.fromkeys((*source.hashed, *entry.get("hashed", ())))),
        )
