"""Taking in what an offline kit brings back: by the way that the pages' own words take, or not at all."""

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
    kept: int = 0
    """Screens that are not complete: what they say is on the rater's page."""
    unchanged: int = 0
    """Screens that said nothing new."""
    gone: int = 0
    """Screens that belong to somebody else by now."""
    left: Mapping[str, str] = field(default_factory=dict)
    """Public name of a screen that was not handed in -> why."""
    problems: int = 0
    """Problems reported."""


@dataclass(frozen=True, slots=True)
class _Screen:
    """What a kit says of one screen."""

    changes: tuple[Change, ...]
    done: bool
    values: Mapping[str, str]
    visits: tuple[Visit, ...]
    problems: tuple[tuple[str, str], ...]


def take_in(site: Site, text: str, where: str) -> TakenIn:
    """Store the answers of a kit.

    What was altered, is of another study or of a closed batch is refused as a whole.

    The same file again changes nothing; neither does one that is older than what was taken in.
    """
    signed, told = _opened(site, text, where)
    kit = str(told["kit"])
    with reading(site.store.engine) as connection:
        [made] = kits.kit_events(connection, kit)
        before = kits.answered(connection, kit)
    rater = str(made.data["rater"])
    try:
        copy, revision = form.clean(str(told.get("copy", "")))[:64], _count(told.get("revision", 0))
        if any(
            e.data.get("copy") == copy and int(str(e.data.get("revision"))) >= revision
            for e in before
        ):
            return TakenIn(kit, rater, again=True)
        found = {name: _screen(one, site.names) for name, one in told["screens"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise KonsilError(
            f"{where}: is signed, but is not what a kit of this version writes"
        ) from None
    names = kits.screens_of(made)
    if not set(found) <= set(names):
        raise KonsilError(f"{where}: names screens that are not in its kit")
    forms = made.data["instruments"]
    if not isinstance(forms, Mapping) or dict(forms) != digests(site.study, map(str, forms)):
        raise KonsilError(
            f"{where}: the form was changed after the kit was made, so its answers are to another"
            " form"
        )
    refuse_at_gates(site, rater)
    _refuse_closed(site, names, str(made.data["batch"]), where)
    done = _each(site, rater, kit, found)
    data = {"rater": rater, "copy": copy, "revision": revision, "handed_in": done.handed_in}
    name = f"{kits.ANSWERED} {kit} {hashlib.sha256(signed.encode()).hexdigest()[:32]}"
    with writing(site.store.engine) as connection:
        study_events.append_event(connection, Event(name, kits.ANSWERED, kit, site.now(), data))
    return done


def _opened(site: Site, text: str, where: str) -> tuple[str, Mapping[str, Any]]:
    """What was signed, as text and as data, if it was signed by a kit of this study."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        outer = json.loads(text)
        if outer["konsil"] != "kit answers" or outer["format"] != 1:
            raise ValueError
        signed, mac = str(outer["signed"]), str(outer["mac"])
        told = json.loads(signed)
        kit = str(told["kit"])
        for one in (signed, kit):
            # half a character is no text that could be signed, nor a name that a database takes
            one.encode()
    except (ValueError, TypeError, KeyError, RecursionError):
        raise KonsilError(
            f"{where}: expected the answers file of an offline kit, got something else"
        ) from None
    with reading(site.store.engine) as connection:
        if not kits.kit_events(connection, kit):
            raise KonsilError(
                f"{where}: belongs to a kit that was not made from this study's database"
            )
    right = kits.signature(kits.key(site.store, kit), signed)
    if not hmac.compare_digest(right.encode(), mac.encode("utf-8", "replace")):
        raise KonsilError(
            f"{where}: was altered after its kit wrote it, or is damaged; ask for it once more"
        )
    return signed, told


def _screen(told: Mapping[str, Any], names: PageNames) -> _Screen:
    base = _count(told["base_rev"])
    changes = tuple(
        Change(
            _token(c["id"]),
            names.field(str(c["field"])),
            str(c["value"]),
            base,
            form.clean(str(c["at"]))[:32],
        )
        for c in told["changes"]
    )
    visits = tuple(_visit(_token(name), times) for name, times in told["visits"].items())
    problems = tuple((_token(p["id"]), str(p["text"])[:4000]) for p in told["problems"])
    values = {names.field(str(name)): str(value) for name, value in told["values"].items()}
    return _Screen(changes, bool(told["done"]), values, visits, problems)


def _count(told: object) -> int:
    if not isinstance(told, int) or not 0 <= told < 1_000_000_000:
        raise ValueError
    return told


def _token(told: object) -> str:
    if not isinstance(told, str) or not _TOKEN.fullmatch(told):
        raise ValueError
    return told


def _visit(name: str, times: Mapping[str, Any]) -> Visit:
    wall, active = read_seconds(str(times["wall"])), read_seconds(str(times["active"]))
    if wall is None or active is None or active > wall + 1:
        raise ValueError
    first, ends = read_seconds(str(times["first_input"])), times.get("ends")
    seen = ends if isinstance(ends, str) and is_places(ends) else None
    return Visit(name, wall, min(active, wall), first, seen)


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


def _each(site: Site, rater: str, kit: str, found: Mapping[str, _Screen]) -> TakenIn:
    handed_in = kept = unchanged = gone = problems = 0
    left: dict[str, str] = {}
    for public, one in found.items():
        state = _state(site, public)
        saved = site.desk.save(rater, public, one.changes)
        if saved is None:
            gone += 1
            continue
        for visit in one.visits:
            site.desk.save(rater, public, (), visit)
        for name, text in one.problems:
            problems += site.desk.report(rater, public, text, f"{public} {name}")
        if saved.conflicts:
            left[public] = "was changed on the pages meanwhile; it stays as it is there"
        elif saved.refused:
            left[public] = next(iter(saved.refused.values()))
        elif state is not None and state[0] == saved.rev and (state[1] or not one.done):
            unchanged += bool(one.changes)
        elif not one.done:
            kept += 1
        else:
            why = _hand_in(site, rater, public, one.values, saved.rev)
            handed_in += not why
            if why:
                left[public] = why
    return TakenIn(kit, rater, False, handed_in, kept, unchanged, gone, left, problems)


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
        return "is not there any more"
    asked, said = fields(instrument, task), {name: one.value for name, one in now.items()}
    if form.tidied(asked, values) != form.tidied(asked, said):
        return "was changed on the pages meanwhile; it stays as it is there"
    done = site.desk.submit(rater, public, said, rev)
    if done is None or done.done:
        return ""
    return next(iter((done.problems or done.conflicts).values()), "its batch was closed meanwhile")
