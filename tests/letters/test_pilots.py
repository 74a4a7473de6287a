"""A rater who has done the pilot and waits for the others gets no reminder of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from konsil.api.folder.folder import Folder, open_folder
from konsil.api.running.invitations import invite
from konsil.api.running.planning import make_plan
from konsil.api.running.requests import InvitationRequest
from konsil.letters.sending import send_letters
from konsil.records import Rating
from konsil.store import Batch
from konsil.store.people.people import note_person
from mail_servers import ADA, ANSWERS, BEN, URL, Day, Post, write_mail
from small_studies import ITEMS, form, import_items, plan, raters, study_text, systems

AT = "2025-03-01T12:00:00Z"


@pytest.fixture
def calibrated(tmp_path: Path, post: Post) -> Folder:
    """Two raters of a pilot, after which they wait for each other."""
    place = tmp_path / "calibrated"
    place.mkdir()
    text = study_text(
        "Right or wrong?",
        ITEMS,
        ANSWERS,
        form(),
        systems("a", "b"),
        raters("r1", "r2"),
        plan(systems=["a"], phase="pilot", purpose="pilot"),
        plan(systems=["b"], phase="main"),
        "[calibration]",
        seed=1,
    )
    (place / "answers.csv").write_text("item,system,text\nq1,a,So.\nq1,b,Thus.\n", "utf-8")
    opened = import_items(place, text, [["item", "text"], ["q1", "Why?"]])
    make_plan(opened)
    write_mail(place, post.port)
    invite(opened, InvitationRequest(url=URL))
    with opened.store() as store:
        for person in (ADA, BEN):
            note_person(store, person)
    return open_folder(place)


def test_who_waits_for_the_pilot_of_others_gets_no_reminder(
    calibrated: Folder, post: Post, day: Day
) -> None:
    send_letters(calibrated, clock=day)
    with calibrated.store() as store:
        [task] = [t for t in store.tasks() if (t.rater, t.purpose) == ("r1", "pilot")]
        rating = Rating(task.id, "r1", "correct", task.item, task.answers, label="yes", at=AT)
        store.add(Batch(ratings=(rating,)), source="a test", at=AT)
    day.pass_days(1)
    sent = send_letters(calibrated, clock=day)
    assert [o.rater for o in sent.outcomes] == ["r2"]
    assert [(a.rater, a.reason) for a in sent.absences] == [
        ("r1", "waits for others to complete the pilot")
    ]
