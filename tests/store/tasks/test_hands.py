"""Tasks that change hands: who had them is kept, the log covers it, the same event twice is once;
on every database."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from konsil.errors import StoreError
from konsil.records import Event
from konsil.store import Store
from konsil.store.engine import schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log import study_events
from konsil.store.people.recruiting import record, recorded
from konsil.store.tasks import batches, progress
from konsil.store.tasks.submissions import looks
from konsil.store.tasks.task_reassignment import hand_over
from konsil.study.sections.recruitment import stratum

AT = "2025-03-02T12:00:00Z"
LEFT = Event("withdrawal R1 1", "withdrawal", "R1", AT, {"holders": {"t1": "J1"}})


def test_a_task_changes_hands_once(filled: Store) -> None:
    for expected in (1, 0):
        with writing(filled.engine) as connection:
            assert hand_over(connection, LEFT, {"t1": "J1", "t2": ""}) == expected
    assert {t.id: t.rater for t in filled.tasks()} == {"t1": "J1", "t2": ""}
    with reading(filled.engine) as connection:
        rows = connection.execute(sa.select(schema.task_revisions)).all()
    assert [(r.id, r.rater, r.superseded_by) for r in rows] == [("t1", "R1", LEFT.id)]
    assert filled.verify_log() == ()
    with writing(filled.engine) as connection:
        back = Event("sign-up R1 1", "sign-up", "R1", "2025-03-03T12:00:00Z")
        assert hand_over(connection, back, {"t1": "R1"}) == 1
    assert filled.verify_log() == ()


def test_what_was_before_can_neither_be_changed_nor_forged(filled: Store) -> None:
    with writing(filled.engine) as connection:
        hand_over(connection, LEFT, {"t1": "J1"})
    with pytest.raises(StoreError, match="only appended"), writing(filled.engine) as connection:
        connection.execute(sa.text("UPDATE task_revisions SET rater = 'X'"))
    with writing(filled.engine) as connection:
        connection.execute(sa.text("UPDATE tasks SET rater = 'R1' WHERE id = 't1'"))
    assert any("was changed afterwards" in problem for problem in filled.verify_log())


def test_a_task_that_is_not_there_moves_nothing(filled: Store) -> None:
    with (
        pytest.raises(StoreError, match="there is no task 't9'"),
        writing(filled.engine) as connection,
    ):
        hand_over(connection, LEFT, {"t1": "J1", "t9": "J1"})
    assert {t.rater for t in filled.tasks()} == {"R1", ""}
    assert len(filled.events()) == 1


def test_progress_is_counted_on_every_database(filled: Store) -> None:
    with reading(filled.engine) as connection:
        found = progress.counts(connection)
        assert progress.handed_in(connection) == ()
        assert list(looks(connection)) == []
    assert [(c.rater, c.batch, c.tasks, c.n_completed) for c in found] == [
        ("", "", 1, 1),
        ("R1", "b1", 1, 1),
    ]


def test_batches_and_the_record_on_every_database(filled: Store) -> None:
    assert batches.close(filled, "main", "b1", at=AT)
    assert batches.reopen(filled, "main", "b1", at=AT, reason="why not")
    assert batches.close(filled, "main", "b1", at=AT), "within the same second"
    with reading(filled.engine) as connection:
        assert study_events.closed_batches(connection) == {("main", "b1", "")}
    with pytest.raises(StoreError, match="needs a reason"):
        batches.reopen(filled, "main", "b1", at=AT, reason=" ")
    for n in range(12):
        record(filled, *stratum("", {"contacted": str(20 + n)}), at=AT)
    assert recorded(filled).strata[0].counts == {"contacted": 31}, (
        "the last of one second, also after ten"
    )
    assert filled.verify_log() == ()
