"""Sums of many rows' hashes are those of the rows one by one, whatever is in their cells."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.store.engine.bulk import fingerprints

CELLS = sa.Table(
    "cells",
    sa.MetaData(),
    sa.Column("owner", sa.Text),
    sa.Column("text", sa.Text),
    sa.Column("number", sa.Float(53)),
    sa.Column("second", sa.Float(53)),
    sa.Column("list", sa.Text),
    sa.Column("place", sa.BigInteger),
    sa.Column("entry", sa.Integer),
)
NAMES = ("owner", "text", "number", "second", "list", "place")
TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"])) | st.just('["a\\b","\x7f"]')
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.none() | st.integers(-(10**14), 10**14).map(float)


def rows_with(
    numbers: st.SearchStrategy[float | None],
) -> st.SearchStrategy[list[tuple[object, ...]]]:
    row = st.tuples(
        st.sampled_from(["", "ann", "bob", "Zoë"]),
        TEXTS,
        numbers,
        numbers,
        TEXTS,
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.integers(1, 3),
    )
    return st.lists(row, max_size=12)


SALTS = {"ann": "1f", "bob": "2e"}


@pytest.fixture(scope="module")
def engine() -> Iterator[sa.Engine]:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    CELLS.create(engine)
    yield engine
    engine.dispose()


def one_by_one(connection: sa.Connection, plain: set[int], owner: bool) -> Mapping[int, int]:
    totals: dict[int, int] = {}
    query = sa.select(CELLS.c.entry, *(CELLS.c[n] for n in NAMES))
    for entry, *row in connection.execute(query.where(CELLS.c.entry.is_not(None))):
        salt = SALTS.get(row[0], "") if owner and entry not in plain else ""
        totals[entry] = totals.get(entry, 0) + fingerprints.fingerprint(row, salt)
    return totals


def filled(connection: sa.Connection, rows: list[tuple[object, ...]]) -> None:
    connection.execute(sa.delete(CELLS))
    names = (*NAMES, "entry")
    if rows:
        connection.execute(sa.insert(CELLS), [dict(zip(names, row, strict=True)) for row in rows])


@settings(deadline=None, max_examples=60)
@given(
    rows=rows_with(NUMBERS) | rows_with(WHOLE),
    plain=st.sets(st.integers(1, 3)),
    owner=st.booleans(),
)
def test_sums_of_many_are_the_sums_one_by_one(
    engine: sa.Engine, rows: list[tuple[object, ...]], plain: set[int], owner: bool
) -> None:
    of = fingerprints.Owned(CELLS, NAMES, "owner" if owner else "")
    with engine.begin() as connection:
        filled(connection, rows)
        expected = one_by_one(connection, plain, owner)
        assert fingerprints.total_by_entry(connection, of, SALTS, plain) == expected


@pytest.mark.parametrize(
    "damage", ["x'00ff'", "9e999", "'a text'", "'[\"a\"]'", "-9e999", "3", "2e14", "1e300"]
)
def test_a_table_that_was_edited_has_its_own_sum(engine: sa.Engine, damage: str) -> None:
    """Numbers that are none, and bytes that JSON lacks, are no other row's."""
    of = fingerprints.Owned(CELLS, NAMES, "owner")
    with engine.begin() as connection:
        filled(connection, [("ann", "a", 1.5, None, "[]", 3, 1)])
        before = fingerprints.total_by_entry(connection, of, SALTS)
        connection.execute(sa.text(f"UPDATE cells SET number = {damage}"))
        if damage.startswith("x"):
            with pytest.raises(TypeError):
                one_by_one(connection, set(), True)
            with pytest.raises(TypeError):
                fingerprints.total_by_entry(connection, of, SALTS)
            return
        after = fingerprints.total_by_entry(connection, of, SALTS)
        assert after == one_by_one(connection, set(), True) != before


def test_without_the_function_of_sqlite_the_sum_is_the_same(
    engine: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = fingerprints.Owned(CELLS, NAMES, "owner")
    with engine.begin() as connection:
        filled(connection, [("ann", 'é"', 1.5, None, "[]", 3, 1), ("", None, None, 2.0, "", 1, 2)])
        expected = fingerprints.total_by_entry(connection, of, SALTS)

        def refuse(*_: object) -> None:
            raise sqlite3.OperationalError("no such function: json_array")

        monkeypatch.setattr(fingerprints, "_written_by_sqlite", refuse)
        assert fingerprints.total_by_entry(connection, of, SALTS) == expected
