"""Which audit entry covers a row of the pages or a call.

Which answers of a visit were seen to their end.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TABLES = ("calls", "screens", "visits", "draft_events", "invitations")
APPENDED = {
    "calls": (
        "work, attempt, kind, who, subject, key, endpoint, model, outcome, ended, status, asked,"
        " sent, echoed, usage, cost, seconds, reply, raw, at"
    ),
    "draft_events": "id, task, rater, field, value, base_rev, rev, said_at, at",
}
"""Tables of which no row may change, and the columns that they had until now."""


def upgrade() -> None:
    """Add the columns.

    Rows that are there already are covered when the log is next brought up to date.

    Of visits that are there already it is not known which answers were seen to their end.
    """
    op.add_column("visits", sa.Column("ends", sa.Text))
    for table in TABLES:
        op.add_column(table, sa.Column("entry", sa.Integer, nullable=True))
    postgresql = op.get_bind().dialect.name == "postgresql"
    for table, columns in APPENDED.items():
        # The number of the entry is written once the row is there; everything else stays as it is.
        name = f"{table}_no_update"
        op.execute(f"DROP TRIGGER {name} ON {table}" if postgresql else f"DROP TRIGGER {name}")
        head = f"CREATE TRIGGER {name} BEFORE UPDATE OF {columns} ON {table}"
        if postgresql:
            op.execute(f"{head} FOR EACH ROW EXECUTE FUNCTION konsil_append_only()")
        else:
            op.execute(
                f"{head} BEGIN SELECT RAISE(ABORT, 'rows of {table} are only appended'); END"
            )
