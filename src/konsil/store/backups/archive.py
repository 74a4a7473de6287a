"""A study's folder and database as one file, encrypted if wanted, and the way back.

The file is a tar archive with the study's files under `study/`, the database as `konsil.db` and,
last, `manifest.json` with the digest of every file and the head of the audit log. It is encrypted
in the format of age (https://age-encryption.org/v1): the server has only the public key, so nobody
who takes over the server can read the archives that were made before.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, cast

from konsil.errors import StoreError
from konsil.store.backups.backup import copy_to
from konsil.store.backups.cipher import CHUNK, decrypting, encrypting, recipients_of
from konsil.store.engine.leftovers import database_draft
from konsil.store.engine.private import create_private
from konsil.store.engine.schema import SCHEMA
from konsil.store.log.db import Store
from konsil.version import __version__

if TYPE_CHECKING:
    from pyrage import x25519

DATABASE, MANIFEST, STUDY = "konsil.db", "manifest.json", "study/"
_LARGEST_MANIFEST = 1 << 26


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive contains."""

    study: str
    """The name of the folder."""
    made_at: str
    """The time of the backup, ISO 8601 in UTC."""
    head: str
    """The head of the audit log in it."""
    konsil: str = __version__
    """The version that wrote it."""
    schema: int = SCHEMA
    """The schema of the database in it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each member."""


def write_archive(
    store: Store,
    folder: Path,
    target: Path,
    files: Sequence[Path],
    *,
    keys: Sequence[str] = (),
    at: str,
) -> Manifest:
    """Write the files and a copy of the database to the new file `target`, or nothing.

    `files` are relative to `folder`; `keys` are public keys of age, for which the archive is
    encrypted. The database's log is verified before.
    """
    recipients = recipients_of(keys)
    if target.exists():
        raise StoreError(f"{target}: exists already; choose a new file")
    # The copy of the database is plain text: it stays where the database itself is, and never lies
    # where the archives are.
    with database_draft(folder / DATABASE) as database:
        copied = copy_to(store, database)
        if copied.problems:
            raise StoreError(f"{store.name}: not archived: {copied.problems[0]}")
        manifest = Manifest(folder.absolute().name, at, copied.head)
        members = {DATABASE: database} | {f"{STUDY}{f.as_posix()}": folder / f for f in files}
        with new_archive(target, recipients) as packed:
            digests = _pack(packed, members, manifest)
    return replace(manifest, files=digests)


@contextmanager
def new_archive(target: Path, recipients: Sequence[x25519.Recipient]) -> Iterator[tarfile.TarFile]:
    """A tar archive that is the new file `target` once it is complete, encrypted if wanted."""
    with database_draft(target) as draft:
        # "|": written in one pass, as a pipe takes it.
        with (
            draft.open("wb") as file,
            encrypting(file, recipients) as plain,
            tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        ):
            yield archive
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        try:
            # A link, because a rename would replace a file that came meanwhile.
            os.link(draft, target)
        except FileExistsError:
            raise StoreError(f"{target}: exists already; choose a new file") from None


def _pack(
    archive: tarfile.TarFile, members: Mapping[str, Path], manifest: Manifest
) -> dict[str, str]:
    digests: dict[str, str] = {}
    for name, path in members.items():
        with path.open("rb") as file:
            digests[name] = add_member(archive, name, file, path.stat().st_size)
    text = json.dumps(asdict(replace(manifest, files=digests)), ensure_ascii=False, indent=1)
    content = text.encode()
    add_member(archive, MANIFEST, io.BytesIO(content), len(content))
    return digests


def add_member(archive: tarfile.TarFile, name: str, file: IO[bytes], size: int) -> str:
    """Add a file as a member; its SHA-256."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    reader = _Digesting(file)
    archive.addfile(entry, cast(IO[bytes], reader))
    return reader.digest.hexdigest()


class _Digesting:
    """A file that computes the digest of what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self.digest.update(content)
        return content


def unpack_archive(archive: Path, folder: Path, *, secret: str = "") -> Manifest:
    """Unpack an archive into an empty folder and compare every file with the manifest.

    The study's files are then in `folder`, the database is `folder / "konsil.db"`. `secret` is the
    secret key of age where the archive is encrypted. A StoreError where anything is missing,
    altered or unexpected.
    """
    digests: dict[str, str] = {}
    content = b""
    try:
        with archive.open("rb") as file, decrypting(file, archive, secret) as plain:
            with tarfile.open(fileobj=plain, mode="r|") as members:
                for member in members:
                    # A sparse member is small in the archive and as large as it likes on the disk.
                    is_plain = member.isreg() and not member.issparse()
                    source = members.extractfile(member) if is_plain else None
                    if source is None:
                        raise StoreError(f"{archive}: {member.name!r} is not a plain file")
                    if member.name == MANIFEST:
                        content = source.read(_LARGEST_MANIFEST)
                    elif member.name in digests:
                        raise StoreError(f"{archive}: contains {member.name!r} twice")
                    else:
                        place = folder / _place(archive, member.name)
                        digests[member.name] = _unpack(source, place)
            # What follows the end of the archive is read, too: the cipher checks it.
            while plain.read(CHUNK):
                pass
    except (tarfile.TarError, EOFError, UnicodeDecodeError):
        raise StoreError(f"{archive}: is incomplete, or not an archive of konsil") from None
    except OSError as error:
        raise StoreError(f"{archive}: cannot be read: {error.strerror or error}") from None
    return _compare(archive, content, digests)


def _place(archive: Path, name: str) -> Path:
    """Where a member goes; names that lead out of the folder are refused."""
    parts = PurePosixPath(name).parts
    if name == DATABASE:
        return Path(DATABASE)
    is_safe = name.startswith(STUDY) and len(parts) > 1 and ".." not in parts and "\\" not in name
    is_unique = name == PurePosixPath(name).as_posix()
    # SQLite would read files beside the database, such as konsil.db-wal, as part of it.
    is_database = len(parts) == 2 and parts[1].startswith(DATABASE)
    # A name such as c:x would be another drive's on Windows.
    if not is_safe or not is_unique or is_database or any(":" in part for part in parts):
        raise StoreError(f"{archive}: contains {name!r}, which is no file of a study")
    return Path(*parts[1:])


def _unpack(source: IO[bytes], place: Path) -> str:
    place.parent.mkdir(parents=True, exist_ok=True)
    create_private(place)
    digest = hashlib.sha256()
    with place.open("wb") as file:
        while part := source.read(CHUNK):
            digest.update(part)
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _compare(archive: Path, content: bytes, digests: Mapping[str, str]) -> Manifest:
    try:
        record = json.loads(content)
        manifest = Manifest(
            str(record["study"]),
            str(record["made_at"]),
            str(record["head"]),
            str(record["konsil"]),
            int(record["schema"]),
            {str(name): str(digest) for name, digest in record["files"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StoreError(
            f"{archive}: is incomplete, or not an archive of konsil: no readable {MANIFEST}"
        ) from None
    if manifest.schema > SCHEMA:
        raise StoreError(
            f"{archive}: was written by the newer konsil {manifest.konsil}; install that version"
        )
    for name in sorted({*digests, *manifest.files, DATABASE}):
        if name not in digests:
            raise StoreError(f"{archive}: {name!r} is missing")
        if digests[name] != manifest.files.get(name):
            raise StoreError(f"{archive}: {name!r} differs from the manifest")
    return manifest
