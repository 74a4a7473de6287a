"""Columns of a file whose protocol does not state them: read in the only way, or refused."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from konsil.analysis.model.message import message
from konsil.analysis.roles.names import named_parts
from konsil.analysis.roles.proposal import LEAST, propose
from konsil.analysis.roles.reading import Proposal, Purpose, StatedRoles, TableReading, Task
from konsil.analysis.roles.recognition import by_layout, check_used
from konsil.analysis.roles.statement import sentence
from konsil.api.sources.source_keys import UNKNOWN, ended, of_entry, refusal
from konsil.api.sources.source_labels import explained_by, label_keys
from konsil.design.tables.columns import OWN, Role
from konsil.design.tables.guessing import roles_of
from konsil.design.tables.sources import RATED, Chosen, faults, missing_roles, sources_of
from konsil.errors import SourceError, UnclearTableError, near_names, nearest, options_as
from konsil.instrument import Instrument
from konsil.records import Rater, Source, System
from konsil.records.source import Tool
from konsil.sources.exports.export import Export
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import Columns, require, resolve
from konsil.sources.tables.lookalikes import FIELDS_OF

_SHOWN = 6
"""Columns that a sentence names."""
_SHAPE = ("layout", "names", "unused", "repeat")
"""Keys of a source that only ratings have."""


@dataclass(frozen=True)
class StudyNames:
    """The identifiers that the columns of a file may stand for."""

    instruments: Sequence[Instrument] = ()
    """The study's instruments."""
    raters: Sequence[Rater] = ()
    """The study's raters."""
    systems: Sequence[System] = ()
    """The study's systems."""

    @property
    def criteria(self) -> set[str]:
        """The criteria of all instruments."""
        return {c.id for i in self.instruments for c in i.criteria}

    def criterion(self, name: str) -> str | None:
        """The criterion that a text names by its identifier, or else by its title or question."""
        forms = [c for i in self.instruments for c in i.criteria]
        by_words = {c.id for c in forms if _same(name, filter(None, (c.title, c.question)))}
        return _same(name, self.criteria) or (by_words.pop() if len(by_words) == 1 else None)

    def rater(self, name: str) -> str | None:
        """The rater that a text names; any, where the study names none."""
        return _same(name, {r.id for r in self.raters}) if self.raters else name


def _same(name: str, ids: Iterable[str]) -> str | None:
    return next((i for i in ids if i.casefold() == name.strip().casefold()), None)


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
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources that read a table, with the columns that the given one leaves open, and a note.

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
    keyed = [label_keys(table, part, names.instruments) for part in completed.sources]
    unclear = dict.fromkeys((*completed.unclear, *(q for each in keyed for q in each.questions)))
    if unclear:
        sources = [of_entry(each.source, entry or source) for each in keyed]
        raise refusal(table, sources, completed.reading, tuple(unclear))
    return completed.sources, completed.notes


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
    proposal = _proposed(table, source, stated)
    reading = None if proposal.reading is None else _with_system(proposal.reading, table, names)
    roles = {} if reading is None else roles_of(reading)
    is_settled = source.has_shape or proposal.is_certain
    if reading is None or not roles or (not is_settled and reading.points < LEAST):
        return _Completed((source,), notes)  # the reader says which column it lacks
    chosen, unclear = _chosen(source, reading, roles, table, names)
    sources = tuple(_sources(source, chosen))
    missing = missing_roles(chosen)
    for role in missing if source.has_shape else ():
        require(resolved, role, table, source)
    if not sources or faults(chosen) or missing:
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


