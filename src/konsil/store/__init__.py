"""WHERE it is kept: the database: schema, migrations, transactions, audit log.

Its export and release.
"""

from __future__ import annotations

from sqlalchemy.engine import Connection

from konsil.store.engine.rows import KindName
from konsil.store.log.db import Store, View
from konsil.store.log.write import Added, Batch

__all__ = ["Added", "Batch", "Connection", "KindName", "Store", "View"]
