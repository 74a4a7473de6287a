"""Columns of a file whose protocol does not state them: read in the only way, or refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from konsil.analysis.model.message import message
from konsil.analysis.roles.names import named_parts
from konsil.analysis.roles.proof import left_out
from konsil.analysis.roles.proposal import LEAST, propose
from konsil.analysis.roles.reading import Proposal, Purpose, StatedRoles, TableReading, Task
from konsil.analysis.roles.recognition import by_layout, check_used
from konsil.analysis.roles.statement import first_row, sentence
from konsil.design.tables.columns import OWN, Role
from konsil.design.tables.guessing import roles_of
from konsil.design.tables.sources import Chosen, faults, missing_roles, sources_of
from konsil.errors import SourceError, UnclearTableError, nearest, options_as
from konsil.instrument import Instrument
from konsil.records import Rater, Source, System
from konsil.records.source import Tool
from konsil.sources.exports.export import Export
from konsil.sources.files.table import Table
from konsil.sources.tables.columns import Columns, require, resolve
from konsil.sources.tables.lookalikes import FIELDS_OF

_UNKNOWN = "..."
"""What stands for an identifier that the user has to state."""
_SHOWN = 6
"""Columns that a sentence names."""
_SHAPE = ("layout", "names", "unused", "repeat")
"""Keys of a source that only ratings have."""
_STATED = ("columns", "fixed", "raters", "criteria", "hashed")
"""Settings of a source that say what its columns are."""


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
        """The criterion that a text names, or the study's only one."""
        ids = self.criteria
        return _same(name, ids) or (next(iter(ids)) if len(ids) == 1 else None)

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
    table: Table, source: Source, names: StudyNames, export: Export | None = None
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The sources that read a table, with the columns that the given one leaves open, and a note.

    Columns that are stated, or have the names of fields, stay what they are; without them a table
    is read in the only way. Where there are several, UnclearTableError has all that is unclear and
    the keys of study.toml. `export`: the export of a tool that the table is.
    """
    notes: tuple[str, ...] = ()
    if export is not None:
        source = replace(source, tool=cast(Tool, export.tool))
        notes = (f"{table.name}: read as {export.statement}",)
    _check_keys(table, source)
    as_fields = {name.casefold() for name in source.unused} & {*FIELDS_OF[source.records]}
    source = replace(source, columns={**dict.fromkeys(as_fields, ()), **source.columns})
    resolved = resolve(table, source, FIELDS_OF[source.records], {"item": "text"})
    if not (source.has_shape or _is_open(source, resolved)) or not table.frame.height:
        return (source,), notes
    stated = _stated(table, source, resolved, names)
    if export is not None:
        stated = stated.with_known(roles_of_tool(export).without(stated.columns))
    proposal = _proposed(table, source, stated)
    reading = None if proposal.reading is None else _with_system(proposal.reading, table, names)
    roles = {} if reading is None else roles_of(reading)
    is_settled = source.has_shape or proposal.is_certain
    if reading is None or not roles or (not is_settled and reading.points < LEAST):
        return (source,), notes  # the reader says which column it lacks
    chosen, unclear = _chosen(source, reading, roles, names)
    sources = tuple(_sources(source, chosen))
    missing = missing_roles(chosen)
    for role in missing if source.has_shape else ():
        require(resolved, role, table, source)
    if not sources or faults(chosen) or missing:
        return (source,), notes
    if export is not None and export.question:
        unclear.append(export.question)
    if unclear or not proposal.is_certain:
        raise _refusal(table, sources, reading, (*proposal.unclear, *unclear))
    note = message(
        "{file}: read as: {reading}",
        message_id="import.read_as",
        file=table.name,
        reading=sentence(reading, table.frame),
    )
    return sources, (*notes, note)


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
    criteria = tuple(name for name in free if _same(name, names.criteria))
    has_raters = any(_same(name, {r.id for r in names.raters}) for name in free)
    if source.has_shape or has_raters:
        criteria = ()
    return StatedRoles(
        layout=source.layout or None,
        units=named("item"),
        raters=tuple(source.raters) or named("rater"),
        labels=tuple(source.criteria) or named("label") or criteria,
        criterion=single("criterion"),
        system=single("system") if source.has_shape else None,
        repeat=single("repeat"),
        unused=source.unused,
        names=source.names,
        missing=source.missing,
    )


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
    source: Source, reading: TableReading, roles: Mapping[str, Role], names: StudyNames
) -> tuple[Chosen, list[str]]:
    """The roles with the identifiers of criteria and raters, and which of them are not known."""
    unclear: list[str] = []
    parts = named_parts(reading.names, [*roles]) if reading.names else {}
    criteria: dict[str, str] = {}
    raters: dict[str, str] = {}
    in_study = {field: source.values.get(field, {}) for field in ("rater", "criterion")}
    for name, role in roles.items():
        if role in ("label_of_rater", "label_of_both"):
            text = parts.get("rater", {}).get(name, name)
            text = in_study["rater"].get(text, text)
            raters[name] = source.raters.get(name) or names.rater(text) or _UNKNOWN
        if role in ("label_of_rater", "label_of_both", "label_of_criterion", "label_of_item"):
            text = parts.get("criterion", {}).get(name, name)
            text = in_study["criterion"].get(text, text)
            stated = source.fixed.get("criterion") or source.criteria.get(name)
            criteria[name] = stated or names.criterion(text) or _UNKNOWN
    headings = {"label_of_both", "label_of_criterion"} & {*roles.values()}
    for kind, ids, valid in (
        ("rater", raters, {r.id for r in names.raters}),
        ("criterion", criteria, names.criteria),
    ):
        nameless = [name for name, identifier in ids.items() if identifier == _UNKNOWN]
        if nameless and (kind == "rater" or headings):
            listed = ", ".join(map(repr, nameless[:_SHOWN]))
            hint = nearest(nameless[0], valid)
            unclear.append(f"There is no {kind} {listed}; {hint}{'' if hint[-1] == '?' else '.'}")
        elif nameless:
            unclear.append(
                f"The criterion is not named; expected one of {', '.join(sorted(valid))}."
            )
    of_own_names: dict[str, Role] = {
        name: "own" for name, role in roles.items() if role == "unused" and name.casefold() in OWN
    }
    chosen = Chosen(source.file, {**roles, **of_own_names}, source.settings, criteria, raters)
    return replace(chosen, fixed=source.fixed), unclear


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


def _refusal(
    table: Table, sources: Sequence[Source], reading: TableReading, unclear: Sequence[str]
) -> UnclearTableError:
    """All that is unclear, with the keys of study.toml and the options that state the reading."""
    sign = left_out(table.frame, reading)
    sources = [replace(source, comment=sign[0]) if sign else source for source in sources]
    options: list[tuple[str, tuple[str, ...]]] = [("comment", sign[:1])] if sign else []
    for name in _STATED if len(sources) == 1 else ():
        value = getattr(sources[0], name)
        pairs = value.items() if isinstance(value, Mapping) else ()
        texts = [
            f"{label}={right}"
            for label, rights in pairs
            for right in (rights if isinstance(rights, tuple) else (rights,))
        ]
        options += [(name, tuple(texts))] if texts else []
    if sources[0].tool and options:
        options.append(("tool", (sources[0].tool,)))
    return UnclearTableError(
        table.name,
        statement=str(sentence(reading, table.frame)),
        first_row=str(first_row(reading, table.frame)),
        unclear=[*map(str, unclear)],
        # A file has one sign of rows that are left out.
        arguments=options if sign is not None else (),
        roles=reading.roles,
        columns=table.frame.columns,
        call="\n\n".join(map(_keys, sources)) if sign is not None else "",
    )


def _keys(source: Source) -> str:
    """The entry of study.toml that is this source."""
    lines = ["[[sources]]"]
    for entry in fields(source):
        value = getattr(source, entry.name)
        default = entry.default_factory() if callable(entry.default_factory) else entry.default
        if value != default:
            lines.append(f"{entry.name} = {_toml(value)}")
    return "\n".join(lines)


def _toml(value: Any) -> str:  # noqa: ANN401 - a setting has every type
    if isinstance(value, Mapping):
        pairs = (f"{_toml(str(key))} = {_toml(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, tuple):
        items = value[0] if len(value) == 1 else [*value]
        return json.dumps(items, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)
