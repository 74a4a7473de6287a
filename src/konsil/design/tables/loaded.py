"""A table of the user's with the guesses about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from konsil.analysis.roles.reading import COMPARISONS, StatedRoles, TableReading
from konsil.design.tables.columns import Column, Role
from konsil.design.tables.guessing import Guess, TableForm
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
    """How the file is cut into cells, with the sheet that is read."""
    sheets: tuple[str, ...] = ()
    """All sheets of a spreadsheet."""
    settable: frozenset[str] = frozenset()
    """The settings that concern a file of its kind."""
    tool: str = ""
    """The tool whose export the file is."""
    tool_roles: StatedRoles | None = None
    """What the tool states of the columns."""
    is_unconfirmed: bool = False
    """Whether that has to be confirmed."""


@dataclass
class Names:
    """The names in the user's files, and their identifiers in the study; one for all tables."""

    raters: dict[str, str] = field(default_factory=dict)
    """Rater's name in a file -> pseudonym."""
    systems: dict[str, str] = field(default_factory=dict)
    """System's name in a file -> identifier, where they differ."""


@dataclass
class Loaded:
    """A table with the guesses about it and the roles that its columns have now."""

    table: UserTable
    guesses: tuple[Guess, ...]
    roles: dict[str, Role]
    names: str = ""
    """The pattern of headings that have a rater and a question in them."""
    new_names: Names = field(default_factory=Names)
    form: TableForm | None = None
    """How the table is laid out; None: in no way that a study can read."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """The rater or the system of all rows, where no column names one."""
    reading: TableReading | None = None
    """What the table was read as; None: nothing."""
    chosen_as: str = ""
    """The file's name as it was chosen, where another table has it."""
    is_used: bool = False
    """Whether the user has confirmed the roles, so that the study reads it."""

    @property
    def is_only_computed(self) -> bool:
        """Whether its comparisons have numbers, but are no ratings of a study."""
        return self.form is None and self.reading is not None and self.reading.shape in COMPARISONS
