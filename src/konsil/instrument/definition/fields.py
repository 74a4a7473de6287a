"""Every question on one screen, by name.

The page, the schema and the reader of replies share these names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from konsil.errors import KonsilError
from konsil.instrument.definition.form import Criterion, Instrument
from konsil.records import Task

REASON = "reason"
"""The last part of the name of a reason's field."""

_SURVEYS = ("batch", "phase", "rater")


class FormError(KonsilError):
    """An instrument cannot be asked on this screen."""


@dataclass(frozen=True, slots=True)
class Field:
    """One question about one subject."""

    name: str
    """Its name on the page and in a judge's reply: 'correctness.a1', 'risk.s2', 'difficulty'."""
    criterion: Criterion
    """What is asked."""
    answers: tuple[int, ...] = ()
    """The positions on the screen, from 0, of the answers that it is about."""
    span: int | None = None
    """The number, from 0, of the sentence that it is about."""

    def __hash__(self) -> int:
        # Quick, as prompts and schemas are looked up by a screen's fields; equal fields have equal
        # names.
        return hash(self.name)

    @property
    def options(self) -> tuple[str, ...]:
        """What can be chosen, in order, the abstention last.

        Empty for numbers and texts without an abstention.
        """
        return self.criterion.scale.options()

    @property
    def reason(self) -> str:
        """The name of the field of its reason; empty where none is asked for."""
        return f"{self.name}.{REASON}" if self.criterion.reason else ""


def letter(position: int) -> str:
    """What an answer is called on the screen: A, B, ..., Z, AA, AB, ...

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    name = ""
    position += 1
    while position:
        position, rest = divmod(position - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def fields(instrument: Instrument, task: Task) -> tuple[Field, ...]:
    """Every question of the screen, in the order displayed.

    Questions are ordered by criterion, and within it by answer or sentence.

    Names never depend on the order of the answers: the first is a1 for every rater, and the task
    states which answer it is.

    >>> from konsil.instrument import Scale
    >>> form = Instrument("form", (Criterion("correct", "?", Scale(("no", "yes"))),))
    >>> [f.name for f in fields(form, Task("t", "t", "r", "form", "i", ("x", "y")))]
    ['correct.a1', 'correct.a2']
    """
    return _fields(
        instrument, len(task.answers), len(task.spans), task.item is not None, bool(task.batch)
    )


@lru_cache(maxsize=512)
def _fields(
    instrument: Instrument, n: int, n_spans: int, about_item: bool, in_batch: bool
) -> tuple[Field, ...]:
    # One tuple for all tasks of a shape, so that what is made of it (prompt, schema) can be made
    # once as well.
    form_fields = tuple(
        f
        for c in instrument.screen_criteria(n_spans)
        for f in _of(c, instrument, n, n_spans, about_item, in_batch)
    )
    names = [name for f in form_fields for name in (f.name, f.reason) if name]
    for name in names:
        if names.count(name) > 1:
            raise FormError(
                f"instrument {instrument.id!r}: two questions have the field name {name!r};"
                " rename one"
            )
    return form_fields


def surveyed(criteria: Sequence[Criterion], *, in_batch: bool) -> tuple[Criterion, ...]:
    """The questions of a screen that is about no item.

    In a batch these are the questions about the batch, elsewhere those about the phase or the
    rater.

    An instrument whose questions are all of one kind asks them wherever it stands.
    """
    mixed = len({c.scope for c in criteria}) > 1
    questions = (c for c in criteria if c.scope in _SURVEYS)
    return tuple(c for c in questions if not mixed or (c.scope == "batch") == in_batch)


def _of(
    criterion: Criterion,
    instrument: Instrument,
    n: int,
    n_spans: int,
    about_item: bool,
    in_batch: bool,
) -> Iterator[Field]:
    scope = criterion.scope
    if scope in _SURVEYS:
        if not about_item and criterion in surveyed(instrument.criteria, in_batch=in_batch):
            yield Field(criterion.id, criterion)
    elif not about_item:
        return
    elif scope == "answer":
        for a in range(n):
            yield Field(f"{criterion.id}.a{a + 1}", criterion, (a,))
    elif scope == "sentence":
        if n != 1:
            raise FormError(
                f"instrument {instrument.id!r}: {criterion.id!r} refers to sentences of one"
                f" answer, but the task has {n}"
            )
        for s in range(n_spans):
            yield Field(f"{criterion.id}.s{s + 1}", criterion, (0,), s)
    elif scope == "pair":
        if n != 2:
            raise FormError(
                f"instrument {instrument.id!r}: {criterion.id!r} compares two answers, but the"
                f" task has {n}"
            )
        yield Field(criterion.id, criterion, (0, 1))
    else:
        yield Field(criterion.id, criterion)
