"""Withdrawal of a rater: an event, and what she has not rated goes to the others of her panel."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError, nearest
from konsil.plan.changes.handover import Handover, Progress, reassign_tasks
from konsil.plan.model.places import SIGN_UP
from konsil.records import Event, Item, Rater, Task
from konsil.store.engine import page_schema, read, schema
from konsil.store.engine.cells import dumps
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit, study_events
from konsil.store.log.db import Store
from konsil.store.log.revocation import revoke_access
from konsil.store.tasks import progress, task_reassignment
from konsil.study import Study


def withdrawn_raters(connection: Connection) -> frozenset[str]:
    """Who has withdrawn and not come back to a slot since."""
    withdrawn: set[str] = set()
    events = [
        *study_events.of_kind(connection, study_events.WITHDRAWAL),
        *study_events.of_kind(connection, "sign-up"),
    ]
    for event in sorted(events, key=lambda e: e.at):
        if event.kind == study_events.WITHDRAWAL:
            withdrawn.add(event.subject)
        else:
            withdrawn.discard(event.subject)
    return frozenset(withdrawn)


def panels(connection: Connection, study: Study) -> dict[str, tuple[str, str]]:
    """Rater -> panel and kind: the protocol's, and those who signed up."""
    return {r.id: (r.panel, r.kind) for r in people_of(connection, study).values()}


def preview(store: Store, study: Study, rater: str) -> Handover:
    """The effects of a withdrawal on a rater's tasks; nothing changes."""
    with reading(store.engine) as connection:
        return _preview(connection, study, rater)


def withdraw(
    store: Store,
    study: Study,
    rater: str,
    *,
    at: str,
    reason: str = "",
    by: str = "",
    agreed_digest: str | None = None,
) -> Handover | None:
    """Let a rater go: her links end, what she rated stays, the rest changes hands.

    `agreed_digest` is the digest of the preview that was agreed to; where the plan would now be
    another one, because the rater continued meanwhile, nothing happens and None is returned.
    """
    with reading(store.engine) as connection:
        # Worked out before anybody has to wait, and once more only where something was written
        # meanwhile.
        head, handover = audit.head(connection), _preview(connection, study, rater)
    with writing(store.engine) as connection:
        if audit.head(connection, lock=True) != head:
            handover = _preview(connection, study, rater)
        # The plan changed after it was shown: nothing is done that nobody agreed to.
        if agreed_digest is not None and agreed_digest != digest(handover):
            return None
        _leave(connection, handover, at, reason, by)
    return handover


def let_go(
    connection: Connection, study: Study, rater: str, *, at: str, reason: str = "", by: str = ""
) -> Handover:
    """The same in the caller's transaction."""
    handover = _preview(connection, study, rater)
    _leave(connection, handover, at, reason, by)
    return handover


def _leave(connection: Connection, handover: Handover, at: str, reason: str, by: str) -> None:
    data = {"reason": reason.strip(), "holders": dict(handover.holders)} | (
        {"by": by} if by else {}
    )
    times = len(study_events.of_kind(connection, study_events.WITHDRAWAL, handover.rater)) + 1
    event = Event(
        f"withdrawal {handover.rater} {times}", study_events.WITHDRAWAL, handover.rater, at, data
    )
    task_reassignment.hand_over(connection, event, handover.holders)
    revoke_access(connection, handover.rater, at, by=by)


def frees_place(connection: Connection, study: Study, rater: str) -> bool:
    """Whether a place becomes free with all that is unrated in it.

    It does because others may be waiting for one.

    So it is where the rater signed up for it and the protocol says what those get who come too
    late.
    """
    surplus = study.enrolment.surplus if study.enrolment is not None else "thanks"
    return surplus != "thanks" and bool(study_events.of_kind(connection, SIGN_UP, rater))


def _preview_mark(connection: Connection) -> frozenset[str]:
    submitted = sa.select(page_schema.screens.c.task).where(
        page_schema.screens.c.submitted_at.is_not(None)
    )
    return progress.rated_tasks(connection) | frozenset(connection.execute(submitted).scalars())


def digest(handover: Handover) -> str:
    """What a preview is recognised by."""
    return hashlib.sha256(
        dumps([handover.rater, handover.stay, dict(sorted(handover.holders.items()))]).encode()
    ).hexdigest()


def people_of(connection: Connection, study: Study) -> dict[str, Rater]:
    """Every rater by id: the protocol's, and those who signed up."""
    return {r.id: r for r in read.each(connection, "raters")} | {r.id: r for r in study.raters}


def _preview(connection: Connection, study: Study, rater: str) -> Handover:
    people = {r.id: r for r in people_of(connection, study).values() if r.kind == "human"}
    if rater not in people:
        raise StoreError(
            f"rater: there is no person {rater!r} among the raters; {nearest(rater, people)}"
        )
    withdrawn = withdrawn_raters(connection)
    if rater in withdrawn:
        raise StoreError(f"rater {rater!r} has withdrawn already")
    if frees_place(connection, study, rater):
        rater_tasks = list(read.some(connection, "tasks", schema.tasks.c.rater == rater))
        rated = _preview_mark(connection)
        holders = {t.id: "" for t in rater_tasks if t.id not in rated}
        late = frozenset(t.id for t in rater_tasks if t.id in holders and t.purpose == "tiebreak")
        stay = sum(t.id in rated and t.purpose != "tiebreak" for t in rater_tasks)
        return Handover(rater, holders, stay, {}, late, frees=True)
    panel = people[rater].panel
    members = [r.id for r in people.values() if r.panel == panel]
    tasks: list[Task] = [t for t in read.each(connection, "tasks") if t.rater in members]
    items: dict[str, Item] = {}
    if any(a.match for a in study.plan):
        items = {i.id: i for i in read.each(connection, "items")}
    rated = _preview_mark(connection)
    return reassign_tasks(
        rater,
        tasks,
        plan=study.plan,
        raters=tuple(people.values()),
        items=items,
        progress=Progress(rated, withdrawn, study_events.closed_batches(connection)),
        seed=study.seed,
    )
