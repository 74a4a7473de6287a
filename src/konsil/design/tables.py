"""A table of the user's with the guesses about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from konsil.design.columns import Column, Role
from konsil.design.guessing import Guess
from konsil.records.source import FileSettings


@dataclass(frozen=True)
class UserTable:
    """A file of the user's."""

    name: str
    """Its name in the study's folder."""
    columns: tuple[Column, ...]
    """Its columns with the cells of the first rows."""
    n_rows: int
    settings: FileSettings = field(default_factory=FileSettings)
    """How the file is cut into cells, with the sheet that was requested."""


@dataclass
class Loaded:
    """A table with the guesses about it and the roles that its columns have now."""

    table: UserTable
    guesses: tuple[Guess, ...]
    roles: dict[str, Role]
    names: str = ""
    """The pattern of headings that have a rater and a question in them."""
    pseudonyms: dict[str, str] = field(default_factory=dict)
    """Rater's name in a file -> identifier in the study; one for all tables."""
    is_used: bool = False
    """Whether the user has confirmed the roles, so that the study reads it."""
