"""From the roles of a table's columns to the entries of [[sources]] that read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

from konsil.design.edits import Data
from konsil.design.tables.columns import OWN_OF, Role
from konsil.records.source import FileSettings

_ITEMS: Mapping[Role, str] = {"item": "item", "text": "text", "reference": "reference"}
_ANSWERS: Mapping[Role, str] = {"item": "item", "system": "system", "answer": "text"}
_RATINGS: Mapping[Role, str] = {
    "item": "item",
    "system": "system",
    "system_a": "system_a",
    "system_b": "system_b",
    "rater": "rater",
    "criterion": "criterion",
    "label": "label",
    "seconds": "seconds",
    "note": "note",
    "repeat": "repeat",
}
RATED: tuple[Role, ...] = (
    *("label", "label_of_criterion", "label_of_rater", "label_of_both", "label_of_item"),
)
"""Roles of columns of ratings."""
_NAMES: Mapping[str, frozenset[str]] = {
    "items": frozenset({"item", "text", "reference"}),
    "answers": frozenset({"item", "system", "answer", "text"}),
    "ratings": frozenset({*_RATINGS.values(), "answer"}),
}
"""Records -> the fields that roles stand for."""


@dataclass(frozen=True)
class Chosen:
    """A table of the user's with the roles of its columns."""

    file: str
    """The file's name in the study's folder."""
    roles: Mapping[str, Role]
    """Column -> its role."""
    settings: FileSettings = field(default_factory=FileSettings)
    """How the file is cut into cells."""
    criteria: Mapping[str, str] = field(default_factory=dict)
    """Ratings: column -> the identifier of its criterion."""
    raters: Mapping[str, str] = field(default_factory=dict)
    """Ratings: column -> the identifier of its rater."""
    systems: Mapping[str, str] = field(default_factory=dict)
    """Answers: column -> the identifier of its system."""
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Field of the records -> value in the file -> identifier, where they differ."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """The rater or the system of all rows, where no column names one."""
    tool: str = ""
    """The tool whose export the file is."""

    def columns(self, *roles: Role) -> list[str]:
        """The columns of these roles, in the table's order."""
        return [name for name, role in self.roles.items() if role in roles]


def missing_roles(table: Chosen) -> tuple[Role, ...]:
    """Roles that the table needs beside those it has; none: it can be read."""
    has = {*table.roles.values(), *table.fixed}
    if "count" in has:
        return ("rater",)
    if has & {*RATED}:
        needs: list[Role] = [] if "label_of_item" in has else ["item"]
        needs += [] if has & {"label_of_rater", "label_of_both"} else ["rater"]
        needs += ["criterion"] if "label" in has else []
        return tuple(role for role in needs if role not in has)
    if "answer" in has:
        required: tuple[Role, ...] = ("item", "system")
        return tuple(role for role in required if role not in has and not _hashes(table, role))
    if has & {"text", "item", "answer_of"}:
        return () if has & {"text", "item"} else ("item",)
    return ("text",)


def fixable_roles(roles: Mapping[str, Role]) -> tuple[Role, ...]:
    """What can be the same in all rows: the rater or the system, where no column names one."""
    has = set(roles.values())
    is_rated = bool(has & {*RATED})
    fixable: list[Role] = []
    if is_rated and not has & {"rater", "label_of_rater", "label_of_both"}:
        fixable.append("rater")
    if (is_rated or "answer" in has) and not has & {"system", "system_a", "system_b"}:
        fixable.append("system")
    return tuple(fixable)


def sources_of(table: Chosen) -> list[Data]:
    """The entries of [[sources]], items before answers before ratings."""
    if table.columns(*RATED) or "label" in table.fixed:
        # Without a column of questions or groups, items follow from the ratings.
        has_items = table.columns("text", "reference", "stratum") and table.columns("item")
        return [*([_items(table)] if has_items else []), *_ratings(table)]
    sources = []
    answers = table.columns("answer", "answer_of")
    if table.columns("text", "reference", "stratum") or not answers:
        sources.append(_items(table))
    if table.columns("answer"):
        mapped = _mapped(table, _ANSWERS)
        sources.append(_entry(table, "answers", mapped, fixed=table.fixed, hashed=_hash(table)))
    for column in table.columns("answer_of"):
        mapped = {**_mapped(table, {"item": "item"}), "text": column}
        fixed = {"system": table.systems.get(column, column)}
        sources.append(_entry(table, "answers", mapped, fixed=fixed, hashed=_hash(table)))
    return sources


