"""Those who run a study.

They have a pseudonym everywhere; the name is in a separate table, from which it can be erased.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.errors import StoreError
from konsil.store.engine import page_schema, schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log import audit
from konsil.store.log.db import Store

PREFIX = "staff-"
"""How the pseudonyms begin."""
_NUMBERED = re.compile(rf"{PREFIX}\d+")
LONGEST = 200
"""Characters of a name."""


def pseudonym(store: Store, name: str) -> str:
    """The pseudonym of this name, or the pseudonym itself where it is one.

    A name that is new gets one. Names that a sign-in service stated identify nobody: whoever signs
    in there chooses them.
    """
    clean_name = name.strip()
    if not clean_name or len(clean_name) > LONGEST or not clean_name.isprintable():
        raise StoreError(f"staff: expected a name of 1 to {LONGEST} characters, got {name[:80]!r}")
    with reading(store.engine) as connection:
        assigned = _pseudonym_of(connection, clean_name)
    if assigned is None:
        with writing(store.engine) as connection:
            # Two names that come at the same moment get two pseudonyms.
            audit.next_entry(connection)
            assigned = _pseudonym_of(connection, clean_name)
            if assigned is None:
                if _NUMBERED.fullmatch(clean_name):
                    raise StoreError(
                        f"staff: there is no pseudonym {clean_name!r}; a name cannot be like one"
                    )
                assigned = _next(connection)
                connection.execute(sa.insert(schema.staff).values(who=assigned, name=clean_name))
    return assigned


def new_pseudonym(store: Store, name: str) -> str:
    """A pseudonym of its own for a name that a sign-in service states.

    The name is shown, and never taken for a person's: another may have the same.
    """
    with writing(store.engine) as connection:
        assigned = _next(connection)
        connection.execute(
            sa.insert(schema.staff).values(who=assigned, name=name[:LONGEST], stated=1)
        )
    return assigned


TABLE = "table"
"""Who decided, where a table was read and nobody was named."""


def decider(store: Store, by: str, *, may_write: bool = True) -> str:
    """Who decided at the command line, as stored: a pseudonym; TABLE and nobody stay as they are.

    `may_write` False writes nothing: a name that is new stays as it is.
    """
    if by.strip() in ("", TABLE):
        return by.strip()
    if may_write:
        return pseudonym(store, by)
    with reading(store.engine) as connection:
        return _pseudonym_of(connection, by.strip()) or by


def _pseudonym_of(connection: Connection, name: str) -> str | None:
    t, i = schema.staff.c, page_schema.invitations.c
    if connection.execute(sa.select(t.who).where(t.who == name)).first() is not None:
        return name
    is_typed = sa.and_(t.name == name, t.stated.is_(None))
    pseudonyms = connection.execute(sa.select(t.who).where(is_typed).order_by(t.who)).scalars()
    if named := pseudonyms.all():
        return _only(name, named)
    # Identifiers that older versions took as they came stay what they are in the log.
    older = sa.select(i.who).where(i.who == name, i.role != "rater").limit(1)
    return None if connection.execute(older).first() is None else name


def _only(name: str, persons: Sequence[str]) -> str:
    if len(persons) > 1:
        raise StoreError(
            f"{name!r} is the name of {', '.join(persons)}; state which of them you mean"
        )
    return persons[0]


def staff_names(store: Store) -> dict[str, str]:
    """Those who run the study: the name of each pseudonym."""
    with reading(store.engine) as connection:
        query = sa.select(schema.staff.c.who, schema.staff.c.name)
        return {str(row.who): str(row.name) for row in connection.execute(query)}


def person_named(store: Store, name: str) -> str:
    """Whom a name or an identifier means at the command line; itself where it is nobody's name."""
    p, t = schema.people.c, schema.staff.c
    with reading(store.engine) as connection:
        assigned = _pseudonym_of(connection, name)
        if assigned is not None:
            return assigned
        raters = connection.execute(sa.select(p.rater).where(p.name == name).order_by(p.rater))
        if named := raters.scalars().all():
            return _only(name, named)
        stated = sa.select(t.who).where(t.name == name, t.stated.is_not(None)).order_by(t.who)
        if accounts := connection.execute(stated).scalars().all():
            raise StoreError(
                f"{name!r} is what a sign-in service calls {', '.join(accounts)}; state the"
                " pseudonym"
            )
    return name


def _next(connection: Connection) -> str:
    used = set(connection.execute(sa.select(schema.staff.c.who)).scalars())
    used |= set(connection.execute(sa.select(page_schema.invitations.c.who)).scalars())
    used |= set(connection.execute(sa.select(schema.raters.c.id)).scalars())
    # A number is not given again to somebody else: a name that was erased leaves its pseudonym's
    # row.
    return next(
        candidate for n in range(1, len(used) + 2) if (candidate := f"{PREFIX}{n}") not in used
    )


def names(connection: Connection) -> Mapping[str, str]:
    """Pseudonym -> name, of raters and of those who run the study, as far as names are known.

    It is for the desk alone.
    """
    raters = connection.execute(sa.select(schema.people.c.rater, schema.people.c.name))
    others = connection.execute(sa.select(schema.staff.c.who, schema.staff.c.name))
    return {person: name for rows in (raters, others) for person, name in rows if name}


def named(store: Store, sentences: Iterable[str]) -> Iterator[str]:
    """Sentences for those who run the study, with names.

    The names are those behind the pseudonyms that the sentences quote.
    """
    with reading(store.engine) as connection:
        name_by_pseudonym = names(connection)
    for sentence in sentences:
        for pseudonym, name in name_by_pseudonym.items():
            sentence = sentence.replace(f"{pseudonym!r}", f"{pseudonym!r} ({name})")
        yield sentence


def forget_staff(connection: Connection, pseudonym: str) -> bool:
    """Erase a name in the caller's transaction; the pseudonym stays taken."""
    is_named = sa.and_(schema.staff.c.who == pseudonym, schema.staff.c.name != "")
    return bool(
        connection.execute(sa.update(schema.staff).where(is_named).values(name="")).rowcount
    )
