"""Write the JSON schema of study.toml that the package ships: the keys are those of the types, their
descriptions those of docs/howto-study.md.

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

from konsil.analysis import (
    Analysis,
    Bin,
    CompositeScore,
    Derived,
    Exclusions,
    Inference,
    Resampling,
)
from konsil.analysis.model.catalogue.known import known_statistics, statistic_of
from konsil.analysis.model.options import OPTIONS
from konsil.instrument import Criterion, Instrument, Scale
from konsil.locale import complete_languages
from konsil.plan import Allocation
from konsil.plan.draw.injections import Injections
from konsil.plan.model.places import Places
from konsil.prepare import Preparation, Sample, Screening, Theming
from konsil.prepare.cases.marking import Masking
from konsil.prepare.questions.asking import Asking
from konsil.prepare.questions.rewriting import Rewriting
from konsil.records import Rater, Source, System
from konsil.records.inline import INLINE, Inline
from konsil.study.definition.adjudication import Adjudication
from konsil.study.definition.interim import Interim, InterimRule, Look
from konsil.study.definition.protocol import Study
from konsil.study.definition.publication import Creator, Publication
from konsil.study.sections.calibration import Calibration
from konsil.study.sections.calling import Endpoint, Example, Judge, Settings
from konsil.study.sections.enrolment import Enrolment, Question
from konsil.study.sections.practice import Explanation
from konsil.study.sections.privacy import Privacy
from konsil.study.sections.programs import Program
from konsil.study.sections.table_layout import FigureLayout, TableLayout

FILE = Path(__file__).resolve().parents[1] / "src/konsil/study/study.schema.json"
DOCUMENT = Path(__file__).resolve().parent / "howto-study.md"

Json: TypeAlias = "dict[str, Any]"

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest draft that editors' TOML extensions read."""

_SIMPLE = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}


KEYS = (
    Study,
    Instrument,
    Criterion,
    Scale,
    System,
    Rater,
    Places,
    Enrolment,
    Question,
    Privacy,
    Calibration,
    Adjudication,
    Interim,
    Look,
    InterimRule,
    Endpoint,
    Settings,
    Example,
    Judge,
    Program,
    Source,
    Preparation,
    Sample,
    Screening,
    Masking,
    Rewriting,
    Theming,
    Allocation,
    Injections,
    Explanation,
    Derived,
    Bin,
    CompositeScore,
    Analysis,
    TableLayout,
    FigureLayout,
    Resampling,
    Exclusions,
    Inference,
    Publication,
    Creator,
)
"""The tables of study.toml, in the order in which the document has their keys."""


def described() -> tuple[Mapping[tuple[str, str], str], Mapping[tuple[str, str], str]]:
    """What the document says of keys: by table and key, and by family of statistics and key."""
    text = DOCUMENT.read_text("utf-8")
    by_table: dict[tuple[str, str], str] = {}
    by_family: dict[tuple[str, str], str] = {}
    tables = iter(KEYS)
    for block in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        head, _rule, *rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        ]
        if head == ["key", "default", "says"]:
            kind = next(tables).__name__
            by_table |= {(kind, key.strip("`")): plain(says) for key, _default, says in rows}
        elif head[:2] == ["family", "key"]:
            by_family |= {(family, key.strip("`")): plain(says) for family, key, _, says in rows}
    return by_table, by_family


def plain(says: str) -> str:
    """A cell of the document as plain text; the words that a key can be are in the schema itself.

    >>> plain('The `"key"` of [a scale](x.md). One of `"a"`, `"b"`.')
    'The "key" of a scale.'
    """
    says = re.sub(r"\[(.*?)\]\([^)]*\)", r"\1", says).replace("`", "")
    return re.sub(r' One of (?:"[^"]*"(?:, )?)+\.$', "", says)


def sentences(kind: type) -> Mapping[str, str]:
    """The description of each field: the document's, else the text below it in its class.

    A table that the document has no keys of is described where it is used.
    """
    by_table, by_family = described()
    families = [family for family, options in OPTIONS.items() if options is kind]
    document = {key: says for (name, key), says in by_table.items() if name == kind.__name__}
    document |= {key: says for (family, key), says in by_family.items() if family in families}
    return {**_source_sentences(kind), **document}


def _source_sentences(kind: type) -> Mapping[str, str]:
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
