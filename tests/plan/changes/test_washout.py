"""How far apart the two looks at an answer are."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from konsil.plan import washouts
from konsil.records import Task


def screen(n: int, form: str, answer: str, batch: str = "", **more: object) -> Task:
    task = Task(f"t{n}", "panel 1", "r", form, "i", (answer,), position=n, batch=batch, phase=form)
    return dataclasses.replace(task, **more)  # type: ignore[arg-type]


def test_screens_and_whole_batches_between():
    made = [screen(n, "coarse", a, f"coarse {n // 2}") for n, a in enumerate("abcd")]
    made += [screen(4 + n, "fine", a, f"fine {n // 2}") for n, a in enumerate("dcba")]
    found = washouts(made)
    assert list(found) == [("panel", "designs")]
    one = found["panel", "designs"]
    assert (one.looks, one.least, one.median, one.greatest, one.batches) == (4, 0, 3, 6, 0)
    far = [
        dataclasses.replace(t, position=t.position + 2) if t.instrument == "fine" else t
        for t in made
    ]
    far += [screen(4, "coarse", "x", "coarse 2"), screen(5, "coarse", "y", "coarse 2")]
    assert (washouts(far)["panel", "designs"].least, washouts(far)["panel", "designs"].batches) == (
        2,
        1,
    )


def test_what_is_no_second_look_under_another_form():
    once = [screen(0, "coarse", "a"), screen(1, "coarse", "b")]
    same = [screen(0, "coarse", "a"), screen(1, "coarse", "a")]
    pilot = [screen(0, "coarse", "a", purpose="pilot"), screen(1, "fine", "a")]
    survey = [
        screen(0, "coarse", "a", item=None, answers=()),
        screen(1, "fine", "b", item=None, answers=()),
    ]
    for made in (once, same, pilot, survey, []):
        assert washouts(made) == {}


def test_repeats_are_told_apart_and_questionnaires_are_not_counted():
    made = [
        screen(0, "coarse", "a"),
        screen(1, "ease", "", item=None, answers=()),
        screen(2, "coarse", "b"),
    ]
    made += [screen(3, "coarse", "a", purpose="repeat", repeat_of="t0")]
    assert {key: one.least for key, one in washouts(made).items()} == {("panel", "repeats"): 1}


def test_repeats_on_a_single_instrument_are_counted():
    made = [screen(0, "coarse", "a"), screen(1, "coarse", "b"), screen(2, "coarse", "c")]
    made.append(screen(3, "coarse", "a", purpose="repeat", repeat_of="t0"))
    assert washouts(made)["panel", "repeats"].least == 2
    again = [dataclasses.replace(t, purpose="repeat") for t in made]
    assert washouts(again)["panel", "repeats"].least == 2, "of a line that has repeats alone"


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_the_least_is_what_a_plain_search_finds(first: list[int], second: list[int]):
    made = [screen(n, "coarse", str(a)) for n, a in enumerate(first)]
    made += [screen(6 + n, "fine", str(a)) for n, a in enumerate(second)]
    plain = [6 + second.index(a) - first.index(a) - 1 for a in range(6)]
    one = washouts(reversed(made))["panel", "designs"]
    assert (one.least, one.greatest) == (min(plain), max(plain))
