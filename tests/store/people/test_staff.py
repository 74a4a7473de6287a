"""Names of those who run a study, and of raters: in a table of their own, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

import konsil
from konsil.api.folder.blinded import freeze, unblind
from konsil.api.running.invitations import invite, revoke
from konsil.api.running.requests import InvitationRequest
from konsil.cli import main
from konsil.errors import StoreError, StudyError
from konsil.store import Store
from konsil.store.engine import schema
from konsil.store.engine.engine import reading, writing
from konsil.store.people.access import Access
from konsil.store.people.people import Person, forget_person, note_person
from konsil.store.people.staff import decider, names, new_pseudonym, pseudonym
from konsil.store.privacy.own_data import own_data

AT, LATER = "2025-03-01T12:00:00Z", "2099-06-01T12:00:00Z"
NAMES = (
    "Dr. Anna Kiebitz",
    "b.lerche@clinic.example",
    "wiedehopf",
    "Carl Pirol",
    "Dora Amsel",
    "amsel@clinic.example",
)
PROTOCOL = """
title = "A study"
seed = 1
blinded = true
[[instruments]]
id = "form"
criteria = [{ id = "correct", question = "?", scale = { labels = ["no", "yes"] } }]
[[systems]]
id = "a"
[[raters]]
id = "physician-1"
panel = "panel"
[[plan]]
panel = "panel"
instrument = "form"
[[sources]]
file = "items.csv"
records = "items"
[[analyses]]
name = "correct"
statistic = "share"
of = ["yes"]
criterion = "correct"
raters = "panel"
"""
OF_NAMES = {"people", "staff"}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study in which everybody gives the own name wherever one is asked for."""
    (tmp_path / "study.toml").write_text(PROTOCOL, "utf-8")
    (tmp_path / "items.csv").write_text("item,text\nq1,Why?\nq2,How?\n", "utf-8")
    folder = konsil.open(tmp_path)
    folder.import_sources()
    run("plan", tmp_path)
    owner, analyst, curator, _, name, email = NAMES
    [link] = invite(
        folder, InvitationRequest(who=(owner,), role="owner", url="https://x.org", days=9)
    )
    assert link.recipient == f"{owner} = staff-1"
    invite(folder, InvitationRequest(who=(analyst,), role="analyst", url="https://x.org", days=9))
    invite(folder, InvitationRequest(who=(curator,), role="curator", url="https://x.org", days=9))
    freeze(folder, NAMES[3])
    unblind(folder, owner, "the plan stands")
    with folder.store() as store:
        note_person(store, Person("physician-1", name, email))
        access = Access(store)
        secret = link.url.rpartition("/")[2]
        assert access.redeem(secret, at=AT, expires_at={"owner": LATER})
    return tmp_path


def run(*arguments: object) -> int:
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_no_table_but_those_of_names_has_a_name_or_an_address(study: Path) -> None:
    with konsil.open(study).store() as store, reading(store.engine) as connection:
        for table in schema.metadata.tables.values():
            cells = "\n".join(map(repr, connection.execute(sa.select(table)).all()))
            found = [name for name in NAMES if name in cells]
            assert found == [] or table.name in OF_NAMES, table.name
        assert set(names(connection).values()) == {n for n in NAMES if n != "amsel@clinic.example"}


def test_a_name_has_one_pseudonym_whoever_gives_it(study: Path) -> None:
    with konsil.open(study).store() as store:
        assert [pseudonym(store, name) for name in NAMES[:4]] == [
            "staff-1",
            "staff-2",
            "staff-3",
            "staff-4",
        ]
        assert pseudonym(store, "staff-2") == "staff-2"
        assert [(e.kind, e.data["by"]) for e in store.events() if "by" in e.data] == [
            ("freeze", "staff-4"),
            ("unblind", "staff-1"),
        ]
        count = store.log_head()
        assert pseudonym(store, " Dr. Anna Kiebitz ") == "staff-1"
        assert store.log_head() == count


