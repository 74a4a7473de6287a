"""Texts as everybody saw them: looked up by what they were made of, written once, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from konsil.store.engine import engine, page_schema
from konsil.store.log.db import Store

_R = page_schema.renderings.c
_STORED = sa.select(_R.source, _R.html).where(
    _R.source.in_(sa.bindparam("sources", expanding=True))
)


def rendered(
    store: Store, renderer: str, sources: Sequence[str], render: Callable[[str], str]
) -> tuple[str, ...]:
    """The HTML of each source.

    It is the stored one, whichever version of the renderer made it, else made now and stored.

    When this returns all of it is stored, so nobody sees what is not kept, and an upgrade changes
    nothing for those who come later.
    """
    keys = [
        hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest() for source in sources
    ]
    with engine.reading(store.engine) as connection:
        html_by_key = _stored(connection, keys)
    missing = {
        key: source for key, source in zip(keys, sources, strict=True) if key not in html_by_key
    }
    if missing:
        new_html = {key: render(source) for key, source in missing.items()}
        with engine.writing(store.engine) as connection:
            if connection.dialect.name == "postgresql":
                # Two who render the same text would collide on its key; readers need not wait.
                connection.execute(sa.text("LOCK TABLE renderings IN SHARE ROW EXCLUSIVE MODE"))
            # Another reader may have been faster; the first one's bytes stand.
            html_by_key |= _stored(connection, keys)
            rows = [
                {"source": k, "renderer": renderer, "html": h}
                for k, h in new_html.items()
                if k not in html_by_key
            ]
            if rows:
                connection.execute(sa.insert(page_schema.renderings), rows)
            html_by_key |= {row["source"]: row["html"] for row in rows}
    return tuple(html_by_key[key] for key in keys)


def _stored(connection: Connection, keys: Sequence[str]) -> dict[str, str]:
    rows = connection.execute(_STORED, {"sources": sorted(set(keys))})
    return {row.source: row.html for row in rows}
