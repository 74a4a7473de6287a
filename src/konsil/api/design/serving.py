"""A draft as the pages of the set-up use it, served on this machine."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from konsil.api.design.conducting import StudyConduct
from konsil.api.design.draft import Draft
from konsil.api.design.outlook import outlook, power_of
from konsil.api.design.saving import save
from konsil.design.models import JudgeModel, Trial
from konsil.design.outlook import Assumption, Outlook, PowerLine
from konsil.design.tables.columns import Role
from konsil.design.tables.guessing import repeated_roles
from konsil.design.tables.sources import missing_roles
from konsil.errors import StudyError
from konsil.locale import SOURCE
from konsil.store import Store


class DraftWorkshop(Draft):
    """A draft with its outlook, its power and the way into its folder."""

    _latest: tuple[str, tuple[str, ...], Outlook] | None = None

    def __init__(self, folder: Path, staging: Path, *, language: str = "en", seed: int = 1) -> None:
        super().__init__(folder, staging, language=language, seed=seed)
        self.conduct = StudyConduct(folder)

    @property
    def place(self) -> str:
        """The study's folder, as its user named it."""
        return str(self.folder)

    @property
    def has_ratings(self) -> bool:
        """Whether ratings were collected, so that a form should not change."""
        if self.is_new or not Store.is_made(self.folder):
            return False
        with Store.open(self.folder, create=False) as store:
            return bool(store.counts()["ratings"])

    def lacking(self, name: str) -> tuple[tuple[Role, ...], tuple[Role, ...]]:
        """The roles that a table lacks, and those that too many of its columns have."""
        chosen = self.chosen(name)
        return missing_roles(chosen), repeated_roles(chosen.roles)

    def outlook(self) -> Outlook:
        """The tasks that the plan would give; computed anew after a change."""
        files = tuple(sorted(p.name for p in self.staging.iterdir()))
        if self._latest is None or self._latest[:2] != (self.text, files):
            self._latest = (self.text, files, outlook(self))
        return self._latest[2]

    def power(self, assumption: Assumption) -> tuple[PowerLine, ...]:
        """Widths and power of the analyses, from simulated studies."""
        return power_of(self, assumption)

    def try_model(self, model: JudgeModel) -> Trial:
        """Call a judge's model once."""
        from konsil.api.design.trial_calls import try_model

        return try_model(model)

    def save(self) -> tuple[str, ...]:
        """Write the draft; the names of the files that are new or changed."""
        return save(self)


def check_place(folder: Path) -> None:
    """Refuse what is no folder, or one without a protocol that has other things than tables."""
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder}: is a file; expected a folder, or a name that is free")


def design(folder: Path, *, port: int, language: str | None, ready: Callable[[str], None]) -> None:
    """Serve the pages on which the study in a folder, new or there, is set up.

    `language`: of a new study's texts; None: that of the pages.
    """
    from konsil.web.design.design_app import serve_design

    check_place(folder)
    with tempfile.TemporaryDirectory(prefix="konsil-design-") as staging:
        seed = secrets.randbelow(1_000_000)
        workshop = DraftWorkshop(folder, Path(staging), language=language or SOURCE, seed=seed)
        try:
            serve_design(workshop, port=port, follows=language is None, ready=ready)
        finally:
            workshop.conduct.close()
