"""A release as Croissant describes data sets: its files with checksums, its tables with columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from konsil.store.engine.folders import sha256
from konsil.store.release.metadata import data_url, page_of_licence
from konsil.study.definition.publication import Creator, Publication

FILE = "croissant.json"
"""The file with Croissant's metadata."""
_FORMATS = {
    ".csv": "text/csv",
    ".parquet": "application/x-parquet",
    ".json": "application/json",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".R": "text/x-r-source",
}
_KEYS = {"items": "id", "answers": "id", "systems": "id", "raters": "rater", "tasks": "task"}
"""Table -> the column that identifies its rows."""
_OWN = (
    "citeAs",
    "column",
    "conformsTo",
    "equivalentProperty",
    "extract",
    "field",
    "fileProperty",
    "fileObject",
    "fileSet",
    "format",
    "includes",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "separator",
    "source",
    "subField",
    "transform",
)
"""The words of Croissant 1.0 that are short for `cr:` and the word."""


def croissant(
    facts: Publication, folder: Path, tables: Mapping[str, pl.DataFrame], dictionary: pl.DataFrame
) -> str:
    """The metadata by Croissant 1.0, as JSON-LD; `folder` has all other files of the release."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    stated: dict[str, Any] = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "name": facts.title,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "description": facts.description,
        "license": page_of_licence(facts.licence) or facts.licence,
        "url": data_url(facts),
        "citeAs": _citation(facts),
        "creator": [_creator(creator) for creator in facts.creators],
        "publisher": (
            {"@type": "sc:Organization", "name": facts.publisher} if facts.publisher else {}
        ),
        "datePublished": "" if facts.year is None else str(facts.year),
        "keywords": list(facts.keywords),
        "distribution": [_file(path, folder) for path in paths],
        "recordSet": [
            _record_set(name, frame, _meanings(dictionary, name)) for name, frame in tables.items()
        ],
    }
    content = {key: value for key, value in stated.items() if value}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _context() -> dict[str, Any]:
    own: dict[str, Any] = {word: f"cr:{word}" for word in _OWN}
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        **own,
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/",
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "rai": "http://mlcommons.org/croissant/RAI/",
        "sc": "https://schema.org/",
    }


def _citation(facts: Publication) -> str:
    """The data's citation; empty where a part of it is missing."""
    if not (facts.creators and facts.year and facts.publisher and facts.doi):
        return ""
    names = "; ".join(creator.name.strip() for creator in facts.creators)
    return f"{names} ({facts.year}): {facts.title}. {facts.publisher}. {data_url(facts)}"


def _creator(creator: Creator) -> dict[str, Any]:
    content: dict[str, Any] = {
        "@type": "sc:Person" if creator.kind == "person" else "sc:Organization",
        "name": creator.name.strip(),
    }
    if creator.orcid:
        content["url"] = f"https://orcid.org/{creator.orcid}"
    if creator.affiliation and creator.kind == "person":
        content["affiliation"] = {
            "@type": "sc:Organization",
            "name": creator.affiliation.strip(),
        }
    return content


def _file(path: Path, folder: Path) -> dict[str, str]:
    name = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": _FORMATS.get(path.suffix, "application/octet-stream"),
        "sha256": sha256(path),
    }


def _meanings(dictionary: pl.DataFrame, table: str) -> Sequence[Mapping[str, str]]:
    return dictionary.filter(pl.col("table") == table).to_dicts()


def _record_set(
    name: str, frame: pl.DataFrame, columns: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    content: dict[str, Any] = {"@type": "cr:RecordSet", "@id": name, "name": name}
    if name in _KEYS:
        content["key"] = {"@id": f"{name}/{_KEYS[name]}"}
    content["field"] = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column['column']}",
            "name": column["column"],
            "description": column["meaning"],
            "dataType": _data_type(frame.schema[column["column"]]),
            # Texts of the CSV may have an apostrophe in front; the Parquet file has them as they
            # are.
            "source": {
                "fileObject": {"@id": f"{name}.parquet"},
                "extract": {"column": column["column"]},
            },
        }
        for column in columns
    ]
    return content


def _data_type(kind: pl.DataType) -> str:
    if kind.is_integer():
        return "sc:Integer"
    if kind.is_float():
        return "sc:Float"
    return "sc:Boolean" if kind == pl.Boolean else "sc:Text"
