"""Digests of the files that are read, for the audit log: which bytes a number rests on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from konsil.store.engine.folders import sha256


def digests_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """File -> SHA-256 of its bytes; of a folder, the digest of those of all its files."""
    return {name: _digest(folder / name) for name in names}


def digest_of_all(files: Mapping[str, str]) -> str:
    """One digest for several files: of one file its own.

    >>> digest_of_all({"a.csv": "1f"})
    '1f'
    """
    if len(files) == 1:
        return next(iter(files.values()))
    return hashlib.sha256(
        "".join(f"{d}  {name}\n" for name, d in sorted(files.items())).encode()
    ).hexdigest()


def _digest(path: Path) -> str:
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file())
        return digest_of_all({p.relative_to(path).as_posix(): sha256(p) for p in inside})
    return sha256(path) if path.is_file() else ""
