"""Erasing a rater: what goes, what stays, and that the log remains whole and does not list what
is gone."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from konsil.errors import ConflictError, StoreError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Answer, Attempt, Event, Item, Rater, Rating, Task
from konsil.store import Batch, Store
from konsil.store.engine import engine, page_schema, schema
from konsil.store.engine.engine import reading, writing
from konsil.store.log import anchoring, study_events
from konsil.store.log.covering import cover_task
from konsil.store.log.heads import anchor_notes, check_head, head_of
from konsil.store.people import letters
from konsil.store.people.access import ERASED, Access
from konsil.store.people.people import Person, note_person, people
from konsil.store.privacy import erasing
from konsil.store.privacy.own_data import own_data
from konsil.store.tasks import drafts, screens
from konsil.study import Study
from konsil.study.sections.enrolment import CONSENT, PROFILE
from konsil.study.sections.privacy import Privacy

AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"
HERE = Path(__file__).parents[1]
FORM = Instrument(
    "form",
    (
        Criterion("grade", "How good is it?", Scale(("1", "2", "3"), level="ordinal"), reason=True),
        Criterion("words", "Anything else?", Scale(kind="text"), "item"),
    ),
)
STUDY = Study(
    "A study", 7, instruments=(FORM,), raters=(Rater("R1", "panel"), Rater("R2", "panel"))
)
KEEPING = Study(
    "A study",
    7,
    instruments=(FORM,),
    raters=STUDY.raters,
    privacy=Privacy(ratings_after_erasure="keep"),
)
CANARIES = (
    "Wachtelkönig",
    "Zilpzalp",
    "Rohrdommel",
    "Uferschnepfe",
    "Blaukehlchen",
    "Neuntöter",
    "Turteltaube",
    "Ada Kiebitz",
    "kiebitz@clinic.example",
    "Haubentaucher",
    "Sumpfohreule",
    "Ziegenmelker",
)
"""A word for each place where a rater leaves one."""
BY = {"by": "owner-1", "reason": "asked for it"}


# An older database is told of its update.
pytestmark = pytest.mark.filterwarnings("ignore::konsil.notices.KonsilNotice")


def rating(
    task: str, rater: str, criterion: str, label: str, note: str = "", item: str = "i1"
) -> Rating:
    answers = ("a1",) if criterion == "grade" else ()
    return Rating(
        task, rater, criterion, item, answers, label=label, note=note, seconds=12.5, at=AT
    )


def fill(store: Store) -> None:
    """A study in which two raters have left something in every table; R1's words are canaries."""
    (
        quail,
        chiffchaff,
        bittern,
        godwit,
        bluethroat,
        shrike,
        dove,
        name,
        email,
        grebe,
        owl,
        nightjar,
    ) = CANARIES
    tasks = tuple(
        Task(f"t{n}", f"panel {n % 2 + 1}", f"R{n % 2 + 1}", "form", f"i{n // 2 + 1}", ("a1",))
        for n in range(4)
    )
    store.add(
        Batch(
            items=(Item("i1", "Which drug?"), Item("i2", "How much?")),
            answers=(Answer("a1", "i1", "s", "This."),),
            raters=(
                Rater("R1", "panel", strata={"hobby": quail}),
                Rater("R2", "panel", strata={"hobby": "none"}),
            ),
            tasks=tasks,
            ratings=(
                rating("t0", "R1", "grade", "1", chiffchaff),
                rating("t0", "R1", "words", bittern),
                rating("t1", "R2", "grade", "2", "as it is"),
                rating("t1", "R2", "words", "nothing else"),
            ),
            attempts=(Attempt("x1", "t0", "R1", "not json", nightjar, AT),),
            events=(
                Event("c1", CONSENT, "R1", AT, {"agreed": True, "version": "v"}),
                Event("p1", PROFILE, "R1", AT, {"replies": {"hobby": godwit}}),
                Event("p2", PROFILE, "R2", AT, {"replies": {"hobby": "none"}}),
                Event(
                    "problem 1", study_events.PROBLEM, "t0", AT, {"rater": "R1", "text": bluethroat}
                ),
                Event(
                    "problem 1 settled",
                    study_events.SETTLED,
                    "problem 1",
                    AT,
                    {"note": f"about {owl}"},
                ),
            ),
        ),
        source="a.csv",
        at=AT,
    )
    store.revise([rating("t0", "R1", "words", shrike)], at=AT, event_id="submission s1")
    store.revise(
        [rating("t1", "R2", "words", "on second thoughts")], at=AT, event_id="submission s2"
    )
    for rater in ("R1", "R2"):
        access = Access(store)
        access.redeem(
            access.invite(rater, "rater", at=AT, expires_at=LATER),
            at=AT,
            expires_at={"rater": LATER},
        )
        task = f"t{int(rater[1]) - 1}"
        with writing(store.engine) as connection:
            state = screens.named(connection, task, rater, AT)
            screens.visit(connection, state, screens.Visit(f"v{rater}", 20.0, 10.0, 1.0), AT)
            typed = dove if rater == "R1" else "typed"
            drafts.append_changes(
                connection, state, [drafts.Change(f"d{rater}", "words", typed, 0, AT)], AT
            )
            state = screens.screen_state(connection, task)
            assert state is not None
            note = grebe if rater == "R1" else "mine"
            drafts.append_changes(
                connection, state, [drafts.Change(f"n{rater}", drafts.NOTE, note, 1, AT)], AT
            )
            screens.change(connection, state, {"submitted_at": AT, "seconds": 10.0})
            cover_task(connection, task, AT)
    note_person(store, Person("R1", name, email))
    letters.end(store, letters.begin(store, "R1", "invitation", at=AT), "sent", at=AT)
    note_person(store, Person("R2", "Bo Lee", "lee@clinic.example"))


