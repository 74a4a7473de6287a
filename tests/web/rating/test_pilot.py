"""After the pilot: waiting, written reasons where labels lie far apart, and what others wrote."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest

from konsil.analysis import Exclusions
from konsil.analysis.table.frame import Data, rating_table
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation
from konsil.records import Task
from konsil.store import Store
from konsil.store.privacy import erasing
from konsil.study import check
from konsil.study.sections.calibration import Calibration, apart
from konsil.study.sections.enrolment import Enrolment
from konsil.web.rating.consensus import pilot as pilot_module
from konsil.web.rating.consensus.pilot import Pilot
from konsil.web.rating.enrolment_service import Reception
from konsil.web.rating.rating_service import Desk

from ..conftest import STUDIES, fill, raters, study_of

GRADES = Scale(("1", "2", "3", "4", "5"), level="ordinal", abstain="none")
FORM = Instrument(
    "form",
    (Criterion("grade", "How good?", GRADES), Criterion("words", "Why?", Scale(kind="text"))),
)
PAIRS = Instrument(
    "pairs", (Criterion("better", "Which?", Scale(("A", "=", "B")), "pair"),), unit="pair"
)
ASKS = Calibration(steps=2)
STUDY = dataclasses.replace(
    study_of(
        FORM,
        (
            Allocation(
                "panel",
                "form",
                show="each",
                systems=("canary-system-1",),
                per_rater=2,
                phase="pilot",
                purpose="pilot",
            ),
            Allocation("panel", "form", show="each", systems=("canary-system-2",), phase="main"),
        ),
        raters(2)[:2],
    ),
    calibration=ASKS,
)
R1, R2 = "canary-rater-1", "canary-rater-2"


@pytest.fixture
def rate(opened: Store, clock: Any) -> Callable[..., list[str]]:
    """Two raters of one pilot item; hand in what a rater says to each of the pilot tasks."""
    fill(opened, STUDY, 2)
    desk = Desk(STUDY, opened, clock.stamp)

    def rate(who: str, grades: dict[str, str]) -> list[str]:
        done = []
        for _ in grades:
            public = desk.next_task(who)
            assert public is not None
            sheet = desk.open(who, public)
            assert sheet is not None
            grade = grades[sheet.question]
            found = desk.submit(who, public, {"grade.a1": grade, "words.a1": ""}, 0)
            assert found is not None and found.is_stored
            done.append(sheet.question)
        return done

    return rate


Q = ("Frage 0: welches Organ?", "Frage 1: welches Organ?")


def test_far_is_a_matter_of_the_scale() -> None:
    assert apart(GRADES, "1", "4") == 3
    assert apart(Scale(("a", "b", "c")), "a", "c") == float("inf")
    assert apart(Scale(("a", "b")), "a", "a") == 0
    assert apart(GRADES, "1", "none") is None
    assert apart(Scale(kind="number"), "1.5", "4") == 2.5
    assert apart(Scale(kind="text"), "x", "y") is None


def test_reasons_are_asked_for_where_labels_lie_far_apart(
    rate: Any, opened: Store, clock: Any
) -> None:
    pilot = Pilot(STUDY, opened, clock.stamp)
    assert pilot.stage(R1) is None
    assert not pilot.is_in_the_way(R1), "there is the pilot to do first"
    rate(R1, {Q[0]: "1", Q[1]: "2"})
    assert pilot.is_in_the_way(R1)
    stage = pilot.stage(R1)
    assert stage is not None and (stage.waiting, stage.open) == (1, ())
    rate(R2, {Q[0]: "4", Q[1]: "3"})
    for who, label, other in ((R1, "1", "4"), (R2, "4", "1")):
        stage = pilot.stage(who)
        assert stage is not None and stage.waiting == 0
        [difference] = stage.open
        assert (difference.label, difference.others) == (label, (other,))
    [shown] = pilot.differences(R1)
    assert (shown.item, shown.heading) == (Q[0], ""), "one answer alone needs no letter"
    assert not pilot.write(R1, shown.about, "  ")
    assert pilot.write(R1, shown.about, "Die Dosis fehlt.")
    assert pilot.write(R1, shown.about, "something else")
    assert not pilot.is_in_the_way(R1)
    assert pilot.is_in_the_way(R2)
    [other] = pilot.differences(R2)
    assert other.reasons == (("1", "Die Dosis fehlt."),)
    [event] = [e for e in opened.events() if e.kind == "calibration reason"]
    assert (event.subject, event.data["label"], event.data["others"], event.data["text"]) == (
        R1,
        "1",
        ["4"],
        "Die Dosis fehlt.",
    )
    assert opened.verify_log() == ()


def test_a_page_makes_one_difference_at_a_time(
    rate: Any, opened: Store, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are to be written about; all of them only when all are written."""
    pilot = Pilot(STUDY, opened, clock.stamp)
    assert pilot.look(R1) is None, "there is the pilot to do first"
    rate(R1, {Q[0]: "1", Q[1]: "1"})
    waiting = pilot.look(R1)
    assert waiting is not None and (waiting.waiting, waiting.shown) == (1, ())
    rate(R2, {Q[0]: "4", Q[1]: "5"})
    both = pilot.differences(R1)
    made: list[str] = []
    real = pilot_module.screen

    def seen(instrument: Instrument, task: Task, *rest: Any) -> Any:
        made.append(task.id)
        return real(instrument, task, *rest)

    monkeypatch.setattr(pilot_module, "screen", seen)
    for n, one in enumerate(both, start=1):
        look = pilot.look(R1)
        assert look is not None and (look.shown, look.number, look.total) == ((one,), n, 2)
        assert len(made) == n
        assert pilot.write(R1, one.about, "because")
    read = pilot.look(R1)
    assert read is not None and read.number > read.total == 2
    assert [one.text for one in read.shown] == ["because"] * 2


