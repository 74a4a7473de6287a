"""A frozen plan of analyses, what differs from it later, and systems as letters."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.analyses import flat_analysis, restated

from konsil.analysis import CompositeScore, Derived, Exclusions
from konsil.plan import Allocation
from konsil.records import Answer, Event, Rater, System
from konsil.study import Study
from konsil.study.data.blinding import letters
from konsil.study.data.freezing import (
    deviations,
    is_blinded,
    look,
    mark_exploratory,
    plan_of_analyses,
    sentences,
)
from konsil.study.data.plan_status import Timing, plan_sentences, plan_statuses

AT = "2026-01-01T00:00:00Z"
ONE = flat_analysis("one", "share", "correct", "p", of=("yes",))
TWO = replace(ONE, name="two", where={"system": ("south",)})
STUDY = Study(
    "t",
    7,
    blinded=True,
    systems=(
        System("north", "n", "hosted:north", {"system": "You are north."}),
        System("south", "s"),
    ),
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
        (
            replace(STUDY, analyses=(ONE, TWO, replace(ONE, name="three"))),
            ("three",),
            (),
            (),
            False,
        ),
        (replace(STUDY, analyses=(restated(ONE, of=("no",)), TWO)), (), ("one",), (), False),
        (replace(STUDY, analyses=(replace(ONE, name="uno"), TWO)), ("uno",), (), ("one",), False),
        (replace(STUDY, exclusions=Exclusions(min_seconds=9)), (), (), (), True),
        (replace(STUDY, seed=8), (), (), (), True),
        (replace(STUDY, scores=(CompositeScore("all", ("a", "b")),)), (), (), (), True),
    ],
)
def test_what_was_changed_since(
    now: Study, added: object, changed: object, removed: object, rules: bool
) -> None:
    found = deviations(now, freeze(STUDY))
    assert (found.added, found.changed, found.removed, found.rules) == (
        added,
        changed,
        removed,
        rules,
    )
    late = {a.name for a in mark_exploratory(now, freeze(STUDY)) if not a.prespecified}
    assert late == {*found.added, *found.changed}
    warnings, methods = sentences(now, [freeze(STUDY), UNBLIND])
    assert len(warnings) == bool(added) + bool(changed) + bool(removed) + rules
    assert [m.template[:23] for m in methods] == ["Systems were identified"]


def test_nothing_was_frozen() -> None:
    assert mark_exploratory(STUDY, None) == STUDY.analyses
    assert [w.template[:19] for w in sentences(STUDY, [])[0]] == ["Blinded: systems ca"]
    assert sentences(replace(STUDY, blinded=False), []) == ((), ())


def test_blinded_until_unblinded_and_never_where_ratings_are_simulated() -> None:
    assert is_blinded(STUDY, [freeze(STUDY)])
    assert not is_blinded(STUDY, [freeze(STUDY), UNBLIND])
    assert not is_blinded(replace(STUDY, simulated=True), [])
    assert not is_blinded(replace(STUDY, blinded=False), [])


def test_no_name_is_left_in_a_study_in_letters() -> None:
    answers = [
        Answer(f"{i}:{s}", i, s) for i in ("q1", "q2") for s in ("north", "south", "imported")
    ]
    names = letters(
        STUDY,
        [Rater("imported", "judges", "llm", "imported", {"system": "imported"})],
        answers,
        b"key",
    )
    shown = names.study(STUDY)
    told = repr((shown, [names.answer(a) for a in answers], [names.rater(r) for r in STUDY.raters]))
    assert not [n for n in ("north", "south", "imported", "'n'", "'s'") if n in told]
    happened = Event(
        "e", "prepare", "t", AT, {"answered": {"north": 2, "south": 1}, "by": ["imported"], "n": 3}
    )
    assert set(names.event(happened).data["answered"]) == {
        names.systems["north"],
        names.systems["south"],
    }  # type: ignore[call-overload]
    assert "imported" not in repr(names.event(happened))
    assert sorted(names.systems.values()) == ["K", "L", "M"]
    assert len({names.answer(a).id for a in answers}) == len(answers)
    # Whose own answers a judge sees is not told: the letter without a judge would be known.
    assert (shown.raters[0].strata, shown.raters[0].family) == ({}, "")
    assert shown.plan[0].weights == {names.systems["north"]: 3.0}
    assert shown.analyses[1].where == {"system": (names.systems["south"],)}
    assert shown.raters[1] == STUDY.raters[1]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("rival", ("north", "south")),
        ("systems", ("north and south",)),
        ("rater", ("j-north",)),
        ("ensemble", ("j-north + j-south",)),
        ("family", ("north-like", "south-like", "of a judge alone")),
    ],
)
def test_no_column_of_names_keeps_them_in_restrictions_and_references(
    column: str, values: tuple[str, ...]
) -> None:
    relative = flat_analysis(
        "relative",
        "relative_difference",
        "correct",
        "p",
        of=("yes",),
        by=(column,),
        consensus="majority",
        reference={column: values[0]},
        where={column: values},
    )
    systems = (System("north", "north-like"), System("south", "south-like"))
    study = replace(STUDY, systems=systems, analyses=(relative,))
    shown = letters(study, (), (), b"key").study(study)
    told = repr(shown.analyses)
    assert not [n for n in ("north", "south", "judge alone") if n in told]


def test_people_keep_their_names_in_restrictions() -> None:
    study = replace(STUDY, analyses=(replace(ONE, where={"rater": ("r1",)}),))
    shown = letters(study, (), (), b"key").study(study)
    assert shown.analyses[0].where == {"rater": ("r1",)}


def test_every_order_of_letters_is_as_likely_as_any_other() -> None:
    """An order that never came up, such as the alphabet's, would tell something of the names."""
    study = Study("t", 1, systems=tuple(System(s) for s in "abc"))
    orders = Counter(
        tuple(letters(study, (), (), n.to_bytes(2)).systems[s] for s in "abc") for n in range(1_200)
    )
    assert len(orders) == 6
    assert min(orders.values()) > 140


