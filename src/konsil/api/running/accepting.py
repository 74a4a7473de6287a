"""A change of a form's wording, accepted with a reason after ratings were given on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from konsil.analysis.table.conformity import (
    forms,
    used,
)
from konsil.analysis.table.former_names import with_todays_names
from konsil.api.folder.blinded import named
from konsil.api.folder.conforming import WAYS_OUT
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import StudyError, nearest, option
from konsil.errors.message import message
from konsil.instrument import digest
from konsil.records import Event
from konsil.store import Batch
from konsil.store.people.staff import pseudonym
from konsil.study import Study, parse
from konsil.study.sections.forms import ACCEPTED, difference, shapes, unaccepted


def accept(folder: Folder, by: str, reason: str, former: Path | None = None) -> tuple[Event, ...]:
    """Accept forms whose wording alone was changed; one event for each, in the audit log as well.

    What a form was comes from the audit log, or from `former`, the study.toml as it was.
    """
    named(by, option("by"))
    named(reason, option("reason"))
    protocol, study, at = str(folder.path / PROTOCOL), folder.study, now()
    data, events = folder.stored()
    data, _ = with_todays_names(data, study.instruments)
    changed = unaccepted(forms(used(data, study.exclusions)), study.instruments, events)
    if not changed:
        raise StudyError(
            message(
                "{protocol}: every form is the one on which its ratings were given; there is"
                " nothing to accept",
                message_id="error.nothing_to_accept",
                protocol=protocol,
            )
        )
    with folder.store(create=True) as store:
        former_forms = {
            **store.noted_forms(),
            **(_shapes_of_file(former) if former is not None else {}),
        }
        sound = [
            _acceptance(protocol, study, key, n, former_forms, at, by, reason)
            for key, n in changed.items()
        ]
        author = pseudonym(store, by)
        accepted = [replace(event, data={**event.data, "by": author}) for event in sound]
        note_study(store, study, at)
        entries = [(ACCEPTED, {"instrument": event.subject, **event.data}) for event in accepted]
        store.add(Batch(events=accepted), source=ACCEPTED, at=at, entries=entries)
    return tuple(accepted)


def _acceptance(
    protocol: str,
    study: Study,
    key: tuple[str, str],
    n: int,
    former_forms: Mapping[str, Mapping[str, Any]],
    at: str,
    by: str,
    reason: str,
) -> Event:
    name, former = key
    today = study.instrument(name)
    if today is None:
        known_ids = [i.id for i in study.instruments]
        raise StudyError(f"{protocol}: there is no instrument {name!r}; {nearest(name, known_ids)}")
    if former not in former_forms:
        raise StudyError(
            message(
                "{protocol}: the version of the form {name} (checksum {former}) on which {n:,}"
                " {n|rating was|ratings were} collected is not stored; name the study.toml of"
                " that time with {option}",
                message_id="error.former_form_not_kept",
                option=option("former"),
                protocol=protocol,
                name=repr(name),
                n=n,
                former=former,
            )
        )
    changes = difference(former_forms[former], today)
    if changes.faults:
        raise StudyError(
            message(
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
    return Event(
        f"{ACCEPTED} {name} {former} {digest(today)}", ACCEPTED, name, at, {**data, **added}
    )


def _shapes_of_file(path: Path) -> dict[str, Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        before = parse(
            text, lambda name: (path.parent / name).read_text(encoding="utf-8-sig"), str(path)
        )
    except (OSError, UnicodeDecodeError):
        raise StudyError(f"{option('former')} {path}: cannot be read as a study.toml") from None
    return dict(shapes(before.instruments))
