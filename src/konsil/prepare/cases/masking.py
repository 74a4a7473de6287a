"""The five versions of a marked case, from the whole narrative to one without its cues.

A mark takes out a span or puts a more general wording in its place. Which marks count at a level is
a matter of their kind and rank; the rest of the text stays letter for letter. Offsets count
characters (code points) of the narrative as it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

MarkKind = Literal["diagnosis", "cue", "demographic", "temporal", "disease-specific"]

LEVEL = "level"
"""The stratum of a version."""
NARRATIVE = "narrative"
"""The level of the whole text."""
LEVELS = (NARRATIVE, "0", "1", "2", "3")
"""Every level, from the whole text to the one that tells least."""
REMOVED = "[…]"
"""What stands where something was taken out."""

_CLOSING = ".,;:!?)]}»”"


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of a narrative that some levels do without: text[start:end]."""

    start: int
    """The first character's offset."""
    end: int
    """One past the last character's offset."""
    kind: MarkKind
    """What the span tells."""
    rank: int = 0
    """A cue's strength, 1 the strongest; several spans that tell the same cue share a rank. 0: no
    cue."""
    replacement: str = ""
    """What stands in its place, in more general words; empty: it is taken out."""

    def counts(self, level: str) -> bool:
        """Whether the span is masked at a level.

        >>> cue = Mark(0, 5, "cue", 2)
        >>> [cue.counts(level) for level in LEVELS]
        [False, False, False, True, True]
        """
        if level in (NARRATIVE, "3") or self.kind == "diagnosis":
            return level != NARRATIVE
        return self.kind == "cue" and self.rank <= int(level)


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a version's text."""

    text: str
    """The text as it stands in the version."""
    start: int
    """Where it, or what it stands for, begins in the narrative."""
    end: int
    """Where that ends in the narrative."""
    mark: Mark | None = None
    """The mark that it stands for; None: the narrative's own text."""


def masked(text: str, marks: Sequence[Mark], level: str, removed: str = REMOVED) -> str:
    """The text of a level.

    >>> told = "Biopsy showed sarcoidosis."
    >>> masked(told, [Mark(14, 25, "diagnosis")], "0")
    'Biopsy showed […].'
    """
    return "".join(part.text for part in parts(text, marks, level, removed))


def parts(text: str, marks: Sequence[Mark], level: str, removed: str = REMOVED) -> tuple[Part, ...]:
    """The text of a level as parts, each with its place in the narrative.

    Of marks that lie within one another the outermost that counts at the level speaks for those
    inside it. White space at a mark's ends stays, neighbours that are taken out leave one sign, and
    where no sign is left the blanks, commas and brackets around the gap are mended.
    """
    version_parts: list[Part] = []
    at = 0
    for mark in _outermost(text, [m for m in marks if m.counts(level)]):
        _append_part(version_parts, text, at, mark.start)
        shown = mark.replacement.strip() or removed
        if not mark.replacement.strip() and _joins(version_parts, removed):
            _join(version_parts, mark)
        else:
            version_parts.append(Part(shown, mark.start, mark.end, mark))
        at = mark.end
    _append_part(version_parts, text, at, len(text))
    return tuple(_mended(version_parts))


def marking_problems(text: str, marks: Sequence[Mark]) -> Iterator[str]:
    """Say what is wrong with the marks of a narrative, one sentence each.

    >>> list(marking_problems("fever", [Mark(0, 9, "cue", 1)]))
    ['0-9: ends after the narrative, which has 5 characters']
    """
    # Of marks that begin together the longest first, so that those inside it follow.
    ordered = sorted(marks, key=lambda m: (m.start, -m.end))
    for mark in ordered:
        yield from _mark_problems(text, mark)
    for n, mark in enumerate(ordered):
        for other in ordered[n + 1 :]:
            # In this order nothing that follows can overlap either.
            if other.start >= mark.end:
                break
            if (other.start, other.end) == (mark.start, mark.end):
                yield (
                    f"{_range(mark)}: is marked twice, as {mark.kind} and as {other.kind}; expected"
                    " one mark"
                )
            elif other.end > mark.end:
                yield (
                    f"{_range(mark)}: overlaps with {_range(other)}; expected one of them inside"
                    " the other, or neither"
                )
    ranks = {m.rank for m in marks if m.kind == "cue" and m.rank > 0}
    missing = sorted(set(range(1, max(ranks, default=0) + 1)) - ranks)
    if missing:
        yield (
            f"no cue has rank {missing[0]}, but one has rank {max(ranks)}; expected ranks from 1"
            " without a gap"
        )


