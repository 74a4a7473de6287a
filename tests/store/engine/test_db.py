"""The store keeps what it is given, once, and says so."""

from __future__ import annotations

import dataclasses
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from konsil.errors import ConflictError, StoreError
from konsil.records import Answer, Attempt, Event, Item, Rater, Rating, Span, Task
from konsil.store import Batch, Store
from konsil.store.engine import engine
from konsil.store.engine.rows import KINDS

AT = "2025-03-01T12:00:00Z"
LATER = "2025-03-02T12:00:00+00:00"


def test_what_is_written_is_read_back_equal(filled: Store, sample: Batch) -> None:
    assert filled.items() == sample.items
    assert filled.answers() == sample.answers
    assert filled.raters() == tuple(sorted(sample.raters, key=lambda r: r.id))
    assert filled.tasks() == sample.tasks
    assert set(filled.ratings()) == set(sample.ratings)
    assert filled.attempts() == sample.attempts
    assert filled.events() == sample.events
    assert filled.counts() == {
        "items": 2,
        "answers": 2,
        "raters": 2,
        "tasks": 2,
        "ratings": 6,
        "attempts": 1,
        "events": 1,
    }
    assert filled.verify_log() == ()


def test_ratings_come_in_the_order_of_their_identity(filled: Store) -> None:
    def place(r: Rating) -> tuple[object, ...]:
        return (
            r.task,
            r.criterion,
            r.answers,
            r.span is not None,
            r.span and (r.span.start, r.span.end),
        )

    ratings = filled.ratings()
    assert list(ratings) == sorted(ratings, key=place)


def test_order_is_by_code_point_whatever_the_server_speaks(store: Store) -> None:
    ids = ["ä", "a", "B", "z", "Z", "_", "😀", "a b", "a-b", "ab", "1", "10", "2", "\uffee"]
    store.add(Batch(items=tuple(Item(i, "?") for i in ids)), source="x", at=AT)
    assert [i.id for i in store.items()] == sorted(ids)


def test_the_same_again_changes_nothing(filled: Store, sample: Batch) -> None:
    again = filled.add(sample, source="sample.csv", digest="d1", at=LATER)
    assert again.total_new() == 0
    assert again.unchanged == filled.counts()
    assert _scalar(filled, "SELECT count(*) FROM imports") == 1
    assert _scalar(filled, "SELECT count(*) FROM audit_log") == 1


def test_what_is_new_is_added_to_what_is_there(filled: Store, sample: Batch) -> None:
    more = dataclasses.replace(sample, items=(*sample.items, Item("i3", "New?")))
    added = filled.add(more, source="sample.csv", digest="d2", at=LATER)
    assert (added.new["items"], added.unchanged["items"], added.total_new()) == (1, 2, 1)
    assert _scalar(filled, "SELECT count(*) FROM imports") == 2


def test_a_record_twice_in_one_batch_is_one(store: Store) -> None:
    added = store.add(Batch(items=(Item("i", "?"), Item("i", "?"))), source="x", at=AT)
    assert (added.new, added.unchanged) == ({"items": 1}, {"items": 1})


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (
            Batch(
                ratings=(Rating("t1", "R1", "accuracy", "i1", ("a1",), label="5", seconds=12.25),)
            ),
            "rating of 'R1' on item 'i1', answer 'a1' (accuracy): stored '4', got '5'",
        ),
        (
            Batch(
                ratings=(
                    Rating("t1", "R1", "accuracy", "i1", ("a1",), Span(0, 10), state="abstained"),
                )
            ),
            (
                "rating of 'R1' on item 'i1', answer 'a1', characters 0 to 10 (accuracy): stored"
                " '', got 'abstained'"
            ),
        ),
        (
            Batch(ratings=(Rating("t2", "R9", "ease", None, label="yes"),)),
            "rating of 'R9' (ease): its task 't2' is stored as rated by 'R1'",
        ),
        (
            Batch(ratings=(Rating("t2", "R1", "ease", None, label="yes", note="!"),)),
            "rating of 'R1' (ease): note stored '', got '!'",
        ),
        (Batch(items=(Item("i2", "Other", ""),)), "item 'i2': text stored 'Dose <5"),
        (
            Batch(items=(Item("i2", "Dose <5 mg/dL?\nSay why, in „Worten“."),)),
            "item 'i2': reference stored '', got None",
        ),
        (
            Batch(answers=(Answer("a2", "i1", "s2", "Insulin."),)),
            "answer 'a2': sentences stored (Span(start=0, end=8)",
        ),
        (
            Batch(raters=(Rater("J1", "judges", "human", "acme"),)),
            "rater 'J1': kind stored 'llm', got 'human'",
        ),
        (
            Batch(tasks=(Task("t2", "slot-2", "R1", "survey", None),)),
            "task 't2': rater stored '', got 'R1'",
        ),
        (
            Batch(attempts=(Attempt("x1", "t1", "J1", "ok", "{oops", AT),)),
            "attempt 'x1': outcome stored 'not json'",
        ),
        (Batch(events=(Event("e1", "consent", "R1", AT),)), "event 'e1': data stored {"),
    ],
)
def test_a_conflict_names_both_and_writes_nothing(
    filled: Store, batch: Batch, message: str
) -> None:
    before = filled.batch()
    new = Batch(
        **{n: (*(batch.of(n)),) for n in KINDS} | {"items": (Item("i0", "new"), *batch.items)}
    )
    with pytest.raises(ConflictError) as caught:
        filled.add(new, source="other.csv", at=LATER)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert filled.batch() == before
    assert _scalar(filled, "SELECT count(*) FROM audit_log") == 1