@pytest.fixture
def study(store: Store) -> Store:
    fill(store)
    assert store.verify_log() == ()
    return store


def everything(store: Store) -> str:
    """Every cell of every table."""
    with reading(store.engine) as connection:
        return "\n".join(
            repr(tuple(row))
            for table in schema.metadata.tables.values()
            for row in connection.execute(sa.select(table))
        )


def test_every_canary_is_stored_before(study: Store) -> None:
    before = everything(study)
    assert [word for word in CANARIES if word not in before] == []


def test_nothing_of_hers_is_left_and_all_of_the_others_is(study: Store) -> None:
    others = own_data(study, "R2")
    done = erasing.erase(study, STUDY, "R1", at=LATER, **BY)
    after = everything(study)
    assert [word for word in CANARIES if word in after] == []
    assert done.records == {
        "ratings": 2,
        "events": 5,
        "drafts": 2,
        "rating_revisions": 1,
        "attempts": 1,
        "visits": 1,
        "draft_events": 2,
        "screens": 1,
        "invitations": 1,
        "people": 1,
        "letters": 1,
        "raters": 1,
    }
    assert (done.ratings, done.n_retained, done.moved) == (2, 0, 1)
    now = own_data(study, "R2")
    assert {name: rows for name, rows in now.items() if name != "tasks"} == {
        name: rows for name, rows in others.items() if name != "tasks"
    } | {"events": now["events"], "audit_log": now["audit_log"]}
    assert [r.rater for r in study.ratings()] == ["R2", "R2"]
    assert {t.id: t.rater for t in study.tasks()} == {"t0": "R1", "t1": "R2", "t2": "", "t3": "R2"}
    assert set(people(study)) == {"R2"}


def test_the_log_stays_whole_and_states_how_much_is_gone(study: Store) -> None:
    before = head_of(study)
    done = erasing.erase(study, STUDY, "R1", at=LATER, **BY)
    assert study.verify_log() == ()
    assert study.erased() == (sum(done.records.values()), 1)
    assert list(check_head(study, before)) == [], "the chain goes on from what was noted before"
    assert done.anchored is None


@pytest.mark.parametrize(
    "statement",
    [
        "update ratings set label = '3' where rater = 'R2' and criterion = 'grade'",
        *(
            pytest.param(statement, marks=pytest.mark.slow)
            for statement in (
                "update rating_revisions set label = 'x' where rater = 'R2'",
                "delete from drafts; update draft_events set value = 'x' where rater = 'R2'",
                "update events set data = '{}' where id = 'p2'",
                "update events set data = '{}' where kind = 'erasure'",
                "update raters set strata = '{}' where id = 'R2'",
                "update salts set salt = 'x' where owner = 'R2'",
                (
                    "insert into ratings (task, criterion, answers, span, rater, item, state,"
                    " label, note, at, instrument, revision, entry) select 't0', criterion,"
                    " answers, span, 'R1', item, state, label, note, at, instrument, 1, entry from"
                    " ratings where rater = 'R2' and criterion = 'grade'"
                ),
                (
                    "update audit_log set data = replace(data, '\"erased\":', '\"erased\":1') where"
                    " kind = 'erasure'"
                ),
            )
        ),
    ],
)
def test_an_erasure_is_no_cover_for_other_changes(tmp_path: Path, statement: str) -> None:
    with Store.open(tmp_path) as store:
        fill(store)
        erasing.erase(store, STUDY, "R1", at=LATER, **BY)
    with closing(sqlite3.connect(tmp_path / "konsil.db")) as database:
        for (name,) in database.execute(
            "select name from sqlite_master where type = 'trigger'"
        ).fetchall():
            database.execute(f'drop trigger "{name}"')
        for one in statement.split("; "):
            assert database.execute(one).rowcount > 0, "the test changes nothing"
        database.commit()
    with Store.open(tmp_path) as store:
        assert store.verify_log() != ()


