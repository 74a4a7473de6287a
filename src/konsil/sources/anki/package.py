"""Anki's packages: zip archives with a collection and a map of media.

Since 2022 a package also states its own form (version).
"""

from __future__ import annotations

import json
import lzma
import zipfile
import zlib
from pathlib import Path

from konsil.errors import SourceError
from konsil.records import Note
from konsil.sources.anki import protobuf
from konsil.sources.anki.collection import is_stub, read_collection

_COLLECTIONS = {3: "collection.anki21b", 2: "collection.anki21", 1: "collection.anki2"}
"""The form that a package says it has -> where its notes are; the others are there for older
versions of Anki."""
_NEWEST = max(_COLLECTIONS)
_FORM, _ENTRY, _NAME = 1, 1, 1

LARGEST = 1 << 30
"""Bytes that a part of a package may have once it is decompressed."""
ALWAYS, RATIO = 64 << 20, 200
"""A part may grow to the first number of bytes, beyond it only to the second number of times its
size."""
_WINDOW = 1 << 27
_PIECE = 1 << 10
# A small piece, because zstd can make a hundred kilobytes of every few bytes.


def read_package(path: Path) -> tuple[tuple[Note, ...], tuple[str, ...]]:
    """The notes of a package and the names of its media; nothing is unpacked to the disk."""
    where = path.name
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, where)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        raise SourceError(f"{where}: the package is damaged ({error}); export it again") from None
    except (NotImplementedError, RuntimeError) as error:
        raise SourceError(
            f"{where}: the package is compressed or encrypted in a way that is not supported"
            f" ({error})"
        ) from None


def decompressed(data: bytes, where: str) -> bytes:
    """The content of one zstd frame, within the limits."""
    import zstandard

    piece = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
    limit, parts, size = _limit(len(data)), [], 0
    try:
        for at in range(0, len(data), _PIECE):
            parts.append(piece.decompress(data[at : at + _PIECE]))
            size += len(parts[-1])
            if size > limit:
                raise _bomb(len(data), limit, where)
            if piece.eof:
                return b"".join(parts)
    except zstandard.ZstdError as error:
        raise SourceError(
            f"{where}: the compressed collection is damaged ({error}); export it again"
        ) from None
    raise SourceError(f"{where}: the compressed collection ends too early; export it again")


def _read(archive: zipfile.ZipFile, where: str) -> tuple[tuple[Note, ...], tuple[str, ...]]:
    names = archive.namelist()
    _refuse_tricks(names, where)
    form = _form(archive, names, where)
    name = _COLLECTIONS[form]
    raw = _part(archive, name, where)
    notes = read_collection(decompressed(raw, where) if form == _NEWEST else raw, where)
    if form == 1 and is_stub(notes):
        raise SourceError(
            f"{where}: the package contains no notes, only the notice that a newer Anki is needed;"
            " export it again"
        )
    return notes, _media(archive, names, form, where)


def _refuse_tricks(names: list[str], where: str) -> None:
    """Names outside the archive, or names that occur twice: no export contains them."""
    for name in names:
        if name.startswith("/") or "\\" in name or ":" in name or ".." in name.split("/"):
            raise SourceError(
                f"{where}: the package has an entry {name!r} with a path outside the package;"
                " refused"
            )
    for name in (*_COLLECTIONS.values(), "media", "meta"):
        if names.count(name) > 1:
            raise SourceError(f"{where}: the package has {name!r} more than once; refused")


def _form(archive: zipfile.ZipFile, names: list[str], where: str) -> int:
    """The form of the collection that a package states, or else the newest that it has."""
    present = [form for form, name in _COLLECTIONS.items() if name in names]
    if not present:
        raise SourceError(
            f"{where}: the archive is not an Anki package: it has no"
            f" {', '.join(sorted(_COLLECTIONS.values()))}"
        )
    if "meta" not in names:
        return present[0]
    try:
        stated_form = protobuf.number(_part(archive, "meta", where), _FORM)
    except protobuf.WireError as error:
        raise SourceError(f"{where}: the package's meta cannot be read: {error}") from None
    if stated_form > _NEWEST:
        raise SourceError(
            f"{where}: the package has format {stated_form}; this konsil reads formats up to"
            f" {_NEWEST}"
        )
    if stated_form in _COLLECTIONS and stated_form not in present:
        raise SourceError(
            f"{where}: the package refers to {_COLLECTIONS[stated_form]!r} for its notes, which"
            " is missing; export it again"
        )
    return stated_form or present[0]


def _media(archive: zipfile.ZipFile, names: list[str], form: int, where: str) -> tuple[str, ...]:
    """The media's names: a table in JSON, or a compressed list of messages."""
    if "media" not in names:
        return ()
    raw = _part(archive, "media", where)
    try:
        if form == _NEWEST:
            entries = protobuf.fields(decompressed(raw, where))
            return tuple(
                protobuf.text(e, _NAME) for n, e in entries if n == _ENTRY and isinstance(e, bytes)
            )
        listed = json.loads(raw or b"{}")
        if not isinstance(listed, dict):
            raise TypeError
    except (ValueError, TypeError, RecursionError):
        raise SourceError(
            f"{where}: the package's list of media cannot be read; export it again"
        ) from None
    return tuple(str(name) for name in listed.values())


def _part(archive: zipfile.ZipFile, name: str, where: str) -> bytes:
    """A part's content, within the limits.

    What counts is what comes out, whatever the archive says of its size.
    """
    info = archive.getinfo(name)
    limit = _limit(info.compress_size)
    with archive.open(info) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise _bomb(info.compress_size, limit, where)
    return content


def _limit(packed: int) -> int:
    return min(LARGEST, max(ALWAYS, RATIO * packed))


def _bomb(packed: int, limit: int, where: str) -> SourceError:
    return SourceError(
        f"{where}: {packed:,} bytes unpack to more than {limit:,}; this is not a collection;"
        " reading stopped"
    )
