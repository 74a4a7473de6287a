"""The backup of a study centre: a small archive that lists those of its studies, with their heads.

It also contains the centre's settings and a copy of its own audit log. It is written last, so that
whatever it lists is complete. It is encrypted like them.
"""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from konsil.errors import StoreError
from konsil.store.backups.archive import add_member, new_archive
from konsil.store.backups.cipher import CHUNK, decrypting, recipients_of
from konsil.store.engine.private import create_private
from konsil.version import __version__

INDEX, SETTINGS, LOG = "centre.json", "centre.toml", "centre.db"
_LARGEST = 1 << 24


@dataclass(frozen=True, slots=True)
class ListedArchive:
    """The backup of one study of the centre."""

    study: str
    """The study's part of the address."""
    file: str
    """The name of its backup, in the same folder as the index."""
    head: str
    """The head of its audit log."""


@dataclass(frozen=True, slots=True)
class CentreIndex:
    """What a backup of a centre contains."""

    made_at: str
    """The time when it was complete, ISO 8601 in UTC."""
    archives: tuple[ListedArchive, ...]
    """The backups of its studies."""
    missing: tuple[str, ...] = ()
    """Studies that could not be backed up."""
    settings: str | None = None
    """The text of centre.toml, if the centre has one."""
    log_head: str = ""
    """The head of the centre's own audit log; empty: the backup does not contain it."""


class NoIndexError(StoreError):
    """The archive is another one than that of a centre."""


def write_index(
    target: Path, index: CentreIndex, *, keys: Sequence[str] = (), log: Path | None = None
) -> None:
    """Write the index to the new file `target`, or nothing, encrypted for the public keys.

    `log`: a copy of the centre's own audit log, as a database of SQLite.
    """
    record = {
        "made_at": index.made_at,
        "konsil": __version__,
        "archives": [asdict(listed) for listed in index.archives],
        "missing": list(index.missing),
        "log": index.log_head,
    }
    members = {INDEX: json.dumps(record, ensure_ascii=False, indent=1)}
    if index.settings is not None:
        members[SETTINGS] = index.settings
    with new_archive(target, recipients_of(keys)) as archive:
        for name, text in members.items():
            content = text.encode()
            add_member(archive, name, io.BytesIO(content), len(content))
        if log is not None:
            with log.open("rb") as file:
                add_member(archive, LOG, file, log.stat().st_size)


def read_index(path: Path, *, secret: str = "") -> CentreIndex:
    """The index in an archive; a NoIndexError if it is no backup of a centre."""
    try:
        with path.open("rb") as file, decrypting(file, path, secret) as plain:
            texts = _read_texts(path, plain)
    except (tarfile.TarError, EOFError, UnicodeDecodeError):
        raise NoIndexError(f"{path}: is not an archive of konsil") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        record = json.loads(texts[INDEX])
        index = CentreIndex(
            str(record["made_at"]),
            tuple(
                ListedArchive(str(a["study"]), str(a["file"]), str(a["head"]))
                for a in record["archives"]
            ),
            # A folder may have any name.
            tuple(_printable(str(study)) for study in record["missing"]),
            texts.get(SETTINGS),
            # Lists of older versions have no log.
            str(record.get("log", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StoreError(f"{path}: is incomplete: no readable {INDEX}") from None
    if bool(index.log_head) != (LOG in texts):
        raise StoreError(f"{path}: lists another audit log of the centre than it contains")
    if not all(text.isprintable() for text in (index.made_at, index.log_head)):
        raise StoreError(f"{path}: is incomplete: no readable {INDEX}")
    studies = [listed.study for listed in index.archives]
    for listed in index.archives:
        if studies.count(listed.study) > 1:
            raise StoreError(f"{path}: lists {listed.study!r} twice")
        for name in (listed.study, listed.file):
            if not is_plain(name):
                raise StoreError(f"{path}: lists {name!r}, which is no name of a file")
    return index


def _read_texts(path: Path, plain: IO[bytes]) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    with tarfile.open(fileobj=plain, mode="r|") as members:
        for member in members:
            if not texts and member.name != INDEX:
                # The backup of a study, which may be large, is not read to its end.
                raise NoIndexError(f"{path}: is not the backup of a study centre")
            is_plain = member.isreg() and not member.issparse()
            source = members.extractfile(member) if is_plain else None
            if source is None or member.name not in (INDEX, SETTINGS, LOG):
                raise StoreError(f"{path}: contains {member.name!r}, which is no file of a centre")
            if member.name in texts:
                raise StoreError(f"{path}: contains {member.name!r} twice")
            texts[member.name] = "" if member.name == LOG else source.read(_LARGEST).decode()
    return texts


def unpack_log(path: Path, target: Path, *, secret: str = "") -> None:
    """Write the copy of the centre's own audit log in an index to the new file `target`."""
    try:
        with path.open("rb") as file, decrypting(file, path, secret) as plain:
            with tarfile.open(fileobj=plain, mode="r|") as members:
                for member in members:
                    is_log = member.name == LOG and member.isreg() and not member.issparse()
                    source = members.extractfile(member) if is_log else None
                    if source is not None:
                        create_private(target)
                        with target.open("wb") as copy:
                            shutil.copyfileobj(source, copy, CHUNK)
            # What follows the end of the archive is read, too: the cipher checks it.
            while plain.read(CHUNK):
                pass
    except (tarfile.TarError, EOFError):
        raise StoreError(f"{path}: is incomplete, or not an archive of konsil") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from None


def _printable(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name)


def is_plain(name: str) -> bool:
    """Whether a name is one file or folder in the same folder, on every system.

    A study's folder must not take the place of the centre's own files, either.

    >>> is_plain("trial-1"), is_plain("../trial"), is_plain("a:b"), is_plain("centre.toml")
    (True, False, False, False)
    """
    is_own = name.lower() in (SETTINGS, LOG)
    is_hidden = not name or name.startswith(".")
    return not is_own and not is_hidden and name.isprintable() and not set(name) & set("/\\:")
