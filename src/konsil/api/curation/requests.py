"""Requests of curation: what is searched, who decides, and which decisions are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from konsil.api.calls import CallLimits, CallRequest
from konsil.prepare.identifiers.duplicates import LIKENESS
from konsil.records.request import Flag, setting

BY = Flag("Who decided, a pseudonym, for the log.", metavar="WHO")


@dataclass(frozen=True, kw_only=True)
class ScreeningRequest:
    """One screening of the items; the rules are the protocol's [prepare.screen]."""

    decisions: Path | None = setting(
        None,
        Flag("Read that table back: 'keep' or a reason in its column decision.", file="existing"),
    )
    by: str = setting("", BY)
    dry_run: bool = setting(
        False, Flag("Only say what would be left out; store nothing, ask no model.")
    )
    calls: CallLimits = field(default_factory=CallLimits)


@dataclass(frozen=True, kw_only=True)
class DuplicatesRequest:
    """One search for duplicates."""

    decisions: Path | None = setting(
        None,
        Flag(
            "Read that table back: 'duplicate' or 'apart' in its column decision.", file="existing"
        ),
    )
    leave_one: bool = setting(False, Flag("Leave out all but the first item of each group."))
    by: str = setting("", BY)
    translated: bool = setting(
        False, Flag("Compare meanings, too, in 16 languages; needs the extra 'questions'.")
    )
    likeness: float = setting(
        LIKENESS,
        Flag(
            "Share of five-letter pieces that near duplicates have in common.",
            minimum=0.5,
            maximum=1,
        ),
    )
    dry_run: bool = setting(False, Flag("Only look; store nothing."))


@dataclass(frozen=True, kw_only=True)
class ThemesRequest:
    """One search for themes; how they are found is the protocol's [prepare.themes]."""

    decisions: tuple[Path, ...] = setting(
        (),
        Flag(
            "Read either table back: a name, or 'drop', in its column decision. Can be given"
            " twice.",
            file="existing",
        ),
    )
    by: str = setting("", BY)
    anew: bool = setting(False, Flag("Find the themes again and forget what was decided."))
    dry_run: bool = setting(
        False, Flag("Only say what the themes would be; store nothing, ask no model.")
    )
    calls: CallLimits = field(default_factory=CallLimits)


@dataclass(frozen=True, kw_only=True)
class RewritingRequest:
    """A run of the model of [prepare.rewrite], or the decisions on its wordings."""

    decisions: Path | None = setting(
        None,
        Flag(
            "Read that table back: 'accept' or 'keep' in its column decision; the wording itself"
            " may be edited.",
            file="existing",
        ),
    )
    by: str = setting("", BY)
    calls: CallRequest = field(default_factory=CallRequest)
