"""What is stored of letters: one row each, and an entry of the log for each outcome."""

from __future__ import annotations

from konsil.records import Rater
from konsil.store import Batch, Store
from konsil.store.engine.engine import reading
from konsil.store.log import audit
from konsil.store.people.letters import (
    LetterRecord,
    addresses,
    begin,
    end,
    letters,
    mark_failing,
    note_bounces,
)
from konsil.store.people.people import Person, note_person, people

AT, LATER, LAST = (f"2025-03-0{n}T12:00:00Z" for n in (1, 2, 3))


def test_a_letter_that_was_not_accepted_goes_on_under_its_identifier(store: Store) -> None:
    store.add(Batch(raters=(Rater("r1", "panel"),)), source="x", at=AT)
    note_person(store, Person("r1", "Ada", "ada@clinic.example"))
    first = begin(store, "r1", "invitation", at=AT)
    assert begin(store, "r1", "invitation", at=AT) == first, "the program ended before"
    end(store, first, "deferred", at=AT, code="451 4.2.1")
    assert begin(store, "r1", "invitation", at=LATER) == first
    end(store, first, "sent", at=LATER, by="staff-1")
    second = begin(store, "r1", "reminder", at=LAST)
    assert second != first
    assert letters(store) == {
        "r1": (
            LetterRecord(first, "r1", "invitation", "sent", "", LATER),
            LetterRecord(second, "r1", "reminder", "under way", "", LAST),
        )
    }
    assert addresses(store)[first] == ("r1", "ada@clinic.example")
    assert note_bounces(store, {first: "5.1.1", "0" * 32: "5.0.0"}, at=LAST) == ("r1",)
    assert note_bounces(store, {first: "5.1.1"}, at=LAST) == ()
    mark_failing(store, "r1", at=AT)
    assert people(store)["r1"].failing == LAST, "since when is not moved"
    end(store, "0" * 32, "sent", at=LAST)
    with reading(store.engine) as connection:
        told = audit.entries(connection, audit.LETTER)
    usual = {"who": "r1", "letter": "invitation"}
    assert told == (
        usual | {"outcome": "deferred", "code": "451 4.2.1"},
        usual | {"outcome": "sent", "by": "staff-1"},
        usual | {"outcome": "bounced", "code": "5.1.1"},
    )
    assert store.verify_log() == ()