def test_long_values_of_a_conflict_are_cut_to_eighty_signs(store: Store) -> None:
    # Two of the signs are quotation marks.
    stored, given = "x" * 78, "y" * 79
    store.add(Batch(items=(Item("i", stored),)), source="x", at=AT)
    with pytest.raises(ConflictError) as caught:
        store.add(Batch(items=(Item("i", given),)), source="y", at=LATER)
    assert f"text stored '{stored}', got '{'y' * 76}..." in str(caught.value)
    assert "y" * 77 not in str(caught.value)


def test_several_conflicts_are_counted(filled: Store, sample: Batch) -> None:
    wrong = tuple(dataclasses.replace(r, state="rated", label="9") for r in sample.ratings)
    with pytest.raises(ConflictError, match=r"\(and 5 more conflicts\)"):
        filled.add(Batch(ratings=wrong), source="x", at=AT)


def test_records_of_one_batch_that_disagree_conflict(store: Store) -> None:
    rating = Rating("t", "R", "c", "i", label="1")
    with pytest.raises(ConflictError, match=r"'1'.*'2'"):
        store.add(
            Batch(ratings=(rating, dataclasses.replace(rating, label="2"))), source="x", at=AT
        )
    assert store.ratings() == ()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Item("i", "a\0b"), "item 'i': text contains a NUL character"),
        (Item("i", "\ud800"), "item 'i': text contains invalid Unicode"),
        (Item("i", "?", strata={"x": "\udfff"}), "item 'i': strata contains invalid Unicode"),
        (
            Rating("t", "R", "c", "i", label="1", seconds=float("nan")),
            "seconds is nan, expected a finite number",
        ),
        (Rating("t", "R", "c", "i", label=3), "label is 3, expected a text"),  # type: ignore[arg-type]
        (
            Rating("t", "R", "c", "i", label="1", state="maybe"),
            "state is 'maybe', expected one of 'rated'",
        ),  # type: ignore[arg-type]
        (Item("i", "?", aliases="abc"), "aliases is 'abc', expected a tuple"),  # type: ignore[arg-type]
        (Event("e", "k", "s", AT, {"x": float("inf")}), "data is {'x': inf}, expected a table"),
        (Event("e", "k", "s", AT, {"x": object()}), "data is {'x': <object"),
    ],
)
def test_what_no_database_can_keep_is_refused_by_name(
    store: Store, record: object, message: str
) -> None:
    kind = next(k.name for k in KINDS.values() if k.record is type(record))
    with pytest.raises(StoreError) as caught:
        store.add(Batch(**{"items": (Item("i0", "?"),), kind: (record,)}), source="x", at=AT)
    assert message in str(caught.value)
    assert store.items() == ()


