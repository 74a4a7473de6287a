"""Which tool wrote a file, by its content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from konsil.errors import SourceError
from konsil.records.source import FileSettings
from konsil.sources.exports import argilla, doccano, label_studio, mturk, potato, prodigy, surveys
from konsil.sources.exports.export import Export
from konsil.sources.exports.several import stacked_files
from konsil.sources.files.cells import as_text, records_of
from konsil.sources.files.jsontable import elements, is_object
from konsil.sources.files.table import Table, read_bytes, read_table, text_of

RECOGNISERS: tuple[Callable[[Table], Export | None], ...] = (
    label_studio.read_tasks,
    label_studio.read_annotations,
    doccano.read_users,
    doccano.read_annotator,
    potato.read_instances,
    potato.read_state,
    prodigy.read_answers,
    argilla.read_records,
    argilla.read_rows,
    mturk.read_assignments,
    surveys.read_limesurvey,
    surveys.read_qualtrics,
    surveys.read_redcap,
)
"""Each reads the export of one tool, and nothing else."""


def recognise(table: Table) -> Export | None:
    """The export that a table is; None for any other table."""
    exports = (read(table) for read in RECOGNISERS)
    return next((export for export in exports if export is not None), None)


def is_inspect_log(path: Path) -> bool:
    """Whether a file is a log of Inspect.

    It has the ending of a log, or is a JSON object that begins as a log does.
    """
    if path.suffix.lower() == ".eval":
        return True
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        start = file.read(4_096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and b'"status"' in start and b'"eval"' in start


def read_export(paths: Sequence[Path], settings: FileSettings) -> tuple[Table, Export | None]:
    """The table of files, with the settings detected, and the export of a tool that it is."""
    if len(paths) == 1 and is_inspect_log(paths[0]):
        # What reads logs is not loaded for tables.
        from konsil.sources.exports.inspect_scores import read_log

        log = read_log(paths[0])
        return log.table, log
    tables = [
        (None if settings.path else _object(path)) or read_table(path, settings, as_is=True)
        for path in paths
    ]
    table = stacked_files(tables, settings) if len(tables) > 1 else tables[0]
    export = recognise(table)
    return (table, None) if export is None else (export.table, export)


def exports_beside(export: Export, settings: FileSettings) -> list[Path]:
    """The file of an export with those of other raters by the same tool, by their names.

    They have its ending in its folder, or its name in a folder beside it.
    """
    path = export.table.path
    same_folder = [p for p in path.parent.iterdir() if p.suffix == path.suffix]
    others = [*same_folder, *path.parent.parent.glob(f"*/{path.name}")]
    files = sorted({p for p in others if p != path and not p.name.startswith(".")})
    return sorted([path, *(p for p in files[:_MOST_BESIDE] if _is_of(p, export.tool, settings))])


_MOST_BESIDE = 50
"""Files that are opened in search of those of other raters."""


def _is_of(path: Path, tool: str, settings: FileSettings) -> bool:
    """Whether a file is the export of one rater by a tool."""
    try:
        _, other = read_export([path], settings)
    except (SourceError, OSError):
        return False
    return other is not None and other.is_of_one and other.tool == tool


def export_of(path: Path, settings: FileSettings, tool: str) -> Export:
    """A file as the export of a stated tool."""
    _, export = read_export([path], settings)
    if export is None or export.tool != tool:
        content = "no export of it" if export is None else f"an export of {export.tool}"
        raise SourceError(f'{path.name}: tool = "{tool}": the file is {content}')
    return export


def _object(path: Path) -> Table | None:
    """A JSON file that is an object, as a table of one row; None for other files."""
    if path.suffix.lower() != ".json":
        return None
    data = read_bytes(path)
    if not is_object(data):
        return None
    text = text_of(data, "utf-8", path.name).decode()
    cells = next((state for _, state in elements(f"[{text}]", path.name)), None)
    if not isinstance(cells, dict) or records_of(cells, path.name):
        return None
    frame = pl.DataFrame(
        {name: [as_text(cell)] for name, cell in cells.items()},
        schema=dict.fromkeys(cells, pl.String),
    )
    return Table(frame, path)
