"""What the schema of study.toml says of one table or key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from konsil.errors import StudyError, nearest


@dataclass(frozen=True, slots=True)
class Key:
    """A key of study.toml as its schema describes it."""

    path: str
    """Where it is written: the tables above it and its name, joined by dots."""
    form: str
    """What can be written: a text, a list of tables, one of some words."""
    description: str
    """What it sets."""
    default: object
    """What holds where it is left out; None: nothing."""
    is_required: bool
    """Whether its table cannot be without it."""
    choices: tuple[str, ...]
    """The words it can be; none: any."""
    keys: tuple[str, ...]
    """The keys within it, where it is a table or a list of tables."""

    @property
    def shown_default(self) -> str:
        """The default as study.toml has it; 'required' without one, empty where it is nothing."""
        if self.is_required:
            return "required"
        nothing = self.default in (None, "", [])
        return "" if nothing else json.dumps(self.default, ensure_ascii=False)


def keys_of(schema: Mapping[str, Any]) -> Iterator[Key]:
    """Every key, tables before what is in them, in the order of the file."""
    yield from _below(schema, schema, "")


def explained(schema: Mapping[str, Any], path: str) -> Key:
    """The key at `path`; brackets around it and numbers in it are as headers and errors have them.

    A name alone is enough where only one table has it. Raises StudyError where there is no such
    key, or where several tables have it.
    """
    dotted = ".".join(part.partition("[")[0] for part in path.strip("[]").split("."))
    key_by_path = {key.path: key for key in keys_of(schema)}
    if dotted in key_by_path:
        return key_by_path[dotted]
    ending = [key for key in key_by_path.values() if key.path.endswith("." + dotted)]
    if len(ending) == 1:
        return ending[0]
    if ending:
        places = ", ".join(key.path for key in ending)
        raise StudyError(f"the key {path!r} is in several tables; expected one of {places}")
    parent, _, name = dotted.rpartition(".")
    if parent in key_by_path:
        near = nearest(name, key_by_path[parent].keys)
        raise StudyError(f"there is no key {name!r} in {parent}; {near}")
    names = {key.path.rpartition(".")[2] for key in key_by_path.values()}
    listed = [key.path for key in key_by_path.values() if "." not in key.path]
    raise StudyError(f"there is no key {path!r} in study.toml; {nearest(name, names, listed)}")


def _below(schema: Mapping[str, Any], table: Mapping[str, Any], prefix: str) -> Iterator[Key]:
    required = table.get("required", ())
    for name, value in table.get("properties", {}).items():
        inner = _table_of(schema, value)
        yield Key(
            prefix + name,
            _form(schema, value),
            value.get("description", ""),
            value.get("default"),
            name in required,
            _choices(value),
            tuple(inner["properties"]) if inner else (),
        )
        if inner:
            yield from _below(schema, inner, f"{prefix}{name}.")


def _resolved(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    value = value["allOf"][0] if "allOf" in value else value
    if "$ref" in value:
        table: Mapping[str, Any] = schema["definitions"][value["$ref"].rpartition("/")[2]]
        return table
    return value


def _table_of(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The table that a key holds, or each entry of its list is; None of a simple value."""
    inner = _resolved(schema, value)
    inner = _resolved(schema, inner.get("items", inner))
    return inner if "properties" in inner else None


def _choices(value: Mapping[str, Any]) -> tuple[str, ...]:
    for part in (value, value.get("items", {}), *value.get("anyOf", ())):
        if "enum" in part:
            return tuple(map(str, part["enum"]))
    return ()


_FORMS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


def _form(schema: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    inner = _resolved(schema, value)
    if "anyOf" in inner:
        lists = [part for part in inner["anyOf"] if part.get("type") == "array"]
        return "a text, or a list of texts" if lists else "a text"
    if "enum" in inner:
        return "one of some words"
    if inner.get("type") == "array":
        entry = _resolved(schema, inner["items"])
        if "properties" in entry:
            return "a list of tables"
        return "a list: each " + _form(schema, entry)
    if inner.get("type") == "object":
        if "properties" in inner:
            return "a table"
        return "a table of names: each " + _form(schema, inner["additionalProperties"])
    return _FORMS.get(inner.get("type", ""), "a text, a number or a list")
