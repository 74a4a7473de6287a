"""What several workers share while they call models: works, leases, rates and the money spent."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; they are empty until workers run."""
    op.create_table(
        "workers",
        sa.Column("worker", KEY, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("began", sa.Float(53), nullable=False),
        sa.Column("until", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("worker"),
    )
    op.create_table(
        "works",
        sa.Column("work", KEY, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("who", KEY, nullable=False),
        sa.Column("job", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("worker", KEY),
        sa.Column("endpoint", sa.Text),
        sa.Column("reserved", sa.Float(53)),
        sa.PrimaryKeyConstraint("work"),
    )
    op.create_index("works_in_order", "works", ["kind", "who", "job", "place"])
    op.create_index("works_by_worker", "works", ["worker"])
    op.create_index("works_by_endpoint", "works", ["endpoint"])
    op.create_table(
        "rates",
        sa.Column("endpoint", KEY, nullable=False),
        sa.Column("next_request", sa.Float(53), nullable=False),
        sa.Column("next_token", sa.Float(53), nullable=False),
        sa.Column("paused_until", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("endpoint"),
    )
    op.create_table(
        "spending",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("spent", sa.Float(53), nullable=False),
        sa.Column("lost", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
