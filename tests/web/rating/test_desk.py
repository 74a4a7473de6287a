"""The desk without HTTP: what is handed in becomes ratings, what is typed is never lost, windows do
not cross."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.instrument import fields
from konsil.records import Span
from konsil.store import Store
from konsil.store.engine.engine import reading
from konsil.store.tasks import drafts, screens
from konsil.store.tasks.drafts import Change
from konsil.store.tasks.screens import Queued, Visit
from konsil.web.raters.rated import rated_pages
from konsil.web.rating.rating_service import Desk
from konsil.web.rating.task_queue import first_open_task, in_line, progress
from konsil.web.site.site import Site

from ..conftest import STUDIES

MakeDesk = Callable[..., Desk]
R1, R2 = "canary-rater-1", "canary-rater-2"
ALL_RIGHT = {**{f"correctness.a{n}": "Richtig" for n in range(1, 6)}, "difficulty": "Mittel"}


def first(desk: Desk, rater: str = R1) -> str:
    public = desk.next_task(rater)
    assert public is not None
    return public


def task_of(store: Store, public: str):
    with reading(store.engine) as connection:
        state = screens.public(connection, public)
        assert state is not None
        task = screens.task(connection, state.task)
    assert task is not None
    return task


def typed(store: Store, public: str) -> dict[str, str]:
    task = task_of(store, public)
    with reading(store.engine) as connection:
        return {name: one.value for name, one in drafts.values(connection, task.id).items()}


def change(id_: str, field: str, value: str, base: int = 0) -> Change:
    return Change(id_, field, value, base)


def test_what_is_handed_in_is_stored_by_canonical_answer(desk: MakeDesk, opened: Store) -> None:
    here = desk()
    public = first(here)
    task = task_of(opened, public)
    form = ALL_RIGHT | {
        "correctness.a1": "Falsch",
        "correctness.a2": "Keine Angabe",
        "correctness.a2.reason": " weiß nicht ",
    }
    done = here.submit(R1, public, form, 0, Visit("v", 30.0, 12.5, 1.0))
    assert done is not None
    assert done.is_stored
    stored = {r.answers: r for r in opened.ratings() if r.criterion == "correctness"}
    assert len(stored) == 5
    wrong, abstained, right = (stored[task.answers[n],] for n in range(3))
    assert (wrong.state, wrong.label) == ("rated", "Falsch")
    assert (abstained.state, abstained.label, abstained.note) == ("abstained", None, "weiß nicht")
    assert (right.label, right.rater, right.item, right.seconds) == ("Richtig", R1, task.item, 12.5)
    [difficulty] = [r for r in opened.ratings() if r.criterion == "difficulty"]
    assert (difficulty.answers, difficulty.label, difficulty.seconds) == ((), "Mittel", 12.5)
    assert here.next_task(R1) != public
    assert opened.verify_log() == ()


def test_every_unit_can_be_rated(opened: Store, desk: MakeDesk) -> None:
    for name, form, n in (("pairs", {f"p{n}": "A" for n in range(1, 6)}, 5),):
        here = desk(name)
        done = here.submit(R1, first(here), form, 0)
        assert done is not None
        assert done.is_stored, done.problems
        assert len(opened.ratings()) == n


def test_sentences_and_numbers(opened: Store, desk: MakeDesk) -> None:
    here = desk("sentences")
    public = first(here)
    form = {"risk.s1": "no", "risk.s2": "cannot tell", "whole.a1": "7,5", "words": ""}
    assert here.submit(R1, public, form | {"whole.a1": "11"}, 0).problems.keys() == {"whole.a1"}  # type: ignore[union-attr]
    assert here.submit(R1, public, form, 9).is_stored  # type: ignore[union-attr]
    by = {(r.criterion, r.span): r for r in opened.ratings()}
    task = task_of(opened, public)
    assert by["risk", task.spans[1]].state == "abstained"
    assert by["whole", None].label == "7.5"
    assert ("words", None) not in by
    sheet = here.open(R1, public)
    assert sheet is not None
    assert '<mark data-sentence="1">Dose &lt;5 mg/dL and p&lt;0.05.</mark>' in sheet.panes[0].html
    assert '<strong><mark data-sentence="2">Give it slowly.</mark></strong>' in sheet.panes[0].html
    assert [g.heading for g in sheet.groups if g.subject == "sentence"] == [
        "Sentence 1 of 2",
        "Sentence 2 of 2",
    ]


def test_one_sentence_at_a_time(opened: Store, desk: MakeDesk, clock: Any) -> None:
    here = desk("alone")
    seen, publics = [], []
    for form in ({"risk.s1": "no"}, {"risk.s1": "cannot tell"}, {"whole.a1": "7", "words": ""}):
        publics.append(first(here))
        sheet = here.open(R1, publics[-1])
        assert sheet is not None
        seen.append(
            (
                re.findall(r"<mark[^>]*>([^<]*)", sheet.panes[0].html),
                [(g.heading, g.quote, [q.name for q in g.questions]) for g in sheet.groups],
            )
        )
        assert sheet.panes[0].html.count("aria-current") == len(seen[-1][0])
        assert {q.value for g in sheet.groups for q in g.questions} == {""}
        clock.pass_(20)
        visit = Visit(f"v{len(seen)}", 20.0, 6.0 + len(seen), 1.0)
        assert here.submit(R1, publics[-1], form, 0, visit).is_stored  # type: ignore[union-attr]
    dose = "Dose &lt;5 mg/dL and p&lt;0.05."
    assert seen == [
        ([dose], [("Marked sentence", "Dose <5 mg/dL and p<0.05.", ["risk.s1"])]),
        (["Give it slowly."], [("Marked sentence", "Give it slowly.", ["risk.s1"])]),
        ([], [("", "", ["whole.a1"]), ("", "", ["words"])]),
    ]
    # The same ratings as of one page, each with the time of its own.
    stored = opened.ratings()
    assert len({r.task for r in stored}) == 3
    assert len({r.answers for r in stored if r.criterion != "words"}) == 1
    assert {(r.criterion, r.span, r.state, r.label, r.seconds) for r in stored} == {
        ("risk", Span(2, 27), "rated", "no", 7.0),
        ("risk", Span(30, 49), "abstained", None, 8.0),
        ("whole", None, "rated", "7", 9.0),
    }
    back = here.open(R1, publics[2])
    assert back is not None
    assert back.previous_page == publics[1]
    again = here.open(R1, publics[1])
    assert again is not None
    assert [q.value for g in again.groups for q in g.questions] == ["cannot tell"]


def test_the_list_of_ones_ratings_names_the_sentence(
    opened: Store, desk: MakeDesk, clock: Any
) -> None:
    here = desk("alone")
    question = ""
    for form in ({"risk.s1": "no"}, {"risk.s1": "no"}, {"whole.a1": "7", "words": ""}):
        sheet = here.open(R1, first(here))
        assert sheet is not None
        question = sheet.question
        clock.pass_(20)
        assert here.submit(R1, sheet.public, form, 0).is_stored  # type: ignore[union-attr]
    rows = rated_pages(Site(STUDIES["alone"], opened, clock=clock), R1)
    assert sorted(row.question for row in rows) == sorted(
        [f"Dose <5 mg/dL and p<0.05. ({question})", f"Give it slowly. ({question})", question]
    )


def test_the_sentence_of_an_item_without_text_stands_without_brackets(
    opened: Store, desk: MakeDesk, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = desk("alone")
    sheet = here.open(R1, first(here))
    assert sheet is not None
    clock.pass_(20)
    assert here.submit(R1, sheet.public, {"risk.s1": "no"}, 0).is_stored  # type: ignore[union-attr]
    stored = screens.item
    monkeypatch.setattr(
        screens, "item", lambda connection, key: replace(stored(connection, key), text="")
    )
    [row] = rated_pages(Site(STUDIES["alone"], opened, clock=clock), R1)
    assert row.question in ("Dose <5 mg/dL and p<0.05.", "Give it slowly.")


def test_two_who_always_prefer_the_same_answer_agree_whatever_the_side(
    opened: Store, desk: MakeDesk
) -> None:
    here = desk("pairs", 12)
    for rater in (R1, R2):
        while (public := here.next_task(rater)) is not None:
            task = task_of(opened, public)
            better = "A" if task.answers[0] == min(task.answers) else "B"
            assert here.submit(rater, public, {f"p{n}": better for n in range(1, 6)}, 0).is_stored  # type: ignore[union-attr]
    assert len({t.answers[0] == min(t.answers) for t in opened.tasks() if t.answers}) == 2
    assert {r.label for r in opened.ratings()} == {"A"}
    assert all(r.answers == tuple(sorted(r.answers)) for r in opened.ratings())


def test_an_incomplete_form_is_kept_and_comes_again(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    half = {"correctness.a1": "Richtig", "correctness.a3": "Falsch"}
    done = here.submit(R1, public, half, 0)
    assert done is not None
    assert not done.is_stored
    assert set(done.problems) == set(ALL_RIGHT) - set(half)
    assert opened.ratings() == ()
    assert here.next_task(R1) == public
    sheet = here.open(R1, public)
    assert sheet is not None
    said = {a.name: a.value for g in sheet.everything for a in g.questions}
    assert {n: v for n, v in said.items() if v} == half


def test_the_same_autosave_again_changes_nothing(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    told = [change("e1", "correctness.a1", "Falsch"), change("e2", "correctness.a1", "Richtig")]
    one = here.save(R1, public, told)
    two = here.save(R1, public, told)
    assert one is not None
    assert two is not None
    assert one.rev == two.rev == 2
    assert (one.conflicts, two.conflicts) == ({}, {})
    assert typed(opened, public) == {"correctness.a1": "Richtig"}


def test_two_windows_do_not_overwrite_one_another_unseen(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    here.save(R1, public, [change("one-1", "correctness.a1", "Richtig", 0)])
    crossed = here.save(
        R1,
        public,
        [
            change("two-1", "correctness.a1", "Falsch", 0),
            change("two-2", "difficulty", "Mittel", 0),
        ],
    )
    assert crossed is not None
    assert crossed.conflicts == {"correctness.a1": "Richtig"}
    assert typed(opened, public) == {"correctness.a1": "Richtig", "difficulty": "Mittel"}
    seen = here.save(R1, public, [change("two-3", "correctness.a1", "Falsch", crossed.rev)])
    assert seen is not None
    assert seen.conflicts == {}
    assert typed(opened, public)["correctness.a1"] == "Falsch"
    with reading(opened.engine) as connection:
        log = drafts.history(connection, task_of(opened, public).id)
    assert [c.id for c, rev in log if rev == 0] == ["two-1"]
    assert len(log) == 4


def test_handing_in_what_another_window_changed_asks_first(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    here.save(R1, public, [change("e", "difficulty", "Schwer")])
    asked = here.submit(R1, public, ALL_RIGHT, 0)
    assert asked is not None
    assert asked.conflicts == {"difficulty": "Schwer"}
    assert opened.ratings() == ()
    assert here.submit(R1, public, ALL_RIGHT, asked.rev).is_stored  # type: ignore[union-attr]


def test_handing_in_again_revises_and_keeps_what_was_said(opened: Store, desk: MakeDesk) -> None:
    from sqlalchemy import text

    here = desk()
    public = first(here)
    here.submit(R1, public, ALL_RIGHT, 0, Visit("v1", 20.0, 10.0, 1.0))
    before = opened.ratings()
    here.submit(R1, public, ALL_RIGHT, 99, Visit("v2", 20.0, 10.0, 1.0))
    assert opened.ratings() == before, "the same again is no revision"
    here.submit(R1, public, ALL_RIGHT | {"difficulty": "Schwer"}, 99, Visit("v2", 20.0, 10.0, 1.0))
    here.submit(R1, public, ALL_RIGHT | {"difficulty": "Mittel"}, 99)
    here.submit(R1, public, ALL_RIGHT | {"difficulty": "Schwer"}, 99)
    [now] = [r for r in opened.ratings() if r.criterion == "difficulty"]
    assert (now.label, now.seconds) == ("Schwer", 10.0)
    with reading(opened.engine) as connection:
        said = [
            r[0]
            for r in connection.execute(
                text("SELECT label FROM rating_revisions ORDER BY revision")
            )
        ]
    assert said == ["Mittel", "Schwer", "Mittel"]
    assert opened.verify_log() == ()


def test_a_closed_batch_changes_no_more(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    here.submit(R1, public, ALL_RIGHT, 0)
    assert here.close_batch("", "")
    assert not here.close_batch("", "")
    before = opened.ratings()
    assert here.submit(R1, public, ALL_RIGHT | {"difficulty": "Schwer"}, 99).closed  # type: ignore[union-attr]
    assert here.save(R1, public, [change("late", "difficulty", "Schwer", 99)]).closed  # type: ignore[union-attr]
    assert opened.ratings() == before
    sheet = here.open(R1, public)
    assert sheet is not None
    assert sheet.closed


def test_a_task_put_off_comes_at_the_end_with_what_was_said(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    assert here.put_off(R1, public, {"difficulty": "Schwer"}, 0)
    seen = []
    while (now := here.next_task(R1)) is not None:
        seen.append(now)
        here.submit(R1, now, ALL_RIGHT | {"difficulty": "Schwer"}, 99)
    assert seen[-1] == public
    assert len(set(seen)) == len(seen) == len(here.line(R1))


def test_a_problem_is_an_event_and_no_rating(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    assert here.report(R1, public, "The table is cut.\0", "1")
    assert here.report(R1, public, "The table is cut.", "1")
    [event] = [e for e in opened.events() if e.kind == "problem"]
    assert (event.subject, event.data) == (
        task_of(opened, public).id,
        {"rater": R1, "text": "The table is cut."},
    )
    assert opened.ratings() == ()


def test_anothers_task_does_not_exist(desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    for nobody in (R2, "canary-breaker", ""):
        assert here.open(nobody, public) is None
        assert here.save(nobody, public, [change("e", "difficulty", "Mittel")]) is None
        assert here.submit(nobody, public, ALL_RIGHT, 0) is None
        assert not here.put_off(nobody, public, {}, 0)
        assert not here.report(nobody, public, "x", "1")
    assert here.open(R1, "no-such-task") is None


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("correctness.a1", "richtig", "did you mean 'Richtig'?"),
        ("corectness.a1", "Richtig", "did you mean 'correctness.a1'?"),
        ("correctness.a9", "Richtig", "unknown field"),
        ("correctness.a1.reason", "\0", "cannot be stored"),
    ],
)
def test_what_is_not_on_the_form_is_refused(
    field: str, value: str, why: str, desk: MakeDesk, opened: Store
) -> None:
    here = desk()
    public = first(here)
    saved = here.save(
        R1, public, [change("bad", field, value), change("good", "difficulty", "Mittel")]
    )
    assert saved is not None
    if field.endswith("reason"):
        assert not saved.refused or why in saved.refused[field]
    else:
        assert why in saved.refused[field]
    assert typed(opened, public).get("difficulty") == "Mittel"


def test_without_a_script_the_time_is_that_the_page_was_open(
    opened: Store, desk: MakeDesk, clock
) -> None:
    here = desk()
    public = first(here)
    sheet = here.open(R1, public)
    assert sheet is not None
    clock.pass_(42)
    here.submit(R1, public, ALL_RIGHT, 0, Visit(sheet.visit))
    assert {r.seconds for r in opened.ratings()} == {42.0}


def test_times_only_grow_and_add_up_over_openings(opened: Store, desk: MakeDesk) -> None:
    here = desk()
    public = first(here)
    here.save(R1, public, [], Visit("one", 20.0, 8.0, 2.0))
    here.save(R1, public, [], Visit("one", 10.0, 4.0, 2.0))
    here.submit(R1, public, ALL_RIGHT, 0, Visit("two", 5.0, 3.0, 1.0))
    assert {r.seconds for r in opened.ratings()} == {11.0}


def test_what_was_rated_elsewhere_is_done_and_can_be_read(opened: Store, desk: MakeDesk) -> None:
    from konsil.instrument.screens.reply import ratings, read_form
    from konsil.store import Batch

    here = desk()
    public = first(here)
    task = task_of(opened, public)
    instrument = here._study.instruments[0]
    rated = ratings(read_form(fields(instrument, task), ALL_RIGHT), instrument, task)
    opened.add(Batch(ratings=rated), source="elsewhere", at="2025-03-01T12:00:00Z")
    assert here.next_task(R1) != public
    sheet = here.open(R1, public)
    assert sheet is not None
    assert {a.name: a.value for g in sheet.everything for a in g.questions} == ALL_RIGHT


# The order of work --------------------------------------------------------------------------------

ROWS = st.lists(
    st.builds(
        Queued,
        task=st.uuids().map(str),
        phase=st.sampled_from(["", "main"]),
        batch=st.sampled_from(["", "b1"]),
        position=st.integers(0, 50),
        tiebreak=st.booleans(),
        survey=st.booleans(),
        deferred=st.integers(0, 3),
        is_completed=st.booleans(),
        seconds=st.none() | st.floats(0, 1e4),
    ),
    unique_by=lambda q: q.task,
    max_size=30,
)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_the_order_of_work(rows: list[Queued]) -> None:
    line = in_line(rows)
    assert sorted(line, key=lambda q: q.task) == sorted(rows, key=lambda q: q.task), (
        "nothing is lost or doubled"
    )
    assert in_line(reversed(rows)) == line
    blocks = [(q.phase, q.batch) for q in line]
    assert len(set(blocks)) == sum(a != b for a, b in zip(blocks, [None, *blocks], strict=False)), (
        "batches stay together"
    )
    for one, other in itertools.pairwise(line):
        if (one.phase, one.batch) == (other.phase, other.batch):
            assert one.survey <= other.survey
            if one.survey == other.survey and not one.tiebreak and not other.tiebreak:
                assert (one.deferred, one.position) <= (other.deferred, other.position)
    head = first_open_task(line)
    assert (head is None) == all(q.is_completed for q in rows)
    told = progress(line, head.task if head else None)
    assert 0 <= told.n_completed <= told.total


def test_a_tiebreak_stands_among_the_others() -> None:
    def row(name: str, position: int, tie: bool = False) -> Queued:
        return Queued(name, "main", "", position, tie, False, 0, False, None)

    places = []
    for n in range(40):
        line = in_line([*(row(f"t{k}", k) for k in range(20)), row(f"tie {n}", 1_000, tie=True)])
        places.append([q.tiebreak for q in line].index(True))
    assert min(places) < 5
    assert max(places) > 15


def test_tiebreaks_of_single_sentences_stay_together() -> None:
    """Drawn from the answer's name and not from each task's, and in the order of the text."""

    def row(task: str, position: int, *, tiebreak: bool) -> Queued:
        return Queued(task, "", "", position, tiebreak, False, 0, False, None)

    planned = [row(f"plan{n}", n, tiebreak=False) for n in range(20)]
    parts = ("0", "100", "20", "answer")
    for name in ("one", "two", "three", "four", "five"):
        ties = [row(f"{name}.{p}", 20 + n, tiebreak=True) for n, p in enumerate(parts)]
        line = [r.task for r in in_line([*planned, *reversed(ties)])]
        start = line.index(ties[0].task)
        assert line[start : start + 4] == [r.task for r in ties]
