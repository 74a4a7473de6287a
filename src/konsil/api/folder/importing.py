"""Files of a study's sources: read, checked against its protocol, and stored."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl

from konsil.analysis.recoding.stated_rule import combination
from konsil.analysis.table.columns import Columns
from konsil.api.file_digests import digest_of_all, digests_of
from konsil.api.folder.erasing import excluded_ratings_sentence
from konsil.api.folder.labelstudio import Finder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, OpenedStudy, now
from konsil.api.folder.sources.reply_ratings import with_replies
from konsil.api.folder.sources.source_labels import refuse_unclear_labels
from konsil.api.folder.sources.source_names import StudyNames
from konsil.api.folder.sources.source_roles import leaves_raters_open, with_columns
from konsil.errors import SourceError, StudyError, nearest
from konsil.errors.message import message, placed
from konsil.errors.unknown_names import unknown_name
from konsil.instrument import Instrument
from konsil.progress import tracked
from konsil.records import Event, Rater, Rating, Source, Task, ratings_of, tasks_of
from konsil.records.source import FileSettings
from konsil.sources.exports.export import Export
from konsil.sources.exports.recognition import (
    export_of,
    is_inspect_log,
    read_export,
    recognise,
)
from konsil.sources.files.patterns import expanded
from konsil.sources.files.problems import raise_if
from konsil.sources.files.table import Table, read_table
from konsil.sources.inspect.inspect_logs import InspectLogs, with_citations
from konsil.sources.labelstudio.labelstudio_slots import Find
from konsil.sources.tables.answers import read_answers
from konsil.sources.tables.items import read_items
from konsil.sources.tables.lookalikes import FIELDS_OF, lookalikes
from konsil.sources.tables.ratings import ParsedRatings, read_ratings
from konsil.store import Added, Batch, Store
from konsil.store.calls.run_lock import without_workers
from konsil.store.log.erasures import erased
from konsil.study.data.admit import admit
from konsil.study.data.cutting import rates_sentences, with_sentences
from konsil.study.data.incoming import Incoming, StoredRecords
from konsil.study.data.numbered import with_spans
from konsil.study.data.planned import on_plan


def import_files(
    folder: OpenedStudy, sources: Sequence[Source], *, replace_all: bool = False
) -> Added:
    """Read files into the study's database, all or nothing; the same files change nothing.

    With `replace_all` everything that was imported before is removed, where nothing else is
    recorded.
    """
    if not sources:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there are no [[sources]]; name a file to import, or add"
            " them"
        )

    study = folder.study
    names = StudyNames(study.instruments, study.everybody(), study.systems)
    read = incoming(folder.path, sources, Finder(folder), names)
    # Items and protocol stay as they are while workers call models about them.
    with (
        folder.store(create=True) as store,
        without_workers(store, "konsil import"),
        _before_import(store, replace_all=replace_all) as before,
    ):
        batch, n_left_out = _batch(folder, read, before)
        note_study(store, folder.study, now())
        file_names = tuple(dict.fromkeys(s.file for s in expanded(folder.path, sources)))
        files = digests_of(folder.path, file_names)
        add = store.replace_imports if replace_all else store.add
        added = add(
            batch, source=", ".join(file_names), digest=digest_of_all(files), at=now(), files=files
        )
    of_erased = (excluded_ratings_sentence(n_left_out),) if n_left_out else ()
    return replace(added, notes=(*(note for file in read for note in file.notes), *of_erased))


@contextmanager
def _before_import(store: Store, *, replace_all: bool) -> Iterator[Store]:
    """The records to which an import adds: those that are stored, or none where it replaces."""
    if not replace_all:
        yield store
        return
    with tempfile.TemporaryDirectory(prefix="konsil-import-") as place, Store.open(place) as empty:
        yield empty


def _new_raters(raters: Iterable[Rater], store: Store) -> list[Rater]:
    """Those who are not stored yet.

    A rater's panel and strata are the protocol's to say, also where it was corrected since.
    """
    stored = {rater.id for rater in store.raters()}
    return [rater for rater in raters if rater.id not in stored]


def _batch(folder: OpenedStudy, read: Sequence[Incoming], store: Store) -> tuple[Batch, int]:
    """What is to be written, and how many ratings are left out as their raters were erased."""
    stored_answers = {a.id: a for a in store.answers()} if rates_sentences(folder.study) else {}
    read = with_spans(folder.study, read, stored_answers)
    if any(file.ratings for file in read):
        read = on_plan(read, store.tasks(), folder.study.instruments)
    admitted = admit(folder.study, read, stored_records(store))
    erased_raters, ratings = erased(store.events()), admitted.ratings
    if erased_raters and isinstance(ratings, Columns):
        is_erased = pl.col("rater").cast(pl.String).is_in([*erased_raters])
        ratings = ratings.with_frame(ratings.frame.filter(~is_erased))
    batch = Batch(
        items=admitted.items,
        answers=with_sentences(folder.study, admitted.answers, stored_answers),
        raters=_new_raters(admitted.raters, store),
        tasks=admitted.tasks,
        ratings=ratings,
        events=_preparation(read, store),
    )
    return batch, len(admitted.ratings) - len(ratings)


def stored_records(store: Store) -> StoredRecords:
    """What the store holds already, for what may come in."""
    items, answers = store.items(), store.answers()
    bare = not any(i.text or i.reference for i in items) and not any(a.text for a in answers)
    return StoredRecords(frozenset(i.id for i in items), {a.id: a.system for a in answers}, bare)


def _preparation(files: Sequence[Incoming], store: Store) -> tuple[Event, ...]:
    if not any(file.preparation for file in files):
        return ()
    from konsil.api.folder.decks import preparation
    from konsil.api.folder.pocqi import length_events

    events = store.events()
    return (*preparation(files, now(), events), *length_events(files, now(), events))


def incoming(
    folder: Path,
    sources: Sequence[Source],
    find: Find = lambda _: None,
    names: StudyNames = StudyNames(),  # noqa: B008 - frozen
) -> tuple[Incoming, ...]:
    """Read every source; the first file with bad rows raises a SourceError that lists them.

    `find` knows the tasks of the plan, for annotations of them; `names` are the study's, for tables
    of a whole study and columns that are not stated.
    """
    tables: dict[tuple[str, FileSettings, str], tuple[Table, Export | None]] = {}
    logs = InspectLogs()
    files = []
    instruments = names.instruments
    of_entries = [(entry, file) for entry in sources for file in expanded(folder, [entry])]
    for entry, file in tracked(of_entries, "files"):
        source = _without_numbers(file, instruments)
        _refuse_idle_tool(folder / source.file, source)
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
            files.append(_inspect_log(logs, folder / source.file, source, instruments))
            continue
        key = (source.file, source.settings, source.tool)
        if key not in tables:
            tables[key] = _table_of(folder / source.file, source)
        table, export = tables[key]
        _check_criteria(source, instruments)
        replied = with_replies(table, source, instruments)
        table = replied.table
        completed, notes = with_columns(table, source, names, export, entry)
        for part in completed:
            batch = _tabular(part.table, part.source, instruments)
            notes = (*notes, *batch.notes, *replied.notes, *lookalikes(table, part.source))
            files.append(replace(batch, preparation=replied.counts, notes=notes))
            notes = ()
    return tuple(files)


def _refuse_idle_tool(path: Path, source: Source) -> None:
    if source.tool and (source.records not in FIELDS_OF or is_inspect_log(path)):
        raise SourceError(
            f'{path.name}: tool = "{source.tool}": has no effect on logs of Inspect and on records'
            f" {source.records!r}; expected one of {', '.join(FIELDS_OF)}"
        )


def _table_of(path: Path, source: Source) -> tuple[Table, Export | None]:
    """A source's table; ratings of a tool that is stated, or recognised where columns are not.

    Columns that are stated are those of the file itself, whatever exports are recognised later.
    """
    if source.tool:
        export = export_of(path, source.settings, source.tool)
        return export.table, export
    table = read_table(path, source.settings)
    if not leaves_raters_open(table, source) or recognise(table) is None:
        return table, None
    return read_export([path], source.settings)


def _without_numbers(source: Source, instruments: Sequence[Instrument]) -> Source:
    """The source without numbers of sentences, where no instrument rates sentences.

    A column that happens to be called `sentence` is then not read, as before.
    """
    if source.records != "ratings" or any(i.unit == "sentence" for i in instruments):
        return source
    if source.columns.get("sentence") or "sentence" in source.fixed:
        key = "columns" if "sentence" in source.columns else "fixed"
        fact = message(
            "'sentence' is the number of a rated sentence, but no instrument rates sentences;"
            ' expected one with unit = "sentence"',
            message_id="columns.no_sentences",
        )
        raise SourceError(placed(source.file, placed(key, fact)))
    return replace(source, columns={**source.columns, "sentence": ()})


def _check_criteria(source: Source, instruments: Sequence[Instrument]) -> None:
    names = {c.id for i in instruments for c in i.criteria}
    for name in source.labels_of if names else ():
        if name not in names:
            raise SourceError(
                placed(
                    f"{source.file}: labels_of",
                    unknown_name("criterion", name, nearest(name, names)),
                )
            )


def _tabular(table: Table, source: Source, instruments: Sequence[Instrument] = ()) -> Incoming:
    rows = table.frame.height
    if source.records == "items":
        items = read_items(table, source)
        raise_if(items.problems, table.name, rows)
        return Incoming(table.name, items=items.records)
    if source.records == "answers":
        answers = read_answers(table, source)
        raise_if(answers.problems, table.name, rows)
        return Incoming(table.name, answers=answers.records)
    notes: list[str] = []
    rule = source.repeat
    combine = combination(rule, table.name, instruments, notes) if rule else None
    of_tasks = {c.id for i in instruments for c in i.criteria if c.scope == "task"}
    parsed = read_ratings(table, source, of_tasks, combine)
    raise_if(parsed.problems, table.name, rows)
    return replace(
        _of_parsed(parsed, table.name),
        unknown_panel=source.unknown_raters,
        notes=(*notes, *_notes(table, source, parsed)),
    )


def _of_parsed(parsed: ParsedRatings, name: str) -> Incoming:
    return Incoming(
        name,
        tasks=parsed.tasks if parsed.planned else Columns(parsed.screens, _tasks),
        ratings=Columns(parsed.ratings, _ratings),
        lines=parsed.lines,
        systems=parsed.systems,
        numbers=parsed.numbers,
        number_column=parsed.number_column,
        place=parsed.place,
    )


def _tasks(frame: pl.DataFrame) -> Iterable[Task]:
    return tasks_of(frame.iter_rows())


def _ratings(frame: pl.DataFrame) -> Iterable[Rating]:
    return ratings_of(frame.iter_rows())


def _notes(table: Table, source: Source, parsed: ParsedRatings) -> Iterator[str]:
    if not parsed.ratings.height:
        if table.frame.height:
            yield message(
                "{file}: {n:,} {n|cell is|cells are} empty, nothing to import",
                message_id="import.nobody_rated",
                file=table.name,
                n=table.frame.height * max(1, len(source.raters), len(source.criteria)),
            )
    elif source.unknown_raters:
        yield message(
            "{file}: the raters are unknown; up to {n:,} {n|rating is|ratings are} of the same"
            " item, answers and criterion, and analyses are about items",
            message_id="import.unknown_raters",
            file=table.name,
            n=parsed.ratings["rater"].n_unique(),
        )


def _inspect_log(
    logs: InspectLogs, path: Path, source: Source, instruments: Sequence[Instrument]
) -> Incoming:
    log = logs.read(path, source)
    if source.records == "answers":
        answers = read_answers(log.table, source)
        raise_if(answers.problems, log.table.name, answers.rows)
        return Incoming(
            log.table.name, answers=with_citations(answers, log), preparation=log.counts
        )
    refuse_unclear_labels(log.table, source, instruments)
    return replace(_tabular(log.table, source), preparation=log.counts)


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
    screens = parsed.screens.height
    counts = {
        "filter": "Label Studio",
        "of": "annotations",
        "as": "screens",
        "read": screens + parsed.cancelled,
        "kept": screens,
        "dropped": {"cancelled": parsed.cancelled},
    }
    return replace(_of_parsed(parsed, path.name), preparation=counts if parsed.cancelled else {})
