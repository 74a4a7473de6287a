"""Records for a blind analyst: systems under codes, answers without texts, orders that tell nothing of names."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Connection

from konsil.instrument import Criterion, canonical
from konsil.prepare import prepared
from konsil.records import Answer, Rating, Task
from konsil.store import read
from konsil.store.db import Store, View
from konsil.store.rows import KindName
from konsil.store.secret import secret
from konsil.study import Study

if TYPE_CHECKING:
    from konsil.store.export import Veiling

SHOWN: tuple[KindName, ...] = ("items", "answers", "raters", "tasks", "ratings")
"""What a blind analyst gets. Events, attempts and calls of models tell too much."""
_KEY = "veil_key"


def key(store: Store) -> bytes:
    """The secret behind the codes: made once, kept in the database and in no export."""
    return secret(store, _KEY)


class Veil:
    """Replaces what would tell systems apart by name."""

    def __init__(self, study: Study, secret: bytes, connection: Connection) -> None:
        self._secret = secret
        self._criteria: dict[str, Criterion] = {c.id: c for i in study.instruments for c in i.criteria}
        systems = {s.id for s in study.systems} | {a.system for a in read.each(connection, "answers")}
        ranked = sorted(systems, key=lambda s: self._digest("system", s))
        self.systems: Mapping[str, str] = {s: f"system-{n:02d}" for n, s in enumerate(ranked, start=1)}

    def _digest(self, *what: str) -> str:
        return hashlib.blake2b("\n".join(what).encode(), key=self._secret, digest_size=8).hexdigest()

    def _answer(self, name: str) -> str:
        return f"answer-{self._digest('answer', name)}"

    def each(self, view: View, kind: KindName) -> Iterator[Any]:
        """The records of a kind, veiled, in the order of their new names."""
        records = prepared(view.each("items"), view.each("events")) if kind == "items" else view.each(kind)
        veiled = [self._veiled(record) for record in records]
        if kind == "answers":
            veiled.sort(key=lambda a: a.id)
        elif kind == "ratings":
            veiled.sort(key=lambda r: (r.task, r.criterion, r.answers, r.span is not None and r.span.start))
        yield from veiled

    def _veiled(self, record: Any) -> Any:  # noqa: ANN401 - records of every kind
        if isinstance(record, Answer):
            return Answer(self._answer(record.id), record.item, self.systems[record.system], "")
        if isinstance(record, Task):
            return dataclasses.replace(record, answers=tuple(map(self._answer, record.answers)))
        if isinstance(record, Rating):
            answers = tuple(map(self._answer, record.answers))
            criterion, label = self._criteria.get(record.criterion), record.label
            if criterion is not None and criterion.scope == "pair":
                # A pair is told in the order of its answers' names; that of the real names would give them away.
                answers, label = canonical(criterion, answers, label)
            return dataclasses.replace(record, answers=answers, label=label)
        return record


def veiling(study: Study, secret: bytes) -> Veiling:
    """What a blind analyst is shown of a store."""

    def shown(view: View) -> dict[KindName, Iterator[Any]]:
        veil = Veil(study, secret, view.connection)
        return {kind: veil.each(view, kind) for kind in SHOWN}

    return shown
