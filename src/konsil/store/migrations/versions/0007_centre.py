"""Passkeys; sites of staff, links and volunteers; accounts of a sign-in service."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "sites",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("entry", sa.Integer),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "passkeys",
        sa.Column("id", KEY, nullable=False),
        sa.Column("who", KEY, nullable=False),
        sa.Column("public_key", sa.Text, nullable=False),
        sa.Column("sign_count", sa.BigInteger, nullable=False),
        sa.Column("made_at", sa.Text, nullable=False),
        sa.Column("entry", sa.Integer),
        sa.PrimaryKeyConstraint("id"),
    )
    op.add_column("visitors", sa.Column("confirmed", sa.Integer))
    op.create_index("sites_by_subject", "sites", ["subject"])
    op.create_table(
        "identities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("who", KEY, nullable=False),
        sa.Column("made_at", sa.Text, nullable=False),
        sa.Column("entry", sa.Integer),
        sa.PrimaryKeyConstraint("id"),
    )