def test_a_rating_is_a_label_or_an_abstention(store: Store) -> None:
    for rating in (
        Rating("t", "R", "c", "i"),
        Rating("t", "R", "c", "i", state="abstained", label="1"),
    ):
        with pytest.raises(StoreError, match=r"rating of 'R' on item 'i' \(c\)"):
            store.add(Batch(ratings=(rating,)), source="x", at=AT)


@pytest.mark.parametrize(
    "at", ["", "today", "2025-03-01", "2025-03-01T12:00:00", "2025-03-01T12:00:00+01:00"]
)
def test_times_are_utc(store: Store, at: str) -> None:
    with pytest.raises(StoreError, match="2025-03-01T12:00:00Z"):
        store.add(Batch(items=(Item("i", "?"),)), source="x", at=at)
    assert store.items() == ()


def test_a_revision_keeps_what_was_said_before(filled: Store) -> None:
    first = next(r for r in filled.ratings() if r.label == "4")
    second = dataclasses.replace(first, label="2", note="on reflection")
    fresh = Rating("t1", "R1", "harm", "i1", ("a1",), label="none")
    done = filled.revise((second, fresh), at=LATER, event_id="rev-1")
    assert (done.new, done.unchanged) == ({"ratings": 2}, {"ratings": 0})
    assert second in filled.ratings()
    assert fresh in filled.ratings()
    assert first not in filled.ratings()
    filled.revise((first,), at=LATER, event_id="rev-2")
    assert first in filled.ratings()
    history = _rows(
        filled,
        "SELECT revision, label, note, superseded_by FROM rating_revisions ORDER BY revision",
    )
    assert history == [(1, "4", "", "rev-1"), (2, "2", "on reflection", "rev-2")]
    assert _scalar(filled, "SELECT revision FROM ratings WHERE label = '4'") == 3
    assert filled.verify_log() == ()


def test_a_revision_reported_twice_is_one(filled: Store) -> None:
    first = next(r for r in filled.ratings() if r.label == "4")
    second = dataclasses.replace(first, label="2")
    filled.revise((second,), at=LATER, event_id="rev-1")
    assert filled.revise((second,), at="2025-03-03T00:00:00Z", event_id="rev-1").total_new() == 0
    assert _scalar(filled, "SELECT count(*) FROM rating_revisions") == 1
    with pytest.raises(ConflictError, match="event 'rev-1'"):
        filled.revise((first,), at=LATER, event_id="rev-1")
    assert second in filled.ratings()


def test_a_revision_may_not_change_whose_rating_it_is(filled: Store) -> None:
    first = next(r for r in filled.ratings() if r.label == "4")
    with pytest.raises(ConflictError, match="belongs to 'R1'"):
        filled.revise((dataclasses.replace(first, rater="R2"),), at=LATER, event_id="rev-1")
    assert [e.id for e in filled.events()] == ["e1"]


def test_the_protocol_is_noted_once(store: Store) -> None:
    assert store.study_digest() == ""
    assert store.note_study("one", AT) is True
    assert store.note_study("one", AT) is False
    assert store.note_study("two", LATER) is True
    assert store.study_digest() == "two"
    assert _scalar(store, "SELECT count(*) FROM audit_log") == 2


def test_the_database_itself_refuses_to_change_the_log(filled: Store) -> None:
    for statement in (
        "UPDATE audit_log SET kind = 'x'",
        "DELETE FROM audit_log",
        "DELETE FROM events",
    ):
        with (
            filled.engine.connect() as connection,
            pytest.raises(DBAPIError, match="only appended"),
        ):
            connection.execute(text(statement))
    assert filled.verify_log() == ()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE audit_log SET data = '{}' WHERE seq = 2", "entry 2 (note) was edited"),
        (
            "UPDATE audit_log SET at = '1999-01-01T00:00:00Z' WHERE seq = 1",
            "entry 1 (import) was edited",
        ),
        ("DELETE FROM audit_log WHERE seq = 3", "entry 3 is missing"),
        ("DELETE FROM audit_log WHERE seq IN (2, 3)", "entries 2 to 3 are missing"),
        ("DELETE FROM audit_log WHERE seq > 3", "ends at entry 3, but 4 were written"),
        (
            (
                "UPDATE audit_log SET seq = CASE seq WHEN 2 THEN 30 WHEN 3 THEN 2 END WHERE seq IN"
                " (2, 3)"
            ),
            "entry 2 (note)",
        ),
        (
            "UPDATE meta SET value = '[2,\"' || substr(value, 5) WHERE key = 'audit_head'",
            "not the one that was written",
        ),
        (
            "UPDATE ratings SET label = '5' WHERE label = '4'",
            "what entry 1 (import) wrote was changed",
        ),
        ("DELETE FROM attempts", "what entry 1 (import) wrote was changed"),
        ("UPDATE items SET entry = 77 WHERE id = 'i1'", "some refer to entry 77"),
        ("UPDATE events SET subject = 'R2'", "what entry 1 (import) wrote was changed"),
    ],
)
def test_tampering_is_seen(
    filled: Store, alter: Callable[[str], None], statement: str, problem: str
) -> None:
    for number in range(3):
        filled.audit("note", {"number": number}, AT)
    assert filled.verify_log() == ()
    alter(statement)
    assert any(problem in p for p in filled.verify_log()), filled.verify_log()


