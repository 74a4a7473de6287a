"""A row's fingerprint is the hash of its JSON, however it is put together: what older databases
hold stays valid."""

from __future__ import annotations

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from konsil.store.log.audit import fingerprint

CELLS = st.none() | st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(CELLS).map(tuple))
def test_the_fingerprint_is_of_the_rows_json(row: tuple[object, ...]) -> None:
    text = json.dumps(row, ensure_ascii=True, separators=(",", ":"))
    assert fingerprint(row) == int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
