"""Everything about one person, and nothing about another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from konsil.errors import StoreError
from konsil.store import Batch, Store
from konsil.store.engine import page_schema, schema
from konsil.store.engine.engine import writing
from konsil.store.people import letters
from konsil.store.people.access import Access
from konsil.store.people.people import Person, note_person
from konsil.store.privacy.own_data import own_data
from konsil.store.tasks import drafts, screens

AT, LATER = "2025-03-01T12:00:00Z", "2025-06-01T12:00:00Z"
NO_PERSON = {
    "meta",
    "alembic_version",
    "imports",
    "items",
    "answers",
    "calls",
    "call_batches",
    "call_batch_works",
    "renderings",
    "salts",
    "workers",
    "works",
    "rates",
    "spending",
}
"""Tables in which no row is about a person."""


@pytest.fixture
def store(tmp_path: Path, sample: Batch):
    with Store.open(tmp_path) as opened:
        opened.add(sample, source="x", at=AT)
        note_person(opened, Person("R1", "Ada May", "ada@clinic.example"))
        access = Access(opened)
        secret = access.invite("R1", "rater", at=AT, expires_at=LATER)
        access.redeem(secret, at=AT, expires_at={"rater": LATER})
        access.invite("owner-1", "owner", at=AT, expires_at=LATER)
        letters.end(opened, letters.begin(opened, "R1", "invitation", at=AT), "sent", at=AT)
        with writing(opened.engine) as connection:
            state = screens.named(connection, "t1", "R1", AT)
            screens.visit(connection, state, screens.Visit("v1", 20.0, 10.0, 1.0), AT)
            drafts.append_changes(
                connection, state, [drafts.Change("e1", "accuracy.a1", "typed", 0, AT)], AT
            )
        yield opened


def test_every_table_that_names_a_rater_is_there(store: Store, sample: Batch) -> None:
    found = own_data(store, "R1")
    # Tables in which this study has nothing about R1: who had a task before, superseded ratings,
    # machines' attempts, an account, a passkey.
    missing = set(schema.metadata.tables) - NO_PERSON - set(found)
    assert missing == {
        "task_revisions",
        "rating_revisions",
        "attempts",
        "staff",
        "sites",
        "identities",
        "passkeys",
    }
    [person] = found["people"]
    assert (person["name"], person["email"]) == ("Ada May", "ada@clinic.example")
    assert [row["kind"] for row in found["letters"]] == ["invitation"]
    assert len(found["ratings"]) == sum(r.rater == "R1" for r in sample.ratings)
    assert found["drafts"][0]["value"] == "typed"
    assert [row["kind"] for row in found["events"]] == ["consent"]
    assert {row["kind"] for row in found["audit_log"]} == {"invitation", "letter", "sign-in"}
    assert not {"cookie", "csrf", "token", "public"} & {
        c for rows in found.values() for row in rows for c in row
    }
    json.dumps(found)


def test_nothing_about_others_is_there(store: Store) -> None:
    found = own_data(store, "owner-1")
    assert set(found) == {"invitations", "audit_log"}
    assert "R1" not in json.dumps(found)
    assert page_schema.invitations.name in found


def test_who_is_not_known_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="contains no data about 'R2'; known: J1, R1"):
        own_data(store, "R2")
