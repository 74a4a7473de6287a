"""Names and addresses, in a table of their own that no reader of ratings ever opens."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.store.engine import engine, schema
from konsil.store.log.db import Store
from konsil.store.people.staff import forget_staff


@dataclass(frozen=True, slots=True)
class Person:
    """Who a rater is."""

    rater: str
    """The rater's id, a pseudonym."""
    name: str = ""
    """The name."""
    email: str = ""
    """The address."""
    language: str = ""
    """The language of letters; empty: the study's."""
    failing: str = ""
    """Since when letters to the address fail; empty: they do not, as far as is known."""


def note_person(store: Store, person: Person, *, is_right: bool = False) -> None:
    """Write who a rater is, or correct it; the log does not say what was written.

    An empty language leaves the one that is stored. A new address is not known to fail, nor is one
    that is stated to be right.
    """
    with engine.writing(store.engine) as connection:
        write_person(connection, person, is_right=is_right)


def write_person(connection: Connection, person: Person, *, is_right: bool = False) -> None:
    """Write who a rater is in the caller's transaction."""
    table = schema.people
    stored = connection.execute(
        sa.select(schema.raters.c.id).where(schema.raters.c.id == person.rater)
    ).first()
    if stored is None:
        raise StoreError(
            f"people: there is no rater {person.rater!r} in the database; run 'konsil plan' first"
        )
    before = connection.execute(sa.select(table).where(table.c.rater == person.rater)).first()
    values: dict[str, str | None] = {"name": person.name, "email": person.email}
    if person.language:
        values["language"] = person.language
    if before is None:
        connection.execute(sa.insert(table).values(rater=person.rater, **values))
        return
    if is_right or before.email != person.email:
        values["failing"] = None
    connection.execute(sa.update(table).where(table.c.rater == person.rater).values(values))


def people(store: Store) -> dict[str, Person]:
    """Everybody whose name is known, by rater."""
    with engine.reading(store.engine) as connection:
        rows = connection.execute(sa.select(schema.people).order_by(schema.people.c.rater))
        return {
            row.rater: Person(row.rater, row.name, row.email, row.language or "", row.failing or "")
            for row in rows
        }


def forget_person(store: Store, rater: str) -> bool:
    """Erase a name and address, a rater's or a staff member's, as they may demand.

    What they did stays.

    It stays under the pseudonym.
    """
    with engine.writing(store.engine) as connection:
        deleted = connection.execute(sa.delete(schema.people).where(schema.people.c.rater == rater))
        # Their identifiers stand in mails that name the address.
        connection.execute(sa.delete(schema.letters).where(schema.letters.c.rater == rater))
        forgotten = forget_staff(connection, rater)
    # The deleted name is still in the write-ahead log.
    engine.empty_log(store.engine)
    return bool(deleted.rowcount) or forgotten
