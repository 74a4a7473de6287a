"""What the log covers beside the records: calls, screens, visits, changes, invitations, imports,
the protocol."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from konsil.errors import StoreError
from konsil.records import Call
from konsil.store import Batch, Store
from konsil.store.backups.backup import backup
from konsil.store.calls.calls import Calls
from konsil.store.engine.engine import reading, writing
from konsil.store.log.covering import cover_task
from konsil.store.log.entries import read_entries
from konsil.store.log.heads import check_head, head_of
from konsil.store.people.access import Access
from konsil.store.tasks import drafts, screens

AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"
CALL = Call(
    "w",
    1,
    "answer",
    "s1",
    "i1",
    "k",
    "local",
    "m",
    "ok",
    1,
    200,
    {"seed": 1},
    {},
    "m-1",
    cost=0.5,
    at=AT,
)


def fill(store: Store, sample: Batch) -> None:
    """A study in which something of everything was written, all of it covered."""
    store.note_study("digest-1", AT)
    store.add(sample, source="a.csv", digest="d1", at=AT, files={"a.csv": "d1"})
    Calls(store).add([CALL])
    access = Access(store)
    access.redeem(
        access.invite("R1", "rater", at=AT, expires_at=LATER), at=AT, expires_at={"rater": LATER}
    )
    with writing(store.engine) as connection:
        state = screens.named(connection, "t1", "R1", AT)
        screens.visit(connection, state, screens.Visit("v1", 20.0, 10.0, 1.0), AT)
        drafts.append_changes(
            connection, state, [drafts.Change("e1", "accuracy.a1", "4", 0, AT)], AT
        )
        screens.change(connection, state, {"submitted_at": AT, "seconds": 10.0})
        cover_task(connection, "t1", AT)


@pytest.fixture
def study(tmp_path: Path, sample: Batch) -> Path:
    with Store.open(tmp_path) as store:
        fill(store, sample)
    return tmp_path


def tamper(folder: Path, *statements: str) -> None:
    """Change the database as somebody with the file can: the triggers are dropped first."""
    with closing(sqlite3.connect(folder / "konsil.db")) as database:
        for (name,) in database.execute(
            "select name from sqlite_master where type = 'trigger'"
        ).fetchall():
            database.execute(f'drop trigger "{name}"')
        for statement in statements:
            assert database.execute(statement).rowcount > 0, "the test changes nothing"
        database.commit()


def verified(folder: Path) -> tuple[str, ...]:
    with Store.open(folder) as store:
        return store.verify_log()


def test_nothing_is_wrong_with_what_was_left_alone(study: Path) -> None:
    assert verified(study) == ()
    with Store.open(study) as store:
        assert store.log_gap() == 0


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("update screens set seconds = seconds * 10", "screens: 1 row was changed"),
        ("update screens set submitted_at = '2020-01-01T00:00:00Z'", "screens: 1 row was changed"),
        ("delete from screens", "screens: 1 row was removed"),
        ("delete from imports", "imports: 1 row was removed"),
        ("update visits set active = 1", "visits: 1 row was changed"),
        ("delete from visits", "visits: 1 row was removed"),
        ("update draft_events set value = 'x'", "draft_events: 1 row was changed"),
        ("delete from draft_events", "draft_events: 1 row was removed"),
        ("update invitations set who = 'R2'", "invitations: 1 row was changed"),
        ("delete from invitations", "invitations: 1 row was removed"),
        ("update calls set cost = 0", "what entry 3 (calls) wrote was changed"),
        ("update calls set raw = 'x'", "what entry 3 (calls) wrote was changed"),
        ("delete from calls", "what entry 3 (calls) wrote was changed"),
        ("update imports set digest = 'x'", "imports: the row of entry 2 differs from the log"),
        (
            "update imports set source = 'b.csv'",
            "imports: the row of entry 2 differs from the log",
        ),
        (
            "update meta set value = 'x' where key = 'study_digest'",
            "meta: the checksum of the protocol differs from the log",
        ),
        (
            "update ratings set label = 'x' where label = '4'",
            "what entry 2 (import) wrote was changed",
        ),
    ],
)
def test_every_change_behind_konsils_back_is_found(
    study: Path, statement: str, sentence: str
) -> None:
    tamper(study, statement)
    (problem,) = verified(study)
    assert sentence in problem


def test_a_row_made_up_is_found(study: Path) -> None:
    tamper(
        study,
        "insert into visits (id, task, rater, opened_at, wall, active, first_input, ends, entry)"
        " select 'v2', task, rater, opened_at, wall, active, first_input, ends, entry from visits",
    )
    assert verified(study) == (
        "visits: 1 row was changed after the log covered them, outside konsil",
    )


def test_who_hides_a_change_as_not_yet_covered_is_told_of(study: Path) -> None:
    tamper(study, "update visits set active = 1, entry = null")
    assert verified(study) == ()
    with Store.open(study) as store:
        assert store.log_gap() == 1
        store.cover_log(LATER)
        with reading(store.engine) as connection:
            last = list(read_entries(connection))[-1]
    assert (last.kind, last.at) == (
        "traces",
        LATER,
    ), "and the log shows when the row was covered anew"


def test_what_the_pages_change_later_is_covered_anew(study: Path) -> None:
    with Store.open(study) as store:
        with writing(store.engine) as connection:
            state = screens.screen_state(connection, "t1")
            assert state is not None
            screens.visit(connection, state, screens.Visit("v1", 30.0, 12.0, 1.0), AT)
        assert (store.verify_log(), store.log_gap()) == ((), 1)
        store.cover_log(LATER)
        count, _ = store.log_head()
        store.cover_log(LATER)
        assert store.log_head()[0] == count, "nothing new, no entry"
        assert (store.verify_log(), store.log_gap()) == ((), 0)
    tamper(study, "update visits set active = 10.0, wall = 20.0")
    assert len(verified(study)) == 1, "the first digest of the row does not count any more"


def test_calls_are_one_entry_a_transaction(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        Calls(store).add(
            [
                Call(f"w{n}", 1, "answer", "s", "i", "k", "l", "m", "ok", 1, 200, at=AT)
                for n in range(50)
            ]
        )
        Calls(store).add([])
        assert store.log_head()[0] == 1
        assert store.verify_log() == ()


def test_a_log_that_was_rewritten_or_is_older_is_found_by_its_head(
    study: Path, tmp_path: Path
) -> None:
    with Store.open(study) as store:
        older = head_of(store)
        (tmp_path / "copy").mkdir()
        assert backup(store, tmp_path / "copy" / "konsil.db").head == older
        store.audit("more", {}, LATER)
        newer = head_of(store)
        for known in (older, newer, newer.split("-")[1], older.upper()):
            assert list(check_head(store, known)) == [], "the log goes on from it"
        with pytest.raises(StoreError, match="expected a head as 'konsil verify-log' prints it"):
            list(check_head(store, "ab"))
        (moved,) = check_head(store, "1-" + newer.split("-")[1])
        assert "is not in this log of" in moved
    with Store.open(tmp_path / "copy") as store:
        (problem,) = check_head(store, newer)
        assert "or the database is an older copy" in problem


def test_the_log_can_be_read(study: Path) -> None:
    with Store.open(study) as store:
        with reading(store.engine) as connection:
            rows = list(read_entries(connection))
            assert [r.seq for r in read_entries(connection, last=2)] == [r.seq for r in rows[-2:]]
            assert {r.kind for r in read_entries(connection, kind="calls")} == {"calls"}
        assert rows[-1].hash == store.log_head()[1]
    assert [r.kind for r in rows] == [
        "protocol",
        "import",
        "calls",
        "invitation",
        "sign-in",
        "traces",
    ]
    assert "6 ratings" in rows[1].records
    assert json.loads(rows[1].details)["files"] == {"a.csv": "d1"}
    assert (rows[3].who, rows[3].subject) == (
        "",
        "R1",
    ), "an invitation is about somebody; they did not act"
    assert rows[4].who == "R1"


def test_a_damaged_head_is_one_sentence(study: Path) -> None:
    tamper(study, "update meta set value = '{' where key = 'audit_head'")
    with (
        Store.open(study) as store,
        pytest.raises(StoreError, match="the head of the audit log cannot be read"),
    ):
        store.verify_log()
