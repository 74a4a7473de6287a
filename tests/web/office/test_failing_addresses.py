"""The page of invitations states the last letter, and that an address fails until it is corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from konsil.store import Store
from konsil.store.people import letters
from konsil.store.people.people import Person, note_person, people

AT = "2025-03-01T12:00:00Z"
R1 = "canary-rater-1"


def test_an_address_that_fails_is_shown_until_it_is_corrected(
    enter: Callable[..., Any], opened: Store
) -> None:
    office = enter(who="office", role="coordinator")
    note_person(opened, Person(R1, "Dr. May", "may@clinic.example", "de"))
    letter = letters.begin(opened, R1, "invitation", at=AT)
    letters.end(opened, letter, "sent", at=AT)
    assert letters.note_bounces(opened, {letter: "5.1.1"}, at="2025-03-02T12:00:00Z") == (R1,)
    later = letters.begin(opened, R1, "reminder", at="2025-03-02T12:00:00Z")
    letters.end(opened, later, "deferred", at="2025-03-02T12:00:00Z", code="451")
    page = office.get("/office/invitations").text
    assert "Letzter Brief: 1. März 2025, 12:00 UTC." in page
    fault = "Briefe an diese Adresse kommen seit 2. März 2025 nicht an."
    assert fault in page
    form = {"who": R1, "name": "Dr. May", "email": "may@clinic.example"}
    office.post("/office/invitations/name", form)
    assert fault in office.get("/office/invitations").text, "the same address fails still"
    office.post("/office/invitations/name", form | {"right": "1"})
    page = office.get("/office/invitations").text
    assert fault not in page, "unless it is stated to be right"
    assert 'name="right"' not in page
    letters.mark_failing(opened, R1, at=AT)
    office.post("/office/invitations/name", form | {"email": "m.may@clinic.example"})
    assert fault not in office.get("/office/invitations").text
    assert people(opened)[R1] == Person(R1, "Dr. May", "m.may@clinic.example", "de")