def test_of_several_answers_a_difference_is_headed_by_the_letter_of_its_own(
    opened: Store, clock: Any
) -> None:
    systems = ("canary-system-1", "canary-system-2")
    allocation = Allocation(
        "panel", "form", systems=systems, per_rater=1, phase="pilot", purpose="pilot"
    )
    study = dataclasses.replace(STUDY, plan=(allocation,))
    fill(opened, study, 1)
    desk = Desk(study, opened, clock.stamp)
    for who, grade in ((R1, "1"), (R2, "4")):
        public = desk.next_task(who)
        assert public is not None
        form = {"grade.a1": grade, "grade.a2": grade, "words.a1": "", "words.a2": ""}
        submitted = desk.submit(who, public, form, 0)
        assert submitted is not None and submitted.is_stored
    headings = [one.heading for one in Pilot(study, opened, clock.stamp).differences(R1)]
    assert headings == ["Answer A", "Answer B"]


TWICE = dataclasses.replace(
    STUDY,
    plan=tuple(
        Allocation(
            "panel",
            "form",
            show="each",
            systems=(f"canary-system-{n}",),
            phase=f"p{n}",
            purpose=purpose,
        )
        for n, purpose in ((1, "pilot"), (2, "pilot"), (3, "main"))
    ),
)


