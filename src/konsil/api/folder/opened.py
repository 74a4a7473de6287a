"""An opened study: its folder, protocol and database.

What can be done with it is in the modules beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from konsil.store import Store
from konsil.study import Study

PROTOCOL = "study.toml"


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
