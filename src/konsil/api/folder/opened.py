"""An opened study: its folder, protocol and database.

What can be done with it is in the modules beside.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.errors import KonsilError, StoreError, StudyError
from konsil.records import Callee, Event
from konsil.records.digits import stamp
from konsil.store import Store
from konsil.study import Study
from konsil.study.data.label_numbering import recounts, with_frozen_numbers

if TYPE_CHECKING:
    from konsil.analysis.table.frame import Data
    from konsil.records.worked import Worked

PROTOCOL = "study.toml"
LARGEST = 1 << 24
"""Bytes that study.toml and each text that it names may have."""


def folder_of(path: Path) -> Path:
    """The study's folder, where the path to its study.toml stands for it."""
    return path.parent if path.name == PROTOCOL and path.is_file() else path


def now() -> str:
    """The time, ISO 8601 in UTC to the second: the only clock of an import."""
    return stamp(datetime.now(UTC))


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

    def as_frozen(self) -> Study:
        """The study with the labels' numbers of a frozen plan, where they can be others."""
        if not recounts(self.study):
            return self.study
        try:
            if not self.has_store():
                return self.study
            with self.store() as store:
                return with_frozen_numbers(self.study, store.events())
        except StoreError:  # whoever needs the database states what is wrong with it
            return self.study

    def noted_digests(self) -> frozenset[str]:
        """The digests of every protocol that the study had; none where nothing is stored."""
        if not self.has_store():
            return frozenset()
        with self.store() as store:
            return store.noted_digests()

    def stored(self) -> tuple[Data, tuple[Event, ...]]:
        """Everything collected under its stored names, and what happened.

        Nobody has looked whether it conforms.
        """
        from konsil.analysis.model.options import DesignOptions
        from konsil.analysis.table.frame import Data
        from konsil.api.folder.pocqi import lengths_of
        from konsil.prepare import in_study
        from konsil.store.calls.call_settings import callees
        from konsil.store.calls.usages import usages
        from konsil.study.sections.enrolment import excluded_by_withdrawal, with_profiles

        with self.store() as store, store.view() as view:
            items, answers, stored_raters = (
                tuple(view.each(name)) for name in ("items", "answers", "raters")
            )
            attempts, events = tuple(view.each("attempts")), tuple(view.each("events"))
            tasks, ratings = view.columns("tasks"), view.columns("ratings")
            called, used = callees(store), usages(store)
        declared = {r.id: r for r in self.study.raters}
        # The protocol is the word on panels and strata: a corrected study.toml needs no new import.
        raters = with_profiles(
            [declared.get(r.id, r) for r in stored_raters], self.study.enrolment, events
        )
        rated = set(ratings.frame.get_column("item").drop_nulls().unique())
        studied = in_study(items, events, also=rated)
        if len(studied) < len(items):
            item_ids = {item.id for item in studied}
            answers = tuple(a for a in answers if a.item in item_ids)
        more = (
            self._callees(called),
            excluded_by_withdrawal(self.study.enrolment, events),
            lengths_of(events),
        )
        needs_pages = any(
            a.display == "complete"
            or (isinstance(a.options, DesignOptions) and a.options.clock == "open")
            for a in self.study.analyses
        )
        opened = self.times() if needs_pages else ()
        data = Data(studied, answers, raters, tasks, ratings, attempts, *more, opened, used)
        return data, events

    def _callees(self, called: Sequence[Callee]) -> tuple[Callee, ...]:
        """How models were called, with what the protocol says about judges' votes and orders."""
        judges = {j.rater: j for j in self.study.judges}
        return tuple(
            (
                replace(
                    c,
                    votes=j.votes,
                    both_orders=j.orders == "both",
                    tie=j.inconsistent == "tie",
                    combine=j.combine,
                )
                if c.kind == "judge" and (j := judges.get(c.who)) is not None
                else c
            )
            for c in called
        )

    def times(self) -> tuple[Worked, ...]:
        """How long people worked on their pages."""
        from konsil.store.release.page_telemetry import worked

        with self.store() as store, store.view() as view:
            return worked(view.connection)


def read_text(file: Path) -> str:
    """The text of study.toml, or of a file that it names."""
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "is not a file")
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