def shown(kind: str, at: str) -> Event:
    return Event(f"{kind} {at}", kind, "t", at, {"reason": "?"})


BEFORE = "2025-12-31T00:00:00Z"


@pytest.mark.parametrize(
    ("study", "events", "warned", "message_ids"),
    [
        (
            STUDY,
            [shown("names shown", BEFORE), UNBLIND],
            True,
            ["names_while_not_blinded", "unblinded"],
        ),
        (
            STUDY,
            [shown("letters lifted", BEFORE), UNBLIND],
            True,
            ["names_while_simulated", "unblinded"],
        ),
        (
            STUDY,
            [shown("names shown", AT), UNBLIND],
            True,
            ["names_while_not_blinded", "unblinded"],
        ),
        (STUDY, [shown("names shown", "2026-01-02T00:00:00Z"), UNBLIND], False, ["letters_until"]),
        (STUDY, [shown("names shown", BEFORE)], True, ["names_while_not_blinded"]),
        # The mark is taken out of the protocol after the unblinding: what happened is told all the
        # same.
        (
            replace(STUDY, blinded=False),
            [shown("names shown", BEFORE), UNBLIND],
            True,
            ["names_while_not_blinded", "unblinded"],
        ),
        (replace(STUDY, blinded=False), [shown("names shown", BEFORE)], False, []),
    ],
)
def test_letters_are_told_only_where_nobody_saw_names_before(
    study: Study, events: list[Event], warned: bool, message_ids: list[str]
) -> None:
    warnings, methods = sentences(study, events)
    assert any("names_while" in w.message_id for w in warnings) == warned
    assert [m.message_id.partition(".")[2] for m in methods] == message_ids


def test_a_look_is_noted_once_and_not_where_names_are_hidden_or_free() -> None:
    open_ = replace(STUDY, blinded=False)
    assert look(open_, []) == "names shown"
    assert look(open_, [shown("names shown", AT)]) == ""
    assert look(replace(STUDY, simulated=True), [shown("names shown", AT)]) == "letters lifted"
    assert look(STUDY, []) == ""
    assert look(STUDY, [UNBLIND]) == ""


TIMES = {
    "before": Timing("correct", "r1", 3, 0, 7),
    "unknown": Timing("correct", "r1", 0, 4, 6),
    "after": Timing("correct", "r1", 0, 0, 10),
    "of others": Timing("correct", "j-north", 9, 0, 0),
    "on others": Timing("easy", "r1", 9, 0, 0),
}
PANELS = {"r1": "p", "j-north": "judges"}


