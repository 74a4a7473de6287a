"""What is done on the office's pages is in the log with the account that is signed in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.log.entries import Entry, read_entries
from konsil.store.tasks import batches, vacancies, withdrawal

AT = "2025-03-01T12:00:00Z"
R1, R2, R3 = "canary-rater-1", "canary-rater-2", "canary-rater-3"
CHIEF = "chief"
Enter = Callable[..., Any]


def entries(store: Store) -> list[Entry]:
    with reading(store.engine) as connection:
        return list(read_entries(connection))


@pytest.mark.parametrize(
    ("path", "form", "kinds"),
    [
        ("invitations", {"who": R1}, ["invitations revoked", "invitation"]),
        ("invitations", {"who": "dr-berg", "role": "curator"}, ["invitation"]),
        ("invitations/end", {"who": R1}, ["invitations revoked"]),
        ("withdrawal", {"rater": R1, "reason": "moved"}, ["withdrawal", "invitations revoked"]),
        ("batches/close", {"phase": "", "batch": "", "rater": ""}, ["batch closed"]),
        ("batches/close", {"phase": "", "batch": "", "rater": R1}, ["batch closed"]),
        (
            "batches/open",
            {"phase": "", "batch": "", "rater": R3, "reason": "a slip"},
            ["batch reopened"],
        ),
        ("", {"slot": "", "who": "canary-rater-4"}, ["rater", "sign-up"]),
    ],
)
def test_each_act_has_the_account_that_is_signed_in(
    enter: Enter,
    opened: Store,
    studies: dict[str, Any],
    path: str,
    form: dict[str, str],
    kinds: list[str],
) -> None:
    office = enter(who=CHIEF, role="owner")
    study = studies["medqade"]
    if path == "withdrawal":
        shown = office.get(f"/office/withdrawal?rater={R1}").text
        form = form | {"digest": re.findall(r'name="digest" value="([^"]*)"', shown)[0]}
    elif path == "batches/open":
        batches.close(opened, "", "", R3, at=AT)
    elif path == "":
        for rater in (R1, R2, R3):
            withdrawal.withdraw(opened, study, rater, at=AT)
        with reading(opened.engine) as connection:
            form = form | {"slot": vacancies.vacancies(connection, study)[0].slot}
    office.get("/office")
    first = len(entries(opened))
    assert office.post(f"/office/{path}".rstrip("/"), form).status_code == 200
    written = entries(opened)[first:]
    assert [(one.kind, one.who) for one in written] == [(kind, CHIEF) for kind in kinds]
    assert opened.verify_log() == ()


def test_a_rater_who_makes_a_link_of_their_own_is_who_acted(enter: Enter, opened: Store) -> None:
    rater = enter(who=R1)
    rater.get("/link")
    first = len(entries(opened))
    assert rater.post("/link", {}).status_code == 200
    assert [(one.kind, one.who) for one in entries(opened)[first:]] == [
        ("invitations revoked", R1),
        ("invitation", R1),
    ]
