"""Salts: a secret of each person.

Without it the log's hashes of that person's rows disclose nothing.

The log holds hashes of rows. Few values are possible in most cells, so that a plain hash could be
undone by trying. Each row about a person is hashed with the person's salt; when the rows are erased
with the salt, what remains in the log is a random number, and the chain stays as it is.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from operator import itemgetter

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.plan.model.places import SIGN_UP
from konsil.store.engine import schema
from konsil.store.engine.rows import KINDS, KindName, Row
from konsil.study.sections.calibration import REASON
from konsil.study.sections.enrolment import CONSENT, ELIGIBILITY, PROFILE

WITHDRAWAL = "withdrawal"
"""The kind of the event that somebody leaves; its subject is the rater."""
_OF_SUBJECT = frozenset({CONSENT, ELIGIBILITY, PROFILE, SIGN_UP, WITHDRAWAL, REASON})
Owner = Callable[[Row], str]


def _nobody(_row: Row) -> str:
    return ""


_KIND, _SUBJECT, _DATA = (KINDS["events"].names.index(name) for name in ("kind", "subject", "data"))


def _of_event(row: Row) -> str:
    # Most events name no rater: the text is searched before it is parsed.
    if '"rater":' in row[_DATA]:
        try:
            data = json.loads(row[_DATA])
        except (ValueError, RecursionError):
            return ""
        rater = data.get("rater") if isinstance(data, dict) else None
        if isinstance(rater, str) and rater:
            return rater
    return str(row[_SUBJECT]) if row[_KIND] in _OF_SUBJECT else ""


EVENT_OWNER: Owner = _of_event
"""Whose salt an event is hashed with: it stands in one of several cells."""
_COLUMNS: Mapping[KindName, str] = {"raters": "id", "ratings": "rater", "attempts": "rater"}
_OWNERS: Mapping[str, Owner] = {
    **{kind: itemgetter(KINDS[kind].names.index(name)) for kind, name in _COLUMNS.items()},
    "events": EVENT_OWNER,
}
_COLUMN_OF: Mapping[Owner, str] = {_OWNERS[kind]: name for kind, name in _COLUMNS.items()}


def owner_of(kind: str) -> Owner:
    """Whose salt a row of this kind of record is hashed with.

    Empty: it is about nobody, and has none.
    """
    return _OWNERS.get(kind, _nobody)


def owner_column(owner: Owner) -> str:
    """The column that an owner is read from; empty where rows have no owner."""
    return _COLUMN_OF.get(owner, "")


# Asked at every page that is handed in.
_SALT = sa.select(schema.salts.c.salt).where(schema.salts.c.owner == sa.bindparam("of"))
_NEW = sa.text("INSERT INTO salts (owner, salt) VALUES (:of, :salt) ON CONFLICT DO NOTHING")


class Salts:
    """The salts as one transaction that writes needs them; who has none yet gets one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known = {"": ""}

    def of(self, owner: str) -> str:
        """The salt of this owner; none for nobody."""
        salt = self._known.get(owner)
        if salt is None:
            salt = self._connection.execute(_SALT, {"of": owner}).scalar_one_or_none()
            if salt is None:
                # Another process may have been faster: its salt is read back below.
                self._connection.execute(_NEW, {"of": owner, "salt": secrets.token_hex(16)})
                salt = str(self._connection.execute(_SALT, {"of": owner}).scalar_one())
            self._known[owner] = salt
        return salt


def all_salts(connection: Connection) -> dict[str, str]:
    """Owner -> salt, for checking."""
    return {row.owner: row.salt for row in connection.execute(sa.select(schema.salts))}
