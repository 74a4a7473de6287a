"""The tables as this version knows them; migrations/ says how a database came to have them.

Mappings and tuples are kept as canonical JSON text, not as a database's own JSON type: equal
records are then equal bytes in SQLite and in PostgreSQL, which makes idempotent imports a
comparison of texts and lets a rating's answers be part of its identity. PostgreSQL can still look
inside with `strata::jsonb`.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)

SCHEMA = 7
"""The newest schema that this version knows: the number of its last migration."""

# Identifiers sort by code point everywhere, as Python sorts them; PostgreSQL would use the server's
# language.
KEY = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData()


def _entry() -> Column[int]:
    """Name the audit entry under which a row was written.

    So the log covers the rows themselves.

    No foreign key: the entry carries the rows' fingerprint and is therefore written after them.
    """
    return Column("entry", Integer, nullable=False)


def covered() -> Column[int]:
    """Name the audit entry that covers a row as it is now.

    None: it changed since, or none has covered it yet.
    """
    return Column("entry", Integer)


meta = Table(
    "meta", metadata, Column("key", KEY, primary_key=True), Column("value", Text, nullable=False)
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

imports = Table(
    "imports",
    metadata,
    Column("entry", Integer, ForeignKey("audit_log.seq"), primary_key=True, autoincrement=False),
    Column("source", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("new", Text, nullable=False),
    Column("unchanged", Text, nullable=False),
)

items = Table(
    "items",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("text", Text, nullable=False),
    Column("reference", Text),
    Column("aliases", Text, nullable=False),
    Column("case", Text),
    Column("sets", Text, nullable=False),
    Column("strata", Text, nullable=False),
    _entry(),
)

answers = Table(
    "answers",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("item", KEY, nullable=False),
    Column("system", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("reasoning", Text, nullable=False),
    Column("citations", Text, nullable=False),
    Column("sentences", Text, nullable=False),
    _entry(),
)

raters = Table(
    "raters",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("panel", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("family", Text, nullable=False),
    Column("strata", Text, nullable=False),
    _entry(),
)

# Names and addresses lie apart from the ratings, so that a reader of ratings never holds them.
people = Table(
    "people",
    metadata,
    Column("rater", KEY, ForeignKey("raters.id"), primary_key=True),
    Column("name", Text, nullable=False),
    Column("email", Text, nullable=False),
    # The language of letters; none: the study's.
    Column("language", Text),
    # Since when letters to the address fail; none: they do not, as far as is known.
    Column("failing", Text),
)

# Letters to people: which kind, when, and with what outcome; never the address or the link. The
# identifier is random and stands in the letter, so that a bounce can be matched.
letters = Table(
    "letters",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("rater", KEY, nullable=False),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("at", Text, nullable=False),
)

# Names of those who run the study: everywhere else they have their pseudonyms.
# `stated` 1: the name is what a sign-in service stated; whoever types it means somebody else.
staff = Table(
    "staff",
    metadata,
    Column("who", KEY, primary_key=True),
    Column("name", Text, nullable=False),
    Column("stated", Integer),
)

# The log's hashes of rows about a person are made with the person's salt: without it they tell
# nothing.
salts = Table(
    "salts", metadata, Column("owner", KEY, primary_key=True), Column("salt", Text, nullable=False)
)


def _task_columns() -> tuple[Column[Any], ...]:
    """Make the columns of a task beside its id, the same for tasks as they are and as they were."""
    return (
        Column("slot", Text, nullable=False),
        Column("rater", KEY, nullable=False),
        Column("instrument", Text, nullable=False),
        Column("item", KEY),
        Column("answers", Text, nullable=False),
        Column("spans", Text, nullable=False),
        Column("arm", Text, nullable=False),
        Column("phase", Text, nullable=False),
        Column("batch", Text, nullable=False),
        Column("position", BigInteger, nullable=False),
        Column("purpose", Text, nullable=False),
        Column("repeat_of", KEY),
    )


tasks = Table("tasks", metadata, Column("id", KEY, primary_key=True), *_task_columns(), _entry())


def _value_columns(*, history: bool) -> tuple[Column[Any], ...]:
    """Make the columns of a rating's value, the same in the current values and in their history."""
    return (
        Column("rater", KEY, nullable=False),
        Column("item", KEY),
        Column("state", Text, nullable=False),
        Column("label", Text),
        Column("note", Text, nullable=False),
        Column("confidence", Float(53)),
        Column("seconds", Float(53)),
        Column("at", Text, nullable=False),
        Column("instrument", Text, nullable=False),
        Column("revision", Integer, nullable=False, primary_key=history, autoincrement=False),
        _entry(),
    )


RATING_KEY = ("task", "criterion", "answers", "span")

