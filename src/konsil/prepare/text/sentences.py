"""Spans of the sentences of an answer, in German and English, with models' lists.

A heading, a rule and the head of a table are no sentences; every entry of a list and every row of a
table is one at least. What is between two spans is white space, a list's mark or something that
nobody can rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from konsil.prepare.text.abbreviations import (
    BEFORE_NUMBER,
    COUNTRIES,
    DURATIONS,
    FOLLOWED_BY,
    INFLECTED,
    KIND_OF,
    MAYBE_LAST,
    NEVER_LAST,
    OF_TWO_LANGUAGES,
    ORDINAL_AFTER,
    ORDINAL_BEFORE,
    SIDES,
    STARTERS,
    UNITS,
)
from konsil.records import Span

_MARK = re.compile(r"[ \t]*(?:(?:[-*+•‣–]|\d{1,3}[.)]|[A-Za-z]\)|>|☐|✓)[ \t]+|\|[ \t]*)*")
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:\*\*|__)[^*_]+[^*_.!](?:\*\*|__):?[ \t]*$)")
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_LISTED = re.compile(r"[ \t]*(?:(?:[-*+•‣–]|\d{1,3}[.)]|[A-Za-z]\))[ \t]|[|#>])")
_STOP = re.compile(
    r"(?::(?=\s+1[.)]\s.{0,2000}\s2[.)]\s)|(?<![.!?…])[.!?…]++)[\"'”“’‘»«)\]*_]*(?:\[\d[\d,;–\-"
    r" ]*\])*(?=\s)"
)
_DOTTED = re.compile(r"(?:[^\W\d_]{1,12}\.)+")
_NEXT_LETTER = re.compile(r"[^\W\d_]\.")
_INK = re.compile(r"\S")
_COUNTS = re.compile(r"(?:\S*/)?[\d.,/–-]*\d")
_YEAR = re.compile(r"(?:\S*[/.])?(?:19|20)\d\d")
_DAY_AND_MONTH = re.compile(r"(?:0?[1-9]|[12]\d|3[01])\.\s*(?:0?[1-9]|1[0-2])\.")
_YEAR_NEXT = re.compile(r"(?:19|20)?\d\d(?!\d|[.,/]\d)")
_LAST_WORD = re.compile(r"[^\W\d_]{5,}(?:[.!?](?=\s)|[.!?]?$)")
_BEFORE_DURATION = re.compile(
    r"(?:in|nach|vor|seit|alle|after|every|within) (?:ca\. )?[\d.,/–-]*\d\s?\S+", re.I
)
_CLOSERS = "\"'”“’‘»«)]*_"
_OPENERS = "\"'“„”‘‚»«([*_~`<> "
_NEAR = 300
"""Characters before and after a stop that are looked at."""
_WRAPPED = 60
"""Characters from which on a line without a mark at its end was broken by an editor's margin."""


def sentences(text: str) -> tuple[Span, ...]:
    """The sentences of an answer, first to last.

    They do not overlap, and each begins and ends with a character of it.

    >>> text = "Take 2.5 mg p.o. b.i.d. with food, e.g. yoghurt. Dr. Lee knows more.[1]"
    >>> text += chr(10) + "- Call us!"
    >>> [text[s.start : s.end] for s in sentences(text)]
    ['Take 2.5 mg p.o. b.i.d. with food, e.g. yoghurt.', 'Dr. Lee knows more.[1]', 'Call us!']
    """
    return tuple(
        Span(start, end)
        for begin, stop in _blocks(text)
        for start, end in _cut(text, begin, stop)
        if any(c.isalpha() for c in text[start:end])
    )


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Lines without their marks; a paragraph that a margin broke into lines is one."""
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\r\n]+", text)]
    begin: int | None = None
    for n, (start, end) in enumerate(lines):
        line = text[start:end]
        after = text[slice(*lines[n + 1])] if n + 1 < len(lines) else ""
        if (
            _RULED.match(line)
            or _HEADING.match(line)
            or ("|" in line and "|" in after and _RULED.match(after))
        ):
            begin = None
            continue
        if begin is None:
            marked = _MARK.match(line)
            begin = start + (marked.end() if marked else 0)
        joined = n + 1 < len(lines) and text[end : lines[n + 1][0]] in ("\n", "\r\n")
        if not (joined and _goes_on_below(line, after)):
            yield begin, end
            begin = None


def _goes_on_below(line: str, after: str) -> bool:
    """Whether a line break is only the editor's margin."""
    last = line.rstrip().rstrip(_CLOSERS)[-1:]
    if (
        last in (".", "!", "?", "…", ":", ";", "|", "")
        or _LISTED.match(after)
        or _HEADING.match(after)
    ):
        return False
    return after.lstrip()[:1].islower() or len(line) >= _WRAPPED


def _cut(text: str, begin: int, stop: int) -> Iterator[tuple[int, int]]:
    start = begin
    for match in _STOP.finditer(text, begin, stop):
        end = match.end()
        if not _goes_on(_Gap(text, start, match.start(), end, stop)):
            yield _trimmed(text, start, end)
            start = end
    if text[start:stop].strip():
        yield _trimmed(text, start, stop)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    bare = piece.rstrip(" \t|")
    return start + len(piece) - len(piece.lstrip()), start + len(bare.rstrip())


