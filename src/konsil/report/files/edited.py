"""Files made on request that somebody changed: a report does not replace them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

FOLDER = "manuscript"
"""The folder of the manuscript within that of the report."""
PRINT = "print-figures"
"""The folder of figures for print within that of the report."""
ON_REQUEST = (FOLDER, PRINT)
"""The folders that a report has only where they are asked for."""
SUMS = "SHA256SUMS"
"""The file with the checksums of such a folder's files, as the program sha256sum writes it."""
_OF_LATEX = frozenset({".aux", ".bbl", ".blg", ".log", ".out", ".pdf"})
"""Endings of what LaTeX makes beside the manuscript."""


def checksums(files: Mapping[str, bytes]) -> bytes:
    """The lines of `SUMS`: a checksum and a path each.

    >>> checksums({"b": b"", "a": b""}).split()[::2] == [hashlib.sha256().hexdigest().encode()] * 2
    True
    """
    lines = [
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())
    ]
    return "".join(lines).encode()


def with_checksums(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    """The files, and the checksums of those within a folder where there are any."""
    within = {
        name.removeprefix(f"{folder}/"): data
        for name, data in files.items()
        if name.startswith(f"{folder}/")
    }
    return {**files, **({f"{folder}/{SUMS}": checksums(within)} if within else {})}


def edited_file(folder: Path) -> str | None:
    """The first file that is not as konsil wrote it, changed or added; None where all are.

    What LaTeX makes beside the manuscript does not count, nor does a folder without checksums.
    """
    sums = folder / SUMS
    if not sums.is_file():
        return None
    lines = (
        line.partition("  ") for line in sums.read_bytes().decode("utf-8", "replace").splitlines()
    )
    digests = {name: digest for digest, _, name in lines}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name == SUMS or (path.parent == folder and path.suffix in _OF_LATEX):
            continue
        if digests.get(name) != hashlib.sha256(path.read_bytes()).hexdigest():
            return name
    return None
