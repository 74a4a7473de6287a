"""The tables of the rating pages, beside those of the records."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, Table, Text

from konsil.store.engine.schema import KEY, covered, metadata

# Whoever rates is let in by an invitation; what is kept of invitations
# and of being signed in are hashes, so that a copy of the database opens no door.
invitations = Table(
    "invitations",
    metadata,
    Column("token", KEY, primary_key=True),
    Column("who", KEY, nullable=False),
    Column("role", Text, nullable=False),
    Column("made_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("most_uses", Integer),
    Column("used_at", Text),
    Column("revoked_at", Text),
    covered(),
)

visitors = Table(
    "visitors",
    metadata,
    Column("cookie", KEY, primary_key=True),
    Column("who", KEY, nullable=False),
    Column("role", Text, nullable=False),
    Column("csrf", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("made_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    # 1: by a passkey or an account; none: by a link alone.
    Column("confirmed", Integer),
)

# One row for each task that was ever shown: its random public name and how far it is.
screens = Table(
    "screens",
    metadata,
    Column("task", KEY, primary_key=True),
    Column("public", KEY, nullable=False, unique=True),
    Column("rater", KEY, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("deferred", Integer, nullable=False),
    Column("rev", Integer, nullable=False),
    Column("submitted_at", Text),
    Column("seconds", Float(53)),
    covered(),
)

# How long a page of a task was open, how long of that somebody was at it, and which answers were
# seen to their end.
visits = Table(
    "visits",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("task", KEY, nullable=False),
    Column("rater", KEY, nullable=False),
    Column("opened_at", Text, nullable=False),
    Column("wall", Float(53)),
    Column("active", Float(53)),
    Column("first_input", Float(53)),
    Column("ends", Text),
    covered(),
)

# Every change of a field as the browser told it, once each; `rev` 0 says that it lost against
# another window's.
draft_events = Table(
    "draft_events",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("task", KEY, nullable=False),
    Column("rater", KEY, nullable=False),
    Column("field", KEY, nullable=False),
    Column("value", Text, nullable=False),
    Column("base_rev", Integer, nullable=False),
    Column("rev", Integer, nullable=False),
    Column("said_at", Text, nullable=False),
    Column("at", Text, nullable=False),
    covered(),
)

# What the fields of a task say now: the sum of its events.
drafts = Table(
    "drafts",
    metadata,
    Column("task", KEY, primary_key=True),
    Column("field", KEY, primary_key=True),
    Column("value", Text, nullable=False),
    Column("rev", Integer, nullable=False),
    Column("event", KEY, nullable=False),
)

# Texts as every rater saw them: made once by one version of the renderer, the same bytes ever
# after.
renderings = Table(
    "renderings",
    metadata,
    Column("source", KEY, primary_key=True),
    Column("renderer", Text, nullable=False),
    Column("html", Text, nullable=False),
)

# Which sites a coordinator sees, and to which site an open link and those who came by it belong.
# Raters of the protocol have theirs among their characteristics.
sites = Table(
    "sites",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", KEY, nullable=False),
    Column("site", Text, nullable=False),
    covered(),
)

# Which person an account of a sign-in service is. The account is kept as a hash that is made with a
# secret of the database: it tells nothing outside.
identities = Table(
    "identities",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("who", KEY, nullable=False),
    Column("made_at", Text, nullable=False),
    covered(),
)

# The public part of owners' passkeys.
passkeys = Table(
    "passkeys",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("who", KEY, nullable=False),
    Column("public_key", Text, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("made_at", Text, nullable=False),
    covered(),
)

Index("sites_by_subject", sites.c.subject)
Index("visitors_by_who", visitors.c.who)
Index("screens_by_rater", screens.c.rater)
Index("visits_by_task", visits.c.task)
Index("draft_events_by_task", draft_events.c.task)

TABLES = frozenset(metadata.tables)
"""The names of all tables that this version knows, those of the records included."""
