"""An opened study: its folder, protocol and database.

What can be done with it is in the modules beside.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from konsil.errors import KonsilError, StudyError
from konsil.store import Store
from konsil.study import Study

PROTOCOL = "study.toml"
LARGEST = 1 << 24
"""Bytes that study.toml and each text that it names may have."""


def now() -> str:
    """The time, ISO 8601 in UTC to the second: the only clock of an import."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class OpenedStudy:
    """An opened study."""

    path: Path
    """The folder."""
    study: Study
    """What its study.toml says."""
    database: str = ""
    """URL of the database; empty: the folder's own SQLite file."""

    def store(self, *, create: bool = False) -> Store:
        """Open the study's database; close it, or use it in a `with`."""
        return Store.open(self.database or self.path, create=create)

    def has_store(self) -> bool:
        """Whether the study's database is there, with its tables."""
        return Store.is_made(self.database or self.path)

    def noted_digests(self) -> frozenset[str]:
        """The digests of every protocol that the study had; none where nothing is stored."""
        if not self.has_store():
            return frozenset()
        with self.store() as store:
            return store.noted_digests()


def read_text(file: Path) -> str:
    """The text of study.toml, or of a file that it names."""
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "is no file")
    if file.exists() and file.stat().st_size > LARGEST:
        raise StudyError(
            f"{file}: has {file.stat().st_size:,} bytes; expected {LARGEST:,} or fewer"
        )
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise StudyError(f"{file}: is not UTF-8 text; save it as UTF-8") from None
    except PermissionError as error:
        raise KonsilError(f"{file}: cannot be read ({error.strerror})") from None
