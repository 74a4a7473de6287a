"""Sites and accounts of people, letters, batches of calls, and works that several workers share."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables; nothing that is stored changes."""
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
    op.add_column("staff", sa.Column("stated", sa.Integer))
    op.create_index("sites_by_subject", "sites", ["subject"])
    op.create_table(
        "identities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("who", KEY, nullable=False),
        sa.Column("made_at", sa.Text, nullable=False),
        sa.Column("entry", sa.Integer),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "call_batches",
        sa.Column("id", KEY, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("who", KEY, nullable=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("vendor_id", sa.Text, nullable=False),
        sa.Column("rejected", sa.Text, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("reserved", sa.Float(53), nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("submitted_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
        sa.Column("ended_at", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "call_batch_works",
        sa.Column("batch", KEY, nullable=False),
        sa.Column("place", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("work", KEY, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.PrimaryKeyConstraint("batch", "place"),
    )
    op.create_index("call_batch_works_by_work", "call_batch_works", ["work"])
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
    op.add_column("people", sa.Column("language", sa.Text))
    op.add_column("people", sa.Column("failing", sa.Text))
    op.create_table(
        "letters",
        sa.Column("id", KEY, nullable=False),
        sa.Column("rater", KEY, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("letters_by_rater", "letters", ["rater"])