def test_the_log_shows_names_on_the_machine_and_exports_pseudonyms(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run("log", study) == 0
    out = capsys.readouterr().out
    assert "by staff-1 (Dr. Anna Kiebitz)" in out
    assert "amsel@" not in out
    for file in ("log.csv", "log.jsonl"):
        assert run("log", study, "--output", tmp_path / file) == 0
        text = (tmp_path / file).read_text("utf-8")
        assert "staff-1" in text
        assert [name for name in NAMES if name in text] == []
    assert run("export", study, tmp_path / "out") == 0
    texts = "".join(path.read_text("utf-8", "replace") for path in (tmp_path / "out").iterdir())
    assert [name for name in NAMES if name in texts] == []


def test_a_name_is_erased_and_its_number_not_given_again(study: Path) -> None:
    with konsil.open(study).store() as store:
        row = {"who": "staff-1", "name": NAMES[0], "stated": None}
        assert own_data(store, "staff-1")["staff"] == [row]
        assert forget_person(store, "staff-1")
        assert not forget_person(store, "staff-1")
        assert pseudonym(store, NAMES[0]) == "staff-5", "who was forgotten is somebody new"
        assert store.verify_log() == ()
    folder = konsil.open(study)
    with folder.store() as store:
        forget_person(store, "staff-5")
    assert NAMES[0].encode() not in b"".join(p.read_bytes() for p in study.glob("konsil.db*"))


def test_links_are_revoked_by_name_or_pseudonym(study: Path) -> None:
    folder = konsil.open(study)
    assert revoke(folder, (NAMES[1],)) == 1
    assert revoke(folder, ("staff-3",)) == 1
    assert revoke(folder, (NAMES[1], "staff-3")) == 0


def test_identifiers_of_older_studies_stay(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        Access(store).invite("study-office", "owner", at=AT, expires_at=LATER)
        assert pseudonym(store, "study-office") == "study-office"
        with reading(store.engine) as connection:
            assert connection.execute(sa.select(schema.staff)).all() == []


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_what_is_no_name_is_refused(study: Path, name: str) -> None:
    with (
        konsil.open(study).store() as store,
        pytest.raises(StoreError, match="expected a name of 1 to 200"),
    ):
        pseudonym(store, name)


def test_an_address_is_no_raters_identifier(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PROTOCOL.replace('id = "physician-1"', 'id = "may@clinic.example"')
    (study / "study.toml").write_text(text, "utf-8")
    capsys.readouterr()
    assert run("check", study) == 0
    assert "raters: may@clinic.example is an e-mail address" in capsys.readouterr().out
    (study / "study.toml").write_text(
        f'{PROTOCOL}\n[[places]]\npanel = "panel"\nnumber = 1\n', "utf-8"
    )
    with pytest.raises(StudyError, match="is an e-mail address"):
        invite(
            konsil.open(study),
            InvitationRequest(who=("lee@clinic.example",), url="https://x.org", days=1),
        )


def test_a_name_that_a_service_states_is_nobodys(study: Path) -> None:
    folder = konsil.open(study)
    with folder.store() as store:
        account = new_pseudonym(store, "Boss Doctor")
        assert pseudonym(store, "Boss Doctor") != account
        # Neither the name of an account nor one that looks like a pseudonym leads to another.
        diverting = new_pseudonym(store, "staff-1")
        assert pseudonym(store, "staff-1") == "staff-1" != diverting
        assert decider(store, "staff-1", may_write=False) == "staff-1"
        with pytest.raises(StoreError, match="a name cannot be like one"):
            pseudonym(store, "staff-99")
        service_alone = new_pseudonym(store, "Only There")
    # The owner has used the link; no other one is open.
    assert revoke(folder, ("staff-1",)) == 1
    with folder.store() as store:
        assert [
            i.revoked_at is None for i in Access(store).invitations() if i.who == "staff-1"
        ] == [False]
    with pytest.raises(StoreError, match=f"a sign-in service calls {service_alone}; state the"):
        revoke(folder, ("Only There",))


def test_a_name_of_two_is_refused(study: Path) -> None:
    folder = konsil.open(study)
    with folder.store() as store:
        pseudonym(store, "Same Name")
        with writing(store.engine) as connection:
            second = {"who": "staff-9", "name": "Same Name"}
            connection.execute(sa.insert(schema.staff).values(second))
    with pytest.raises(StoreError, match="staff-5, staff-9; state which of them"):
        revoke(folder, ("Same Name",))
