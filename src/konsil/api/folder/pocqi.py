"""Real-POCQi's public tables as a study's records, and the lengths of its answers as an event."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from konsil.errors import SourceError
from konsil.instrument import Instrument
from konsil.records import Event, Source
from konsil.sources.pocqi.pocqi_files import CHOICES
from konsil.sources.pocqi.real_pocqi import read_real_pocqi
from konsil.study.data.incoming import Incoming

LENGTHS = "answer lengths"
"""The kind of the event that says how long answers are whose texts are not at hand."""

_USED = (
    "file",
    "records",
    "sheet",
    "separator",
    "columns",
    "fixed",
    "criteria",
    "labels",
    "strata",
    "encoding",
)


def pocqi_records(path: Path, source: Source, instruments: Sequence[Instrument]) -> Incoming:
    """The tables' records.

    Their choices as the labels of the study's comparisons, from A's side to B's.
    """
    for field in dataclasses.fields(source):
        default = field.default_factory() if callable(field.default_factory) else field.default
        if field.name not in _USED and getattr(source, field.name) != default:
            raise SourceError(
                f"{path.name}: {field.name} does not apply to Real-POCQi's tables; leave it out"
            )
    form = next(
        (
            i
            for i in instruments
            if any(_is_five_steps(c.scope, c.scale.labels) for c in i.criteria)
        ),
        None,
    )
    if form is None:
        raise SourceError(
            f"{path.name}: no instrument compares two answers (scope = 'pair') with five labels;"
            " expected one for the tables' five choices"
        )
    labels = next(c.scale.labels for c in form.criteria if _is_five_steps(c.scope, c.scale.labels))
    records = read_real_pocqi(
        path, dataclasses.replace(source, labels=translated(source.labels, labels)), form.id
    )
    return Incoming(
        path.name,
        items=records.items,
        answers=records.answers,
        raters=records.raters,
        tasks=records.tasks,
        ratings=records.ratings,
        lines=records.lines,
        preparation=records.counts,
        lengths=records.lengths,
        notes=records.notes,
    )


def translated(words: Mapping[str, str], labels: Sequence[str]) -> dict[str, str]:
    """The tables' words for choices -> the form's labels.

    The words are the five choices, and the others that `labels` translates.

    >>> translated({"1": "strongly_a"}, ["A much", "A", "same", "B", "B much"])["1"]
    'A much'
    """
    choices = dict(zip(CHOICES, labels, strict=True))
    return {**choices, **{word: choices.get(label, label) for word, label in words.items()}}


def length_events(files: Iterable[Incoming], at: str, events: Iterable[Event]) -> tuple[Event, ...]:
    """One event for the lengths of each file's answers; none where the same was told before."""
    event_ids = {event.id for event in events if event.kind == LENGTHS}
    new_events = []
    for file in files:
        text = json.dumps(sorted(file.lengths.items()))
        name = f"lengths-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        if file.lengths and name not in event_ids:
            new_events.append(Event(name, LENGTHS, file.name, at, dict(file.lengths)))
    return tuple(new_events)


def lengths_of(events: Iterable[Event]) -> dict[str, int]:
    """Answer -> the length that was told of it."""
    lengths = (e.data for e in sorted(events, key=lambda e: (e.at, e.id)) if e.kind == LENGTHS)
    return {answer: n for data in lengths for answer, n in data.items() if isinstance(n, int)}


def _is_five_steps(scope: str, labels: Sequence[str]) -> bool:
    return scope == "pair" and len(labels) == len(CHOICES)
