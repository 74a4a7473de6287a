"""Requests of curation: what is searched, who decides, and which decisions are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from konsil.api.calls import CallLimits, CallRequest
from konsil.prepare.identifiers.duplicates import LIKENESS
from konsil.records.request import Flag, Request, setting

BY = Flag("Pseudonym of the person who decided, for the log.", metavar="WHO")


@dataclass(frozen=True, kw_only=True)
class ScreeningRequest(Request):
    """One screening of the items; the rules are the protocol's [prepare.screen]."""

    decisions: Path | None = setting(
        None,
        Flag("Import that table, with 'keep' or a reason in its column decision.", file="existing"),
    )
    by: str = setting("", BY)
    dry_run: bool = setting(
        False, Flag("Dry run: print the exclusions; store nothing, call no model.")
    )
    calls: CallLimits = field(default_factory=CallLimits)


@dataclass(frozen=True, kw_only=True)
class DuplicatesRequest(Request):
    """One search for duplicates."""

    decisions: Path | None = setting(
        None,
        Flag("Import that table, with 'duplicate' or 'apart' as decision.", file="existing"),
    )
    leave_one: bool = setting(False, Flag("Exclude all but the first item of each group."))
    by: str = setting("", BY)
    translated: bool = setting(
        False, Flag("Also compare meanings (16 languages); needs the extra 'questions'.")
    )
    likeness: float = setting(
        LIKENESS,
        Flag(
            "Minimum proportion of shared five-letter sequences.",
            minimum=0.5,
            maximum=1,
        ),
    )
    dry_run: bool = setting(False, Flag("Dry run: search, but store nothing."))


@dataclass(frozen=True, kw_only=True)
class ThemesRequest(Request):
    """One search for themes; how they are found is the protocol's [prepare.themes]."""

    decisions: tuple[Path, ...] = setting(
        (),
        Flag(
            "Import either table, with a name or 'drop' as decision; repeatable.",
            file="existing",
        ),
    )
    by: str = setting("", BY)
    anew: bool = setting(False, Flag("Detect the themes again and discard all decisions."))
    dry_run: bool = setting(False, Flag("Dry run: print the themes; store nothing, call no model."))
    calls: CallLimits = field(default_factory=CallLimits)


@dataclass(frozen=True, kw_only=True)
class RewritingRequest(Request):
    """A run of the model of [prepare.rewrite], or the decisions on its wordings."""

    decisions: Path | None = setting(
        None,
        Flag(
            "Import that table, with 'accept' or 'keep' as decision; texts may be edited.",
            file="existing",
        ),
    )
    by: str = setting("", BY)
    calls: CallRequest = field(default_factory=CallRequest)