def test_two_entries_that_change_places_are_seen(
    filled: Store, alter: Callable[[str], None]
) -> None:
    filled.audit("note", {"number": 1}, AT)
    filled.audit("note", {"number": 2}, AT)
    for old, new in ((2, 99), (3, 2), (99, 3)):
        alter(f"UPDATE audit_log SET seq = {new} WHERE seq = {old}")
    problems = filled.verify_log()
    assert any("entry 2 (note) does not follow entry 1" in p for p in problems)


def test_a_superseded_value_is_covered_too(filled: Store, alter: Callable[[str], None]) -> None:
    first = next(r for r in filled.ratings() if r.label == "4")
    filled.revise((dataclasses.replace(first, label="2"),), at=LATER, event_id="rev-1")
    alter("UPDATE rating_revisions SET label = '3'")
    assert any("entry 1 (import)" in p for p in filled.verify_log())


@pytest.mark.parametrize("data", [{"file": "caf\udce9.csv"}, {"x": object()}, {"x": float("nan")}])
def test_the_log_holds_text_only(store: Store, data: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="audit log: the entry 'note'"):
        store.audit("note", data, AT)
    with pytest.raises(StoreError, match="audit log"):
        store.add(Batch(items=(Item("i", "?"),)), source="caf\udce9.csv", at=AT)
    assert store.items() == ()
    assert store.verify_log() == ()


def test_names_are_apart_from_ratings(store: Store) -> None:
    assert _scalar(store, "SELECT count(*) FROM people") == 0


def test_places_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, " * 100)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE items (id)")
    other.close()
    for where, create, message in (
        (tmp_path / "absent", True, "there is no such folder"),
        (tmp_path / "absent" / "x.db", True, "does not exist"),
        (tmp_path, False, "there is no such database; import something first"),
        (tmp_path / "text.db", True, "is not a database"),
        (tmp_path / "other.db", True, "is not a konsil database"),
        ("mysql://host/x", True, "not a database that konsil supports"),
        ("://", True, "cannot be read"),
        ("postgresql://konsil:secret@127.0.0.1:1/x", True, "postgresql"),
    ):
        with pytest.raises(StoreError, match=message) as caught:
            Store.open(where, create=create)
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)
    assert not (tmp_path / "konsil.db").exists()


def test_a_missing_driver_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install '\.\[postgres\]'"):
        Store.open("postgresql://127.0.0.1:1/x")


def test_settings_are_durable(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        assert _scalar(store, "PRAGMA journal_mode") == "wal"
        assert _scalar(store, "PRAGMA synchronous") == 2
        assert _scalar(store, "PRAGMA foreign_keys") == 1


@pytest.mark.slow
def test_opening_needs_neither_alembic_nor_polars(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    code = (
        "import sys; from konsil.store import Store; Store.open(sys.argv[1]).close();"
        "sys.exit(bool({'alembic', 'polars', 'psycopg'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=60).returncode == 0


def _scalar(store: Store, statement: str) -> object:
    return _rows(store, statement)[0][0]


def _rows(store: Store, statement: str) -> list[tuple[object, ...]]:
    with store.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def test_a_url_is_shown_as_it_was_typed_without_its_password() -> None:
    url = engine.place("postgresql://konsil:secret@db.example.org/trial")
    assert engine.redacted_url(url) == "postgresql://konsil:***@db.example.org/trial"
