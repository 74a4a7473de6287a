"""Changes of what was handed in: with a reason where the protocol asks for one, and named while
they do not count."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.log.entries import read_entries
from konsil.store.privacy import erasing
from konsil.store.tasks import batches
from konsil.store.tasks.drafts import NOTE, REASON_FOR_CHANGE, Change
from konsil.study import Study
from konsil.web.raters.rated import changed_pages, rated_pages
from konsil.web.rating.rating_service import Desk
from konsil.web.site.site import Site

R1 = "canary-rater-1"
ALL_RIGHT = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}
OTHERWISE = {**ALL_RIGHT, "difficulty": "Schwer"}
LATE = 99


@pytest.fixture
def site(opened: Store, clock: Any, studies: dict[str, Study], kit: Any) -> Site:
    study = dataclasses.replace(studies["medqade"], reasons_for_changes=True)
    kit.fill(opened, study, 6)
    return Site(study, opened, clock=clock)


def handed_in(desk: Desk) -> str:
    public = desk.next_task(R1)
    assert public is not None
    assert desk.submit(R1, public, ALL_RIGHT, 0).is_stored  # type: ignore[union-attr]
    return public


def labels(store: Store) -> list[str | None]:
    return [r.label for r in store.ratings() if r.criterion == "difficulty"]


def reasons(store: Store) -> list[str]:
    with reading(store.engine) as connection:
        return [entry.why for entry in read_entries(connection, kind="submission")]


def test_a_change_without_a_reason_is_not_stored(site: Site, opened: Store) -> None:
    public, before = handed_in(site.desk), opened.ratings()
    for sent in (OTHERWISE, {**OTHERWISE, REASON_FOR_CHANGE: " \n"}):
        done = site.desk.submit(R1, public, sent, LATE)
        assert done is not None
        assert not done.is_stored
        assert list(done.problems) == [REASON_FOR_CHANGE]
    assert opened.ratings() == before
    sheet = site.desk.open(R1, public)
    assert sheet is not None
    assert sheet.asks_reason
    assert reasons(opened) == [""]


def test_the_reason_is_in_the_log_and_each_change_has_its_own(site: Site, opened: Store) -> None:
    public = handed_in(site.desk)
    assert site.desk.submit(
        R1, public, {**OTHERWISE, REASON_FOR_CHANGE: "Misread the dose."}, LATE
    ).is_stored  # type: ignore[union-attr]
    assert labels(opened) == ["Schwer"]
    assert reasons(opened) == ["", "Misread the dose."]
    sheet = site.desk.open(R1, public)
    assert sheet is not None
    assert sheet.reason == "", "the next change has a reason of its own"
    again = site.desk.submit(R1, public, {**ALL_RIGHT, REASON_FOR_CHANGE: ""}, LATE)
    assert again is not None
    assert not again.is_stored
    assert opened.verify_log() == ()


def test_what_is_not_changed_needs_no_reason(site: Site, opened: Store) -> None:
    public = handed_in(site.desk)
    assert site.desk.submit(R1, public, ALL_RIGHT, LATE).is_stored  # type: ignore[union-attr]
    assert site.desk.submit(
        R1, public, {**ALL_RIGHT, REASON_FOR_CHANGE: "none", NOTE: "later"}, LATE
    ).is_stored  # type: ignore[union-attr]
    assert reasons(opened) == [""], "nothing was changed, so nothing is in the log"


def test_a_study_that_asks_for_no_reason_stores_none(
    opened: Store, desk: Callable[..., Desk]
) -> None:
    here = desk()
    public = handed_in(here)
    assert here.submit(R1, public, {**OTHERWISE, REASON_FOR_CHANGE: "unasked"}, LATE).is_stored  # type: ignore[union-attr]
    assert reasons(opened) == ["", ""]
    assert not here.open(R1, public).asks_reason  # type: ignore[union-attr]


@pytest.mark.slow
def test_an_erasure_takes_the_reasons_along(site: Site, opened: Store) -> None:
    public = handed_in(site.desk)
    site.desk.submit(R1, public, {**OTHERWISE, REASON_FOR_CHANGE: "Mrs Canary called."}, LATE)
    erasing.erase(
        opened, site.study, R1, at="2030-01-01T00:00:00Z", by="staff-1", reason="asked by letter"
    )
    with reading(opened.engine) as connection:
        text = "".join(f"{entry.why} {entry.details}" for entry in read_entries(connection))
    assert "Canary" not in text
    assert opened.verify_log() == ()


def change(name: str, value: str) -> Change:
    return Change(f"{name} {value}".replace(" ", "-"), name, value, LATE)


def test_a_change_that_is_not_handed_in_is_stated(site: Site, opened: Store) -> None:
    public = handed_in(site.desk)

    def changed() -> list[bool]:
        return [row.changed for row in rated_pages(site, R1)]

    assert changed() == [False]
    site.desk.save(R1, public, [change(NOTE, "ask again"), change(REASON_FOR_CHANGE, "perhaps")])
    assert changed() == [False], "neither a note nor a reason is a rating"
    site.desk.save(R1, public, [change("difficulty", "Schwer")])
    assert changed() == [True]
    assert labels(opened) == ["Mittel"]
    site.desk.save(R1, public, [change("difficulty", "Mittel")])
    assert changed() == [False], "it was taken back"
    site.desk.save(R1, public, [Change("once-more", "difficulty", "Schwer", LATE)])
    batches.close(opened, "", "", at="2030-01-01T00:00:00Z")
    assert changed() == [False], "nothing of a closed batch can be handed in"
    with reading(opened.engine) as connection:
        assert not changed_pages(site, connection, R1)
