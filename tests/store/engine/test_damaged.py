"""A damaged database ends in a sentence that advises a backup, never in a traceback."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from konsil.errors import SourceError, StoreError
from konsil.sources.files.encoding import to_utf8
from konsil.store import Batch, Store
from konsil.store.engine import engine

AT = "2025-03-01T12:00:00Z"


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("update items set strata = '{\"a\":' where id = 'i1'", "items"),
        ("update items set aliases = '7' where id = 'i1'", "items"),
        ("update answers set sentences = '[[1]]' where id = 'a1'", "answers"),
        ("update tasks set answers = '[' where id = 't1'", "tasks"),
    ],
)
def test_a_damaged_cell(tmp_path: Path, sample: Batch, statement: str, kind: str) -> None:
    with Store.open(tmp_path) as store:
        store.add(sample, source="x", at=AT)
    with closing(sqlite3.connect(tmp_path / "konsil.db")) as database:
        assert database.execute(statement).rowcount == 1
        database.commit()
    with (
        Store.open(tmp_path) as store,
        pytest.raises(StoreError, match=r"the database is damaged: .*restore a backup"),
    ):
        getattr(store, kind)()


class Undecodable:
    """A connection whose error message itself is damaged."""

    isolation_level: str | None = ""

    def cursor(self) -> Undecodable:
        return self

    def execute(self, _: str) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    def close(self) -> None:
        pass


def test_an_error_that_is_no_text() -> None:
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        engine._sqlite_settings(Undecodable(), None)  # type: ignore[arg-type]


def test_an_encoding_that_does_not_say_where_it_failed() -> None:
    with pytest.raises(SourceError, match=r"a\.csv: .* punycode"):
        to_utf8(b"a,b-\xff\xfe\n", "punycode", "a.csv")
