"""The records of a store as they are shown while systems are letters.

Every export and download uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from konsil.prepare import prepared
from konsil.records import Answer
from konsil.store.engine.rows import KindName
from konsil.store.log.db import Store, View
from konsil.store.people.secret import secret
from konsil.study import Study
from konsil.study.data.blinding import Letters, letters, pair_criteria

if TYPE_CHECKING:
    from konsil.store.release.export import Veiling

SHOWN: tuple[KindName, ...] = ("items", "answers", "raters", "tasks", "ratings")
"""What is shown. Events, attempts and calls of models reveal too much."""
_KEY = "veil_key"


def key(store: Store) -> bytes:
    """The secret behind the letters: made once, kept in the database and in no export."""
    return secret(store, _KEY)


def veiling(study: Study, secret: bytes) -> Veiling:
    """The contents of a store as shown.

    Records under letters, answers without their texts, rows in an order of the letters.
    """

    def shown(view: View) -> dict[KindName, Iterator[Any]]:
        names = letters(study, view.each("raters"), view.each("answers"), secret)
        return {kind: _each(view, kind, names, study) for kind in SHOWN}

    return shown


def _each(view: View, kind: KindName, names: Letters, study: Study) -> Iterator[Any]:
    """The records of a kind, sorted by what they are called now.

    The store's order is that of the names.
    """
    if kind == "items":
        yield from prepared(view.each("items"), view.each("events"))
        return
    pairs = pair_criteria(study.instruments)
    blinded: dict[KindName, Callable[[Any], Any]] = {
        "answers": lambda answer: Answer(
            names.answers[answer.id], answer.item, names.systems[answer.system]
        ),
        "raters": names.rater,
        "tasks": names.task,
        "ratings": lambda rating: names.rating(rating, pairs),
    }
    order: dict[KindName, Callable[[Any], Any]] = {
        "ratings": lambda r: (r.task, r.criterion, r.answers, r.span is not None and r.span.start),
    }
    # In the order of the new names: that of the real ones would give them away.
    yield from sorted(
        map(blinded[kind], view.each(kind)), key=order.get(kind, lambda record: record.id)
    )
