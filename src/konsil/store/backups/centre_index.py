"""The backup of a study centre: a small archive that lists those of its studies, with their heads.

It is written last, so that whatever it lists is complete. It is encrypted like them.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from konsil.errors import StoreError
from konsil.store.backups.archive import add_member, new_archive
from konsil.store.backups.cipher import decrypting, recipients_of
from konsil.version import __version__

INDEX, SETTINGS = "centre.json", "centre.toml"
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


class NoIndexError(StoreError):
    """The archive is another one than that of a centre."""


def write_index(target: Path, index: CentreIndex, *, keys: Sequence[str] = ()) -> None:
    """Write the index to the new file `target`, or nothing, encrypted for the public keys."""
    record = {
        "made_at": index.made_at,
        "konsil": __version__,
        "archives": [asdict(listed) for listed in index.archives],
        "missing": list(index.missing),
    }
    members = {INDEX: json.dumps(record, ensure_ascii=False, indent=1)}
    if index.settings is not None:
        members[SETTINGS] = index.settings
    with new_archive(target, recipients_of(keys)) as archive:
        for name, text in members.items():
            content = text.encode()
            add_member(archive, name, io.BytesIO(content), len(content))


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
            tuple(str(study) for study in record["missing"]),
            texts.get(SETTINGS),
        )
    except (ValueError, KeyError, TypeError):
        raise StoreError(f"{path}: is incomplete: no readable {INDEX}") from None
    studies = [listed.study for listed in index.archives]
    for listed in index.archives:
        if studies.count(listed.study) > 1:
            raise StoreError(f"{path}: lists {listed.study!r} twice")
        for name in (listed.study, listed.file):
            if not _is_plain(name):
                raise StoreError(f"{path}: lists {name!r}, which is no name of a file")
    return index


def _read_texts(path: Path, plain: IO[bytes]) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    with tarfile.open(fileobj=plain, mode="r|") as members:
        for member in members:
            if not texts and member.name != INDEX:
                # The backup of a study, which may be large, is not read to its end.
                raise NoIndexError(f"{path}: is not the backup of a study centre")
            source = members.extractfile(member) if member.isreg() else None
            if source is None or member.name not in (INDEX, SETTINGS):
                raise StoreError(f"{path}: contains {member.name!r}, which is no file of a centre")
            texts[member.name] = source.read(_LARGEST).decode()
    return texts


def _is_plain(name: str) -> bool:
    """Whether a name is one file or folder in the same folder, on every system."""
    return bool(name) and not name.startswith(".") and not set(name) & set("/\\:\0")
