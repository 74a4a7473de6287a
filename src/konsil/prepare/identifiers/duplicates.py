"""Questions that are asked more than once.

They are the same letter for letter, in the same words, in nearly the same, or in translation.

Items that say the same are no independent ones. What is found is for people to decide on; groups
are kept as an event.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from konsil.records import Event, Item

DUPLICATES = "duplicates"
"""The kind of the event that holds the groups."""
DUPLICATE = "duplicate"
"""The reason for which an item is left out that asks what another one asks."""
Match = Literal["exact", "same words", "near", "translated"]
"""Letter for letter; without case, marks and white space; most shingles in common; alike in
meaning."""
LIKENESS = 0.8
"""The share of shingles (five letters each) that near duplicates have in common at least."""
MEANING = 0.85
"""The cosine of two texts' vectors from which they count as translations of one another."""
_SHINGLE = 5
_BANDS, _ROWS = 24, 4
"""Of pairs with a likeness of 0.8 these bands miss one in 300,000, of 0.6 one in 28."""
_WORD = re.compile(r"\w+")
Embed = Callable[[Sequence[str]], NDArray[np.floating]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two items that ask the same."""

    first: str
    """The item whose id comes first."""
    second: str
    """The other one."""
    match: Match
    """In what they are alike."""
    likeness: float
    """How much, up to 1."""


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The groups of items that ask the same."""

    groups: tuple[tuple[str, ...], ...] = ()
    """The items of each group, by id."""
    how: Mapping[str, str] = field(default_factory=dict)
    """Item that is in a group -> how it is like the item that it is most like."""
    searched: tuple[str, ...] = ()
    """In which ways it was searched."""
    pool: int = 0
    """Among how many items."""
    apart: Mapping[str, str] = field(default_factory=dict)
    """Item that a person declared to be none -> who did."""

    @property
    def n_items(self) -> int:
        """The number of items that are in groups."""
        return sum(map(len, self.groups))


def normalised(text: str) -> str:
    """The words of a text without case, marks and white space.

    >>> normalised("Dose of  Apixaban (5 mg)?")
    'dose of apixaban 5 mg'
    """
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def pairs(
    items: Sequence[Item], *, likeness: float = LIKENESS, embed: Embed | None = None
) -> tuple[Pair, ...]:
    """All pairs of items that ask the same, by their ids; with `embed` those alike in meaning, too.

    >>> items = [Item("a", "Which dose?"), Item("b", "which  dose ?"), Item("c", "Which diet?")]
    >>> [(pair.first, pair.second, pair.match) for pair in pairs(items)]
    [('a', 'b', 'same words')]
    """
    ordered = sorted(items, key=lambda item: item.id)
    words = [normalised(item.text) for item in ordered]
    pair_by_rows: dict[tuple[int, int], Pair] = {}
    for i, j in _same(words):
        way: Match = "exact" if ordered[i].text == ordered[j].text else "same words"
        pair_by_rows[i, j] = Pair(ordered[i].id, ordered[j].id, way, 1.0)
    shingles = [_shingles(text) for text in words]
    for i, j in sorted(_candidates(shingles)):
        # Equal words are linked above already, if not every two of them.
        if (i, j) not in pair_by_rows and words[i] != words[j]:
            share = len(shingles[i] & shingles[j]) / len(shingles[i] | shingles[j])
            if share >= likeness:
                pair_by_rows[i, j] = Pair(ordered[i].id, ordered[j].id, "near", round(share, 3))
    if embed is not None and len(ordered) > 1:
        for i, j, cosine in _alike(embed([item.text for item in ordered])):
            pair_by_rows.setdefault(
                (i, j), Pair(ordered[i].id, ordered[j].id, "translated", round(cosine, 3))
            )
    return tuple(pair for _, pair in sorted(pair_by_rows.items()))


def _same(words: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of each text with the first and with the last earlier text of the same words."""
    places: dict[str, list[int]] = {}
    for n, text in enumerate(words):
        if text:
            places.setdefault(text, []).append(n)
    # Enough to make one group: all pairs of a thousand equal texts would be half a million.
    row_pairs = [pair for some in places.values() for pair in pairwise(some)]
    return row_pairs + [(some[0], j) for some in places.values() for j in some[2:]]


def _shingles(text: str) -> frozenset[int]:
    padded = f" {text} "
    # Python's own hash differs from run to run; this one does not.
    return frozenset(
        zlib.crc32(padded[n : n + _SHINGLE].encode())
        for n in range(max(1, len(padded) - _SHINGLE + 1))
    )


def _candidates(shingles: Sequence[frozenset[int]]) -> set[tuple[int, int]]:
    """Pairs that share a band of their MinHash signatures.

    Of many alike each is paired with the first and with the previous text.
    """
    constants = np.frombuffer(
        b"".join(
            hashlib.blake2b(b"minhash%d" % n, digest_size=16).digest()
            for n in range(_BANDS * _ROWS)
        ),
        np.uint64,
    ).reshape(-1, 2)
    # An odd factor loses no bit modulo 2**64, and the upper half of the product is the well mixed
    # one.
    factors, terms = constants[:, :1] | np.uint64(1), constants[:, 1:]
    signatures = [
        (
            (factors * np.fromiter(shingle_set, np.uint64, len(shingle_set)) + terms)
            >> np.uint64(32)
        ).min(axis=1)
        for shingle_set in shingles
    ]
    row_pairs: set[tuple[int, int]] = set()
    for band in range(_BANDS):
        places: dict[bytes, list[int]] = {}
        for n, signature in enumerate(signatures):
            places.setdefault(signature[band * _ROWS : (band + 1) * _ROWS].tobytes(), []).append(n)
        for some in places.values():
            row_pairs.update(pairwise(some))
            row_pairs.update((some[0], j) for j in some[2:])
    return row_pairs


def _alike(vectors: NDArray[np.floating], block: int = 1_000) -> list[tuple[int, int, float]]:
    row_pairs = []
    # In blocks: the cosines of all texts with all others at once could exceed the memory.
    for begin in range(0, len(vectors), block):
        cosines = vectors[begin : begin + block] @ vectors.T
        for i, j in zip(*np.nonzero(cosines >= MEANING), strict=True):
            if begin + i < j:
                row_pairs.append((int(begin + i), int(j), float(cosines[i, j])))
    return row_pairs


def grouped(some: Iterable[Pair], apart: Iterable[str] = ()) -> tuple[tuple[str, ...], ...]:
    """Items that are alike directly or by others, without those that a person declared to be none.

    >>> ids = [("a", "b"), ("b", "c"), ("d", "e")]
    >>> grouped([Pair(first, second, "near", 0.9) for first, second in ids], ["e"])
    (('a', 'b', 'c'),)
    """
    out = set(apart)
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for pair in some:
        if not out & {pair.first, pair.second}:
            parent[root(pair.second)] = root(pair.first)
    groups: dict[str, list[str]] = {}
    for name in sorted(parent):
        groups.setdefault(root(name), []).append(name)
    return tuple(sorted(tuple(group) for group in groups.values() if len(group) > 1))


_ORDER: tuple[Match, ...] = ("exact", "same words", "near", "translated")


def duplicate_groups(
    items: Sequence[Item],
    some: Sequence[Pair],
    *,
    translated: bool,
    apart: Mapping[str, str] | None = None,
) -> Duplicates:
    """The groups that pairs make, with how each item is like the one that it is most like."""
    item_ids = {item.id for item in items}
    apart = {item: by for item, by in sorted((apart or {}).items()) if item in item_ids}
    groups = grouped(some, apart)
    within = {name for group in groups for name in group}
    way_by_item: dict[str, str] = {}
    for pair in sorted(some, key=lambda pair: _ORDER.index(pair.match), reverse=True):
        way_by_item.update(
            {
                name: pair.match
                for name in (pair.first, pair.second)
                if {pair.first, pair.second} <= within
            }
        )
    return Duplicates(
        groups,
        dict(sorted(way_by_item.items())),
        _ORDER if translated else _ORDER[:3],
        len(items),
        apart,
    )


def to_leave_out(duplicates: Duplicates, out: Iterable[str]) -> tuple[str, ...]:
    """All but one of each group: the first by id stays that is not left out already (`out`)."""
    excluded = set(out)
    to_exclude: list[str] = []
    for group in duplicates.groups:
        remaining = [name for name in group if name not in excluded]
        to_exclude += remaining[1:]
    return tuple(to_exclude)


def duplicates_event(duplicates: Duplicates, number: int, at: str) -> Event:
    """What is kept of a search; `number` counts the study's from 1."""
    data = {"number": number, **dataclasses.asdict(duplicates)}
    return Event(f"{DUPLICATES}-{number}", DUPLICATES, "items", at, data)


def last_duplicates(events: Iterable[Event]) -> tuple[int, Duplicates | None]:
    """The groups that were found last, and the search's number; 0 and None: never searched."""
    searches: list[Mapping[str, Any]] = [event.data for event in events if event.kind == DUPLICATES]
    if not searches:
        return 0, None
    data = max(searches, key=lambda search: int(search.get("number", 0)))
    names = {f.name for f in dataclasses.fields(Duplicates)}
    values: dict[str, Any] = {name: value for name, value in data.items() if name in names}
    values["searched"] = tuple(values.get("searched", ()))
    values["groups"] = tuple(tuple(group) for group in values.get("groups", ()))
    return int(data.get("number", 0)), Duplicates(**values)


def same_texts(items: Iterable[Item]) -> tuple[tuple[str, ...], ...]:
    """Groups of items that have one text, letter case, spaces and punctuation aside.

    Items without a text have none.

    >>> texts = {"a": "Which dose?", "b": "which  dose", "c": "", "d": ""}
    >>> same_texts([Item(name, text) for name, text in texts.items()])
    (('a', 'b'),)
    """
    by_text: dict[str, list[str]] = {}
    for item in items:
        by_text.setdefault(normalised(item.text), []).append(item.id)
    return tuple(tuple(group) for text, group in by_text.items() if text and len(group) > 1)


def within(duplicates: Duplicates, items: Iterable[str]) -> tuple[int, int]:
    """How many of these items are in groups with another of them, and in how many groups."""
    chosen = set(items)
    sizes = [n for group in duplicates.groups if (n := len(chosen.intersection(group))) > 1]
    return sum(sizes), len(sizes)
