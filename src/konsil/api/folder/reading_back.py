"""An export read back.

It is checked against its own description and against the protocol, then written in one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.analysis.table.frame import Data
from konsil.api.folder.conforming import conforming
from konsil.errors import StoreError, nearest
from konsil.errors.message import message
from konsil.sources.files.parquet import columns_apart
from konsil.store import Added, Batch, Store
from konsil.store.calls.calls import Calls
from konsil.store.engine import engine
from konsil.store.engine.folders import sha256
from konsil.store.engine.rows import KINDS
from konsil.store.log import noting, write
from konsil.store.release.export import (
    MARK,
    check_counts,
    check_files,
    description,
    read_calls,
    read_export,
)
from konsil.study import study_digest
from konsil.study.sections.forms import shapes

if TYPE_CHECKING:
    from konsil.api.folder.opened import OpenedStudy


def import_export(folder: OpenedStudy, path: Path) -> Added:
    """Write the records and the calls of an export in one transaction.

    Nothing where anything is wrong.
    """
    from konsil.api.folder.opened import PROTOCOL, now

    about = description(path)
    check_files(path, about)
    batch, calls = read_export(path, columns_apart), read_calls(path, columns_apart)
    counts: dict[str, int] = {name: len(batch.of(name)) for name in KINDS}
    check_counts(path, about, counts | ({"calls": len(calls)} if calls else {}))
    protocol, study = str(folder.path / PROTOCOL), study_digest(folder.study)
    digests = folder.noted_digests() | {study, ""}
    if about.study not in digests:
        raise StoreError(
            message(
                "{path}: the export belongs to a study with a different protocol (checksum"
                " {theirs}, in this folder {own}); copy the study.toml of that study to this"
                " folder, import, and then change it",
                message_id="error.export_of_another_study",
                path=str(path / MARK),
                theirs=about.study[:16],
                own=study[:16],
            )
        )
    data = Data(batch.items, batch.answers, batch.raters, batch.tasks, batch.ratings)
    conforming(protocol, folder.study, data, batch.events)
    at = now()
    with folder.store(create=True) as store:
        _check_names(path, batch, store)
        with engine.writing(store.engine) as connection:
            noting.note_study(connection, study, at, shapes(folder.study.instruments))
            added = write.add(
                connection, batch, source=f"export {path.name}", digest=sha256(path / MARK), at=at
            )
            Calls(store).append_new(connection, calls)
    return added


def _check_names(path: Path, batch: Batch, store: Store) -> None:
    """Refuse records that name an item, answer, rater or task absent from export and store."""
    items = _ids(batch.items, store.items())
    answers = _ids(batch.answers, store.answers())
    raters = _ids(batch.raters, store.raters())
    tasks = _ids(batch.tasks, store.tasks())
    for answer in batch.answers:
        _check_reference(path, "answers", answer.id, "item", answer.item, items)
    for task in batch.tasks:
        _check_reference(path, "tasks", task.id, "rater", task.rater or None, raters)
        _check_reference(path, "tasks", task.id, "item", task.item, items)
        for answer_id in task.answers:
            _check_reference(path, "tasks", task.id, "answer", answer_id, answers)
    for rating in batch.ratings:
        _check_reference(path, "ratings", rating.task, "task", rating.task, tasks)
        _check_reference(path, "ratings", rating.task, "rater", rating.rater, raters)
        _check_reference(path, "ratings", rating.task, "item", rating.item, items)
        for answer_id in rating.answers:
            _check_reference(path, "ratings", rating.task, "answer", answer_id, answers)


def _ids(*several: Iterable[object]) -> set[str]:
    return {str(getattr(record, "id", "")) for records in several for record in records}


def _check_reference(
    path: Path, kind: str, record: str, noun: str, name: str | None, names: Collection[str]
) -> None:
    if name is not None and name not in names:
        raise StoreError(
            message(
                "{path}: {kind}: {record}: there is no {what} {name}; {hint}",
                message_id="error.export_names_nothing",
                path=str(path),
                kind=kind,
                record=repr(record),
                what=noun,
                name=repr(name),
                hint=nearest(name, names),
            )
        )
