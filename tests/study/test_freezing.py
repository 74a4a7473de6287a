"""A frozen plan of analyses, what differs from it later, and systems as letters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.analysis import Analysis, Exclusions
from konsil.plan import Allocation
from konsil.records import Answer, Event, Rater, System
from konsil.study import Study
from konsil.study.freezing import deviations, is_blinded, plan_of_analyses, sentences, told_apart
from konsil.study.letters import letters

AT = "2026-01-01T00:00:00Z"
ONE = Analysis("one", "share", "correct", "p", of=("yes",))
TWO = replace(ONE, name="two", where={"system": ("south",)})
STUDY = Study(
    "t",
    7,
    blinded=True,
    systems=(System("north", "n", "hosted:north", {"system": "You are north."}), System("south", "s")),
    raters=(Rater("j-north", "judges", "llm", "n", {"system": "north"}), Rater("r1", "p")),
    plan=(Allocation("p", "f", weights={"north": 3.0}, systems=("north", "south")),),
    analyses=(ONE, TWO),
)


def freeze(study: Study) -> Event:
    return Event("freeze", "freeze", "t", AT, {"by": "me", **plan_of_analyses(study)})


UNBLIND = Event("unblind", "unblind", "t", AT, {"by": "me", "reason": "done"})


@pytest.mark.parametrize(
    ("now", "added", "changed", "removed", "rules"),
    [
        (STUDY, (), (), (), False),
        (replace(STUDY, title="another", description="words"), (), (), (), False),
        (replace(STUDY, analyses=(TWO, ONE)), (), (), (), False),
        (replace(STUDY, analyses=(ONE,)), (), (), ("two",), False),
        (replace(STUDY, analyses=(ONE, TWO, replace(ONE, name="three"))), ("three",), (), (), False),
        (replace(STUDY, analyses=(replace(ONE, of=("no",)), TWO)), (), ("one",), (), False),
        (replace(STUDY, analyses=(replace(ONE, name="uno"), TWO)), ("uno",), (), ("one",), False),
        (replace(STUDY, exclusions=Exclusions(min_seconds=9)), (), (), (), True),
        (replace(STUDY, seed=8), (), (), (), True),
    ],
)
def test_what_was_changed_since(now: Study, added: object, changed: object, removed: object, rules: bool) -> None:
    found = deviations(now, freeze(STUDY))
    assert (found.added, found.changed, found.removed, found.rules) == (added, changed, removed, rules)
    late = {a.name for a in told_apart(now, freeze(STUDY)) if not a.prespecified}
    assert late == {*found.added, *found.changed}
    warnings, methods = sentences(now, [freeze(STUDY), UNBLIND])
    assert len(warnings) == bool(added) + bool(changed) + bool(removed) + rules
    assert [m.template[:20] for m in methods] == ["The plan of analyses", "Systems were letters"]


def test_nothing_was_frozen() -> None:
    assert told_apart(STUDY, None) == STUDY.analyses
    assert [w.template[:19] for w in sentences(STUDY, [])[0]] == ["Systems are letters"]
    assert sentences(replace(STUDY, blinded=False), []) == ((), ())


def test_blinded_until_unblinded_and_never_where_ratings_are_simulated() -> None:
    assert is_blinded(STUDY, [freeze(STUDY)])
    assert not is_blinded(STUDY, [freeze(STUDY), UNBLIND])
    assert not is_blinded(replace(STUDY, simulated=True), [])
    assert not is_blinded(replace(STUDY, blinded=False), [])


def test_no_name_is_left_in_a_study_in_letters() -> None:
    answers = [Answer(f"{i}:{s}", i, s) for i in ("q1", "q2") for s in ("north", "south", "imported")]
    names = letters(STUDY, [Rater("imported", "judges", "llm", "imported", {"system": "imported"})], answers)
    shown = names.study(STUDY)
    told = repr((shown, [names.answer(a) for a in answers], [names.rater(r) for r in STUDY.raters]))
    assert not [n for n in ("north", "south", "imported", "'n'", "'s'") if n in told]
    happened = Event("e", "prepare", "t", AT, {"answered": {"north": 2, "south": 1}, "by": ["imported"], "n": 3})
    assert set(names.event(happened).data["answered"]) == {names.systems["north"], names.systems["south"]}  # type: ignore[call-overload]
    assert "imported" not in repr(names.event(happened))
    assert sorted(names.systems.values()) == ["K", "L", "M"]
    assert len({names.answer(a).id for a in answers}) == len(answers)
    # Whose own answers a judge sees is not told: the letter without a judge would be known.
    assert (shown.raters[0].strata, shown.raters[0].family) == ({}, "")
    assert shown.plan[0].weights == {names.systems["north"]: 3.0}
    assert shown.analyses[1].where == {"system": (names.systems["south"],)}
    assert shown.raters[1] == STUDY.raters[1]


@given(st.integers(0, 10_000), st.lists(st.text("abcdef", min_size=1), min_size=3, max_size=8, unique=True))
def test_letters_follow_neither_the_files_order_nor_the_alphabet(seed: int, systems: list[str]) -> None:
    study = Study("t", seed, systems=tuple(System(s) for s in systems))
    named = letters(study, (), ()).systems
    order = sorted(systems, key=lambda s: named[s])
    assert sorted(order) == sorted(systems)
    assert order not in (systems, sorted(systems))
    assert letters(study, (), ()).systems == named