@dataclass(frozen=True, slots=True)
class _Gap:
    """A place where a sentence may end."""

    text: str
    start: int
    """Where the sentence begins."""
    end: int
    """Where the full stop, question mark or the like begins."""
    after: int
    """Where it ends."""
    stop: int
    """Where the paragraph ends."""

    @property
    def first(self) -> int:
        """Where its first character is that is no white space."""
        match = _INK.search(self.text, self.start, self.end)
        return match.start() if match else self.end

    @property
    def opened(self) -> int:
        """Brackets that are open behind the stop."""
        return self.text.count("(", self.start, self.end) - self.text.count(
            ")", self.start, self.after
        )


def _goes_on(gap: _Gap) -> bool:
    """Whether the sentence goes on after a full stop or the like before white space."""
    text, stop = gap.text, gap.text[gap.end : gap.after]
    # A few words on both sides decide; whole paragraphs would be copied for every stop in them.
    before, after = (
        text[max(gap.start, gap.end - _NEAR) : gap.end],
        text[gap.after : min(gap.stop, gap.after + _NEAR)],
    )
    first = after.lstrip().lstrip(_OPENERS)
    if gap.opened > 0 and text.find(")", gap.after, gap.stop) >= 0:
        return True
    word = re.match(r"[^\W\d_]+", first)
    if word and first[0].islower() and not any(c.isupper() for c in word[0]):
        return True
    if stop.startswith(".)") and text.find("(", gap.first + 1, gap.end) >= 0:
        return True  # the full stop of an abbreviation in brackets, as in (nausea etc.)
    if stop.rstrip("*_") != ".":
        return not first
    return _abbreviated(f"{before}.", word[0] if word else "", after.lstrip())


def _abbreviated(before: str, word: str, after: str) -> bool:
    """Whether the full stop that ends `before` is an abbreviation's or ordinal's.

    An abbreviation or ordinal counts only where more of the sentence follows.
    """
    tokens = before.split()
    last, earlier = _bare(tokens[-1]), tokens[-2].casefold() if len(tokens) > 1 else ""
    day_and_month = last if last.count(".") == 2 else f"{_bare(earlier)} {last}"
    if _DAY_AND_MONTH.fullmatch(day_and_month) and _YEAR_NEXT.match(after):
        return True
    if re.fullmatch(r"\d{1,2}\.", last):
        return earlier in ORDINAL_AFTER or word.casefold() in ORDINAL_BEFORE
    if not _DOTTED.fullmatch(last):
        return False
    written = set(_tails(tokens))
    tails = {tail.casefold() for tail in written}
    number, single = after[:1].isdigit(), len(last) == 2
    if tails & COUNTRIES:
        return word.casefold() not in STARTERS
    if tails & OF_TWO_LANGUAGES and word.casefold() in STARTERS:
        return False
    if (
        written & NEVER_LAST
        or last in ("ä.", "ae.")
        or any(word in FOLLOWED_BY.get(t, ()) for t in tails)
    ):
        return True
    if len(tokens) == 1 and f"{last[0].lower()}{last[1:]}" in NEVER_LAST:
        return True
    if tails & BEFORE_NUMBER and number:
        return True
    if tails & MAYBE_LAST:
        alone = number or not word or after.startswith("(") or earlier in ORDINAL_AFTER
        return alone or _before_its_noun(tails, tokens, after)
    if single and not _NEXT_LETTER.match(after):
        # A letter alone: an initial or a genus, unless it counts (24 h.) or names a kind (hepatitis
        # B.).
        counted = (
            last.casefold() in UNITS and _COUNTS.fullmatch(earlier) and not _YEAR.fullmatch(earlier)
        )
        return number or not (earlier in KIND_OF or counted)
    return single


def _before_its_noun(tails: set[str], tokens: list[str], after: str) -> bool:
    """Whether an abbreviation of a side or a duration belongs to the noun that follows it."""
    earlier = tokens[-2] if len(tokens) > 1 else ""
    if tails & SIDES:
        adjective = (earlier.islower() or len(tokens) == 2) and earlier.endswith(INFLECTED)
        return not earlier or earlier[-1] in ".,;:" or adjective
    if tails & DURATIONS:
        return bool(_LAST_WORD.match(after) or _BEFORE_DURATION.fullmatch(" ".join(tokens)))
    return False


def _bare(token: str) -> str:
    """The word without what opens before it: (ca., chron.-entz."""
    return token.lstrip(_OPENERS).rpartition("-")[2]


def _tails(tokens: list[str]) -> Iterator[str]:
    """The last word and, where it is written with spaces as in z. B., the last words together."""
    tail = ""
    for token in reversed(tokens[-4:]):
        bare = _bare(token)
        if not _DOTTED.fullmatch(bare):
            return
        tail = bare + tail
        yield tail