def _mark_problems(text: str, mark: Mark) -> Iterator[str]:
    if mark.kind not in get_args(MarkKind):
        yield (
            f"{_range(mark)}: {mark.kind!r} is not a kind of mark; expected one of"
            f" {', '.join(get_args(MarkKind))}"
        )
    if mark.end > len(text):
        yield f"{_range(mark)}: ends after the narrative, which has {len(text):,} characters"
    elif mark.start < 0 or not text[mark.start : mark.end].strip():
        yield f"{_range(mark)}: is empty; expected at least one letter"
    if mark.kind == "cue" and mark.rank < 1:
        yield f"{_range(mark)}: a cue without a rank; expected 1 for the strongest, 2 for the next"
    if mark.kind != "cue" and mark.rank:
        yield f"{_range(mark)}: rank {mark.rank} of a mark that is not a cue; expected no rank"


def _range(mark: Mark) -> str:
    return f"{mark.start}-{mark.end}"


def _outermost(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that lie in no other mark, in the text's order.

    White space at their ends is left out.
    """
    outermost: list[Mark] = []
    for mark in sorted(marks, key=lambda m: (m.start, -m.end)):
        if outermost and mark.end <= outermost[-1].end:
            continue
        inside = text[mark.start : mark.end]
        start, end = (
            mark.start + len(inside) - len(inside.lstrip()),
            mark.end - len(inside) + len(inside.rstrip()),
        )
        if start < end:
            outermost.append(replace(mark, start=start, end=end))
    return outermost


def _append_part(version_parts: list[Part], text: str, start: int, end: int) -> None:
    if start < end:
        version_parts.append(Part(text[start:end], start, end))


def _joins(version_parts: Sequence[Part], removed: str) -> bool:
    """Whether only white space separates what is to be taken out from the last removal."""
    last = (
        version_parts[-2:]
        if len(version_parts) > 1
        and version_parts[-1].mark is None
        and not version_parts[-1].text.strip()
        else version_parts[-1:]
    )
    return bool(last) and last[0].mark is not None and last[0].text == removed


def _join(version_parts: list[Part], mark: Mark) -> None:
    if version_parts[-1].mark is None:
        version_parts.pop()
    version_parts[-1] = replace(version_parts[-1], end=mark.end)


def _mended(version_parts: Sequence[Part]) -> list[Part]:
    """The parts without what a gap that shows nothing leaves around it.

    What has letters is never touched.
    """
    mended = list(version_parts)
    for n, part in enumerate(version_parts):
        if part.mark is not None and not part.text:
            _mend(mended, n)
    return [part for part in mended if part.text or part.mark is not None]


def _mend(mended: list[Part], n: int) -> None:
    """Mend the text around the gap at place n.

    The parts beside it are the narrative's own or there are none.
    """
    preceding, following = (_neighbour_part(mended, at) for at in (n - 1, n + 1))
    if (
        following is not None
        and preceding is not None
        and preceding.text[-1:] in ("(", "[", "{")
        and following.text[:1] in (")", "]", "}")
    ):
        mended[n - 1], mended[n + 1] = preceding, following = (
            _shorter(preceding, end=1),
            _shorter(following, start=1),
        )
    before, after = ("".join(p.text for p in some) for some in (mended[:n], mended[n + 1 :]))
    if following is not None and (not before or before[-1].isspace()):
        cut = _blanks(following.text)
        mended[n + 1], after = _shorter(following, start=cut), after[cut:]
    if preceding is not None and (not after or after[0] in _CLOSING + "\n"):
        preceding = mended[n - 1] = _shorter(preceding, end=_blanks(preceding.text[::-1]))
        if preceding.text[-1:] in (",", ";") and after[:1] in (".", ",", ";", ":", ""):
            mended[n - 1] = _shorter(preceding, end=1)


def _neighbour_part(mended: Sequence[Part], n: int) -> Part | None:
    return mended[n] if 0 <= n < len(mended) and mended[n].mark is None else None


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))


def _shorter(part: Part, start: int = 0, end: int = 0) -> Part:
    return replace(
        part,
        text=part.text[start : len(part.text) - end],
        start=part.start + start,
        end=part.end - end,
    )


def unchanged(text: str, marks: Sequence[Mark], removed: str = REMOVED) -> tuple[str, ...]:
    """The levels whose text is that of the level before.

    >>> unchanged("Fever and cough", [Mark(0, 5, "cue", 1)])
    ('0', '2', '3')
    """
    texts = {level: masked(text, marks, level, removed) for level in LEVELS}
    return tuple(level for before, level in pairwise(LEVELS) if texts[before] == texts[level])
