"""Tasks may change hands: who had one before is kept."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the table of tasks as they were; nothing that is there already changes."""
    op.create_table(
        "task_revisions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("slot", sa.Text, nullable=False),
        sa.Column("rater", KEY, nullable=False),
        sa.Column("instrument", sa.Text, nullable=False),
        sa.Column("item", KEY),
        sa.Column("answers", sa.Text, nullable=False),
        sa.Column("spans", sa.Text, nullable=False),
        sa.Column("arm", sa.Text, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("batch", sa.Text, nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("repeat_of", KEY),
        sa.Column("entry", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("superseded_at", sa.Text, nullable=False),
        sa.Column("superseded_by", KEY, nullable=False),
        sa.PrimaryKeyConstraint("id", "entry"),
        sa.ForeignKeyConstraint(["superseded_by"], ["events.id"]),
        sa.ForeignKeyConstraint(["id"], ["tasks.id"]),
    )
    append_only()


def append_only() -> None:
    """The database itself refuses to change who had a task before."""
    for verb in ("UPDATE", "DELETE"):
        name = f"task_revisions_no_{verb.lower()}"
        if op.get_bind().dialect.name == "postgresql":
            action = "EXECUTE FUNCTION konsil_append_only()"
            op.execute(
                f"CREATE TRIGGER {name} BEFORE {verb} ON task_revisions FOR EACH ROW {action}"
            )
        else:
            action = "SELECT RAISE(ABORT, 'rows of task_revisions are only appended');"
            op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON task_revisions BEGIN {action} END")