def test_two_pilots_are_two_stops(opened: Store, clock: Any) -> None:
    fill(opened, TWICE, 1)
    desk, pilot = Desk(TWICE, opened, clock.stamp), Pilot(TWICE, opened, clock.stamp)

    def rate(who: str, grade: str) -> str:
        public = desk.next_task(who)
        assert public is not None
        sheet = desk.open(who, public)
        assert sheet is not None
        assert desk.submit(who, public, {"grade.a1": grade, "words.a1": ""}, 0) is not None
        return sheet.question

    for grades in (("1", "5"), ("2", "4")):
        assert pilot.stage(R1) is None or not pilot.is_in_the_way(R1)
        rate(R1, grades[0])
        stage = pilot.stage(R1)
        assert stage is not None
        assert stage.waiting == 1
        assert pilot.is_in_the_way(R1)
        rate(R2, grades[1])
        stage = pilot.stage(R1)
        assert stage is not None
        assert [d.label for d in stage.open] == [grades[0]]
        assert stage.more == (grades[0] == "1")
        for who in (R1, R2):
            [apart] = [one for one in pilot.differences(who) if not one.text]
            assert pilot.write(who, apart.about, "because")
            assert not pilot.is_in_the_way(who)
    rate(R1, "3")
    assert len(pilot.differences(R1)) == 2


def test_what_one_says_in_the_second_pilot_is_not_shown_before_it_is_done(
    opened: Store, clock: Any
) -> None:
    fill(opened, TWICE, 2)
    desk, pilot, each = Desk(TWICE, opened, clock.stamp), Pilot(TWICE, opened, clock.stamp), 2
    for who, grade, n in ((R1, "1", each), (R2, "5", each), (R1, "1", 1), (R2, "5", each)):
        for _ in range(n):
            public = desk.next_task(who)
            assert public is not None
            assert desk.submit(who, public, {"grade.a1": grade, "words.a1": ""}, 0) is not None
    assert len(pilot.differences(R1)) == each
    assert len(pilot.differences(R2)) == each + 1


def test_without_waiting_one_goes_on_and_is_asked_later(
    rate: Any, opened: Store, clock: Any
) -> None:
    quick = dataclasses.replace(STUDY, calibration=dataclasses.replace(ASKS, wait=False))
    rate(R1, {Q[0]: "1", Q[1]: "2"})
    assert not Pilot(quick, opened, clock.stamp).is_in_the_way(R1)


@pytest.mark.parametrize("withdrawn", ["keep", "exclude"])
def test_who_withdraws_consent_holds_up_nobody(
    withdrawn: Any, rate: Any, opened: Store, clock: Any
) -> None:
    asks = Enrolment(consent="I take part.", withdrawn=withdrawn)
    study = dataclasses.replace(STUDY, enrolment=asks)
    reception, pilot = Reception(study, opened, clock.stamp), Pilot(study, opened, clock.stamp)
    for who in (R1, R2):
        assert reception.agree(who, reception.version)
    rate(R2, {Q[1]: "5"})
    rate(R1, {Q[0]: "1", Q[1]: "2"})
    assert pilot.stage(R1).waiting == 1  # type: ignore[union-attr]
    clock.pass_(1)
    assert reception.withdraw(R2)
    stage = pilot.stage(R1)
    assert stage is not None and stage.waiting == 0
    # What she rated before is compared where the protocol keeps it.
    assert len(stage.open) == len(pilot.differences(R1)) == (withdrawn == "keep")
    clock.pass_(1)
    assert reception.agree(R2, reception.version)
    assert pilot.stage(R1).waiting == 1  # type: ignore[union-attr]


def test_pilot_ratings_stay_out_of_every_analysis(rate: Any, opened: Store) -> None:
    rate(R1, {Q[0]: "1", Q[1]: "2"})
    found = rating_table(
        Data(opened.items(), opened.answers(), opened.raters(), opened.tasks(), opened.ratings()),
        Exclusions(),
        (),
    )
    assert found.frame.height == 0
    assert set(found.excluded.get_column("reason")) == {"phase_pilot"}


