"""Answers of an offline kit.

They are stored by the same functions as answers from the pages, or refused.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from konsil.errors import KonsilError
from konsil.instrument import PageNames, fields
from konsil.records import Event
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.release import kits
from konsil.store.tasks import drafts, screens
from konsil.store.tasks.drafts import Change
from konsil.store.tasks.screens import Visit
from konsil.web.kit.kit import digests, refuse_at_gates
from konsil.web.rating import form
from konsil.web.rating.window import is_places, read_seconds
from konsil.web.site.site import Site

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")
LONGEST = 50_000_000
"""Characters of a file that are read at all."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of a file of answers."""

    kit: str
    """The kit."""
    rater: str
    """Whose it is."""
    again: bool = False
    """Whether this file, or a later one, was taken in before; then nothing changed."""
    handed_in: int = 0
    """Screens whose ratings were stored or revised."""
    n_incomplete: int = 0
    """Screens that are not complete: what they say is on the rater's page."""
    unchanged: int = 0
    """Screens that said nothing new."""
    n_reassigned: int = 0
    """Screens that belong to somebody else by now."""
    reason_by_screen: Mapping[str, str] = field(default_factory=dict)
    """Public name of a screen that was not handed in -> why."""
    problems: int = 0
    """Problems reported."""


@dataclass(frozen=True, slots=True)
class _Screen:
    """What a kit says of one screen."""

    changes: tuple[Change, ...]
    is_submitted: bool
    values: Mapping[str, str]
    visits: tuple[Visit, ...]
    problems: tuple[tuple[str, str], ...]


