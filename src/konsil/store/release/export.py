"""The whole store as files, and back: CSV, JSONL or Parquet, one file a kind of record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from konsil.errors import StoreError, nearest
from konsil.instrument import Instrument
from konsil.prepare import in_study, last_drawn
from konsil.prepare.questions.rewriting import decisions
from konsil.progress import tracked
from konsil.records import Call
from konsil.store.calls.calls import any_call, each_call
from konsil.store.engine import frames
from konsil.store.engine.folders import sha256, whole_folder
from konsil.store.engine.rows import CALLS, KINDS, Kind, KindName
from konsil.store.engine.schema import SCHEMA
from konsil.store.log import audit
from konsil.store.log.db import Store, View
from konsil.store.log.write import Batch
from konsil.store.release.page_telemetry import TRACES
from konsil.store.release.page_telemetry import write as write_trace
from konsil.store.release.r_script import NAME, r_script
from konsil.version import __version__

if TYPE_CHECKING:
    import polars as pl

Format = Literal["csv", "jsonl", "parquet"]
ReadParquet = Callable[[Path], "pl.DataFrame"]
"""What reads a Parquet file of an export."""
Veiling = Callable[[View], Mapping[KindName, Iterator[Any]]]
"""What of a store is shown, and how: kind -> records."""
MARK = "export.json"
"""The file that says what the others are."""


def export(
    store: Store,
    folder: str | Path,
    format: Format,  # noqa: A002 - the caller's word
    *,
    overwrite: bool = False,
    veil: Veiling | None = None,
    study: str = "",
    instruments: Sequence[Instrument] = (),
) -> Path:
    """Write one file a kind of record and export.json; the folder appears complete or not at all.

    All files show the same moment. The same records give the same bytes. Behind a veil only some
    kinds are written, as it shows them. `instruments` are for a script that reads the files into R,
    with the labels as factors. `study` is the digest of the protocol; empty: the one that
    the store noted last.
    """
    if format not in get_args(Format):
        raise StoreError(
            f"format: {format!r} is not supported; {nearest(str(format), get_args(Format))}"
        )
    folder = Path(folder)
    with (
        whole_folder(folder, mark=MARK, overwrite=overwrite, private=True) as draft_folder,
        store.view() as view,
    ):
        files = {}
        veiled = veil(view) if veil is not None else None
        for name, kind in tracked(list(KINDS.items()), "files"):
            if veiled is not None and name not in veiled:
                continue
            path = draft_folder / f"{name}.{format}"
            rows = _write(path, kind, view.each(name) if veiled is None else veiled[name], format)
            files[path.name] = {"records": rows, "sha256": sha256(path)}
        # A study in which no model is called has no file of calls.
        # Nor has a blinded export, because calls name the models.
        if veiled is None and any_call(view.connection):
            path = draft_folder / f"calls.{format}"
            rows = _write(path, CALLS, each_call(view.connection), format)
            files[path.name] = {"records": rows, "sha256": sha256(path)}
        drawn = (
            in_study(view.each("items"), view.each("events"))
            if veiled is None and _is_drawn(view)
            else ()
        )
        if drawn:
            # For readers' eyes: reading back, the items and the events that drew and reworded them
            # are enough.
            path = draft_folder / f"sample.{format}"
            rows = _write(path, KINDS["items"], iter(drawn), format)
            files[path.name] = {"records": rows, "sha256": sha256(path)}
        columns = {}
        for trace in TRACES if veiled is None else ():
            path = draft_folder / f"{trace.name}.{format}"
            if rows := write_trace(view.connection, trace, path, format):
                files[path.name] = {"records": rows, "sha256": sha256(path)}
                columns[path.name] = trace.meanings
        about = {
            "konsil": __version__,
            "schema": SCHEMA,
            "format": format,
            "study": study or view.study_digest(),
            "files": files,
            **(
                {"log": dict(zip(("entries", "hash"), audit.head(view.connection), strict=True))}
                if veiled is None
                else {}
            ),
            **({"columns": columns} if columns else {}),
        }
        if instruments:
            tables = [name.partition(".")[0] for name in files]
            script = r_script(instruments, tables, format)
            (draft_folder / NAME).write_text(script, encoding="utf-8", newline="\n")
        (draft_folder / MARK).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return folder


def _is_drawn(view: View) -> bool:
    """Whether the study shows other items than were imported, or other words."""
    events = tuple(view.each("events"))
    return last_drawn(events)[1] is not None or bool(decisions(events))


# `format` is the caller's word.
def _write(path: Path, kind: Kind, stream: Iterator[Any], format: Format) -> int:  # noqa: A002
    if format == "jsonl":
        return frames.write_jsonl(path, kind, stream)
    parts = frames.frames(kind, stream)
    return frames.write_csv(path, parts) if format == "csv" else frames.write_parquet(path, parts)


def read_export(folder: str | Path, parquet: ReadParquet | None = None) -> Batch:
    """Read what `export` wrote: the records come back equal.

    `parquet` reads files that others may have made.
    """
    folder = Path(folder)
    ending = description(folder).format
    return Batch(
        **{
            name: tuple(_read(folder / f"{name}.{ending}", kind, parquet))
            for name, kind in KINDS.items()
        }
    )


@dataclass(frozen=True)
class Description:
    """What export.json says of an export."""

    format: Format
    """How its files end."""
    study: str
    """The digest of the protocol that was noted; empty where none was."""
    files: Mapping[str, tuple[int, str]]
    """File -> its number of records and the digest of its bytes."""


def description(folder: Path) -> Description:
    """Read export.json; a StoreError says what is wrong with it."""
    try:
        about = json.loads((folder / MARK).read_text(encoding="utf-8"))
        format, schema = about["format"], about["schema"]  # noqa: A001 - the file's word
        files = {
            str(n): (int(f["records"]), str(f["sha256"])) for n, f in about.get("files", {}).items()
        }
    except FileNotFoundError:
        raise StoreError(f"{folder}: is not an export of konsil; there is no {MARK}") from None
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        OverflowError,
        RecursionError,
    ):
        raise StoreError(
            f"{folder / MARK}: cannot be read as the description of an export"
        ) from None
    if type(schema) is not int or schema < 1:
        raise StoreError(
            f"{folder / MARK}: schema: expected a whole number from 1 to {SCHEMA}, got {schema!r}"
        )
    if schema > SCHEMA:
        raise StoreError(
            f"{folder}: was written by a newer konsil (schema {schema}; this one supports up to"
            f" {SCHEMA})"
        )
    if format not in get_args(Format):
        raise StoreError(f"{folder / MARK}: the format {format!r} is not supported")
    return Description(format, str(about.get("study") or ""), files)


def check_files(folder: Path, about: Description) -> None:
    """Refuse an export whose files are not those that were written.

    All are compared by their digests.
    """
    for name in (f"{kind}.{about.format}" for kind in KINDS):
        if name not in about.files:
            raise StoreError(f"{folder / MARK}: does not list {name}; export the records again")
    for name, (records, digest) in sorted(about.files.items()):
        path = folder / name
        if Path(name).name != name or not path.is_file():
            raise StoreError(f"{path}: is missing from the export")
        if sha256(path) != digest:
            raise StoreError(
                f"{path}: is not the exported file of {records:,} records; it was changed or"
                " truncated: export the records again"
            )
    stray = next(
        (f"calls.{e}" for e in get_args(Format) if (folder / f"calls.{e}").is_file()), None
    )
    if stray is not None and stray not in about.files:
        raise StoreError(
            f"{folder / stray}: was not exported with the others; export the records again"
        )


def check_counts(folder: Path, about: Description, counts: Mapping[str, int]) -> None:
    """Refuse an export with another number of records than export.json states.

    `counts`: kind -> the number of records that were read.
    """
    for kind, n in counts.items():
        n_expected = about.files.get(f"{kind}.{about.format}", (0, ""))[0]
        if n != n_expected:
            raise StoreError(
                f"{folder / MARK}: lists {n_expected:,} records of {kind}.{about.format}, which has"
                f" {n:,}"
            )


def read_calls(folder: str | Path, parquet: ReadParquet | None = None) -> tuple[Call, ...]:
    """Read the calls of an export; none where no model was called."""
    files = [Path(folder) / f"calls.{ending}" for ending in get_args(Format)]
    return tuple(call for path in files if path.is_file() for call in _read(path, CALLS, parquet))


def _read(path: Path, kind: Kind, parquet: ReadParquet | None) -> Iterator[Any]:
    import polars as pl

    if not path.is_file():
        raise StoreError(f"{path}: is missing from the export")
    try:
        if path.suffix == ".jsonl":
            yield from frames.read_jsonl(path, kind)
        else:
            frame = (
                frames.read_csv(path)
                if path.suffix == ".csv"
                else (parquet or pl.read_parquet)(path)
            )
            yield from frames.records(kind, frame, path.name)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError) as error:
        raise StoreError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