def _hashes(table: Chosen, role: Role) -> bool:
    """Whether a question's text is its identifier."""
    return role == "item" and bool(table.columns("text"))


def _hash(table: Chosen) -> list[str]:
    return [] if table.columns("item") else ["item"]


def _mapped(table: Chosen, fields: Mapping[Role, str]) -> dict[str, str]:
    mapped = {fields[role]: name for name, role in table.roles.items() if role in fields}
    if "item" not in mapped and table.columns("text"):
        mapped = {"item": table.columns("text")[0], **mapped}
    return {field: mapped[field] for field in fields.values() if field in mapped}


def _items(table: Chosen) -> Data:
    strata = table.columns("stratum")
    entry = _entry(table, "items", _mapped(table, _ITEMS), hashed=_hash(table))
    return {**entry, **({"strata": strata} if strata else {})}


def _ratings(table: Chosen) -> list[Data]:
    """The entries of a table of ratings: one, or one for each criterion or item in the headings."""
    if columns := table.columns("label_of_item"):
        return [
            _rated(table, {}, {"label": name}, {"item": name, "criterion": table.criteria[name]})
            for name in columns
        ]
    if columns := table.columns("label_of_rater", "label_of_both"):
        if table.columns("criterion"):
            return [_rated(table, {"raters": {name: table.raters[name] for name in columns}})]
        entries = []
        for criterion in dict.fromkeys(table.criteria[name] for name in columns):
            of_it = [name for name in columns if table.criteria[name] == criterion]
            wide = {"raters": {name: table.raters[name] for name in of_it}}
            entries.append(_rated(table, wide, {}, {"criterion": criterion}))
        return entries
    if columns := table.columns("label_of_criterion"):
        return [_rated(table, {"criteria": {name: table.criteria[name] for name in columns}})]
    return [_rated(table, {})]


def _rated(
    table: Chosen,
    wide: Data,
    named: Mapping[str, str] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> Data:
    """One entry of ratings; `wide` are the keys of columns that are a rater or a criterion each."""
    fixed = {**table.fixed, **(fixed or {})}
    without = {"label": "rater" if "raters" in wide else "criterion"} if wide else {}
    skipped = {*without, *without.values(), *fixed}
    fields = {role: field for role, field in _RATINGS.items() if field not in skipped}
    columns = {**_mapped(table, fields), **(named or {})}
    return {**_entry(table, "ratings", columns, fixed=fixed, skip=skipped), **wide}


def _entry(
    table: Chosen,
    records: str,
    columns: Mapping[str, str],
    *,
    fixed: Mapping[str, str] | None = None,
    hashed: Iterable[str] = (),
    skip: Iterable[str] = (),
) -> Data:
    """One entry; a column that has a field's name and another role is not read as that field."""
    mapped: Data = {field: name for field, name in columns.items() if field != name}
    reserved = {*_NAMES[records], *OWN_OF[records]} - {*skip, *(fixed or {}), *columns}
    own_columns = set(table.columns("own"))
    for name in table.roles:
        if name.casefold() in reserved and name not in own_columns:
            mapped[name.casefold()] = []
    entry: Data = {"file": table.file, "records": records}
    for setting in fields(FileSettings):
        value = getattr(table.settings, setting.name)
        if value != setting.default:
            entry[setting.name] = value
    if table.tool:
        entry["tool"] = table.tool
    if mapped:
        entry["columns"] = mapped
    if fixed:
        entry["fixed"] = dict(fixed)
    if hashed := list(hashed):
        entry["hashed"] = hashed
    values = {name: dict(table.values[name]) for name in columns if table.values.get(name)}
    if values:
        entry["values"] = values
    return entry
