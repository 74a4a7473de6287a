"""What the pages of the set-up need of a draft; whoever serves them gives one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from konsil.design.edits import Data
from konsil.design.models import JudgeModel, Trial
from konsil.design.outlook import Assumption, Outlook, PowerLine
from konsil.design.stages import Need
from konsil.design.tables.columns import Role
from konsil.design.tables.guessing import TableForm
from konsil.design.tables.loaded import Loaded
from konsil.errors import Problem
from konsil.records.source import FileSettings
from konsil.web.design.conduct import Conduct


class Workshop(Protocol):
    """A study that is being set up."""

    @property
    def conduct(self) -> Conduct:
        """The study as it was saved, with its stages."""

    @property
    def place(self) -> str:
        """The study's folder, as its user named it."""

    @property
    def is_new(self) -> bool:
        """Whether the folder has no protocol yet."""

    @property
    def has_ratings(self) -> bool:
        """Whether ratings were collected, so that a form should not change."""

    @property
    def tables(self) -> Mapping[str, Loaded]:
        """The user's tables by name."""

    @property
    def data(self) -> Data:
        """The protocol as data."""

    @property
    def language(self) -> str:
        """The language of the study's texts."""

    def change(self, data: Data) -> None:
        """Take the protocol's new data."""

    def is_changed(self) -> bool:
        """Whether there is something to save."""

    def differences(self) -> tuple[str, ...]:
        """The change of the protocol, line by line."""

    def loose_files(self) -> tuple[str, ...]:
        """Tables of the folder that the study does not read."""

    def add_table(self, name: str, content: bytes) -> Loaded:
        """Take a table of the user's."""

    def take_loose(self, name: str) -> Loaded:
        """Take a table that lies in the folder."""

    def read_again(self, name: str, settings: FileSettings) -> None:
        """Read a table's file by other settings."""

    def set_form(self, name: str, form: TableForm) -> None:
        """Propose the roles of a table's columns in another form."""

    def set_names(self, name: str, pattern: str) -> None:
        """Read a table's headings by a pattern with {rater} or {criterion} or both."""

    def command_of(self, name: str) -> str:
        """The command that computes the agreement in a table that no study can hold."""

    def systems(self) -> Mapping[str, str]:
        """The systems that the used tables name: name in the file -> identifier."""

    def rename_systems(self, new_names: Mapping[str, str]) -> None:
        """Call systems otherwise: name in the file -> identifier."""

    def remove_table(self, name: str) -> None:
        """Leave a table out again."""

    def use_table(
        self, name: str, roles: Mapping[str, Role], fixed: Mapping[str, str] | None = None
    ) -> None:
        """Read a table with these roles of its columns, and what is the same in all rows."""

    def lacking(self, name: str) -> tuple[tuple[Role, ...], tuple[Role, ...]]:
        """The roles that a table lacks, and those that too many of its columns have."""

    @property
    def text(self) -> str:
        """The protocol as it is written."""

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the draft."""

    def needs(self) -> tuple[Need, ...]:
        """What the draft lacks before it can be saved; its problems are apart."""

    def outlook(self) -> Outlook:
        """The tasks that the plan would give."""

    def power(self, assumption: Assumption) -> tuple[PowerLine, ...]:
        """Widths and power of the analyses."""

    def try_model(self, model: JudgeModel) -> Trial:
        """Call a judge's model once."""

    def save(self) -> tuple[str, ...]:
        """Write the draft; the names of the files that are new or changed."""
