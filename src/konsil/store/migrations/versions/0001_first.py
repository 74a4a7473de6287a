"""The first schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
APPEND_ONLY = ("audit_log", "imports", "rating_revisions", "events")


def text(name: str) -> sa.Column[Any]:
    """A text that is never missing."""
    return sa.Column(name, sa.Text, nullable=False)


def key(name: str) -> sa.Column[Any]:
    """A text that identifies something, sorted by code point."""
    return sa.Column(name, KEY, nullable=False)


def entry() -> sa.Column[Any]:
    """The audit entry under which the row was written."""
    return sa.Column("entry", sa.Integer, nullable=False)


def value() -> list[sa.Column[Any]]:
    """The columns of a rating's value."""
    return [
        key("rater"),
        sa.Column("item", KEY),
        text("state"),
        sa.Column("label", sa.Text),
        text("note"),
        sa.Column("confidence", sa.Float(53)),
        sa.Column("seconds", sa.Float(53)),
        text("at"),
        text("instrument"),
        sa.Column("revision", sa.Integer, nullable=False),
        entry(),
    ]


def upgrade() -> None:
    """Make every table."""
    op.create_table("meta", key("key"), text("value"), sa.PrimaryKeyConstraint("key"))
    op.create_table(
        "audit_log",
        sa.Column("seq", sa.Integer, autoincrement=False),
        text("at"),
        text("kind"),
        text("data"),
        text("previous"),
        text("hash"),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_table(
        "imports",
        sa.Column("entry", sa.Integer, autoincrement=False),
        text("source"),
        text("digest"),
        text("at"),
        text("new"),
        text("unchanged"),
        sa.PrimaryKeyConstraint("entry"),
        sa.ForeignKeyConstraint(["entry"], ["audit_log.seq"]),
    )
    op.create_table(
        "items",
        key("id"),
        text("text"),
        sa.Column("reference", sa.Text),
        text("aliases"),
        sa.Column("case", sa.Text),
        text("sets"),
        text("strata"),
        entry(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "answers",
        key("id"),
        key("item"),
        text("system"),
        text("text"),
        text("reasoning"),
        text("citations"),
        text("sentences"),
        entry(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "raters",
        key("id"),
        text("panel"),
        text("kind"),
        text("family"),
        text("strata"),
        entry(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "people",
        key("rater"),
        text("name"),
        text("email"),
        sa.PrimaryKeyConstraint("rater"),
        sa.ForeignKeyConstraint(["rater"], ["raters.id"]),
    )
    op.create_table(
        "tasks",
        key("id"),
        text("slot"),
        key("rater"),
        text("instrument"),
        sa.Column("item", KEY),
        text("answers"),
        text("spans"),
        text("arm"),
        text("phase"),
        text("batch"),
        sa.Column("position", sa.BigInteger, nullable=False),
        text("purpose"),
        sa.Column("repeat_of", KEY),
        entry(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "ratings",
        key("task"),
        key("criterion"),
        key("answers"),
        key("span"),
        *value(),
        sa.PrimaryKeyConstraint("task", "criterion", "answers", "span"),
        sa.CheckConstraint(
            "(state = 'rated' AND label IS NOT NULL) OR (state = 'abstained' AND label IS NULL)",
            name="rating_state",
        ),
    )
    op.create_table(
        "attempts",
        key("id"),
        key("task"),
        key("rater"),
        text("outcome"),
        text("raw"),
        text("at"),
        entry(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "events",
        key("id"),
        text("kind"),
        key("subject"),
        text("at"),
        text("data"),
        entry(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "rating_revisions",
        key("task"),
        key("criterion"),
        key("answers"),
        key("span"),
        *value(),
        text("superseded_at"),
        key("superseded_by"),
        sa.PrimaryKeyConstraint("task", "criterion", "answers", "span", "revision"),
        sa.ForeignKeyConstraint(
            ["task", "criterion", "answers", "span"],
            ["ratings.task", "ratings.criterion", "ratings.answers", "ratings.span"],
            name="revision_of",
        ),
        sa.ForeignKeyConstraint(["superseded_by"], ["events.id"]),
    )
    op.create_index("attempts_by_task", "attempts", ["task"])
    op.create_index("answers_by_item", "answers", ["item"])
    op.create_index("tasks_by_rater", "tasks", ["rater"])
    meta = sa.table("meta", sa.column("key"), sa.column("value"))
    op.bulk_insert(meta, [{"key": "audit_head", "value": '[0,"' + "0" * 64 + '"]'}])
    append_only()


def append_only() -> None:
    """The database itself refuses to change what is only ever appended."""
    postgresql = op.get_bind().dialect.name == "postgresql"
    if postgresql:
        op.execute(
            "CREATE FUNCTION konsil_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'rows of % are only appended', TG_TABLE_NAME; END $$"
        )
    for table in APPEND_ONLY:
        for verb in ("UPDATE", "DELETE"):
            name = f"{table}_no_{verb.lower()}"
            if postgresql:
                action = "EXECUTE FUNCTION konsil_append_only()"
                op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON {table} FOR EACH ROW {action}")
            else:
                action = f"SELECT RAISE(ABORT, 'rows of {table} are only appended');"
                op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON {table} BEGIN {action} END")
