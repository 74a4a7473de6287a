"""WHERE it is kept: the database: schema, migrations, transactions, audit log; its export and release."""

from __future__ import annotations

from sqlalchemy.engine import Connection

from konsil.store.db import Store, View
from konsil.store.rows import KindName
from konsil.store.write import Added, Batch

__all__ = ["Added", "Batch", "Connection", "KindName", "Store", "View"]
