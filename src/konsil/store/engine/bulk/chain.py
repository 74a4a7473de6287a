"""The chain of the audit log's entries, checked some thousands at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from konsil.store.engine.bulk.fingerprints import row_text

_ascii = json.encoder.encode_basestring_ascii


def entry_hash(seq: int, at: str, kind: str, data: str, previous: str) -> str:
    """The hash of an entry: of all that it holds, and so of the hash before it."""
    text = row_text((seq, at, kind, data, previous))
    return hashlib.sha256(text.encode()).hexdigest()


def is_continuation(columns: Sequence[Sequence[Any]], before: int, previous: str) -> bool:
    """Whether entries follow each other and the one before, each with its own hash.

    The entries come as their columns: numbers, times, kinds, data, hashes before and own hashes.
    """
    seqs, *_, stated, hashes = columns
    if seqs != (*range(before + 1, before + 1 + len(seqs)),):
        return False
    return stated == (previous, *hashes[:-1]) and hashes == _hashes(*columns[:-1])


def _hashes(
    seqs: Sequence[Any],
    ats: Sequence[Any],
    kinds: Sequence[Any],
    texts: Sequence[Any],
    stated: Sequence[Any],
) -> tuple[str, ...]:
    """The hash of each entry, where each states the hash of the one before it."""
    try:
        shared = {text: _ascii(text) for text in {*ats, *kinds}}
        first = _ascii(stated[0])
        # Of the others nothing needs an escape: each is compared with a hash that is made here.
        befores = [first, *[f'"{text}"' for text in stated[1:]]]
        of_shared = shared.__getitem__
        cells = zip(
            map(str, seqs),
            map(of_shared, ats),
            map(of_shared, kinds),
            map(_ascii, texts),
            befores,
            strict=True,
        )
        lines = [f"[{text}]" for text in map(",".join, cells)]
    except TypeError:  # an edited entry may hold what is no text
        rows = zip(seqs, ats, kinds, texts, stated, strict=True)
        return tuple(entry_hash(*row) for row in rows)
    sha256 = hashlib.sha256
    return tuple([sha256(line).hexdigest() for line in map(str.encode, lines)])


def breaks(rows: Sequence[Any], before: int, previous: str) -> Iterator[str]:
    """What is wrong with these entries, after an entry with this number and hash."""
    for seq, at, kind, data, stated, digest in rows:
        if seq != before + 1:
            missing = (
                f"entry {before + 1} is"
                if seq == before + 2
                else f"entries {before + 1} to {seq - 1} are"
            )
            yield f"audit log: {missing} missing"
        elif stated != previous:
            yield (
                f"audit log: entry {seq} ({kind}) does not follow entry {before}; it was moved"
                " or replaced"
            )
        if digest != entry_hash(seq, at, kind, data, stated):
            yield f"audit log: entry {seq} ({kind}) was edited"
        before, previous = seq, digest
