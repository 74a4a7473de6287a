"""What is known of letters to people: kind, time and outcome, never the address or the link."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit
from konsil.store.log.db import Store
from konsil.store.log.erasures import refuse_erased
from konsil.store.people.people import people

LetterKind = Literal["invitation", "reminder"]
State = Literal["under way", "sent", "deferred", "refused", "bounced"]
_FINAL = ("sent", "refused", "bounced")
"""States of letters that are not sent again."""


@dataclass(frozen=True, slots=True)
class LetterRecord:
    """One letter."""

    id: str
    """Random; it is a part of the letter's Message-ID."""
    rater: str
    """To whom."""
    kind: LetterKind
    """What it was for."""
    state: State
    """Under way: handed to the server, or about to be, when the program ended."""
    code: str
    """The status code of the mail server; empty: none."""
    at: str
    """When."""

    @property
    def is_final(self) -> bool:
        """Whether it is not sent again."""
        return self.state in _FINAL


def letters(store: Store, rater: str = "") -> dict[str, tuple[LetterRecord, ...]]:
    """All letters, or those to one rater, by rater, oldest first."""
    t = schema.letters
    query = sa.select(t).where(t.c.rater == rater) if rater else sa.select(t)
    by_rater: dict[str, list[LetterRecord]] = defaultdict(list)
    with reading(store.engine) as connection:
        for row in connection.execute(query.order_by(t.c.at, t.c.id)):
            by_rater[row.rater].append(LetterRecord(**row._mapping))
    return {rater: tuple(records) for rater, records in by_rater.items()}


def begin(store: Store, rater: str, kind: LetterKind, *, at: str) -> str:
    """Note before a letter is handed over that it is under way, and give its identifier.

    A letter of before that was not accepted goes on under its identifier: a server that has
    accepted it nevertheless can recognise the second copy.
    """
    t = schema.letters
    is_open = sa.and_(t.c.rater == rater, t.c.state.not_in(_FINAL))
    with writing(store.engine) as connection:
        # Erased since the letters of this run were chosen: the address is still in memory.
        refuse_erased(connection, rater)
        letter_id: str | None = connection.execute(
            sa.select(t.c.id).where(is_open).order_by(t.c.at).limit(1)
        ).scalar_one_or_none()
        values = {"kind": kind, "state": "under way", "code": "", "at": at}
        if letter_id is None:
            letter_id = secrets.token_hex(16)
            connection.execute(sa.insert(t).values(id=letter_id, rater=rater, **values))
        else:
            connection.execute(sa.update(t).where(t.c.id == letter_id).values(values))
    return letter_id


def end(
    store: Store, letter_id: str, state: State, *, at: str, code: str = "", by: str = ""
) -> None:
    """Note what became of a letter, in the log too."""
    with writing(store.engine) as connection:
        _end(connection, letter_id, state, at=at, code=code, by=by)


def _end(
    connection: Connection, letter_id: str, state: State, *, at: str, code: str, by: str = ""
) -> None:
    t = schema.letters
    row = connection.execute(sa.select(t.c.rater, t.c.kind).where(t.c.id == letter_id)).first()
    if row is None:  # the person was erased meanwhile
        return
    # When a letter bounced is in the log; the row has when it was sent.
    times = {} if state == "bounced" else {"at": at}
    values = {"state": state, "code": code, **times}
    connection.execute(sa.update(t).where(t.c.id == letter_id).values(values))
    data = {"who": row.rater, "letter": row.kind, "outcome": state}
    data |= ({"code": code} if code else {}) | ({"by": by} if by else {})
    audit.append(connection, audit.LETTER, data, at)


def mark_failing(store: Store, rater: str, *, at: str) -> None:
    """Note that letters to a rater's address fail."""
    p = schema.people
    with writing(store.engine) as connection:
        is_new = sa.and_(p.c.rater == rater, p.c.failing.is_(None))
        connection.execute(sa.update(p).where(is_new).values(failing=at))


def note_bounces(
    store: Store, reports: Mapping[str, str], *, at: str, by: str = ""
) -> tuple[str, ...]:
    """Note that letters bounced (identifier -> status code); give the raters, sorted.

    A letter that is known to have bounced changes nothing.
    """
    t, p = schema.letters, schema.people
    raters = []
    with writing(store.engine) as connection:
        for letter_id, code in sorted(reports.items()):
            is_new = sa.and_(t.c.id == letter_id, t.c.state != "bounced")
            rater = connection.execute(sa.select(t.c.rater).where(is_new)).scalar_one_or_none()
            if rater is None:
                continue
            _end(connection, letter_id, "bounced", at=at, code=code, by=by)
            is_marked = sa.and_(p.c.rater == rater, p.c.failing.is_(None))
            connection.execute(sa.update(p).where(is_marked).values(failing=at))
            raters.append(str(rater))
    return tuple(sorted(set(raters)))


def note_policy_refusals(
    store: Store, reports: Mapping[str, str], *, at: str, by: str = ""
) -> dict[str, str]:
    """Note that a policy refused letters (identifier -> status code); give the code by rater.

    The letters stay sent, so that none is sent again the same day, and no address is marked. A
    letter that is known to be refused, or to have bounced, changes nothing.
    """
    t = schema.letters
    code_by_rater = {}
    with writing(store.engine) as connection:
        for letter_id, code in sorted(reports.items()):
            is_new = sa.and_(t.c.id == letter_id, t.c.state == "sent", t.c.code != code)
            row = connection.execute(sa.select(t.c.rater, t.c.kind).where(is_new)).first()
            if row is None:
                continue
            connection.execute(sa.update(t).where(t.c.id == letter_id).values(code=code))
            data = {"who": row.rater, "letter": row.kind, "outcome": "refused by policy"}
            data |= {"code": code} | ({"by": by} if by else {})
            audit.append(connection, audit.LETTER, data, at)
            code_by_rater[str(row.rater)] = code
    return dict(sorted(code_by_rater.items()))


def addresses(store: Store) -> dict[str, tuple[str, str]]:
    """Identifier of each letter -> its rater and the rater's present address."""
    by_rater = people(store)
    return {
        record.id: (rater, by_rater[rater].email)
        for rater, records in letters(store).items()
        if rater in by_rater
        for record in records
    }
