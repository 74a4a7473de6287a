"""A rater's tasks in the order of work, and how far that is.

Pure functions of what the store says of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from konsil.plan.model.screens import PART
from konsil.store.tasks.screens import Queued

RECENT = 20
"""Screens that an estimate of the time left looks back on."""
FEWEST = 3
"""Screens before there is an estimate at all."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rater is."""

    n_completed: int
    """Screens done in this batch."""
    total: int
    """Screens of this batch."""
    batch: int
    """The number of the batch, from 1."""
    batches: int
    """How many batches there are for this rater."""
    minutes: int | None
    """Minutes that the rest of the batch will take at the rater's own pace; None before there is
    one."""


def in_line(rows: Iterable[Queued]) -> list[Queued]:
    """The tasks in the order of work, batch by batch.

    In each batch the items come first, then those put off, then the batch's survey questions.

    The plan cannot place tie-breaks, which come about later. Here each has a place among the
    others, drawn from its name, so that nothing tells it from them.

    >>> def task(name, position, **more):
    ...     fields = dict(
    ...         phase="",
    ...         batch="",
    ...         tiebreak=False,
    ...         survey=False,
    ...         deferred=0,
    ...         is_completed=False,
    ...         seconds=None,
    ...     )
    ...     return Queued(task=name, position=position, **fields | more)
    >>> rows = [task("a", 0, deferred=1), task("b", 1), task("c", 2, survey=True)]
    >>> [row.task for row in in_line(rows)]
    ['b', 'a', 'c']
    """
    blocks: dict[tuple[str, str], list[Queued]] = {}
    for row in sorted(rows, key=lambda q: (q.position, q.task)):
        blocks.setdefault((row.phase, row.batch), []).append(row)
    return [row for block in sorted(blocks.values(), key=_start) for row in _arranged(block)]


def _start(block: Sequence[Queued]) -> tuple[bool, int]:
    planned = [row.position for row in block if not row.tiebreak]
    # Batches of tie-breaks alone come last: the plan has no position for them.
    return (not planned, min(planned, default=block[0].position))


def _arranged(block: Sequence[Queued]) -> list[Queued]:
    planned = [row for row in block if not row.tiebreak and not row.survey]
    start = min((row.position for row in planned), default=0)

    def place(row: Queued) -> tuple[bool, int, float, int, str]:
        # The sentences of an answer stay together and in order.
        name = row.task.partition(PART)[0]
        among = start + _share(name) * len(planned) if row.tiebreak else float(row.position)
        return (row.survey, row.deferred, among, row.position, row.task)

    return sorted(block, key=place)


def _share(name: str) -> float:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big") / 2**32


def first_open_task(
    line: Iterable[Queued], closed: Collection[tuple[str, str, str]] = (), rater: str = ""
) -> Queued | None:
    """The first task of a line that is not done; None when all are.

    What is left of closed batches is passed over.

    `closed`: phase, batch and rater (or nobody: everybody) of closed batches.
    """
    shut = {(phase, batch) for phase, batch, whose in closed if whose in ("", rater)}
    return next(
        (row for row in line if not row.is_completed and (row.phase, row.batch) not in shut), None
    )


def progress(line: Sequence[Queued], task: str | None) -> Progress:
    """A rater's progress in the batch of a task of the line.

    Where there is no such task, it is the progress in the last batch.
    """
    blocks = list(dict.fromkeys((row.phase, row.batch) for row in line))
    current_block = next(
        ((row.phase, row.batch) for row in line if row.task == task),
        blocks[-1] if blocks else ("", ""),
    )
    block_rows = [row for row in line if (row.phase, row.batch) == current_block]
    n_pending = sum(not row.is_completed for row in block_rows)
    pace = [
        row.seconds
        for row in line
        if row.is_completed and not row.survey and row.seconds is not None
    ][-RECENT:]
    minutes = (
        max(1, round(n_pending * median(pace) / 60)) if len(pace) >= FEWEST and n_pending else None
    )
    return Progress(
        n_completed=len(block_rows) - n_pending,
        total=len(block_rows),
        batch=blocks.index(current_block) + 1 if blocks else 0,
        batches=len(blocks),
        minutes=minutes,
    )
