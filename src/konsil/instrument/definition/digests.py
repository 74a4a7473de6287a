"""Digests of what was asked for: the same for the same meaning, today and after an upgrade."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from konsil.instrument.definition.form import Criterion, Instrument
from konsil.records.inline import INLINE


def stated(value: object) -> Any:  # noqa: ANN401 - plain data of any shape
    """A record as plain data without the fields that have their default.

    So a digest speaks of what a protocol states: a later version's new field with a default changes
    no old digest. The fields of a part that is stated inline stand among those of its record.

    >>> from konsil.instrument import Scale
    >>> stated(Scale(("no", "yes")))
    {'labels': ['no', 'yes']}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: (getattr(value, f.name), _default(f)) for f in dataclasses.fields(value)}
        inline = [f.name for f in dataclasses.fields(value) if INLINE in f.metadata]
        own = {
            name: stated(content)
            for name, (content, default) in fields.items()
            if content != default and name not in inline
        }
        return own | {k: v for name in inline for k, v in stated(fields[name][0]).items()}
    if isinstance(value, Mapping):
        return {str(k): stated(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [stated(v) for v in value]
    return value


_NONE = object()


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _NONE


def digest_of(record: object) -> str:
    """SHA-256 over the canonical JSON of what a record states.

    What JSON has no word for (dates) stands as its text.
    """
    text = json.dumps(stated(record), ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def untitled(instrument: Instrument) -> Instrument:
    """The instrument as raters see it.

    It lacks the criteria's names in the report and their former names.

    >>> from konsil.instrument import Criterion, Scale
    >>> untitled(Instrument("f", (Criterion("c", "?", Scale(), title="C"),))).criteria[0].title
    ''
    """
    criteria = tuple(
        dataclasses.replace(c, title="", renamed={}, formerly=()) for c in instrument.criteria
    )
    return dataclasses.replace(instrument, criteria=criteria)


def digest(instrument: Instrument) -> str:
    """A short digest of everything that a rater sees.

    With it a rating states the instrument under which it was given.
    """
    return digest_of(untitled(instrument))[:16]


def before_renaming(instrument: Instrument) -> Instrument:
    """The instrument with the labels and identifiers that it says its criteria had before.

    Of a label or criterion with several former names, the first that the protocol lists is taken.

    >>> from konsil.instrument import Criterion, Scale
    >>> scale = Scale(("wrong", "correct"))
    >>> now = Criterion("right", "?", scale, renamed={"incorrect": "wrong"}, formerly=("correct",))
    >>> before = before_renaming(Instrument("f", (now,))).criteria[0]
    >>> before.id, before.scale.labels
    ('correct', ('incorrect', 'correct'))
    """

    def former(criterion: Criterion) -> Criterion:
        labels = {now: then for then, now in reversed(list(criterion.renamed.items()))}
        scale = criterion.scale
        abstain = labels.get(scale.abstain, scale.abstain) if scale.abstain is not None else None
        named = dataclasses.replace(
            scale, labels=tuple(labels.get(label, label) for label in scale.labels), abstain=abstain
        )
        identifier = criterion.formerly[0] if criterion.formerly else criterion.id
        return dataclasses.replace(criterion, id=identifier, scale=named, renamed={}, formerly=())

    return dataclasses.replace(instrument, criteria=tuple(map(former, instrument.criteria)))