@pytest.mark.slow
def test_what_the_log_has_of_her_rows_cannot_be_guessed(study: Store) -> None:
    """Who knows everything but the salt, every cell of the rating included, cannot tell that it was
    there."""
    with reading(study.engine) as connection:
        row = connection.execute(
            sa.select(schema.ratings).where(schema.ratings.c.task == "t0")
        ).first()
        assert row is not None
        cells = tuple(getattr(row, name) for name in erasing.KINDS["ratings"].names)
    plain = erasing.audit.content(erasing.audit.fingerprint(cells))
    erasing.erase(study, STUDY, "R1", at=LATER, **BY)
    after = everything(study)
    assert plain not in after
    with reading(study.engine) as connection:
        salts = {row.owner for row in connection.execute(sa.select(schema.salts))}
        residues = [
            json.loads(d)["residues"]
            for (d,) in connection.execute(
                sa.select(schema.audit_log.c.data).where(schema.audit_log.c.kind == "erasure")
            )
        ]
    # What remains about her, that she left and that she has no strata, has a new salt.
    assert "R1" in salts
    assert residues[0]
    assert plain not in json.dumps(residues)


def test_ratings_may_stay_without_texts_and_times_where_the_protocol_says_so(study: Store) -> None:
    done = erasing.erase(study, KEEPING, "R1", at=LATER, **BY)
    assert (done.ratings, done.n_retained) == (1, 1)
    (kept,) = [r for r in study.ratings() if r.rater == "R1"]
    assert (kept.criterion, kept.label, kept.note, kept.seconds) == ("grade", "1", "", None)
    after = everything(study)
    assert [word for word in CANARIES if word in after] == []
    assert study.verify_log() == ()


def test_no_byte_is_left_in_the_files(tmp_path: Path) -> None:
    """Also of what was deleted before rows were overwritten, and while another connection has the
    database open."""
    with Store.open(tmp_path) as store:
        fill(store)
        with closing(sqlite3.connect(tmp_path / "konsil.db")) as older:
            # An older version left what it deleted in free pages.
            older.execute("pragma secure_delete = off")
            older.execute("create table junk (text)")
            older.executemany("insert into junk values (?)", [(f"{CANARIES[0]} " * 400,)] * 20)
            older.commit()
            older.execute("drop table junk")
            older.commit()
        there = b"".join(p.read_bytes() for p in tmp_path.glob("konsil.db*"))
        assert [word for word in CANARIES if word.encode() not in there] == []
        with store.engine.connect() as idle:
            assert not idle.in_transaction()
            assert erasing.erase(store, STUDY, "R1", at=LATER, **BY).is_clean
        there = b"".join(p.read_bytes() for p in tmp_path.glob("konsil.db*"))
        assert [word for word in CANARIES if word.encode() in there] == []
    there = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert [word for word in CANARIES if word.encode() in there] == []


def test_who_still_reads_keeps_remnants_and_a_second_erasure_removes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_SHORT_WAIT", 1)
    with Store.open(tmp_path) as store:
        fill(store)
        with closing(sqlite3.connect(tmp_path / "konsil.db", isolation_level=None)) as reader:
            reader.execute("begin")
            reader.execute("select count(*) from ratings").fetchone()
            first = erasing.erase(store, STUDY, "R1", at=LATER, **BY)
            assert not first.is_clean
            reader.execute("rollback")
        count = store.log_head()
        again = erasing.erase(store, STUDY, "R1", at=LATER, by="owner-2", reason="again")
        assert (again.is_clean, again.at, again.by, again.records) == (
            True,
            LATER,
            "owner-1",
            first.records,
        )
        assert store.log_head() == count, "a second erasure writes nothing"
    there = b"".join(p.read_bytes() for p in tmp_path.glob("konsil.db*"))
    assert [word for word in CANARIES if word.encode() in there] == []


def test_who_is_not_known_is_refused_with_the_nearest_name(study: Store) -> None:
    count = study.log_head()
    for call in (
        lambda: erasing.preview(study, STUDY, "R11"),
        lambda: erasing.erase(study, STUDY, "R11", at=LATER, **BY),
    ):
        with pytest.raises(
            StoreError, match=r"there is no person 'R11' among the raters; did you mean 'R1'"
        ):
            call()
    assert study.log_head() == count


