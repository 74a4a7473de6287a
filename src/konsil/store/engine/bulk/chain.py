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


def is_continuation(rows: Sequence[Any], before: int, previous: str) -> bool:
    """Whether entries follow each other and the one before, each with its own hash."""
    seqs, ats, kinds, texts, stated, hashes = zip(*rows, strict=True)
    if seqs != (*range(before + 1, before + 1 + len(rows)),):
        return False
    return stated == (previous, *hashes[:-1]) and hashes == _hashes(seqs, ats, kinds, texts, stated)


def _hashes(*columns: Sequence[Any]) -> tuple[str, ...]:
    """The hash of each entry, of the columns of entries."""
    seqs, *texts = columns
    try:
        written = zip(map(str, seqs), *(map(_ascii, column) for column in texts), strict=True)
        lines = [f"[{text}]".encode() for text in map(",".join, written)]
    except TypeError:  # an edited entry may hold what is no text
        return tuple(entry_hash(*row) for row in zip(*columns, strict=True))
    return tuple([hashlib.sha256(line).hexdigest() for line in lines])


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
