"""Files of a study's sources, read and made ready to be checked against its protocol."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from konsil.analysis.model.message import message
from konsil.instrument import Instrument
from konsil.records import Source
from konsil.sources.files.problems import raise_if
from konsil.sources.files.table import Table, read_table
from konsil.sources.inspect.inspect_logs import (
    InspectLog,
    InspectLogs,
    is_inspect_log,
    with_citations,
)
from konsil.sources.labelstudio.labelstudio_slots import Find
from konsil.sources.tables.answers import read_answers
from konsil.sources.tables.items import read_items
from konsil.sources.tables.lookalikes import lookalikes
from konsil.sources.tables.ratings import missing_hint, read_ratings
from konsil.study.data.incoming import Incoming


def incoming(
    folder: Path,
    sources: Sequence[Source],
    find: Find = lambda _: None,
    instruments: Sequence[Instrument] = (),
) -> tuple[Incoming, ...]:
    """Read every source; the first file with bad rows raises a SourceError that lists them.

    `find` knows the tasks of the plan, for annotations of them; `instruments` are the study's, for
    tables of a whole study.
    """
    tables: dict[tuple[str, str, str, str], Table] = {}
    logs = InspectLogs()
    files = []
    for source in sources:
        if source.records == "labelstudio":
            files.append(_labelstudio(folder / source.file, source, find))
            continue
        if source.records == "anki":
            files.append(_anki(folder / source.file, source))
            continue
        if source.records == "real-pocqi":
            files.append(_real_pocqi(folder / source.file, source, instruments))
            continue
        if is_inspect_log(folder / source.file):
            files.append(_inspect_log(logs.read(folder / source.file, source), source))
            continue
        key = (source.file, source.sheet, source.encoding, source.separator)
        if key not in tables:
            tables[key] = read_table(
                folder / source.file,
                sheet=source.sheet,
                encoding=source.encoding,
                separator=source.separator,
            )
        table = tables[key]
        batch = _tabular(table, source)
        files.append(dataclasses.replace(batch, notes=(*batch.notes, *lookalikes(table, source))))
    return tuple(files)


def _tabular(table: Table, source: Source) -> Incoming:
    rows = table.frame.height
    if source.records == "items":
        items = read_items(table, source)
        raise_if(items.problems, table.name, rows)
        return Incoming(table.name, items=items.records)
    if source.records == "answers":
        answers = read_answers(table, source)
        raise_if(answers.problems, table.name, rows)
        return Incoming(table.name, answers=answers.records)
    ratings = read_ratings(table, source)
    raise_if(ratings.problems, table.name, rows)
    return Incoming(
        table.name,
        tasks=ratings.tasks,
        ratings=ratings.records,
        lines=ratings.lines,
        place=table.place,
        hint=missing_hint(ratings.suspects),
        notes=() if ratings.records or not rows else (_nobody_rated(table, source),),
    )


def _nobody_rated(table: Table, source: Source) -> str:
    cells = table.frame.height * max(1, len(source.raters), len(source.criteria))
    return message(
        "{file}: {n:,} {n|cell is|cells are} empty, nothing to import",
        message_id="error.nobody_rated",
        file=table.name,
        n=cells,
    )


def _inspect_log(log: InspectLog, source: Source) -> Incoming:
    if source.records == "answers":
        answers = read_answers(log.table, source)
        raise_if(answers.problems, log.table.name, answers.rows)
        return Incoming(
            log.table.name, answers=with_citations(answers, log), preparation=log.counts
        )
    return dataclasses.replace(_tabular(log.table, source), preparation=log.counts)


def _anki(path: Path, source: Source) -> Incoming:
    from konsil.api.folder.decks import deck_items

    return deck_items(path, source)


def _real_pocqi(path: Path, source: Source, instruments: Sequence[Instrument]) -> Incoming:
    from konsil.api.folder.pocqi import pocqi_records

    return pocqi_records(path, source, instruments)


def _labelstudio(path: Path, source: Source, find: Find) -> Incoming:
    from konsil.sources.labelstudio.labelstudio import read_labelstudio

    parsed = read_labelstudio(path, source, find)
    raise_if(parsed.problems, path.name, parsed.rows)
    screens = len(parsed.tasks)
    counts = {
        "filter": "Label Studio",
        "of": "annotations",
        "as": "screens",
        "read": screens + parsed.cancelled,
        "kept": screens,
        "dropped": {"cancelled": parsed.cancelled},
    }
    return Incoming(
        path.name,
        tasks=parsed.tasks,
        ratings=parsed.records,
        lines=parsed.lines,
        place="task",
        preparation=counts if parsed.cancelled else {},
    )
