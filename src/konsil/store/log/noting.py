"""Which protocol the records belong to: its digest, and the shapes of its forms, in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import schema
from konsil.store.log import audit

PROTOCOL = "protocol"
"""The kind of an entry in the log that says that the protocol is another one; data.forms: its forms
by digest."""
_STUDY = "study_digest"


def study_digest(connection: Connection) -> str:
    """The digest of the protocol last noted; empty where none was."""
    query = sa.select(schema.meta.c.value).where(schema.meta.c.key == _STUDY)
    return connection.execute(query).scalar_one_or_none() or ""


def note_study(
    connection: Connection, digest: str, at: str, forms: Mapping[str, Mapping[str, object]]
) -> bool:
    """Note the protocol inside the caller's transaction.

    Say whether it was another one than before.
    """
    before = study_digest(connection)
    if before == digest and not forms.keys() - noted_forms(connection):
        return False
    shapes = {"forms": {key: dict(shape) for key, shape in forms.items()}} if forms else {}
    audit.append(connection, PROTOCOL, {"before": before, "now": digest, **shapes}, at)
    if before == digest:  # an older version kept no forms
        return False
    if before:
        change = sa.update(schema.meta).where(schema.meta.c.key == _STUDY).values(value=digest)
        connection.execute(change)
    else:
        connection.execute(sa.insert(schema.meta).values(key=_STUDY, value=digest))
    return True


def noted_forms(connection: Connection) -> dict[str, Mapping[str, Any]]:
    """Digest -> shape, of every form that the log has."""
    shapes: dict[str, Mapping[str, Any]] = {}
    for data in audit.entries(connection, PROTOCOL):
        forms = data.get("forms")
        shapes |= forms if isinstance(forms, dict) else {}
    return shapes


def noted_digests(connection: Connection) -> frozenset[str]:
    """The digest of every protocol that the log has."""
    return frozenset(str(data.get("now", "")) for data in audit.entries(connection, PROTOCOL)) - {
        ""
    }
