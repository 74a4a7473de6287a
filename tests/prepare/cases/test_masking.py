"""Versions of a case: what a mark takes out, what stays, and that levels are nested."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import PlanError
from konsil.prepare import (
    Preparation,
    Sample,
    Screening,
    draw,
    event_of,
    in_study,
    preparation_problems,
    prepared,
    request_digest,
    screen,
)
from konsil.prepare.cases.marking import (
    Marking,
    Masking,
    approved,
    cases,
    last_markings,
    marking,
    marking_event,
    versions,
    versions_of,
)
from konsil.prepare.cases.masking import (
    LEVELS,
    REMOVED,
    Mark,
    MarkKind,
    marking_problems,
    masked,
    parts,
    unchanged,
)
from konsil.prepare.draw.draw import still_whole, to_mask
from konsil.records import Item

TOLD = (
    "A 45-year-old man (sarcoidosis) had fever, cough, and rash for weeks.\n\n"
    "Sarcoidosis was proven by biopsy; he recovered."
)


def mark(what: str, kind: MarkKind, rank: int = 0, replacement: str = "", text: str = TOLD) -> Mark:
    start = text.index(what)
    return Mark(start, start + len(what), kind, rank, replacement)


MARKS = (
    mark("sarcoidosis", "diagnosis"),
    mark("Sarcoidosis", "diagnosis"),
    mark("biopsy", "cue", 1),
    mark("cough", "cue", 2, "a symptom"),
    mark("rash", "cue", 3),
    mark("45-year-old ", "demographic"),
    mark(" for weeks", "temporal"),
)


def test_the_five_versions() -> None:
    assert [masked(TOLD, MARKS, level) for level in LEVELS] == [
        TOLD,
        (
            "A 45-year-old man ([…]) had fever, cough, and rash for weeks.\n\n[…] was proven by"
            " biopsy; he recovered."
        ),
        (
            "A 45-year-old man ([…]) had fever, cough, and rash for weeks.\n\n[…] was proven by"
            " […]; he recovered."
        ),
        (
            "A 45-year-old man ([…]) had fever, a symptom, and rash for weeks.\n\n[…] was proven by"
            " […]; he recovered."
        ),
        "A […] man ([…]) had fever, a symptom, and […].\n\n[…] was proven by […]; he recovered.",
    ]


def test_gaps_that_show_nothing_leave_no_scars() -> None:
    assert (
        masked(TOLD, MARKS, "3", removed="")
        == "A man had fever, a symptom, and.\n\nwas proven by; he recovered."
    )
    text = "Fever, rash, and pain (CT: mass). End."
    for what, left in {
        "rash": "Fever, and pain (CT: mass). End.",
        " (CT: mass)": "Fever, rash, and pain. End.",
        "CT: mass": "Fever, rash, and pain. End.",
        "Fever, ": "rash, and pain (CT: mass). End.",
        " End.": "Fever, rash, and pain (CT: mass).",
        "pain": "Fever, rash, and (CT: mass). End.",
    }.items():
        assert masked(text, [mark(what, "diagnosis", text=text)], "0", removed="") == left, what


def test_marks_within_marks_and_beside_marks() -> None:
    text = "MRI proved multiple sclerosis at once. Old plaques, new plaques."
    cue = mark("MRI proved multiple sclerosis", "cue", 2, "A picture was taken", text)
    inner = mark("multiple sclerosis", "diagnosis", text=text)
    assert [masked(text, (inner, cue), level)[:27] for level in ("0", "1", "2")] == [
        "MRI proved […] at once. Old",
        "MRI proved […] at once. Old",
        "A picture was taken at once",
    ]
    beside = (
        mark("Old plaques", "diagnosis", text=text),
        mark(", ", "diagnosis", text=text),
        mark("new plaques", "diagnosis", text=text),
    )
    assert masked(text, beside, "0") == "MRI proved multiple sclerosis at once. […]."


@pytest.mark.parametrize(
    ("marks", "told"),
    [
        ([Mark(0, 400, "diagnosis")], "0-400: ends after the narrative"),
        ([Mark(1, 2, "diagnosis")], "1-2: is empty"),
        ([Mark(5, 3, "diagnosis")], "5-3: is empty"),
        ([Mark(0, 4, "cue")], "0-4: a cue without a rank"),
        ([Mark(0, 4, "temporal", 1)], "0-4: rank 1 of a mark that is not a cue"),
        ([Mark(0, 4, "diagnosis"), Mark(3, 8, "temporal")], "0-4: overlaps with 3-8"),
        ([Mark(0, 4, "diagnosis"), Mark(0, 4, "temporal")], "0-4: is marked twice"),
        ([Mark(0, 4, "cue", 1), Mark(5, 8, "cue", 3)], "no cue has rank 2, but one has rank 3"),
        ([Mark(0, 4, "cue", 2)], "no cue has rank 1, but one has rank 2"),
        ([Mark(0, 4, "guess")], "0-4: 'guess' is not a kind of mark"),  # type: ignore[arg-type]
    ],
)
def test_wrong_marks_are_named(marks: list[Mark], told: str) -> None:
    found = list(marking_problems(TOLD, marks))
    assert len(found) == 1
    assert found[0].startswith(told)


WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "omega", "(", ")", ",", ".", "\n", "é"]),
    min_size=1,
    max_size=25,
)


KINDS: tuple[MarkKind, ...] = ("diagnosis", "cue", "demographic")


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, tuple[Mark, ...]]:
    """A text whose words are all different, and marks that are neither equal nor cross."""
    text = " ".join(f"{word}{n}" if word.isalpha() else word for n, word in enumerate(draw(WORDS)))
    found: list[Mark] = []
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        kind: MarkKind = draw(st.sampled_from(KINDS))
        one = Mark(
            start,
            end,
            kind,
            draw(st.integers(1, 3)) if kind == "cue" else 0,
            draw(st.sampled_from(["", "X"])),
        )
        if not [p for p in marking_problems(text, [*found, one]) if "no cue has rank" not in p]:
            found.append(one)
    return text, tuple(found)


@given(marked(), st.sampled_from(["", REMOVED, "___"]))
def test_levels_are_nested_and_what_is_not_marked_stays(
    case: tuple[str, tuple[Mark, ...]], removed: str
) -> None:
    text, marks = case
    gone_before: set[int] = set()
    for level in LEVELS:
        made = parts(text, marks, level, removed)
        assert "".join(p.text for p in made) == masked(text, marks, level, removed)
        kept = {n for p in made if p.mark is None for n in range(p.start, p.end)}
        for p in made:
            assert p.mark is not None or text[p.start : p.end] == p.text
        assert [p.start for p in made] == sorted(p.start for p in made)
        wanted = {n for m in marks if m.counts(level) for n in range(m.start, m.end)}
        # What is masked does not survive (but for the white space at a mark's ends), and every
        # letter else does.
        assert not {n for n in kept & wanted if not text[n].isspace()}
        assert all(n in kept for n, c in enumerate(text) if c.isalnum() and n not in wanted)
        gone = {n for n, c in enumerate(text) if c.isalnum()} - kept
        assert gone_before <= gone
        gone_before = gone
    assert masked(text, marks, LEVELS[0], removed) == text


@given(marked())
def test_the_order_of_marks_plays_no_part(case: tuple[str, tuple[Mark, ...]]) -> None:
    text, marks = case
    assert {masked(text, order, "3") for order in (marks, marks[::-1])} == {
        masked(text, marks, "3")
    }


CASE = Item("c1", TOLD, "sarcoidosis", ("Boeck's disease",), strata={"specialty": "pneumology"})


def test_versions_are_items_of_the_case() -> None:
    made = versions(CASE, MARKS)
    assert [i.id for i in made] == ["c1:narrative", "c1:0", "c1:1", "c1:2", "c1:3"]
    assert {(i.case, i.reference, i.aliases) for i in made} == {
        ("c1", "sarcoidosis", ("Boeck's disease",))
    }
    assert [dict(i.strata) for i in made] == [
        {"specialty": "pneumology", "level": level} for level in LEVELS
    ]
    assert cases((CASE, *made)) == (CASE,)
    assert (
        cases(made) == made
    )  # versions that came ready-made, without their case, stand for themselves
    assert versions_of((CASE, *made)) == {"c1": made}
    assert versions_of(made) == {}


def test_the_last_marking_counts_and_comes_back_equal() -> None:
    first, second = marking(CASE, MARKS, "p-1"), marking(CASE, MARKS[:4], "p-2")
    events = [
        marking_event(second, 2, "2026-01-02T00:00:00Z"),
        marking_event(first, 1, "2026-01-01T00:00:00Z"),
    ]
    number, held = last_markings(events)["c1"]
    assert (number, held.marks, held.by, held.at) == (
        2,
        second.marks,
        "p-2",
        "2026-01-02T00:00:00Z",
    )
    with pytest.raises(PlanError, match="case 'c1': 0-400: ends after"):
        marking(CASE, [Mark(0, 400, "diagnosis")], "p-1")


def test_approval_is_refused_while_the_diagnosis_is_left() -> None:
    assert approved(CASE, marking(CASE, MARKS, "p-1"), "p-2") == Marking(
        "c1",
        marking(CASE, MARKS, "p-1").marks,
        "p-2",
        marking(CASE, MARKS, "p-1").narrative,
        approved=True,
        markers=("p-1",),
    )
    half = marking(CASE, MARKS[1:], "p-1")
    with pytest.raises(PlanError, match=r"level 0 still has 'sarcoidosis' at 19-30, the diagnosis"):
        approved(CASE, half, "p-2")
    assert (
        approved(CASE, half, "p-2", despite="it is said to be excluded").despite
        == "it is said to be excluded"
    )
    assert approved(CASE, marking(CASE, MARKS, "p-1"), "p-2", despite="no need").despite == ""
    changed = Item("c1", TOLD + " ", "sarcoidosis")
    with pytest.raises(PlanError, match="its narrative is not the one that was marked"):
        approved(changed, half, "p-2", despite="never mind")


def test_a_version_like_the_one_before_stops_the_approval() -> None:
    assert unchanged(TOLD, MARKS[:3]) == ("2", "3")
    with pytest.raises(PlanError, match="level 2 is no different from the level before"):
        approved(CASE, marking(CASE, MARKS[:3], "p-1"), "p-1")


def test_whoever_changed_the_marks_cannot_approve_them() -> None:
    first = marking(CASE, MARKS[:3], "p-1")
    both = marking(CASE, MARKS, "p-2", first)
    for marker in ("p-1", "p-2"):
        with pytest.raises(
            PlanError, match=f"case 'c1': '{marker}' marked it; expected another person"
        ):
            approved(CASE, both, marker, despite="I am alone")
    assert approved(CASE, both, "p-3").by == "p-3"
    later = marking(CASE, MARKS, "p-4", approved(CASE, both, "p-3"))
    assert later.markers == ("p-1", "p-2", "p-4"), "whoever approved did not mark"
    older = replace(first, markers=())
    with pytest.raises(PlanError, match="'p-1' marked it"):
        approved(CASE, replace(older, marks=MARKS), "p-1")


SPEC = Preparation(screen=Screening(rules=()), sample=Sample(1), sets={"core": 1}, mask=Masking())


def test_cases_are_drawn_and_their_versions_are_in() -> None:
    items = (
        CASE,
        *versions(CASE, MARKS),
        Item("c2", "Fever.", "measles"),
        Item("c3", "Rash.", "rubella"),
    )
    screened = screen(Screening(rules=()), cases(items), {"c2": "incomplete", "c3": "incomplete"})[
        0
    ]
    drawn = draw(SPEC, items, (), seed=1, screened=screened)
    assert (drawn.pool, drawn.size, dict(drawn.lost)) == (3, 1, {"incomplete": 2})
    events = (event_of(drawn, 1, ""), marking_event(marking(CASE, MARKS, "p-1"), 1, ""))
    studied = in_study(items, events)
    assert [i.id for i in studied] == [f"c1:{level}" for level in LEVELS]
    assert {i.sets for i in studied} == {("sample", "core")}
    assert {i.id for i in in_study(items, events, also={"c1"})} == {"c1", *(i.id for i in studied)}
    assert in_study(studied, events) == studied
    assert [i.sets for i in prepared(items, events)] == [("sample", "core")] * 6 + [()] * 2


def test_a_case_that_is_being_marked_is_not_in_the_study() -> None:
    items = (CASE, Item("c2", "Fever.", "measles"))
    events = (marking_event(marking(CASE, MARKS, "p-1"), 1, ""),)
    assert in_study(items, ()) == items
    assert [i.id for i in in_study(items, events)] == ["c2"]
    assert [i.id for i in in_study((*items, *versions(CASE, MARKS)), events)] == [
        "c2",
        *(f"c1:{level}" for level in LEVELS),
    ]


def test_masking_goes_before_answers() -> None:
    assert list(preparation_problems(Preparation(mask=Masking()), (), "prepare")) == []
    [problem] = preparation_problems(Preparation(mask=Masking(), lexical_match=True), (), "prepare")
    assert problem.startswith("prepare.mask: items are selected by their answers here")
    before = request_digest(Preparation(sample=Sample(3)), 1)
    assert before == "5d2170ff1e89042f"
    assert request_digest(Preparation(sample=Sample(3), mask=Masking()), 1) != before


@pytest.mark.parametrize("first", ["c1", "c1:narrative"])
def test_versions_that_came_ready_made_are_all_in(first: str) -> None:
    """Also where the whole narrative is called like its case."""
    made = (
        Item(first, TOLD, "sarcoidosis", case="c1", strata={"level": "narrative"}),
        *(Item(f"c1:{n}", "less", "sarcoidosis", case="c1", strata={"level": n}) for n in "0123"),
    )
    assert cases(made) == made
    assert in_study(made, ()) == made
    assert still_whole(made, ()) == ()
    assert to_mask(made, ()) == ()
    drawn = draw(Preparation(sample=Sample(3)), made, (), seed=1)
    assert len(in_study(made, [event_of(drawn, 1, "")])) == 3
