"""The check before every analysis.

The protocol describes every rating that is used, or nothing is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.analysis.table.conformity import (
    forms,
    mismatches,
    unlisted_systems,
    used,
)
from konsil.analysis.table.former_names import renaming_sentences, with_todays_names
from konsil.errors import StudyError
from konsil.errors.message import COMMA, Listed, TranslatableMessage, message, placed
from konsil.plan.model.places import SIGN_UP
from konsil.records import Event
from konsil.study import Study
from konsil.study.sections.forms import acceptance_sentences, unaccepted

if TYPE_CHECKING:
    from konsil.analysis.table.frame import Data

WAYS_OUT = message(
    "or keep the former form under its identifier and give the changed one a new one",
    message_id="mismatch.ways_out",
)


def conforming(
    protocol: str, study: Study, data: Data, events: Sequence[Event], *, in_letters: bool = False
) -> tuple[Data, tuple[TranslatableMessage, ...]]:
    """The data with today's names, and what the methods say of former ones.

    A StudyError where they do not conform.

    `in_letters`: systems, and the judges among the raters, are under letters, so that no name can
    be looked up.
    """
    data, renamed = with_todays_names(data, study.instruments)
    frame = used(data, study.exclusions)
    raters = frozenset() if in_letters else known_raters(study, events)
    if raters:
        raters |= {rater.id for rater in data.raters if rater.kind == "unknown"}
    problems = mismatches(frame, study.instruments, raters)
    if not (in_letters or brings_raters(study, events)):
        problems += unlisted_systems(frame, data.answers, [system.id for system in study.systems])
    if problems:
        remedies = list(dict.fromkeys(mismatch.remedy for mismatch in problems))
        every_remedy = message(
            "{remedies}",
            message_id="mismatch.remedies",
            remedies=Listed(tuple(remedies), "; ", "{some}; {last}"),
        )
        ways_out = [WAYS_OUT] if any(mismatch.of_form for mismatch in problems) else []
        problem = message(
            "does not describe the ratings that are stored: {problems}; {remedies}",
            message_id="mismatch.not_described",
            problems=Listed(tuple(mismatch.text for mismatch in problems), "; ", "{some}; {last}"),
            remedies=Listed((every_remedy, *ways_out), ", ", COMMA),
        )
        raise StudyError(placed(protocol, problem))
    counts = forms(frame)
    changed = unaccepted(counts, study.instruments, events)
    if changed:
        raise StudyError(_changed(protocol, data, changed))
    return data, (*renaming_sentences(renamed), *acceptance_sentences(counts, events))


def known_raters(study: Study, events: Sequence[Event]) -> frozenset[str]:
    """Everybody who may have rated, by the protocol and by what happened.

    Nobody listed: anybody may.
    """
    if not study.raters or brings_raters(study, events):
        return frozenset()
    listed = {r.id for r in study.everybody()}
    return frozenset(listed | {e.subject for e in events if e.kind == SIGN_UP})


def brings_raters(study: Study, events: Sequence[Event]) -> bool:
    """Whether a table of a whole study was read, whose raters need no entry in study.toml."""
    named = any(s.records == "real-pocqi" for s in study.sources)
    return named or any(e.data.get("filter") == "Real-POCQi" for e in events)


def _changed(protocol: str, data: Data, changed: dict[tuple[str, str], int]) -> str:
    (instrument, _), n = max(changed.items(), key=lambda entry: entry[1])
    fact = message(
        "the form {instrument} was changed after {n:,} of {all:,} ratings were given on it{more};"
        " where its wording alone was changed, run '{command}' once, {otherwise}",
        message_id="mismatch.form_changed",
        instrument=repr(instrument),
        n=n,
        all=len(data.ratings),
        more=message(" (and {n} more)", message_id="mismatch.more_forms", n=len(changed) - 1)
        if len(changed) > 1
        else "",
        command="konsil accept FOLDER --reason ... --by ...".replace(
            "FOLDER", str(Path(protocol).parent)
        ),
        otherwise=WAYS_OUT,
    )
    return placed(protocol, fact)
