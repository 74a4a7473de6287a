"""The gate before every analysis: the protocol describes every rating that is used, or nothing is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from konsil.analysis.model.message import Said, say
from konsil.analysis.table.conformity import (
    forms,
    mismatches,
    renaming_sentences,
    unlisted_systems,
    used,
    with_todays_names,
)
from konsil.errors import StudyError, nearest, option
from konsil.instrument import digest
from konsil.plan.model.places import SIGN_UP
from konsil.records import Event
from konsil.study import Study, parse
from konsil.study.sections.forms import ACCEPTED, acceptance_sentences, difference, shapes, unaccepted

if TYPE_CHECKING:
    from konsil.analysis.table.frame import Data
    from konsil.api.folder.folder import Folder

WAYS_OUT = "or keep the former form under its identifier and give the changed one a new one"


def conforming(
    protocol: str, study: Study, data: Data, events: Sequence[Event], *, in_letters: bool = False
) -> tuple[Data, tuple[Said, ...]]:
    """The data with today's names, and what the methods say of former ones; a StudyError where they do not conform.

    `in_letters`: systems, and the judges among the raters, are under letters, so that no name can be looked up.
    """
    data, renamed = with_todays_names(data, study.instruments)
    frame = used(data, study.exclusions)
    raters = frozenset() if in_letters else known_raters(study, events)
    problems = mismatches(frame, study.instruments, raters)
    if not (in_letters or brings_raters(study, events)):
        problems += unlisted_systems(frame, data.answers, [system.id for system in study.systems])
    if problems:
        remedies = list(dict.fromkeys(mismatch.remedy for mismatch in problems))
        problem = say(
            "{protocol}: does not describe the ratings that are stored: {problems}; {remedies}",
            message_id="error.ratings_not_described",
            protocol=protocol,
            problems="; ".join(mismatch.text for mismatch in problems),
            remedies="; ".join(remedies) + (f", {WAYS_OUT}" if any(mismatch.of_form for mismatch in problems) else ""),
        )
        raise StudyError(problem)
    counts = forms(frame)
    changed = unaccepted(counts, study.instruments, events)
    if changed:
        raise StudyError(_changed(protocol, data, changed))
    return data, (*renaming_sentences(renamed), *acceptance_sentences(counts, events))


def known_raters(study: Study, events: Sequence[Event]) -> frozenset[str]:
    """Everybody who may have rated, by the protocol and by what happened; nobody listed: anybody may."""
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
    return say(
        "{protocol}: the form {instrument} was changed after {n:,} of {all:,} ratings were given on it{more}; where"
        " its wording alone was changed, run 'konsil accept {folder} --reason ... --by ...' once, {otherwise}",
        message_id="error.form_changed",
        protocol=protocol,
        instrument=repr(instrument),
        n=n,
        all=len(data.ratings),
        more=f" (and {len(changed) - 1} more)" if len(changed) > 1 else "",
        folder=str(Path(protocol).parent),
        otherwise=WAYS_OUT,
    )


def accept(folder: Folder, by: str, reason: str, former: Path | None = None) -> tuple[Event, ...]:
    """Accept forms whose wording alone was changed; one event for each, in the audit log as well.

    What a form was comes from the audit log, or from `former`, the study.toml as it was.
    """
    from konsil.api.folder.blinded import named
    from konsil.api.folder.folder import PROTOCOL, now
    from konsil.api.folder.noting import note_study
    from konsil.store import Batch
    from konsil.store.people.staff import pseudonym

    named(by, option("by"))
    named(reason, option("reason"))
    protocol, study, at = str(folder.path / PROTOCOL), folder.study, now()
    data, events = folder.stored()
    data, _ = with_todays_names(data, study.instruments)
    changed = unaccepted(forms(used(data, study.exclusions)), study.instruments, events)
    if not changed:
        raise StudyError(
            say(
                "{protocol}: every form is the one on which its ratings were given; there is nothing to accept",
                message_id="error.nothing_to_accept",
                protocol=protocol,
            )
        )
    with folder.store(create=True) as store:
        known = {**store.noted_forms(), **(_shapes_of_file(former) if former is not None else {})}
        sound = [_acceptance(protocol, study, key, n, known, at, by, reason) for key, n in changed.items()]
        who = pseudonym(store, by)
        accepted = [replace(event, data={**event.data, "by": who}) for event in sound]
        note_study(store, study, at)
        entries = [(ACCEPTED, {"instrument": event.subject, **event.data}) for event in accepted]
        store.add(Batch(events=accepted), source=ACCEPTED, at=at, entries=entries)
    return tuple(accepted)


def _acceptance(
    protocol: str,
    study: Study,
    key: tuple[str, str],
    n: int,
    known: Mapping[str, Mapping[str, Any]],
    at: str,
    by: str,
    reason: str,
) -> Event:
    name, former = key
    today = study.instrument(name)
    if today is None:
        known_ids = [i.id for i in study.instruments]
        raise StudyError(f"{protocol}: there is no instrument {name!r}; {nearest(name, known_ids)}")
    if former not in known:
        raise StudyError(
            say(
                "{protocol}: what the form {name} was when {n:,} {n|rating was|ratings were} given on it"
                " (digest {former}) is not"
                " kept; name the study.toml of that time with {option}",
                message_id="error.former_form_not_kept",
                option=option("former"),
                protocol=protocol,
                name=repr(name),
                n=n,
                former=former,
            )
        )
    changes = difference(known[former], today)
    if changes.faults:
        raise StudyError(
            say(
                "{protocol}: more than the wording of the form {name} was changed after {n:,}"
                " {n|rating was|ratings were} given on"
                " it: {faults}; write renamed labels and criteria under the criterion, {otherwise}",
                message_id="error.more_than_wording",
                protocol=protocol,
                name=repr(name),
                n=n,
                faults="; ".join(changes.faults),
                otherwise=WAYS_OUT,
            )
        )
    data = {"by": by, "reason": reason, "former": former, "form": digest(today), "ratings": n}
    added = {"added": list(changes.added)} if changes.added else {}
    return Event(f"{ACCEPTED} {name} {former} {digest(today)}", ACCEPTED, name, at, {**data, **added})


def _shapes_of_file(path: Path) -> dict[str, Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        before = parse(text, lambda name: (path.parent / name).read_text(encoding="utf-8-sig"), str(path))
    except (OSError, UnicodeDecodeError):
        raise StudyError(f"{option('former')} {path}: cannot be read as a study.toml") from None
    return dict(shapes(before.instruments))