@pytest.mark.parametrize(
    ("times", "status"),
    [
        (["before"], "frozen late"),
        (["unknown"], "frozen before import"),
        (["before", "unknown"], "frozen late"),
        (["after"], "prespecified"),
        (["after", "of others", "on others"], "prespecified"),
    ],
)
def test_an_analysis_is_prespecified_where_no_rating_that_it_uses_was_there(
    times: list[str], status: str
) -> None:
    timings = [TIMES[t] for t in times]
    assert plan_statuses(STUDY, (ONE,), freeze(STUDY), timings, PANELS) == {"one": status}
    assert plan_statuses(STUDY, (ONE,), None, timings, PANELS) == {"one": "not frozen"}
    late = replace(ONE, prespecified=False)
    assert plan_statuses(STUDY, (late,), freeze(STUDY), timings, PANELS) == {"one": "exploratory"}


def test_a_plan_without_scores_has_the_digest_that_it_had() -> None:
    assert plan_of_analyses(STUDY)["rules"] == (
        "19e0f52fa89c2be63235d75af521b077e42f6054a3b0a3ce1dee7a75798621a0"
    )


def test_the_other_panel_the_tie_breaker_and_derived_columns_are_used_too() -> None:
    timings = [TIMES["after"], TIMES["of others"]]
    for more in ({"against": "judges"}, {"tiebreak": "judges"}):
        assert plan_statuses(STUDY, (restated(ONE, **more),), freeze(STUDY), timings, PANELS) == {
            "one": "frozen late"
        }  # type: ignore[arg-type]
    study = replace(STUDY, derived=(Derived("hard", "easy", "p"),))
    on_others = [TIMES["after"], TIMES["on others"]]
    assert plan_statuses(study, (ONE,), freeze(STUDY), on_others, PANELS) == {"one": "prespecified"}
    assert plan_statuses(
        study, (replace(ONE, by=("hard",)),), freeze(STUDY), on_others, PANELS
    ) == {"one": "frozen late"}
    scored = replace(STUDY, scores=(CompositeScore("whole", ("correct", "easy")),))
    on_score = (restated(ONE, criterion="whole"),)
    assert plan_statuses(scored, on_score, freeze(scored), on_others, PANELS) == {
        "one": "frozen late"
    }
    together = replace(STUDY, together={"all": ("p", "judges")})
    everybody = (replace(ONE, raters="all"),)
    assert plan_statuses(together, everybody, freeze(STUDY), timings, PANELS) == {
        "one": "frozen late"
    }


STUDY_OF_ONE = replace(STUDY, analyses=(ONE,))


@pytest.mark.parametrize(
    ("times", "name", "warned"),
    [
        ([], "frozen_before", False),
        (["after"], "frozen_before", False),
        (["unknown"], "frozen_before_import", False),
        (["before", "after"], "frozen_late", True),
    ],
)
def test_the_methods_say_how_many_ratings_were_there(
    times: list[str], name: str, warned: bool
) -> None:
    warnings, methods = plan_sentences(STUDY_OF_ONE, freeze(STUDY), [TIMES[t] for t in times])
    assert [m.message_id for m in methods] == [f"freezing.{name}"]
    assert bool(warnings) == warned
    if warned:
        assert methods[0].endswith("after 3 of 20 ratings.")
    assert [m.message_id for m in plan_sentences(STUDY_OF_ONE, None, [])[1]] == [
        "freezing.not_frozen"
    ]


@pytest.mark.parametrize("is_frozen", [False, True])
def test_analyses_of_ratings_that_existed_are_never_prespecified(is_frozen: bool) -> None:
    exploratory = replace(TWO, prespecified=False)
    study = replace(STUDY, retrospective=True, analyses=(ONE, exploratory))
    event = freeze(study) if is_frozen else None
    timings = [TIMES["unknown"], TIMES["after"]]
    assert plan_statuses(study, study.analyses, event, timings, PANELS) == {
        "one": "retrospective",
        "two": "exploratory",
    }
    _, [method] = plan_sentences(study, event, timings)
    assert method.message_id == "freezing.retrospective"
