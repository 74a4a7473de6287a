"""Calls of models: appended, never changed, looked up in bulk, exported and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from konsil.errors import ConflictError, StoreError
from konsil.records import Answer, Attempt, Call
from konsil.store import Batch, Store
from konsil.store.calls.call_counts import Ended
from konsil.store.calls.calls import Calls
from konsil.store.engine import engine
from konsil.store.release.export import Format, export, read_calls

AT = "2025-03-01T12:00:00Z"
ONE = Call(
    "w1",
    1,
    "answer",
    "s1",
    "i9",
    "key",
    "local",
    "model",
    "ok",
    1,
    200,
    {"temperature": 0.2, "seed": 1},
    {"temperature": 0.2},
    "model-2025",
    {"prompt_tokens": 12},
    0.25,
    1.5,
    {"text": "Größe <b>"},
    '{"a":\n1}',
    AT,
)


@pytest.fixture
def calls(store: Store) -> Calls:
    return Calls(store)


def test_what_is_written_is_read_back_equal(calls: Calls) -> None:
    two = replace(ONE, attempt=2, cost=None, outcome="re-asked")
    calls.add([two, ONE])
    assert list(calls.each()) == [ONE, two]
    assert calls.spent() == (2, 0.25)
    assert calls.store.verify_log() == ()


def test_the_same_attempt_twice_is_refused_and_nothing_of_its_group_is_written(
    calls: Calls,
) -> None:
    calls.add([ONE])
    with pytest.raises(ConflictError, match="is another run going on"):
        calls.add([replace(ONE, work="w2"), ONE])
    assert list(calls.each()) == [ONE]
    with engine.writing(calls.store.engine) as connection:
        assert calls.append_new(connection, [ONE, replace(ONE, work="w2")]) == 1


def test_the_database_refuses_to_change_a_call(calls: Calls) -> None:
    calls.add([ONE])
    for statement in ("UPDATE calls SET raw = ''", "DELETE FROM calls"):
        with (
            pytest.raises(DBAPIError, match="rows of calls are only appended"),
            calls.store.engine.begin() as c,
        ):
            c.execute(sa.text(statement))


def test_unfit_text_is_told_before_anything_is_written(calls: Calls) -> None:
    with pytest.raises(StoreError, match=r"call of 's1' for 'i9': raw contains a NUL"):
        calls.add([ONE, replace(ONE, work="w2", raw="\0")])
    assert list(calls.each()) == []


def test_bulk_questions(calls: Calls) -> None:
    failed = replace(ONE, work="w2", subject="i2", outcome="http error", ended=0, status=429)
    calls.add(
        [
            ONE,
            failed,
            replace(failed, attempt=2, outcome="gave up", ended=1),
            replace(failed, work="w3"),
            replace(ONE, work="w4", kind="judge", who="j1", subject="t1", outcome="not json"),
        ]
    )
    assert sorted(calls.ended("answer")) == [("w1", "s1", "i9"), ("w2", "s1", "i2")]
    assert list(calls.ended("answer", but=("gave up",))) == [("w1", "s1", "i9")]
    assert calls.attempts("answer") == {"w2": 2, "w3": 1}
    assert calls.attempts("judge") == {"w4": 1}
    assert calls.counts() == (
        Ended("answer", "s1", "gave up", 1),
        Ended("answer", "s1", "ok", 1),
        Ended("judge", "j1", "not json", 1),
    )
    calls.add([replace(ONE, work="w2", subject="i2", attempt=3)])
    assert calls.counts()[0] == Ended("answer", "s1", "ok", 2)


def test_what_became_a_record_is_settled(calls: Calls) -> None:
    judged = replace(ONE, work="w4", kind="judge", who="j1", subject="t1", outcome="not json")
    calls.add([ONE, replace(ONE, work="w2", subject="i2", outcome="refused"), judged])
    # What a record is made of, and nothing else: a body counts where it could not be read.
    bare = {"asked": {}, "sent": {}, "usage": {}}
    assert list(calls.unsettled_answers()) == [replace(ONE, **bare, raw="")]
    assert list(calls.unsettled_judgements()) == [replace(judged, **bare)]
    made = Batch(
        answers=(Answer("i9:s1", "i9", "s1"),), attempts=(Attempt("w4.1", "t1", "j1", "not json"),)
    )
    calls.store.add(made, source="calls", at=AT)
    assert list(calls.unsettled_answers()) == list(calls.unsettled_judgements()) == []


@pytest.mark.parametrize("kind", get_args(Format))
def test_an_export_has_the_calls_and_gives_them_back(
    calls: Calls, kind: Format, tmp_path: Path
) -> None:
    two = replace(ONE, attempt=2, cost=None, reply={"text": "=1+1", "n": [1, None]}, raw="a\r\nb")
    calls.add([ONE, two])
    out = export(calls.store, tmp_path / "out", kind)
    assert read_calls(out) == (ONE, two)
    with engine.writing(calls.store.engine) as connection:
        assert calls.append_new(connection, read_calls(out)) == 0
    (out / f"calls.{kind}").unlink()
    assert read_calls(out) == ()
