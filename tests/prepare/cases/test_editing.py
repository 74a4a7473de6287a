"""Whatever is done to the marks of a case, one change after the other, they can be kept."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from konsil.prepare.cases.editing import (
    added,
    joined,
    mark_conflict,
    moved,
    of_kind,
    trimmed,
    without,
    worded,
)
from konsil.prepare.cases.masking import Mark, marking_problems

TEXT = "A man of forty with a dry cough and fever had sarcoidosis."
KINDS = ("diagnosis", "cue", "demographic", "temporal", "disease-specific")
changes = st.lists(
    st.tuples(
        st.sampled_from(["add", "drop", "kind", "word", "up", "down", "join"]),
        st.integers(-2, 60),
        st.integers(-2, 60),
        st.sampled_from(KINDS),
    ),
    max_size=25,
)


@given(changes)
def test_every_way_leads_to_marks_that_can_be_kept(
    changes: list[tuple[str, int, int, Any]],
) -> None:
    marks: tuple[Mark, ...] = ()
    for what, a, b, kind in changes:
        place = (marks[a % len(marks)].start, marks[a % len(marks)].end) if marks else (0, 0)
        if what == "add":
            span = trimmed(TEXT, a, b)
            if mark_conflict(TEXT, marks, *span) is None:
                marks = added(marks, [span], kind)
        elif what == "drop":
            marks = without(marks, place)
        elif what == "kind":
            marks = of_kind(marks, place, kind)
        elif what == "word":
            marks = worded(marks, place, " other   words ")
        elif what == "join":
            marks = joined(marks, place, b)
        else:
            marks = moved(marks, place, -1 if what == "up" else 1)
        assert list(marking_problems(TEXT, marks)) == []


def test_the_strongest_cue_stays_first_beside_marks_that_are_no_cues() -> None:
    marks = added(added((), [(0, 1)], "cue"), [(2, 5)], "diagnosis")
    assert moved(marks, (0, 1), -1) == marks


def test_cues_are_ranked_by_hand() -> None:
    marks = added(added(added((), [(0, 1)], "cue"), [(2, 5)], "cue"), [(9, 14)], "cue")
    assert [m.rank for m in marks] == [1, 2, 3]
    assert [m.rank for m in moved(marks, (9, 14), -1)] == [1, 3, 2]
    assert moved(marks, (0, 1), -1) == marks, "nothing is stronger than the strongest"
    together = joined(marks, (9, 14), 1)
    assert [m.rank for m in together] == [1, 2, 1]
    assert [m.rank for m in joined(together, (9, 14), 0)] == [1, 2, 3]
    assert [m.rank for m in without(marks, (0, 1))] == [1, 2]
    assert [(m.kind, m.rank) for m in of_kind(marks, (0, 1), "temporal")] == [
        ("temporal", 0),
        ("cue", 1),
        ("cue", 2),
    ]
    assert of_kind(marks, (0, 1), "cue") == marks
    assert joined(marks, (0, 1), 9) == marks, "there is no cue of that rank"


def test_what_cannot_be_marked() -> None:
    marks = (Mark(2, 14, "demographic"),)
    assert mark_conflict(TEXT, marks, 5, 9) is None, "one inside the other may be"
    assert mark_conflict(TEXT, marks, 10, 20) == "across"
    assert mark_conflict(TEXT, marks, 0, 5) == "across"
    assert mark_conflict(TEXT, marks, 2, 14) == "twice"
    assert (
        mark_conflict(TEXT, marks, 1, 2)
        == mark_conflict(TEXT, marks, 5, 5)
        == mark_conflict(TEXT, marks, 50, 99)
        == "nothing"
    )
    assert trimmed(TEXT, 1, 6) == (2, 5)
    assert mark_conflict(TEXT, (), *trimmed(TEXT, 1, 2)) == "nothing"
