"""Batches in the store: what is under way, what is stored of it, and what it can cost."""

from __future__ import annotations

from dataclasses import replace

from konsil.records import Call
from konsil.store import Store
from konsil.store.calls.batches import Batches, BatchRecord, BatchWork
from konsil.store.calls.calls import Calls

AT = "2025-03-01T12:00:00Z"
WORKS = [f"{n:032x}" for n in range(3)]
RECORD = BatchRecord("b1", "judge", "j", "h", "m", 3, 1.5, AT)
CALL = Call(WORKS[0], 1, "judge", "j", "t0", "k", "h", "m", "not json", 0, 200, {}, at=AT)


def test_a_batch_from_its_intention_to_its_end(store: Store) -> None:
    batches = Batches(store)
    assert batches.unfinished() == ()
    works = [BatchWork(work, 1, f"t{n}") for n, work in enumerate(WORKS)]
    batches.insert(RECORD, works)
    other = replace(RECORD, id="b2", kind="answer", created_at="2025-03-02T12:00:00Z")
    batches.insert(other, [BatchWork("ff", 1, "i0")])
    assert batches.works("b1") == works
    assert [record.id for record in batches.unfinished()] == ["b1", "b2"]
    assert batches.unfinished("judge") == (RECORD,)
    assert batches.under_way("judge") == {bytes.fromhex(work) for work in WORKS}
    assert (batches.under_way("answer"), batches.reserved()) == ({b"\xff"}, 3.0)
    sent = batches.update("b1", state="under way", vendor_id="v1", submitted_at=AT)
    assert sent == replace(RECORD, state="under way", vendor_id="v1", submitted_at=AT)
    assert batches.vendor_ids() == {"v1"}
    batches.update("b1", state="ended", ended_at=AT)
    assert (batches.unfinished("judge"), batches.under_way("judge")) == ((), set())
    assert batches.reserved() == 1.5
    assert store.verify_log() == ()


def test_calls_of_batches_since_the_work_ended_last(store: Store) -> None:
    batches, calls = Batches(store), Calls(store)
    batches.insert(RECORD, [BatchWork(work, 1, f"t{n}") for n, work in enumerate(WORKS)])
    expired = replace(CALL, work=WORKS[1], outcome="expired")
    calls.add([CALL, expired])
    assert batches.stored("b1") == {(WORKS[0], 1): False, (WORKS[1], 1): True}
    # The second attempt is a direct call, and none of a batch's.
    calls.add([replace(CALL, attempt=2)])
    assert batches.earlier(WORKS) == {WORKS[0]: [CALL], WORKS[1]: [expired]}
    batches.insert(replace(RECORD, id="b2"), [BatchWork(WORKS[0], 3, "t0")])
    calls.add([replace(CALL, attempt=3, outcome="ok", ended=1)])
    assert batches.earlier(WORKS) == {WORKS[1]: [expired]}
    # What expired has not ended, and is asked by the next run.
    assert {work for work, _, _ in calls.ended("judge")} == {WORKS[0]}
    assert calls.attempts("judge") == {WORKS[1]: 1}
