"""Secrets of a database: each made once, kept in it and in no export."""

from __future__ import annotations

import secrets

import sqlalchemy as sa

from konsil.store.engine import schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log.db import Store


def secret(store: Store, name: str) -> bytes:
    """The secret of this name.

    One of this moment alone where there is none and the database may only be read.
    """
    query = sa.select(schema.meta.c.value).where(schema.meta.c.key == name)
    with reading(store.engine) as connection:
        secret_hex = connection.execute(query).scalar_one_or_none()
    if secret_hex is not None:
        return bytes.fromhex(secret_hex)
    # A key for this run alone, because nothing can be stored.
    if store.is_read_only:
        return secrets.token_bytes(16)
    with writing(store.engine) as connection:
        # Asked again under the lock: another process may have been faster.
        secret_hex = connection.execute(query).scalar_one_or_none()
        if secret_hex is None:
            secret_hex = secrets.token_hex(16)
            connection.execute(sa.insert(schema.meta).values(key=name, value=secret_hex))
    return bytes.fromhex(secret_hex)
