"""Write the JSON schema of study.toml that the package ships, from the types and their sentences.

python docs/schema.py          write src/konsil/study/study.schema.json
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from konsil.analysis.model.catalogue.known import known_statistics, statistic_of
from konsil.locale import complete_languages
from konsil.prepare.questions.asking import Asking
from konsil.records.inline import INLINE, Inline
from konsil.study.definition.protocol import Study

FILE = Path(__file__).resolve().parents[1] / "src/konsil/study/study.schema.json"

Json: TypeAlias = "dict[str, Any]"

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest draft that editors' TOML extensions read."""

_SIMPLE = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}


def sentences(kind: type) -> Mapping[str, str]:
    """Each field's sentence: the text below it in the source of its class."""
    inherited: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        [body] = [n for n in ast.parse(inspect.getsource(base)).body if isinstance(n, ast.ClassDef)]
        for field, text in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                words = re.sub(r"\s+", " ", str(text.value.value)).strip()
                inherited[field.target.id] = words.replace("None:", "left out:")
    return inherited


def schema_of_study() -> Json:
    """The schema of a whole study.toml.

    A key is described by its field's sentence, with its default. It is laxer than `konsil check`
    where only data decide: names that refer to other entries are texts here.
    """
    definitions: dict[str, Json] = {}
    schema = _table(Study, definitions)
    return {
        "$schema": DRAFT,
        "title": "study.toml",
        **schema,
        "definitions": dict(sorted(definitions.items())),
    }


def _table(kind: type, definitions: dict[str, Json]) -> Json:
    properties: dict[str, Json] = {}
    required = []
    for owner, field in _fields(kind):
        texts, hints = sentences(owner), typing.get_type_hints(owner)
        if field.name in properties:
            continue  # a key of several families, stated alike in each
        value = _value(hints[field.name], definitions)
        if (kind.__name__, field.name) == ("Analysis", "statistic"):
            # Another package may add statistics: their names are texts that no list here has.
            value = {"anyOf": [{"enum": list(known_statistics())}, {"type": "string"}]}
        elif field.name == "language" and issubclass(kind, Asking):
            # A catalogue adds a language, so the type cannot list them.
            value = {"enum": ["", *complete_languages()]}
        sentence = texts.get(field.name, "")
        if sentence and owner is not kind:
            sentence = f"{sentence} Of {_takers(field.name)}."
        if sentence:
            # A reference takes no words beside it in this draft.
            value = {"allOf": [value]} if "$ref" in value else value
            value = {**value, "description": sentence}
        default = _default(field)
        if default is dataclasses.MISSING:
            required.append(field.name)
        elif default is not None:
            value = {"allOf": [value]} if "$ref" in value else value
            value = {**value, "default": default}
        properties[field.name] = value
    table: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**table, "required": required} if required else table


def _fields(kind: type) -> Iterator[tuple[type, dataclasses.Field[Any]]]:
    """Each key of a table: the class that has it, and its field; inline parts by their fields."""
    for field in dataclasses.fields(kind):
        inline: Inline | None = field.metadata.get(INLINE)
        if inline is None:
            yield kind, field
        else:
            for part in inline.kinds():
                if part.__module__.startswith("konsil."):
                    yield from ((part, own) for own in dataclasses.fields(part))


def _takers(key: str) -> str:
    names = [name for name in known_statistics() if statistic_of(name).takes(key)]
    return f"the statistic {names[0]}" if len(names) == 1 else f"the statistics {', '.join(names)}"


def _default(field: dataclasses.Field[Any]) -> object:
    """The default as JSON has it; None where there is nothing to show, MISSING where required."""
    value = field.default
    if value is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    if value is dataclasses.MISSING:
        return value
    if isinstance(value, tuple) and all(isinstance(part, str | int | float) for part in value):
        return list(value)
    return value if isinstance(value, str | int | float | bool) else None


def _value(kind: Any, definitions: dict[str, Json]) -> Json:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        name = typing.cast(type, kind).__name__
        if name not in definitions:
            definitions[name] = {}  # a place, should the type hold itself
            definitions[name] = _table(typing.cast(type, kind), definitions)
        return {"$ref": f"#/definitions/{name}"}
    if origin is tuple:
        part = _value(arguments[0], definitions)
        listed = {"type": "array", "items": part}
        # As the decoder has it, a single text stands for a list of one.
        return {"anyOf": [part, listed]} if part == {"type": "string"} else listed
    if origin is Mapping:
        return {
            "type": "object",
            "additionalProperties": _value(arguments[1], definitions),
        }
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        [first] = [each for each in arguments if each is not type(None)][:1]
        return _value(first, definitions)
    # A name with a type of its own, such as a reference to a criterion, is a text.
    return dict(_SIMPLE.get(getattr(kind, "__supertype__", kind), {}))


def written() -> str:
    """The schema as the file has it."""
    return json.dumps(schema_of_study(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), "utf-8")
    print(FILE)
