"""What was collected, as somebody sees it for whom systems are letters; freezing and unblinding."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from konsil.api.folder import PROTOCOL, Folder, now
from konsil.errors import StudyError
from konsil.prepare import prepared
from konsil.records import Answer, Event, Rater, Rating, Task
from konsil.store import Batch, Store
from konsil.study import Study, study_digest
from konsil.study.freezing import (
    FREEZE,
    LIFTED,
    UNBLIND,
    frozen,
    is_blinded,
    lifts,
    plan_of_analyses,
    sentences,
    told_apart,
    unblinded,
)
from konsil.study.letters import Letters, letters

if TYPE_CHECKING:
    from konsil.analysis.columns import Columns
    from konsil.analysis.frame import Data
    from konsil.store.db import View
    from konsil.store.export import Veiling

SHOWN = ("items", "answers", "raters", "tasks", "ratings")
"""What an export in letters has; events, attempts and calls of models tell too much."""


def data_in_letters(data: Data, names: Letters) -> Data:
    """The records under letters; what models were called is left out."""
    return dataclasses.replace(
        data,
        answers=tuple(sorted((names.answer(a) for a in data.answers), key=lambda a: a.id)),
        raters=tuple(sorted((names.rater(r) for r in data.raters), key=lambda r: r.id)),
        tasks=_renamed(data.tasks, names),
        ratings=_renamed(data.ratings, names),
        attempts=tuple(dataclasses.replace(a, rater=names.judges.get(a.rater, a.rater)) for a in data.attempts),
        callees=(),
        lengths={names.answers.get(a, a): n for a, n in data.lengths.items()},
    )


def _renamed(columns: Any, names: Letters) -> Columns[Any]:  # noqa: ANN401 - tasks or ratings
    frame: pl.DataFrame = columns.frame
    lists = frame.get_column("answers").unique().to_list()
    renamed = {text: _dumps([names.answers.get(a, a) for a in json.loads(text)]) for text in lists}
    shown: Columns[Any] = columns.with_frame(
        frame.with_columns(
            pl.col("rater").replace(dict(names.judges)),
            pl.col("answers").replace_strict(renamed, return_dtype=pl.String),
        )
    )
    return shown


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def veil(folder: Folder) -> Veiling:
    """What an export shows while the study is blinded: letters, and no texts of answers."""

    def shown(view: View) -> Mapping[Any, Iterator[Any]]:
        raters: tuple[Rater, ...] = tuple(view.each("raters"))
        answers: tuple[Answer, ...] = tuple(view.each("answers"))
        names = letters(folder.study, raters, answers)
        return {kind: _each(view, kind, names) for kind in SHOWN}

    return shown


def _each(view: View, kind: Any, names: Letters) -> Iterator[Any]:  # noqa: ANN401 - a kind's name
    records = prepared(view.each("items"), view.each("events")) if kind == "items" else view.each(kind)
    found = [_veiled(record, names) for record in records]
    if kind in ("answers", "raters"):
        found.sort(key=lambda record: record.id)
    yield from found


def _veiled(record: Any, names: Letters) -> Any:  # noqa: ANN401 - records of every kind
    if isinstance(record, Answer):
        one = names.answer(record)
        return Answer(one.id, one.item, one.system)
    if isinstance(record, Rater):
        return names.rater(record)
    if isinstance(record, Task | Rating):
        answers = tuple(names.answers.get(a, a) for a in record.answers)
        return dataclasses.replace(record, rater=names.judges.get(record.rater, record.rater), answers=answers)
    return record


def freeze(folder: Folder, by: str, note: str = "") -> Event:
    """Keep the digests of the plan of analyses in the audit log; whatever changes later is told in the report."""
    _named(by, "--by")
    with folder.store(create=True) as store:
        before = frozen(store.events())
        if before is not None:
            raise StudyError(
                f"{folder.path / PROTOCOL}: the plan of analyses was frozen at {before.at} by"
                f" {before.data.get('by')!r}; what changed since is told in the report"
            )
        data = {"by": by, "note": note, "study": study_digest(folder.study), **plan_of_analyses(folder.study)}
        return _written(store, Event("freeze", FREEZE, folder.study.title, now(), data))


def unblind(folder: Folder, by: str, reason: str) -> Event:
    """Give the systems their names; refused until the plan of analyses is frozen."""
    _named(by, "--by")
    _named(reason, "--reason")
    if not folder.study.blinded:
        raise StudyError(f"{folder.path / PROTOCOL}: the study is not blinded; 'blinded = true' makes it so")
    with folder.store(create=True) as store:
        events = store.events()
        if frozen(events) is None:
            raise StudyError(
                f"{folder.path / PROTOCOL}: the plan of analyses is not frozen; run 'konsil freeze' before it"
            )
        before = unblinded(events)
        if before is not None:
            raise StudyError(f"{folder.path}: was unblinded at {before.at} by {before.data.get('by')!r}")
        return _written(store, Event("unblind", UNBLIND, folder.study.title, now(), {"by": by, "reason": reason}))


def hides(folder: Folder, store: Store) -> bool:
    """Whether systems are letters; that they are not, because the study is marked as simulated, is logged once."""
    if not folder.study.blinded:
        return False
    events = store.events()
    if lifts(folder.study, events):
        data = {"reason": "simulated = true in the protocol"}
        _written(store, Event(LIFTED, LIFTED, folder.study.title, now(), data))
    return is_blinded(folder.study, events)


@dataclass(frozen=True)
class Seen:
    """A study and its records as its analyses see them."""

    study: Study
    """The protocol, in letters while it is blinded; what was changed after the freeze is exploratory."""
    data: Data
    """The records, likewise."""
    events: tuple[Event, ...]
    """What happened, likewise."""
    is_blinded: bool
    """Whether systems are letters."""
    warnings: tuple[str, ...] = ()
    """What the report must say of it."""
    methods: tuple[str, ...] = ()
    """Sentences of the methods paragraph."""


def seen(study: Study, data: Data, events: Sequence[Event]) -> Seen:
    """The study and its records as the analyses see them."""
    warnings, methods = sentences(study, events)
    study = dataclasses.replace(study, analyses=told_apart(study, frozen(events)))
    if not is_blinded(study, events):
        return Seen(study, data, tuple(events), False, warnings, methods)
    names = letters(study, data.raters, data.answers)
    told = tuple(names.event(e) for e in events)
    return Seen(names.study(study), data_in_letters(data, names), told, True, warnings, methods)


def _written(store: Store, event: Event) -> Event:
    store.add(Batch(events=(event,)), source=event.kind, at=event.at)
    store.audit(event.kind, {k: v for k, v in event.data.items() if k != "analyses"}, event.at)
    return event


def _named(text: str, option: str) -> None:
    if not text.strip():
        raise StudyError(f"{option}: is empty; the log keeps it")
