"""Tables of the rating pages.

Who is let in, screens and how far they are, drafts, times, rendered texts.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
INDICES = (
    ("tasks_by_item", "tasks", ("item",)),
    ("ratings_by_item", "ratings", ("item",)),
    ("events_by_kind", "events", ("kind", "subject")),
    ("visitors_by_who", "visitors", ("who",)),
    ("screens_by_rater", "screens", ("rater",)),
    ("visits_by_task", "visits", ("task",)),
    ("draft_events_by_task", "draft_events", ("task",)),
)


def text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """A text."""
    return sa.Column(name, sa.Text, nullable=nullable)


def key(name: str) -> sa.Column[Any]:
    """A text that identifies something, sorted by code point."""
    return sa.Column(name, KEY, nullable=False)


def whole(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """A whole number."""
    return sa.Column(name, sa.Integer, nullable=nullable)


def seconds(name: str) -> sa.Column[Any]:
    """A duration; none where it was not measured."""
    return sa.Column(name, sa.Float(53))


def upgrade() -> None:
    """Make the pages' tables; nothing that is there already changes."""
    op.create_table(
        "invitations",
        key("token"),
        key("who"),
        text("role"),
        text("made_at"),
        text("expires_at"),
        whole("uses"),
        whole("most_uses", nullable=True),
        text("used_at", nullable=True),
        text("revoked_at", nullable=True),
        sa.PrimaryKeyConstraint("token"),
    )
    op.create_table(
        "visitors",
        key("cookie"),
        key("who"),
        text("role"),
        text("csrf"),
        text("language"),
        text("made_at"),
        text("expires_at"),
        sa.PrimaryKeyConstraint("cookie"),
    )
    op.create_table(
        "screens",
        key("task"),
        key("public"),
        key("rater"),
        text("opened_at"),
        whole("deferred"),
        whole("rev"),
        text("submitted_at", nullable=True),
        seconds("seconds"),
        sa.PrimaryKeyConstraint("task"),
        sa.UniqueConstraint("public"),
    )
    op.create_table(
        "visits",
        key("id"),
        key("task"),
        key("rater"),
        text("opened_at"),
        seconds("wall"),
        seconds("active"),
        seconds("first_input"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "draft_events",
        key("id"),
        key("task"),
        key("rater"),
        key("field"),
        text("value"),
        whole("base_rev"),
        whole("rev"),
        text("said_at"),
        text("at"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "drafts",
        key("task"),
        key("field"),
        text("value"),
        whole("rev"),
        key("event"),
        sa.PrimaryKeyConstraint("task", "field"),
    )
    op.create_table(
        "renderings",
        key("source"),
        text("renderer"),
        text("html"),
        sa.PrimaryKeyConstraint("source"),
    )
    for name, table, columns in INDICES:
        op.create_index(name, table, list(columns))
    append_only()


def append_only() -> None:
    """The database itself refuses to change what was typed, and what was shown."""
    for table in ("draft_events", "renderings"):
        for verb in ("UPDATE", "DELETE"):
            name = f"{table}_no_{verb.lower()}"
            if op.get_bind().dialect.name == "postgresql":
                action = "EXECUTE FUNCTION konsil_append_only()"
                op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON {table} FOR EACH ROW {action}")
            else:
                action = f"SELECT RAISE(ABORT, 'rows of {table} are only appended');"
                op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON {table} BEGIN {action} END")
