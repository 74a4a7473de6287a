"""konsil import: records into the study's database."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, with_json
from konsil.cli.request_options import options_of
from konsil.cli.terminal import Note
from konsil.cli.unclear_tables import with_command
from konsil.errors import KonsilError, SourceError, StudyError, UnclearTableError
from konsil.records import Source

if TYPE_CHECKING:
    from konsil.store import Added

_SETTING = re.compile(r"\b(?:columns|fixed|raters|criteria)(?:\.\w+)? = ")
_AS_OPTIONS = (
    "with --file such settings are options: --column FIELD=COLUMN, --fixed FIELD=VALUE, --rater"
    " COLUMN=RATER, --criterion COLUMN=CRITERION"
)


def _pairs_of(flag: str) -> Callable[[Sequence[str]], dict[str, str]]:
    """What makes a mapping of the NAME=VALUE texts of an option."""
    return lambda texts: dict(_pairs(texts, flag))


def _nested_pairs_of(flag: str) -> Callable[[Sequence[str]], dict[str, dict[str, str]]]:
    """What makes mappings by name of the NAME:WORD=VALUE texts of an option."""

    def nested(texts: Sequence[str]) -> dict[str, dict[str, str]]:
        by_name: dict[str, dict[str, str]] = {}
        for left, value in _pairs(texts, flag):
            name, colon, word = left.partition(":")
            if not colon or not name:
                raise StudyError(f"{flag} {left!r}: expected a name, ':' and a word before '='")
            by_name.setdefault(name, {})[word] = value
        return by_name

    return nested


def _columns(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns of each field, in the order in which they are named."""
    columns: dict[str, tuple[str, ...]] = {}
    for name, column in _pairs(texts, "--column"):
        columns[name] = (*columns.get(name, ()), column)
    return columns


def _other_origins(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that import something else than a file of records."""
    export = click.option(
        "--export",
        type=click.Path(path_type=Path),
        help="A folder that 'konsil export' wrote.",
    )
    kits = click.option(
        "--kit",
        "kits",
        multiple=True,
        type=click.Path(path_type=Path),
        help="The answers file of an offline kit.",
    )
    again = click.option(
        "--replace",
        "replace_all",
        is_flag=True,
        help="Remove all earlier imports first, while nothing else is recorded.",
    )
    return export(kits(again(function)))


@click.command(short_help="Read items, answers and ratings into the study's database.")
@on_folder
@options_of(
    Source,
    "source",
    convert={
        "file": lambda file: str(file.resolve()),
        "columns": _columns,
        "fixed": _pairs_of("--fixed"),
        "raters": _pairs_of("--rater"),
        "criteria": _pairs_of("--criterion"),
        "labels": _pairs_of("--label"),
        "labels_of": _nested_pairs_of("--label-of"),
        "values": _nested_pairs_of("--value"),
        "missing": lambda words: ("", *words),
    },
    after={"file": _other_origins},
    needs="file",
)
@with_json
def command(
    folder: Path,
    database: str,
    export: Path | None,
    kits: tuple[Path, ...],
    replace_all: bool,
    source: Source | None,
) -> Printout:
    """Read the protocol's [[sources]], or one --file, into the database of the study in FOLDER.

    If any row is invalid, its line is reported and nothing is written. Importing the same file
    again changes nothing. With --replace, a wrong import is replaced as long as nothing but imports
    is recorded (no plan, no invitation, no rating page); the audit log states what was removed.
    """
    from konsil.api import open_folder

    opened = open_folder(folder, database=database)
    if replace_all and (export is not None or kits):
        raise StudyError("--replace: cannot be combined with --export or --kit")
    if export is not None:
        restored = opened.import_export(export)
        return Printout(_record(restored), [_import_line(restored)])
    if kits:
        from konsil.cli.kit import import_kit

        records: list[dict[str, object]] = []
        lines: list[str] = []
        refusal: KonsilError | None = None
        for kit in kits:
            try:
                record, of_kit = import_kit(opened, kit)
            except KonsilError as error:
                refusal = error  # the earlier kits are stored, and their lines are printed
                break
            records.append(record)
            lines += of_kit
        return Printout({"kits": records}, lines, refusal)
    sources = () if source is None else (source,)
    stating = nullcontext() if source is None else with_command(Source)
    try:
        with stating:
            added = opened.import_sources(sources, replace_all=replace_all)
    except SourceError as error:
        if (
            isinstance(error, UnclearTableError)
            or source is None
            or not _SETTING.search(str(error))
        ):
            raise
        raise SourceError(f"{error}; {_AS_OPTIONS}", error.problems) from None
    prepared = opened.preparations(sources)
    notes = [Note(f"note: {note}") for note in added.notes]
    return Printout(
        {**_record(added), "preparations": prepared}, [_import_line(added), *notes, *prepared]
    )


def _record(added: Added) -> dict[str, object]:
    removed = {"removed": added.removed} if added.removed else {}
    return {"new": added.new, "unchanged": added.unchanged, **removed}


def _pairs(values: Sequence[str], flag: str) -> list[tuple[str, str]]:
    pairs = []
    for value in values:
        key, equals, right = value.partition("=")
        if not equals or not key:
            raise StudyError(f"{flag} {value!r}: expected two parts with '=' between them")
        pairs.append((key, right))
    return pairs


def _import_line(added: Added) -> str:
    new, removed = _counts(added.new), _counts(added.removed)
    same = sum(added.unchanged.values())
    unchanged = (
        f"; {same:,} {'record was' if same == 1 else 'records were'} already stored" if same else ""
    )
    return f"{f'removed: {removed}; ' if removed else ''}new: {new or 'nothing'}{unchanged}"


def _counts(n_by_kind: Mapping[str, int]) -> str:
    return ", ".join(
        f"{n:,} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in n_by_kind.items() if n
    )