def take_in(site: Site, text: str, where: str) -> TakenIn:
    """Store the answers of a kit.

    What was altered, is of another study or of a closed batch is refused as a whole.

    The same file again changes nothing; neither does one that is older than what was taken in.
    """
    signed, content = _opened(site, text, where)
    kit = str(content["kit"])
    with reading(site.store.engine) as connection:
        [kit_event] = kits.kit_events(connection, kit)
        before = kits.answered(connection, kit)
    rater = str(kit_event.data["rater"])
    try:
        copy, revision = (
            form.clean(str(content.get("copy", "")))[:64],
            _count(content.get("revision", 0)),
        )
        if any(
            e.data.get("copy") == copy and int(str(e.data.get("revision"))) >= revision
            for e in before
        ):
            return TakenIn(kit, rater, again=True)
        kit_screens = {
            name: _screen(raw_screen, site.names) for name, raw_screen in content["screens"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise KonsilError(
            f"{where}: is signed, but does not have the format of this kit version"
        ) from None
    names = kits.screens_of(kit_event)
    if not set(kit_screens) <= set(names):
        raise KonsilError(f"{where}: refers to tasks that are not in its kit")
    forms = kit_event.data["instruments"]
    if not isinstance(forms, Mapping) or dict(forms) != digests(site.study, map(str, forms)):
        raise KonsilError(
            f"{where}: the form was changed after the kit was made, so its answers do not match it"
        )
    refuse_at_gates(site, rater)
    _refuse_closed(site, names, str(kit_event.data["batch"]), where)
    summary = _each(site, rater, kit, kit_screens)
    data = {"rater": rater, "copy": copy, "revision": revision, "handed_in": summary.handed_in}
    name = f"{kits.ANSWERED} {kit} {hashlib.sha256(signed.encode()).hexdigest()[:32]}"
    with writing(site.store.engine) as connection:
        study_events.append_event(connection, Event(name, kits.ANSWERED, kit, site.now(), data))
    return summary


def _opened(site: Site, text: str, where: str) -> tuple[str, Mapping[str, Any]]:
    """What was signed, as text and as data, if it was signed by a kit of this study."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        outer = json.loads(text)
        if outer["konsil"] != "kit answers" or outer["format"] != 1:
            raise ValueError
        signed, mac = str(outer["signed"]), str(outer["mac"])
        content = json.loads(signed)
        kit = str(content["kit"])
        for text in (signed, kit):
            # An unpaired surrogate cannot be signed, nor be a name in a database.
            text.encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        raise KonsilError(
            f"{where}: expected the answers file of an offline kit; the file has another format"
        ) from None
    with reading(site.store.engine) as connection:
        if not kits.kit_events(connection, kit):
            raise KonsilError(
                f"{where}: belongs to a kit that was not made from this study's database"
            )
    right = kits.signature(kits.key(site.store, kit), signed)
    if not hmac.compare_digest(right.encode(), mac.encode("utf-8", "replace")):
        raise KonsilError(
            f"{where}: signature invalid: the file was changed or damaged after export; ask the"
            " rater for a new export"
        )
    return signed, content


def _screen(raw_screen: Mapping[str, Any], names: PageNames) -> _Screen:
    base = _count(raw_screen["base_rev"])
    changes = tuple(
        Change(
            _token(c["id"]),
            names.field(str(c["field"])),
            str(c["value"]),
            base,
            form.clean(str(c["at"]))[:32],
        )
        for c in raw_screen["changes"]
    )
    visits = tuple(_visit(_token(name), times) for name, times in raw_screen["visits"].items())
    problems = tuple((_token(p["id"]), str(p["text"])[:4000]) for p in raw_screen["problems"])
    values = {names.field(str(name)): str(value) for name, value in raw_screen["values"].items()}
    return _Screen(changes, bool(raw_screen["done"]), values, visits, problems)


def _count(raw_count: object) -> int:
    if not isinstance(raw_count, int) or not 0 <= raw_count < 1_000_000_000:
        raise ValueError
    return raw_count


def _token(raw_token: object) -> str:
    if not isinstance(raw_token, str) or not _TOKEN.fullmatch(raw_token):
        raise ValueError
    return raw_token


def _visit(name: str, times: Mapping[str, Any]) -> Visit:
    wall, active = read_seconds(str(times["wall"])), read_seconds(str(times["active"]))
    if wall is None or active is None or active > wall + 1:
        raise ValueError
    first, ends = read_seconds(str(times["first_input"])), times.get("ends")
    visible_ends = ends if isinstance(ends, str) and is_places(ends) else None
    return Visit(name, wall, min(active, wall), first, visible_ends)


def _refuse_closed(site: Site, names: Sequence[str], batch: str, where: str) -> None:
    with reading(site.store.engine) as connection:
        for name in names:
            state = screens.public(connection, name)
            task = screens.task(connection, state.task) if state is not None else None
            if task is not None and study_events.is_closed(connection, task):
                raise KonsilError(
                    f"{where}: batch {batch!r} is closed; konsil close --reopen opens it, with a"
                    " reason"
                )


def _each(site: Site, rater: str, kit: str, kit_screens: Mapping[str, _Screen]) -> TakenIn:
    handed_in = n_saved = unchanged = n_missing = problems = 0
    refusals: dict[str, str] = {}
    for public, kit_screen in kit_screens.items():
        state = _state(site, public)
        saved = site.desk.save(rater, public, kit_screen.changes)
        if saved is None:
            n_missing += 1
            continue
        for visit in kit_screen.visits:
            site.desk.save(rater, public, (), visit)
        for name, text in kit_screen.problems:
            problems += site.desk.report(rater, public, text, f"{public} {name}")
        if saved.conflicts:
            refusals[public] = (
                "was changed on the study website in the meantime; that version is stored"
            )
        elif saved.refused:
            refusals[public] = next(iter(saved.refused.values()))
        elif (
            state is not None
            and state[0] == saved.rev
            and (state[1] or not kit_screen.is_submitted)
        ):
            unchanged += bool(kit_screen.changes)
        elif not kit_screen.is_submitted:
            n_saved += 1
        else:
            reason = _hand_in(site, rater, public, kit_screen.values, saved.rev)
            handed_in += not reason
            if reason:
                refusals[public] = reason
    return TakenIn(kit, rater, False, handed_in, n_saved, unchanged, n_missing, refusals, problems)


def _state(site: Site, public: str) -> tuple[int, bool] | None:
    """How many changes a screen has, and whether it was handed in."""
    with reading(site.store.engine) as connection:
        state = screens.public(connection, public)
    return None if state is None else (state.rev, state.submitted_at is not None)


def _hand_in(site: Site, rater: str, public: str, values: Mapping[str, str], rev: int) -> str:
    """Hand a screen in if it says what the rater saw when handing it in; else why not."""
    with reading(site.store.engine) as connection:
        state = screens.public(connection, public)
        task = screens.task(connection, state.task) if state is not None else None
        now = drafts.values(connection, task.id) if task is not None else {}
    instrument = site.study.instrument(task.instrument) if task is not None else None
    if task is None or instrument is None:
        return "no longer exists"
    form_fields, form_values = (
        fields(instrument, task),
        {name: draft.value for name, draft in now.items()},
    )
    if form.tidied(form_fields, values) != form.tidied(form_fields, form_values):
        return "was changed on the study website in the meantime; that version is stored"
    submission = site.desk.submit(rater, public, form_values, rev)
    if submission is None or submission.is_stored:
        return ""
    return next(
        iter((submission.problems or submission.conflicts).values()),
        "its batch was closed meanwhile",
    )
