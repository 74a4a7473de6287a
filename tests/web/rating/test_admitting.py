"""What was said before the first task, for those who run the study; and the reasons after a pilot,
side by side."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest

from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.store import Store
from konsil.study.sections.calibration import Calibration
from konsil.web.rating.consensus.pilot import Pilot
from konsil.web.rating.enrolment_service import Reception
from konsil.web.rating.rating_service import Desk

from ..conftest import STUDIES, fill, raters, study_of
from .test_joining import ASKS, FITS, WHO
from .test_joining import STUDY as ASKING

R1, R2, R3 = "canary-rater-1", "canary-rater-2", "canary-rater-3"
Enter = Callable[..., Any]


@pytest.fixture
def told(opened: Store, clock: Any, enter: Enter, monkeypatch: Any) -> Reception:
    """One who is in, one who is not, one who withdrew."""
    monkeypatch.setitem(STUDIES, "asking", ASKING)
    enter("asking", who="")
    here = Reception(ASKING, opened, clock.stamp)
    for who in (R1, R2, R3):
        assert here.agree(who, here.version)
    assert here.reply("eligibility", R1, FITS) == {}
    assert here.reply("eligibility", R2, FITS | {"licensed": "Nein"}) == {}
    assert here.reply("profile", R1, WHO) == {}
    clock.pass_(1)
    assert here.withdraw(R3)
    return here


def test_counts_for_everybody_who_runs_it_and_people_for_some(
    told: Reception, enter: Enter
) -> None:
    office = enter("asking", who="office", role="coordinator")
    html = office.get("/office/enrolment").text
    assert "Zugelassen: 1. Nicht zugelassen: 1." in html
    assert re.search(r"Innere.*?<td[^>]*>1</td>", html, re.S)
    assert html.count(told.version[:8]) == 5, "two rows of the table and three people"
    assert all(who in html for who in (R1, R2, R3))
    assert "widerrufen" in html
    analyst = enter("asking", who="analyst", role="analyst")
    seen = analyst.get("/office/enrolment").text
    assert "Zugelassen: 1. Nicht zugelassen: 1." in seen
    assert not any(who in seen for who in (R1, R2, R3))
    assert analyst.post("/office/enrolment", {"who": R2, "reason": "x"}).status_code == 404
    assert enter("asking", who=R1).get("/office/enrolment").status_code == 404


def test_a_slip_is_asked_again_and_logged(
    told: Reception, enter: Enter, opened: Store, clock: Any
) -> None:
    office = enter("asking", who="office", role="coordinator")
    office.get("/office/enrolment")
    for wrong in (
        {"who": R2, "reason": " "},
        {"who": R3, "reason": "never replied"},
        {"who": "nobody", "reason": "x"},
    ):
        assert office.post("/office/enrolment", wrong).status_code == 422
    hers = enter("asking", who=R2)
    assert "canary-rater" not in hers.get("/eligibility").text
    clock.pass_(1)
    assert (
        office.post("/office/enrolment", {"who": R2, "reason": "a slip of the finger"}).status_code
        == 200
    )
    assert told.standing(R2).eligible is None
    assert not told.reopen(R2, "again", "office"), "it is open already"
    [event] = [e for e in opened.events() if e.data.get("reopened")]
    assert (event.subject, event.data["by"], event.data["reason"]) == (
        R2,
        "office",
        "a slip of the finger",
    )
    hers.get("/next")
    assert hers.post("/eligibility", FITS).url.path == "/profile"
    assert told.standing(R2).eligible
    clock.pass_(1)
    assert told.reply("eligibility", R2, FITS | {"licensed": "Nein"}) == {}
    assert told.standing(R2).eligible, "what is said stands again"
    assert opened.verify_log() == ()


def test_a_study_that_asks_nothing_has_no_such_page_in_its_menu(enter: Enter) -> None:
    office = enter(who="office", role="coordinator")
    assert "/office/enrolment" not in office.get("/office").text
    assert "/office/pilot" not in office.get("/office").text
    assert (
        office.get("/office/enrolment").status_code
        == office.get("/office/pilot").status_code
        == 200
    )


PAIRS = Instrument(
    "pairs",
    (Criterion("better", "Which?", Scale(("A", "=", "B"), level="ordinal"), "pair"),),
    unit="pair",
)
PILOT = dataclasses.replace(
    study_of(
        PAIRS,
        (
            Allocation(
                "panel", "pairs", systems=("canary-system-1", "canary-system-2"), purpose="pilot"
            ),
        ),
        raters(3)[:3],
    ),
    enrolment=ASKS,
    calibration=Calibration(),
)


@pytest.mark.slow
def test_reasons_stand_side_by_side(
    opened: Store, clock: Any, enter: Enter, monkeypatch: Any
) -> None:
    study = dataclasses.replace(PILOT, enrolment=None)
    monkeypatch.setitem(STUDIES, "pilot", study)
    fill(opened, study, 6)
    desk, tasks = Desk(study, opened, clock.stamp), {(t.rater, t.item): t for t in opened.tasks()}
    office = enter("pilot", who="office", role="coordinator", filled_already=True)
    assert "Bisher hat niemand eine Begründung geschrieben." in office.get("/office/pilot").text
    for who in (R1, R2, R3):
        while (public := desk.next_task(who)) is not None:
            sheet = desk.open(who, public)
            assert sheet is not None
            task = tasks[who, f"canary-item-{sheet.question[6]}"]
            first = task.answers[0].endswith("system-1")
            # All prefer the first system's answer, but for one rater on every item.
            desk.submit(who, public, {"better": "A" if first == (who != R3) else "B"}, 0)
    pilot = Pilot(study, opened, clock.stamp)
    assert "fertig, wartet" not in office.get("/office/pilot").text
    for who in (R1, R2, R3):
        for one in pilot.differences(who):
            assert pilot.write(who, one.about, f"<i>as {who}</i>")
    html = office.get("/office/pilot").text
    assert "&lt;i&gt;as canary-rater-3&lt;/i&gt;" in html
    rows = re.findall(
        r'<th scope="row">(canary-rater-\d)</th><td data-label="Gewählte Kategorie"[^>]*>(.)</td>',
        html,
    )
    assert len(rows) == 18
    # Whatever side each saw: the label is of the answers in one order, so it follows from the rater
    # alone.
    assert {label for who, label in rows if who != R3} == {"A"}
    assert {label for who, label in rows if who == R3} == {"B"}
    assert "canary-system" not in html.replace("canary-answer", "")
    assert (
        enter("pilot", who="analyst", role="analyst", filled_already=True)
        .get("/office/pilot")
        .status_code
        == 404
    )