ratings = Table(
    "ratings",
    metadata,
    *(Column(name, KEY, primary_key=True) for name in RATING_KEY),
    *_value_columns(history=False),
    # An abstention is a state and not a label; a rating without either would be a missing value in
    # disguise.
    CheckConstraint(
        "(state = 'rated' AND label IS NOT NULL) OR (state = 'abstained' AND label IS NULL)",
        name="rating_state",
    ),
)

# What a rating said before: the superseded values. With the current value they are all that was
# ever written.
revisions = Table(
    "rating_revisions",
    metadata,
    *(Column(name, KEY, primary_key=True) for name in RATING_KEY),
    *_value_columns(history=True),
    Column("superseded_at", Text, nullable=False),
    Column("superseded_by", KEY, ForeignKey("events.id"), nullable=False),
    ForeignKeyConstraint(
        RATING_KEY, [f"ratings.{name}" for name in RATING_KEY], name="revision_of"
    ),
)

# Who had a task before it changed hands.
task_revisions = Table(
    "task_revisions",
    metadata,
    Column("id", KEY, ForeignKey("tasks.id"), primary_key=True),
    *_task_columns(),
    Column("entry", Integer, primary_key=True, autoincrement=False),
    Column("superseded_at", Text, nullable=False),
    Column("superseded_by", KEY, ForeignKey("events.id"), nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("task", KEY, nullable=False),
    Column("rater", KEY, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("raw", Text, nullable=False),
    Column("at", Text, nullable=False),
    _entry(),
)

events = Table(
    "events",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", KEY, nullable=False),
    Column("at", Text, nullable=False),
    Column("data", Text, nullable=False),
    _entry(),
)

# Calls are the raw material of answers and ratings. They are covered by one entry of the log for
# each transaction: an entry a call would make the log as long as the run.
calls = Table(
    "calls",
    metadata,
    Column("work", KEY, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("who", KEY, nullable=False),
    Column("subject", KEY, nullable=False),
    Column("key", Text, nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("ended", Integer, nullable=False),
    Column("status", Integer, nullable=False),
    Column("asked", Text, nullable=False),
    Column("sent", Text, nullable=False),
    Column("echoed", Text, nullable=False),
    Column("usage", Text, nullable=False),
    Column("cost", Float(53)),
    Column("seconds", Float(53), nullable=False),
    Column("reply", Text, nullable=False),
    Column("raw", Text, nullable=False),
    Column("at", Text, nullable=False),
    covered(),
)

# Batches of a vendor's batch interface, from the intention to send one to its end. What comes of
# their requests is a call like any other, so that the log need not cover these rows.
call_batches = Table(
    "call_batches",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("who", KEY, nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("vendor_id", Text, nullable=False),
    Column("rejected", Text, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("reserved", Float(53), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("submitted_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("ended_at", Text, nullable=False),
    Column("note", Text, nullable=False),
)

# The requests of a batch, by their place in it.
call_batch_works = Table(
    "call_batch_works",
    metadata,
    Column("batch", KEY, primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("work", KEY, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("subject", KEY, nullable=False),
)

Index("letters_by_rater", letters.c.rater)
Index("call_batch_works_by_work", call_batch_works.c.work)

# Everything that is asked of all calls at once (what is done, how it ended, what it cost) without
# reading their bodies.
Index(
    "calls_by_end",
    calls.c.kind,
    calls.c.ended,
    calls.c.who,
    calls.c.outcome,
    calls.c.work,
    calls.c.subject,
)
# What several workers share while they call models; rows of it are no records, are in no export
# and are not in the log. Times are seconds of the database's clock since 1970.
workers = Table(
    "workers",
    metadata,
    Column("worker", KEY, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("began", Float(53), nullable=False),
    Column("until", Float(53), nullable=False),
)

# One row for each work that is left: a worker takes it, and the call that ends it removes it.
works = Table(
    "works",
    metadata,
    Column("work", KEY, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("who", KEY, nullable=False),
    Column("job", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("worker", KEY),
    Column("endpoint", Text),
    Column("reserved", Float(53)),
)
Index("works_in_order", works.c.kind, works.c.who, works.c.job, works.c.place)
Index("works_by_worker", works.c.worker)
Index("works_by_endpoint", works.c.endpoint)

# When the next call of an endpoint may begin.
rates = Table(
    "rates",
    metadata,
    Column("endpoint", KEY, primary_key=True),
    Column("next_request", Float(53), nullable=False),
    Column("next_token", Float(53), nullable=False),
    Column("paused_until", Float(53), nullable=False),
)

# One row: US dollars of all calls, and what calls of killed workers cost at most.
spending = Table(
    "spending",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("spent", Float(53), nullable=False),
    Column("lost", Float(53), nullable=False),
)

Index("attempts_by_task", attempts.c.task)
Index("answers_by_item", answers.c.item)
Index("tasks_by_rater", tasks.c.rater)
Index("tasks_by_item", tasks.c.item)
Index("ratings_by_item", ratings.c.item)
Index("events_by_kind", events.c.kind, events.c.subject)