def test_a_judge_has_no_personal_data(study: Store) -> None:
    study.add(Batch(raters=(Rater("J1", "judges", "llm"),)), source="b", at=AT)
    with pytest.raises(StoreError, match="'J1' is no person"):
        erasing.erase(study, STUDY, "J1", at=LATER, **BY)


@pytest.mark.parametrize(("by", "reason"), [("", "asked"), ("owner-1", " ")])
def test_who_and_why_must_be_given(study: Store, by: str, reason: str) -> None:
    with pytest.raises(StoreError, match="the log states who erased and why"):
        erasing.erase(study, STUDY, "R1", at=LATER, by=by, reason=reason)


@pytest.mark.parametrize(
    "reason", ["Kiebitz asked", "mail of kiebitz@clinic.example", "for Ada, by phone"]
)
def test_a_reason_does_not_keep_the_name(study: Store, reason: str) -> None:
    with pytest.raises(
        StoreError, match="contains a part of the name or address that is to be erased"
    ):
        erasing.erase(study, STUDY, "R1", at=LATER, by="owner-1", reason=reason)
    assert "R1" in people(study)


@pytest.mark.slow
def test_a_preview_states_the_same_and_changes_nothing(study: Store) -> None:
    before = everything(study)
    planned = erasing.preview(study, STUDY, "R1")
    assert everything(study) == before
    done = erasing.erase(study, STUDY, "R1", at=LATER, **BY)
    # Leaving revokes the links first, which are then erased like all else.
    assert (planned.records, planned.ratings, planned.moved) == (
        done.records,
        done.ratings,
        done.moved,
    )
    assert erasing.preview(study, STUDY, "R1").at == LATER


_DIES_IN_THE_MIDDLE = """
import os, pickle, sys
from pathlib import Path
from konsil.store.privacy import erasing, selection
from konsil.store import Store

remove = selection.Selection._remove_ratings

def die(selection):
    remove(selection)
    os._exit(9)

selection.Selection._remove_ratings = die
study = pickle.loads(Path(sys.argv[2]).read_bytes())
with Store.open(sys.argv[1]) as store:
    erasing.erase(store, study, "R1", at=sys.argv[3], by="owner-1", reason="asked")
"""


