"""Decisions of people, one event each: the last one of an item stands, before and after a
screening."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from konsil.prepare import (
    KEEP,
    Decision,
    Preparation,
    Screening,
    decided_of,
    decision_event,
    decisions,
    draw,
    last_screened,
    preparation_problems,
    screen,
    screening_event,
)
from konsil.prepare.draw.draw import request_digest
from konsil.prepare.questions.screening import UNDECIDED, screening_digest
from konsil.records import Event, Item

AT = "2025-01-01T00:00:00Z"
ITEMS = [
    Item("q1", "Mrs Smith has AF"),
    Item("q2", "Which dose?"),
    Item("q3", "And what about children?"),
]
SPEC = Screening(undecided="kept")


def said(number: int, item: str, decision: str, otherwise: str = KEEP) -> Event:
    return decision_event(
        Decision(number, item, decision, "ada", AT, otherwise, ("complete",), "a note")
    )


def screened_after(*events: Event) -> tuple[list[Event], Event]:
    """A screening that holds what was decided before it, as the command makes it."""
    decided, seen = decided_of(events)
    made, _ = screen(SPEC, ITEMS, decided)
    number = last_screened(events)[0] + 1
    data = dict(screening_event(made, number, AT).data) | {"seen": seen}
    event = Event(f"screening-{number}", "screening", "items", AT, data)
    return [*events, event], event


def test_what_is_written_is_read_back() -> None:
    one = Decision(3, "q", "too short", "ada", AT, "identifier", ("a", "b"), "really")
    assert decisions([decision_event(one)]) == [one]
    assert decisions([decision_event(one)], after=3) == []


def test_the_last_decision_stands_and_can_be_taken_back() -> None:
    events, _ = screened_after()
    assert last_screened(events)[1].out == {"follow-up": ["q3"], "identifier": ["q1"]}  # type: ignore[union-attr]
    events += [
        said(2, "q1", "duplicate", "identifier"),
        said(1, "q1", KEEP, "identifier"),
        said(3, "q2", "billing"),
    ]
    found = last_screened(reversed(events))[1]
    assert found is not None
    assert found.out == {"billing": ["q2"], "duplicate": ["q1"], "follow-up": ["q3"]}
    assert found.decided == {"q1": "duplicate", "q2": "billing"}
    events += [said(4, "q1", "", "identifier"), said(5, "q2", "")]
    found = last_screened(events)[1]
    assert found is not None
    assert (found.out, found.decided) == ({"follow-up": ["q3"], "identifier": ["q1"]}, {})


def test_decisions_before_the_first_screening_are_part_of_it() -> None:
    assert last_screened([said(1, "q1", KEEP)]) == (0, None)
    events, _ = screened_after(said(1, "q1", KEEP))
    found = last_screened(events)[1]
    assert found is not None
    assert found.out == {"follow-up": ["q3"]}


def test_a_table_that_comes_later_goes_before_older_decisions() -> None:
    """The second screening holds decision 1 and what a table said of the same item; nothing older
    comes back."""
    events, _ = screened_after(said(1, "q2", "billing"))
    made, _ = screen(SPEC, ITEMS, {"q2": KEEP})
    data = dict(screening_event(made, 2, AT).data) | {"seen": 1}
    found = last_screened([*events, Event("screening-2", "screening", "items", AT, data)])[1]
    assert found is not None
    assert found.decided == {"q2": KEEP}


steps = st.lists(
    st.one_of(
        st.none(),
        st.tuples(
            st.sampled_from(["q1", "q2", "q3"]), st.sampled_from([KEEP, "", "duplicate", "billing"])
        ),
    ),
    max_size=12,
)


@given(steps)
def test_it_is_the_same_whether_screened_in_between_or_not(
    steps: list[tuple[str, str] | None],
) -> None:
    rules = {"q1": "identifier", "q2": KEEP, "q3": "follow-up"}
    with_, without = screened_after()[0], screened_after()[0]
    for number, step in enumerate(steps, 1):
        if step is None:
            with_ = screened_after(*with_)[0]
        else:
            with_.append(said(number, *step, rules[step[0]]))
            without.append(said(number, *step, rules[step[0]]))
    one, other = last_screened(with_)[1], last_screened(without)[1]
    assert one is not None
    assert other is not None
    assert (one.out, one.decided) == (other.out, other.decided)


def test_only_what_people_keep_is_in_where_the_protocol_says_so() -> None:
    spec = Preparation(
        screen=Screening(("identifier",), criteria=("Complete",), undecided="left out")
    )
    assert spec.screen is not None
    made, _ = screen(spec.screen, ITEMS, {"q2": KEEP})
    assert made.out == {"identifier": ["q1"], UNDECIDED: ["q3"]}
    drawn = draw(spec, ITEMS, (), seed=1, screened=made)
    assert drawn.size == 1
    assert drawn.lost == {"identifier": 1, UNDECIDED: 1}


def test_digests_of_older_protocols_stay() -> None:
    assert screening_digest(Screening(undecided="kept")) == "41f2400599b2409c"
    assert request_digest(Preparation(screen=Screening(undecided="kept")), 1) == "cbe2344674e6b243"
    assert screening_digest(Screening(criteria=("Complete",))) != screening_digest(
        Screening(undecided="kept")
    )
    assert screening_digest(Screening(undecided="left out")) != screening_digest(
        Screening(undecided="kept")
    )


def test_what_is_wrong_with_criteria_is_said() -> None:
    def wrong(*criteria: str) -> list[str]:
        return list(
            preparation_problems(Preparation(screen=Screening((), (), criteria)), (), "prepare")
        )

    assert wrong("Complete") == []
    assert wrong() == ["prepare.screen: is empty; expected rules, languages or criteria"]
    assert "different statements, got ' '" in wrong(" ")[0]
    assert "different statements, got 'a'" in wrong("a", "a")[0]