def test_pairs_are_compared_by_answer_and_not_by_side(opened: Store, clock: Any) -> None:
    study = dataclasses.replace(
        study_of(
            PAIRS,
            (
                Allocation(
                    "panel",
                    "pairs",
                    systems=("canary-system-1", "canary-system-2"),
                    purpose="pilot",
                ),
            ),
            raters(3)[:3],
        ),
        calibration=Calibration(),
    )
    fill(opened, study, 4)
    desk = Desk(study, opened, clock.stamp)
    tasks = {(t.rater, t.item): t for t in opened.tasks()}
    assert (
        len({t.answers for t in tasks.values() if t.item == "canary-item-0"})
        + len({t.answers for t in tasks.values() if t.item == "canary-item-1"})
        > 2
    ), "both sides occur"
    for who in (R1, R2, "canary-rater-3"):
        while (public := desk.next_task(who)) is not None:
            sheet = desk.open(who, public)
            assert sheet is not None
            task = next(
                t
                for (r, i), t in tasks.items()
                if r == who and sheet.question.startswith(f"Frage {str(i)[-1]}")
            )
            first = task.answers[0].endswith("system-1")
            prefers_first = who != "canary-rater-3" or task.item != "canary-item-2"
            desk.submit(who, public, {"better": "A" if first == prefers_first else "B"}, 0)
    pilot = Pilot(study, opened, clock.stamp)
    for who in (R1, R2, "canary-rater-3"):
        [one] = pilot.differences(who)
        assert one.item.startswith("Frage 2")
        assert (one.label in one.others) == (who != "canary-rater-3")
        assert pilot.write(who, one.about, f"as {who}")
    # Whatever the side on which the others saw the answers: on each screen labels and reasons read
    # as one.
    for who in (R1, R2, "canary-rater-3"):
        [one] = pilot.differences(who)
        read = {text: label for label, text in one.reasons} | {f"as {who}": one.label}
        assert read[f"as {R1}"] == read[f"as {R2}"] != read["as canary-rater-3"]


@pytest.mark.slow
def test_the_way_over_http(rate: Any, enter: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(STUDIES, "pilot", STUDY)
    rate(R1, {Q[0]: "1", Q[1]: "2"})
    browser = enter("pilot", filled_already=True)
    assert browser.get("/next").url.path == "/calibration"
    assert "1 andere Person ist noch dabei." in browser.html
    rate(R2, {Q[0]: "4", Q[1]: "3"})
    assert browser.get("/calibration").status_code == 200
    about = re.search(r'name="about" value="([0-9a-f]+)"', browser.html)
    assert about is not None
    assert "canary" not in browser.html
    assert browser.post("/calibration", {"about": about[1], "text": " "}).status_code == 422
    assert (
        browser.post("/calibration", {"about": about[1], "text": "<b>Darum</b>"}).status_code == 200
    )
    assert "&lt;b&gt;Darum&lt;/b&gt;" in browser.html
    assert "Bisher hat sonst niemand etwas geschrieben." in browser.html
    assert browser.get("/next").url.path.startswith("/task/")


def test_a_calibration_needs_a_pilot() -> None:
    from konsil.errors import StudyError

    check(STUDY)
    with pytest.raises(StudyError, match="there is no pilot to calibrate on"):
        check(dataclasses.replace(STUDY, plan=STUDY.plan[1:]))
    with pytest.raises(StudyError, match="there is no criterion 'grad'; did you mean 'grade'"):
        check(dataclasses.replace(STUDY, calibration=Calibration(criteria=("grad",))))


def test_nobody_waits_for_somebody_whose_data_were_erased(
    rate: Any, opened: Store, clock: Any
) -> None:
    pilot = Pilot(STUDY, opened, clock.stamp)
    rate(R1, {Q[0]: "1", Q[1]: "1"})
    assert pilot.stage(R1).waiting == 1  # type: ignore[union-attr]
    rate(R2, {Q[0]: "4", Q[1]: "5"})
    erasing.erase(opened, STUDY, R2, at=clock.stamp(), by="owner-1", reason="asked for it")
    stage = pilot.stage(R1)
    assert stage is not None
    assert (stage.waiting, stage.open) == (
        0,
        (),
    ), "and there is nothing any more from which to differ"
    assert opened.verify_log() == ()
