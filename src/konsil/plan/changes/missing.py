"""Missing answers.

They are the reason why the plan leaves items out or shows fewer answers than it could.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from konsil.instrument import Instrument
from konsil.plan.model.allocation import Allocation
from konsil.plan.model.references import ReferenceIndex, asks_about_answers
from konsil.records import Answer, Item, Rater


@dataclass(frozen=True, slots=True)
class Missing:
    """One allocation's items that lack answers."""

    where: str
    """The allocation: plan[0], ..."""
    systems: tuple[str, ...]
    """The systems whose answers it shows."""
    items: int
    """How many items it has."""
    without: tuple[str, ...]
    """Items without an answer to be shown (for pairs: with fewer than two): no task shows them."""
    fewer: tuple[str, ...]
    """Items that some of the systems have not answered: tasks show the answers that there are."""


def missing(
    plan: Sequence[Allocation],
    *,
    items: Iterable[Item],
    answers: Iterable[Answer],
    raters: Iterable[Rater],
    instruments: Iterable[Instrument],
) -> tuple[Missing, ...]:
    """Every allocation with items that lack answers.

    `assign` leaves out what is `without` and goes on.

    An allocation that takes over another one's items (`like`) or follows from ratings (`when`) is
    not told again.

    >>> from konsil.instrument import Criterion, Scale
    >>> form = Instrument("form", (Criterion("correct", "Is it correct?", Scale(("no", "yes"))),))
    >>> [one] = missing(
    ...     [Allocation("panel", "form")],
    ...     items=[Item("i1", "?"), Item("i2", "?"), Item("i3", "?")],
    ...     answers=[Answer("a1", "i1", "x"), Answer("a2", "i1", "y"), Answer("a3", "i2", "y")],
    ...     raters=[Rater("r1", "panel")],
    ...     instruments=[form],
    ... )
    >>> one.without, one.fewer
    (('i3',), ('i2',))
    """
    # Any seed: nothing is drawn here.
    book = ReferenceIndex(items, answers, raters, instruments, 0)
    gaps = []
    for n, allocation in enumerate(plan):
        where = f"plan[{n}]"
        if (
            allocation.like
            or allocation.when != "always"
            or not asks_about_answers(book.instrument(allocation, where))
        ):
            continue
        pool, systems = book.pool(allocation, where), book.chosen_systems(allocation, where)
        counts = {i.id: len({a.system for a in book.answers_by(i.id, systems)}) for i in pool}
        least = 2 if allocation.show == "pair" else 1
        without = tuple(i for i, k in counts.items() if k < least)
        fewer = tuple(i for i, k in counts.items() if least <= k < len(systems))
        if without or fewer:
            gaps.append(Missing(where, tuple(systems), len(pool), without, fewer))
    return tuple(gaps)