@pytest.mark.slow
def test_killed_half_way_nothing_is_erased(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        fill(store)
        before = everything(store)
    protocol = tmp_path / "study.pickle"
    protocol.write_bytes(pickle.dumps(STUDY))
    died = subprocess.run(
        [sys.executable, "-c", _DIES_IN_THE_MIDDLE, tmp_path, protocol, LATER], check=False
    )
    assert died.returncode == 9
    with Store.open(tmp_path) as store:
        assert everything(store) == before
        assert store.verify_log() == ()
        with (
            pytest.raises(sa.exc.IntegrityError, match="only appended"),
            store.engine.begin() as connection,
        ):
            connection.execute(sa.text("update events set data = '{}'"))


def test_rows_are_only_appended_again_afterwards(study: Store) -> None:
    erasing.erase(study, STUDY, "R1", at=LATER, **BY)
    for table in ("events", "rating_revisions", "draft_events", "audit_log"):
        with (
            pytest.raises(sa.exc.DatabaseError, match="only appended"),
            study.engine.begin() as connection,
        ):
            connection.execute(sa.text(f"delete from {table}"))


def test_what_was_erased_does_not_come_back(study: Store) -> None:
    erasing.erase(study, STUDY, "R1", at=LATER, **BY)
    with pytest.raises(
        StoreError, match="the data of 'R1' were erased and cannot be imported again"
    ):
        study.add(Batch(ratings=(rating("t0", "R1", "grade", "1"),)), source="a.csv", at=LATER)
    assert study.verify_log() == ()
    with pytest.raises(ConflictError):
        study.add(
            Batch(raters=(Rater("R1", "panel", strata={"hobby": "x"}),)), source="a.csv", at=LATER
        )


def test_her_devices_know_only_that_it_is_over(study: Store) -> None:
    access = Access(study)
    cookie = access.redeem(
        access.invite("R1", "rater", at=AT, expires_at=LATER), at=AT, expires_at={"rater": LATER}
    )
    assert cookie is not None
    erasing.erase(study, STUDY, "R1", at=AT, **BY)
    visitor = access.visitor(cookie, AT)
    assert visitor is not None
    assert (visitor.who, visitor.csrf, visitor.made_at) == (ERASED, "", "")
    with reading(study.engine) as connection:
        # Cell by cell: the letters of a random token may be these by chance.
        cells = {
            cell for row in connection.execute(sa.select(page_schema.visitors)) for cell in row
        }
    assert "R1" not in cells


# ---- logs of older versions


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A database whose log has plain hashes, as the version before wrote it."""
    with closing(sqlite3.connect(tmp_path / "konsil.db")) as old:
        old.executescript((HERE / "log5.sql").read_bytes().decode())
    return tmp_path


OLD_STUDY = Study("A study", 7, raters=(Rater("R1", "doctors"),))


def test_an_older_log_is_anchored_anew_and_its_head_is_kept(older: Path) -> None:
    with Store.open(older) as store:
        before, entries = head_of(store), store.log_head()[0]
        assert store.verify_log() == ()
        with reading(store.engine) as connection:
            assert anchoring.is_older(connection)
        planned = erasing.preview(store, OLD_STUDY, "R1")
        assert planned.anchored is not None
        assert planned.anchored.before == before
        done = erasing.erase(store, OLD_STUDY, "R1", at=LATER, **BY)
        assert done.anchored is not None
        assert (done.anchored.before, done.anchored.problems) == (before, ())
        assert store.verify_log() == ()
        with reading(store.engine) as connection:
            assert not anchoring.is_older(connection)
            (once,) = anchoring.anchored(connection)
            log = connection.execute(
                sa.select(schema.audit_log).order_by(schema.audit_log.c.seq)
            ).all()
        assert once.before == before
        assert [row.kind for row in log[:entries]] == [
            "protocol",
            "import",
            "calls",
            "invitation",
            "sign-in",
            "traces",
            "revision",
        ]
        assert json.loads(next(r.data for r in log if r.kind == anchoring.KIND))["by"] == "owner-1"
        assert list(check_head(store, before)) == []
        assert list(anchor_notes(store, before)) == [
            f"re-anchored on 2025-06-01 from the head {before}; it is the expected head"
        ]
        (problem,) = check_head(store, "3-" + "a" * 64)
        assert f"of the earlier chain is stored: {before}" in problem
    there = b"".join(p.read_bytes() for p in older.glob("konsil.db*"))
    for word in ("Ada May", "ada@clinic.example", "After a second reading", "hard\r\nvery"):
        assert word.encode() not in there


def test_plain_hashes_are_gone_from_an_older_log(older: Path) -> None:
    with closing(sqlite3.connect(older / "konsil.db")) as old:
        plain = [
            value
            for (data,) in old.execute("select data from audit_log")
            for value in [json.loads(data).get("content"), *_digests(json.loads(data))]
            if value
        ]
    assert len(plain) > 5
    with Store.open(older) as store:
        erasing.erase(store, OLD_STUDY, "R1", at=LATER, **BY)
        with reading(store.engine) as connection:
            log = "".join(connection.execute(sa.select(schema.audit_log.c.data)).scalars())
    # Calls of models are about nobody: their hashes need no salt.
    with closing(sqlite3.connect(older / "konsil.db")) as old:
        (calls,) = old.execute("select data from audit_log where kind = 'calls'").fetchone()
    assert [value for value in plain if value in log] == [json.loads(calls)["content"]]


def _digests(data: dict[str, object]) -> list[str]:
    traces = data.get("traces", {})
    assert isinstance(traces, dict)
    return [digest for rows in traces.values() for digest in rows.values()]


def test_that_an_older_log_was_not_whole_is_stated_for_ever(older: Path) -> None:
    with closing(sqlite3.connect(older / "konsil.db")) as old:
        old.execute("update ratings set label = '1' where label = '-2'")
        old.commit()
    with Store.open(older) as store:
        done = erasing.erase(store, OLD_STUDY, "R1", at=LATER, **BY)
        assert done.anchored is not None
        (problem,) = done.anchored.problems
        assert "what entry 2 (import) wrote was changed" in problem
        (note,) = anchor_notes(store, None)
    assert "that chain was incomplete: records: what entry 2 (import) wrote was changed" in note


@pytest.mark.slow
def test_changes_after_the_anchoring_are_found(older: Path) -> None:
    with Store.open(older) as store:
        erasing.erase(store, OLD_STUDY, "R1", at=LATER, **BY)
    with closing(sqlite3.connect(older / "konsil.db")) as old:
        old.execute("update attempts set raw = 'x'")
        old.commit()
    with Store.open(older) as store:
        (problem,) = store.verify_log()
    assert "what entry 2 (import) wrote was changed" in problem
