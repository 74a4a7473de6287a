"""What letters need of an opened study, and the reading of its small text files."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from konsil.errors import StudyError
from konsil.store import Store
from konsil.study import Study

LARGEST = 1 << 20
"""Bytes of mail.toml and of a text of a letter."""


class Opened(Protocol):
    """A study with its folder, protocol and database."""

    @property
    def path(self) -> Path:
        """The folder."""
        ...

    @property
    def study(self) -> Study:
        """The protocol."""
        ...

    def store(self) -> Store:
        """Open the database."""
        ...


def read_text(file: Path) -> str:
    """The text of a file."""
    if file.stat().st_size > LARGEST:
        raise StudyError(f"{file}: has more than {LARGEST:,} bytes")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise StudyError(f"{file}: is not UTF-8 text; save it as UTF-8") from None
