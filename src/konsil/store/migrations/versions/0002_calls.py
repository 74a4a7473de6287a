"""Calls of models: every attempt, whatever came of it."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def text(name: str) -> sa.Column[Any]:
    """A text that is never missing."""
    return sa.Column(name, sa.Text, nullable=False)


def key(name: str) -> sa.Column[Any]:
    """A text that identifies something, sorted by code point."""
    return sa.Column(name, KEY, nullable=False)


def upgrade() -> None:
    """Make the table of calls; nothing that is there already changes."""
    op.create_table(
        "calls",
        key("work"),
        sa.Column("attempt", sa.Integer, autoincrement=False, nullable=False),
        text("kind"),
        key("who"),
        key("subject"),
        text("key"),
        text("endpoint"),
        text("model"),
        text("outcome"),
        sa.Column("ended", sa.Integer, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        text("asked"),
        text("sent"),
        text("echoed"),
        text("usage"),
        sa.Column("cost", sa.Float(53)),
        sa.Column("seconds", sa.Float(53), nullable=False),
        text("reply"),
        text("raw"),
        text("at"),
        sa.PrimaryKeyConstraint("work", "attempt"),
    )
    op.create_index("calls_by_end", "calls", ["kind", "ended", "who", "outcome", "work", "subject"])
    for verb in ("UPDATE", "DELETE"):
        name = f"calls_no_{verb.lower()}"
        if op.get_bind().dialect.name == "postgresql":
            action = "EXECUTE FUNCTION konsil_append_only()"
            op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON calls FOR EACH ROW {action}")
        else:
            action = "SELECT RAISE(ABORT, 'rows of calls are only appended');"
            op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON calls BEGIN {action} END")
