"""Which answers of a screen were seen to their end."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column; of visits that are there already it is not known."""
    op.add_column("visits", sa.Column("ends", sa.Text))