def _proposed(table: Table, source: Source, stated: StatedRoles) -> Proposal:
    """What a table is read as, by all that the source states of its shape."""
    if not source.has_shape:
        task: Task | None = None if source.records == "ratings" else "texts"
        return propose(table.frame, stated, task)
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
    has_raters = any(_same(name, {r.id for r in names.raters}) for name in free)
    if source.has_shape or has_raters:
        criteria = ()
    rater = _of_identifiers(table, free, source, "rater", {r.id for r in names.raters})
    criterion = _of_identifiers(table, free, source, "criterion", names.criteria)
    return StatedRoles(
        layout=source.layout or None,
        units=named("item"),
        raters=tuple(source.raters) or named("rater") or rater,
        labels=tuple(source.criteria) or named("label") or criteria,
        criterion=single("criterion") or next(iter(() if criteria else criterion), None),
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
    parts = named_parts(reading.names, [*roles]) if reading.names else {}
    raters, unclear = _raters(source, parts.get("rater", {}), roles, names)
    criteria, of_criteria = _criteria(source, parts.get("criterion", {}), roles, table, names)
    left_out: dict[str, Role] = dict.fromkeys(
        (name for name, identifier in criteria.items() if not identifier), "unused"
    )
    of_own_names: dict[str, Role] = {
        name: "own" for name, role in roles.items() if role == "unused" and name.casefold() in OWN
    }
    chosen_roles = {**roles, **of_own_names, **left_out}
    chosen = Chosen(source.file, chosen_roles, source.settings, criteria, raters)
    return replace(chosen, fixed=source.fixed), [*unclear, *of_criteria]


def _raters(
    source: Source, parts: Mapping[str, str], roles: Mapping[str, Role], names: StudyNames
) -> tuple[dict[str, str], list[str]]:
    """Column -> its rater, and which of them the study does not have.

    A name that is nearly that of one rater is proposed to be this one.
    """
    columns = [name for name, role in roles.items() if role in ("label_of_rater", "label_of_both")]
    texts = {name: parts.get(name, name) for name in columns}
    in_study = source.values.get("rater", {})
    raters: dict[str, str] = {}
    for name, text in texts.items():
        named = names.rater(in_study.get(text, text))
        raters[name] = source.raters.get(name) or named or UNKNOWN
    nameless = [name for name in columns if raters[name] == UNKNOWN]
    ids = {rater.id for rater in names.raters}
    for name in nameless:
        near = near_names(texts[name], ids)
        raters[name] = near[0] if len(near) == 1 else UNKNOWN
    return raters, _unknown("rater", nameless, raters, ids)


def _criteria(
    source: Source,
    parts: Mapping[str, str],
    roles: Mapping[str, Role],
    table: Table,
    names: StudyNames,
) -> tuple[dict[str, str], list[str]]:
    """Column -> its criterion, empty where the study has none for it, and which are not known.

    Without a name, a column has the study's only criterion where it is the only one. Among several,
    the one whose scale explains its labels is proposed.
    """
    columns = [name for name, role in roles.items() if role in RATED and role != "label"]
    headings = [n for n in columns if roles[n] in ("label_of_both", "label_of_criterion")]
    in_study = source.values.get("criterion", {})
    texts = {name: parts.get(name, name) for name in columns}
    criteria: dict[str, str] = {}
    for name, text in texts.items():
        stated = source.fixed.get("criterion") or source.criteria.get(name)
        named = names.criterion(in_study.get(text, text)) if name in headings else None
        criteria[name] = stated or named or ""
    nameless = [name for name in columns if not criteria[name]]
    of_texts = {texts[name] for name in headings}
    if nameless and len(names.criteria) == 1 and len(of_texts) <= 1:
        return dict.fromkeys(columns, next(iter(names.criteria))), []
    free = names.criteria - {*criteria.values()}
    groups = [[n for n in nameless if texts[n] == text] for text in dict.fromkeys(texts.values())]
    groups = groups if headings else [nameless]
    explained = [explained_by(table, group, source, names.instruments) & free for group in groups]
    for group, ids in zip(groups, explained, strict=True):
        is_only = len(ids) == 1 and sum(bool(ids & others) for others in explained) == 1
        proposed = next(iter(ids)) if is_only else UNKNOWN if free else ""
        criteria.update(dict.fromkeys(group, proposed))
    if nameless and not headings:
        valid = ", ".join(sorted(names.criteria))
        return criteria, [f"The criterion is not named; expected one of {valid}."]
    return criteria, _unknown("criterion", nameless, criteria, names.criteria)


def _unknown(
    kind: str, nameless: Sequence[str], identifiers: Mapping[str, str], valid: Collection[str]
) -> list[str]:
    """That some columns have no identifier of the study, and what the keys have in its place."""
    if not nameless:
        return []
    listed = ", ".join(map(repr, nameless[:_SHOWN]))
    unclear = [ended(f"There is no {kind} {listed}; {nearest(nameless[0], valid)}")]
    if left_out := [name for name in nameless if not identifiers[name]]:
        unclear.append(f"Not read as long as no {kind} is stated: {', '.join(left_out)}.")
    return unclear


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
