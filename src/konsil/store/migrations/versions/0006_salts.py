"""Salts of the log's hashes, and the names of those who run a study."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables.

    Entries that are there already have no salts until the log is anchored anew.
    """
    op.create_table(
        "salts",
        sa.Column("owner", KEY, nullable=False),
        sa.Column("salt", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("owner"),
    )
    op.create_table(
        "staff",
        sa.Column("who", KEY, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("who"),
    )
