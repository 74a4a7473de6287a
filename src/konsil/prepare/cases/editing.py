"""One change of what is marked in a case.

Whatever is done, the ranks of the cues stay 1, 2, 3 without a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from konsil.prepare.cases.masking import Mark, MarkKind

Flaw = Literal["nothing", "twice", "across"]
"""Why a span cannot be marked: it has no letter, it is marked already, it begins or ends inside
another mark."""


def mark_conflict(text: str, marks: Sequence[Mark], start: int, end: int) -> Flaw | None:
    """What speaks against marking a span beside these marks; None: nothing.

    >>> mark_conflict("dry cough", [Mark(0, 3, "cue", 1)], 2, 9)
    'across'
    """
    if not (0 <= start < end <= len(text)) or not text[start:end].strip():
        return "nothing"
    if any((m.start, m.end) == (start, end) for m in marks):
        return "twice"
    crosses = any(m.start < start < m.end < end or start < m.start < end < m.end for m in marks)
    return "across" if crosses else None


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the white space at its ends.

    >>> trimmed("a dry cough ", 1, 12)
    (2, 11)
    """
    inside = text[max(0, start) : max(0, end)]
    n_leading = len(inside) - len(inside.lstrip())
    return max(0, start) + n_leading, (
        max(0, start) + len(inside.rstrip()) if inside.strip() else max(0, start)
    )


def added(
    marks: Sequence[Mark], spans: Iterable[tuple[int, int]], kind: MarkKind
) -> tuple[Mark, ...]:
    """The marks with these spans added as marks of one kind.

    As cues they are one cue, weaker than all before.

    >>> [m.rank for m in added([Mark(0, 3, "cue", 1)], [(4, 9), (12, 14)], "cue")]
    [1, 2, 2]
    """
    rank = max((m.rank for m in marks), default=0) + 1 if kind == "cue" else 0
    return _ranked((*marks, *(Mark(start, end, kind, rank) for start, end in spans)))


def without(marks: Sequence[Mark], place: tuple[int, int]) -> tuple[Mark, ...]:
    """The marks but for the one at a place."""
    return _ranked(m for m in marks if (m.start, m.end) != place)


def of_kind(marks: Sequence[Mark], place: tuple[int, int], kind: MarkKind) -> tuple[Mark, ...]:
    """The marks with the one at a place as another kind; what becomes a cue is the weakest."""
    weakest = max((m.rank for m in marks), default=0) + 1
    return _ranked(
        (
            replace(m, kind=kind, rank=weakest if kind == "cue" else 0)
            if (m.start, m.end) == place and m.kind != kind
            else m
        )
        for m in marks
    )


def worded(marks: Sequence[Mark], place: tuple[int, int], replacement: str) -> tuple[Mark, ...]:
    """The marks, with other words in the place of the one at a place; empty: it is taken out."""
    words = " ".join(replacement.split())
    return tuple(replace(m, replacement=words) if (m.start, m.end) == place else m for m in marks)


def moved(marks: Sequence[Mark], place: tuple[int, int], by: Literal[-1, 1]) -> tuple[Mark, ...]:
    """The marks with the cue at a place one rank stronger (-1) or weaker (1).

    The cue that had this rank takes its rank.

    >>> [m.rank for m in moved([Mark(0, 3, "cue", 1), Mark(4, 9, "cue", 2)], (4, 9), -1)]
    [2, 1]
    """
    rank = _rank(marks, place)
    other = rank + by
    # Marks that are no cues have rank 0: the strongest cue does not change places with them.
    if not rank or not other or not any(m.rank == other for m in marks):
        return tuple(marks)
    swapped = {rank: other, other: rank}
    return tuple(replace(m, rank=swapped.get(m.rank, m.rank)) for m in marks)


def joined(marks: Sequence[Mark], place: tuple[int, int], rank: int) -> tuple[Mark, ...]:
    """The marks with the cue at a place telling the same as the one of a rank.

    0: it is one of its own, the weakest.
    """
    if not _rank(marks, place) or (rank and not any(m.rank == rank for m in marks)):
        return tuple(marks)
    new_rank = rank or max(m.rank for m in marks) + 1
    return _ranked(replace(m, rank=new_rank) if (m.start, m.end) == place else m for m in marks)


def _rank(marks: Sequence[Mark], place: tuple[int, int]) -> int:
    return next((m.rank for m in marks if (m.start, m.end) == place), 0)


def _ranked(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """The marks in the order of the text, their ranks closed up."""
    ordered = sorted(marks, key=lambda m: (m.start, -m.end))
    ranks = {rank: n for n, rank in enumerate(sorted({m.rank for m in ordered if m.rank}), 1)}
    return tuple(replace(m, rank=ranks[m.rank]) if m.rank else m for m in ordered)
