"""The four papers' plans, with their exact counts, and what must hold for any plan."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.errors import PlanError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, History, Missing, assign, balance, missing
from konsil.plan.draw.pairing import rotation
from konsil.records import Answer, Event, Item, Rater, Rating, Span, Task

YES_NO = Scale(("Incorrect", "Correct"), abstain="Abstain")
FORM = Instrument("form", (Criterion("correctness", "Correct?", YES_NO),))
PAIRS = Instrument(
    "pairs", (Criterion("better", "Which?", Scale(("A", "=", "B")), scope="pair"),), unit="pair"
)
FINE = Instrument(
    "fine", (Criterion("correctness", "Correct?", YES_NO, scope="sentence"),), unit="sentence"
)
EASE = Instrument("ease", (Criterion("ease", "How easy?", Scale(("hard", "easy")), scope="batch"),))
INSTRUMENTS = (FORM, PAIRS, FINE, EASE)


def some_items(n, sets=(), strata=None, prefix="i"):
    return [
        Item(f"{prefix}{k}", f"Question {k}", sets=sets, strata=strata(k) if strata else {})
        for k in range(n)
    ]


def some_answers(items, systems="abcde", sentences=0):
    spans = tuple(Span(10 * k, 10 * k + 9) for k in range(sentences))
    return [Answer(f"{i.id}-{s}", i.id, s, "text", sentences=spans) for i in items for s in systems]


def panel(n, name="physicians", **more):
    return [Rater(f"{name}{k}", name, **more) for k in range(n)]


def plan_of(allocations, items, answers, raters, **more):
    return assign(
        allocations,
        items=items,
        answers=answers,
        raters=raters,
        instruments=INSTRUMENTS,
        **{"seed": 7, **more},
    )


def content(tasks):
    return {dataclasses.replace(t, position=0) for t in tasks}


def like_medqade(n_core, n_split):
    items = some_items(n_core, ("core",), prefix="c") + some_items(n_split, ("split",), prefix="s")
    answers = some_answers(items)
    raters = panel(9) + panel(1, "tenth") + panel(9, "judges", kind="llm")
    plan = (
        Allocation("physicians", "form", "core"),
        Allocation("physicians", "form", "split", raters_per_item=2),
        Allocation("tenth", "form", "core"),
        Allocation("tenth", "form", "split", when="disagreed"),
        Allocation("judges", "form"),
    )
    return plan, items, answers, raters


@pytest.fixture(scope="module")
def medqade():
    """The full size, planned once."""
    plan, items, answers, raters = like_medqade(200, 3600)
    return plan_of(plan, items, answers, raters), answers


@pytest.mark.slow
def test_medqade_has_its_exact_counts(medqade):
    tasks, _ = medqade
    mine = [t for t in tasks if t.rater.startswith("physicians")]
    assert Counter(t.rater for t in mine) == dict.fromkeys(
        (f"physicians{k}" for k in range(9)), 1000
    )
    split, core = Counter(), Counter()
    for t in mine:
        (core if t.item.startswith("c") else split)[t.item] += 1
    assert set(core.values()) == {9} and len(core) == 200
    assert set(split.values()) == {2} and len(split) == 3600
    shared = balance(t for t in mine if t.item.startswith("s")).pairs
    assert len(shared) == 36 and set(shared.values()) == {100}
    assert Counter(t.rater for t in tasks if t.rater.startswith("judges")) == {
        f"judges{k}": 3800 for k in range(9)
    }
    assert [t.item[0] for t in tasks if t.rater == "tenth0"] == ["c"] * 200
    assert len({t.id for t in tasks}) == len(tasks)


def test_the_pairs_are_those_of_the_formula():
    raters = 9
    expected = [(i % raters, (i + 1 + i // raters % (raters - 1)) % raters) for i in range(3600)]
    assert rotation(3600, raters, 2) == expected


@given(st.integers(2, 9), st.integers(1, 9), st.integers(1, 60))
@settings(deadline=None)
def test_rotation_is_even(n_raters, k, n_items):
    k = min(k, n_raters)
    chosen = rotation(n_items, n_raters, k)
    assert all(len(set(c)) == k for c in chosen)
    load = Counter(r for c in chosen for r in c)
    counts = [load[r] for r in range(n_raters)]
    assert max(counts) - min(counts) <= k
    if n_items % n_raters == 0:
        assert len(set(counts)) == 1


def test_triples_share_items_evenly():
    pairs = Counter(p for c in rotation(36, 7, 3) for p in combinations(sorted(c), 2))
    assert len(pairs) == 21 and max(pairs.values()) <= 2 * min(pairs.values())


@pytest.mark.slow
def test_core_and_split_are_mixed_in_one_shuffled_order(medqade):
    tasks, _ = medqade
    first = [t.item for t in tasks if t.rater == "physicians0"]
    assert [t.position for t in tasks if t.rater == "physicians0"] == list(range(1000))
    assert 10 <= sum(i.startswith("c") for i in first[:200]) <= 70
    second = [t.item for t in tasks if t.rater == "physicians1"]
    assert [i for i in first if i in set(second)] != [i for i in second if i in set(first)]


@pytest.mark.slow
def test_positions_of_systems_are_counterbalanced(medqade):
    tasks, answers = medqade
    core = [t for t in tasks if t.rater == "physicians3" and t.item.startswith("c")]
    assert balance(core, answers).positions == dict.fromkeys("abcde", (40,) * 5)
    assert len({t.answers for t in tasks if t.item == "c0"}) > 1


@pytest.mark.slow
@pytest.mark.slow
def test_strata_are_counted_for_each_rater_of_a_panel(medqade):
    tasks, _ = medqade
    items = [
        Item(f"{kind}{k}", "?", strata={"match": "yes" if k % 5 == 0 else "no", "tag": f"{k}"})
        for kind, n in (("c", 200), ("s", 3600))
        for k in range(n)
    ]
    found = balance(tasks, items=items).strata
    assert set(found) == {("judges", "match"), ("physicians", "match"), ("tenth", "match")}
    assert found["judges", "match"] == {"no": (3040,) * 9, "yes": (760,) * 9}
    mine = found["physicians", "match"]
    assert [a + b for a, b in zip(mine["no"], mine["yes"], strict=True)] == [1000] * 9


@pytest.mark.parametrize(
    ("values", "is_counted"),
    [
        # Forty letters are a name of a value, one more is free text.
        (["cough", "x" * 40], True),
        (["cough", "x" * 41], False),
        # Seven values are balanced, eight are tags.
        ([f"tag {n}" for n in range(7)], True),
        ([f"tag {n}" for n in range(8)], False),
        (["cough", "cough"], False),
    ],
)
def test_strata_have_few_values_and_short_ones(values: list[str], is_counted: bool) -> None:
    items = [Item(f"i{n}", "?", strata={"finding": value}) for n, value in enumerate(values)]
    tasks = [Task(f"t{n}", "p 1", "r", "form", f"i{n}") for n in range(len(items))]
    expected = {("p", "finding"): dict.fromkeys(values, (1,))} if is_counted else {}
    assert balance(tasks, items=items).strata == expected


def rating(task, answer, label, state="rated"):
    return Rating(
        task.id, task.rater, "correctness", task.item, (answer,), state=state, label=label
    )


def test_one_conflict_makes_one_tie_break_and_an_abstention_none():
    plan, items, answers, raters = like_medqade(20, 72)
    tasks = plan_of(plan, items, answers, raters)
    by_item = {}
    for t in tasks:
        if t.rater.startswith("physicians") and t.item.startswith("s"):
            by_item.setdefault(t.item, []).append(t)
    (a, b), (c, d), (e, f) = by_item["s0"], by_item["s1"], by_item["s2"]
    judge = [t for t in tasks if t.item == "s2" and t.rater.startswith("judges")]
    ratings = [
        rating(a, "s0-a", "Correct"),
        rating(b, "s0-a", "Incorrect"),
        rating(c, "s1-a", "Correct"),
        rating(d, "s1-a", None, "abstained"),
        rating(e, "s2-a", "Correct"),
        rating(f, "s2-b", "Incorrect"),
        rating(judge[0], "s2-a", "Incorrect"),
        rating(judge[1], "s2-a", "Correct"),
    ]
    again = plan_of(plan, items, answers, raters, history=History(ratings=ratings))
    known = {t.id for t in tasks}
    new = [t for t in again if t.id not in known]
    assert [(t.rater, t.item, t.purpose, len(t.answers)) for t in new] == [
        ("tenth0", "s0", "tiebreak", 5)
    ]
    assert set(tasks) < set(again)
    more = [
        *ratings,
        rating(new[0], "s0-a", "Correct"),
        rating(by_item["s9"][0], "s9-e", "Correct"),
    ]
    more.append(rating(by_item["s9"][1], "s9-e", "Incorrect"))
    third = plan_of(plan, items, answers, raters, history=History(ratings=more))
    assert content(again) < content(third) and len(third) == len(again) + 1


@pytest.mark.slow
def test_arms_are_two_to_one_and_stay():
    items = some_items(40, strata=lambda k: {"specialty": "x"})
    raters = [Rater(f"r{k}", "panel", strata={"specialty": "x"}) for k in range(150)]
    plan = (
        Allocation(
            "panel",
            "pairs",
            show="pair",
            match="specialty",
            per_rater=18,
            arms={"text": 2, "citations": 1},
        ),
        Allocation(
            "panel",
            "form",
            show="each",
            per_rater=1,
            arms={"text": 2, "citations": 1},
            phase="late",
        ),
    )
    tasks = plan_of(plan, items, some_answers(items), raters)
    arms = {r.id: {t.arm for t in tasks if t.rater == r.id} for r in raters}
    assert Counter(next(iter(a)) for a in arms.values()) == {"text": 100, "citations": 50}
    assert all(len(a) == 1 for a in arms.values())
    pairs = [t for t in tasks if t.instrument == "pairs"]
    assert Counter(t.rater for t in pairs) == {r.id: 18 for r in raters}
    assert all(len(t.answers) == 2 and t.answers[0] != t.answers[1] for t in pairs)
    seen = Counter(t.item for t in pairs)
    assert max(seen.values()) - min(seen.values()) <= 1


def test_weights_of_drawn_pairs():
    items = some_items(3000)
    answers = some_answers(items, "abcd")
    plan = (Allocation("physicians", "pairs", show="pair", weights={"a": 1.5}),)
    tasks = plan_of(plan, items, answers, panel(1))
    first = [t.answers[0][-1] for t in tasks]
    # Drawn first with 1/3, second with sum over the others of 2/9 x 1.5 / 3.5.
    expected = 1 / 3 + 3 * (2 / 9) * (1.5 / 3.5)
    assert (
        abs(sum("a" in (t.answers[0][-1], t.answers[1][-1]) for t in tasks) / 3000 - expected)
        < 0.03
    )
    assert abs(first.count("a") / 3000 - expected / 2) < 0.02


def test_match_keeps_to_the_specialty():
    items = some_items(30, strata=lambda k: {"specialty": "xyz"[k % 3]})
    raters = [Rater(f"r{k}", "panel", strata={"specialty": "xy"[k % 2]}) for k in range(4)]
    tasks = plan_of(
        (Allocation("panel", "form", match="specialty"),), items, some_answers(items), raters
    )
    assert len(tasks) == 40
    assert all({"r0": 0, "r2": 0}.get(t.rater, 1) == int(t.item[1:]) % 3 for t in tasks)


def cqa():
    items = some_items(27, ("first",), prefix="f") + some_items(23, ("second",), prefix="s")
    plan = (
        Allocation("group", "form", "first", show="each", batches=9, phase="coarse 1"),
        Allocation("group", "fine", "second", show="each", batches=9, phase="fine 1", spans=6),
        Allocation(
            "group", "fine", show="each", batches=9, phase="fine 2", spans=6, like="coarse 1"
        ),
        Allocation("group", "form", show="each", batches=9, phase="coarse 2", like="fine 1"),
        Allocation(
            "group",
            "form",
            "first",
            show="each",
            phase="end",
            purpose="repeat",
            like="coarse 1",
            per_rater=2,
        ),
        Allocation("group", "ease", phase="coarse 1"),
    )
    return plan, items, some_answers(items, "abc", sentences=8), panel(3, "group")


def test_cqa_batches_phases_and_repeats():
    plan, items, answers, raters = cqa()
    tasks = plan_of(plan, items, answers, raters)
    mine = [t for t in tasks if t.rater == "group0" and t.item is not None]
    sizes = {
        phase: list(Counter(t.batch for t in mine if t.phase == phase).values()) for phase in PHASES
    }
    assert sizes["coarse 1"] == [9] * 9 and sizes["fine 1"] == [9] * 7 + [6]
    assert sizes["fine 2"] == [9] * 9 and sizes["coarse 2"] == [9] * 7 + [6]
    assert sum(map(len, (sizes[p] for p in PHASES))) == 34
    for phase in PHASES:
        of = {
            r.id: {t.item: t.batch for t in tasks if t.rater == r.id and t.phase == phase}
            for r in raters
        }
        assert of["group0"] == of["group1"] == of["group2"]
        batches = {}
        for t in tasks:
            if t.phase == phase and t.item:
                batches.setdefault((t.rater, t.item), set()).add(t.batch)
        assert all(len(b) == 1 for b in batches.values())
    again = [t for t in tasks if t.phase == "end"]
    assert Counter(t.rater for t in again) == {"group0": 6, "group1": 6, "group2": 6}
    assert len({t.item for t in again}) == 2
    by_id = {t.id: t for t in tasks}
    assert all(
        by_id[t.repeat_of].answers == t.answers and by_id[t.repeat_of].rater == t.rater
        for t in again
    )
    assert {by_id[t.repeat_of].batch for t in again} == {"coarse 1 1"}
    ease = [t for t in tasks if t.instrument == "ease" and t.rater == "group1"]
    assert [t.batch for t in ease] == [f"coarse 1 {n}" for n in range(1, 10)]


PHASES = ("coarse 1", "fine 1", "fine 2", "coarse 2")


def test_an_answer_has_one_sample_of_sentences():
    plan, items, answers, raters = cqa()
    tasks = plan_of(plan, items, answers, raters)
    samples = {}
    for t in tasks:
        if t.instrument == "fine":
            assert len(t.spans) == 6 and list(t.spans) == sorted(t.spans, key=lambda s: s.start)
            samples.setdefault(t.answers, set()).add(t.spans)
    assert len(samples) == 150 and all(len(s) == 1 for s in samples.values())
    assert len({next(iter(s)) for s in samples.values()}) > 10
    short = [dataclasses.replace(a, sentences=a.sentences[:2]) for a in answers]
    assert {
        len(t.spans) for t in plan_of(plan, items, short, raters) if t.instrument == "fine"
    } == {2}


def test_repeats_come_at_the_end_freshly_blinded():
    items = some_items(12)
    answers = some_answers(items)
    tasks = plan_of((Allocation("physicians", "form", repeats=3),), items, answers, panel(2))
    for rater in ("physicians0", "physicians1"):
        mine = [t for t in tasks if t.rater == rater]
        assert [t.purpose for t in mine] == ["main"] * 12 + ["repeat"] * 3
        assert {t.repeat_of for t in mine[12:]} == {t.id for t in mine[:3]}


def test_judges_take_over_every_drawn_comparison():
    items = some_items(20)
    answers = some_answers(items)
    raters = panel(4) + panel(2, "judges", kind="llm")
    plan = (
        Allocation(
            "physicians", "pairs", show="pair", phase="people", arms={"text": 1, "citations": 1}
        ),
        Allocation("judges", "pairs", show="pair", like="people", arms={"text": 1}),
    )
    tasks = plan_of(plan, items, answers, raters)
    people = Counter(
        (t.item, frozenset(t.answers)) for t in tasks if t.phase == "people" and t.arm == "text"
    )
    judge = Counter((t.item, frozenset(t.answers)) for t in tasks if t.rater == "judges1")
    assert judge == people and sum(people.values()) == 40
    assert len({t.id for t in tasks}) == len(tasks)


def test_judges_do_not_take_over_what_people_practised_on():
    items = some_items(6, ("core",), prefix="c") + some_items(2, ("practice",), prefix="p")
    raters = panel(2) + panel(1, "judges", kind="llm")
    plan = (
        Allocation("physicians", "form", "core", phase="main"),
        Allocation("physicians", "form", "practice", phase="main", purpose="practice"),
        Allocation("judges", "form", like="main"),
        Allocation("judges", "form", "practice", like="main", purpose="practice"),
    )
    tasks = plan_of(plan, items, some_answers(items), raters)
    found = Counter((t.item[0], t.purpose) for t in tasks if t.rater == "judges0")
    assert found == {("c", "main"): 6, ("p", "practice"): 2}


def test_another_allocation_changes_no_other():
    plan, items, answers, raters = like_medqade(20, 72)
    whole = plan_of(plan, items, answers, raters)
    for left_out in range(len(plan)):
        fewer = plan_of(plan[:left_out] + plan[left_out + 1 :], items, answers, raters)
        assert content(fewer) <= content(whole)
    more = plan_of(
        (*plan, Allocation("judges", "form", "core", phase="later")), items, answers, raters
    )
    assert set(whole) < set(more)


def test_the_order_of_records_does_not_matter():
    plan, items, answers, raters = like_medqade(10, 30)
    assert plan_of(plan, items[::-1], answers[::-1], raters) == plan_of(
        plan, items, answers, raters
    )


def test_another_rater_changes_nobody_of_a_whole_panel():
    items = some_items(9)
    plan = (Allocation("physicians", "form", arms={"x": 1, "y": 2}),)
    few = plan_of(plan, items, some_answers(items), panel(4))
    assert set(few) < set(plan_of(plan, items, some_answers(items), panel(5)))


def test_the_seed_decides_and_names_leak_nothing():
    items = some_items(9)
    plan = (Allocation("physicians", "form"),)
    one, same, other = (
        plan_of(plan, items, some_answers(items), panel(2), seed=s) for s in (1, 1, 2)
    )
    assert one == same and not {t.id for t in one} & {t.id for t in other}
    assert all(len(t.id) == 16 and int(t.id, 16) >= 0 for t in one)


def test_a_slot_changes_hands_and_rated_tasks_stay():
    items = some_items(3)
    plan = (Allocation("physicians", "form"),)
    before = plan_of(plan, items, some_answers(items), panel(2))
    done = rating(before[0], before[0].answers[0], "Correct")
    left = Event("e1", "withdrawal", "physicians0", "2026-01-01T00:00:00Z")
    joined = Event("e2", "sign-up", "new", "2026-01-02T00:00:00Z", {"slot": "physicians 1"})
    empty = plan_of(plan, items, some_answers(items), panel(2), history=History([done], [left]))
    assert [t.rater for t in empty] == ["physicians0", "", ""] + ["physicians1"] * 3
    after = plan_of(
        plan, items, some_answers(items), panel(2), history=History([done], [left, joined])
    )
    assert [t.rater for t in after] == ["physicians0", "new", "new"] + ["physicians1"] * 3
    assert [dataclasses.replace(t, rater="") for t in after] == [
        dataclasses.replace(t, rater="") for t in before
    ]
    wrong = dataclasses.replace(joined, data={"slot": "physicans 1"})
    with pytest.raises(PlanError, match="did you mean 'physicians"):
        plan_of(plan, items, some_answers(items), panel(2), history=History(events=[wrong]))


def test_items_without_questions_about_answers_need_none():
    screen = Instrument("screen", (Criterion("keep", "Keep?", Scale(("no", "yes")), scope="item"),))
    tasks = assign(
        [Allocation("physicians", "screen")],
        items=some_items(3),
        answers=(),
        raters=panel(1),
        instruments=(screen,),
        seed=1,
    )
    assert [t.answers for t in tasks] == [(), (), ()]


MIXED = Instrument("mixed", (*FORM.criteria, *EASE.criteria))


@pytest.mark.parametrize(
    ("allocation", "message"),
    [
        (Allocation("physicans", "form"), "did you mean 'physicians'"),
        (Allocation("physicians", "from"), "did you mean 'form'"),
        (Allocation("physicians", "form", "cor"), "did you mean 'core'"),
        (Allocation("physicians", "form", systems=("z",)), "no answer of system 'z'"),
        (
            Allocation("physicians", "form", raters_per_item=4),
            "4 raters per item requested, but the panel has 3",
        ),
        (
            Allocation("physicians", "form", raters_per_item=2, per_rater=5),
            "more than the 5 allowed",
        ),
        (Allocation("physicians", "form", match="specialty"), "has no characteristic 'specialty'"),
        (Allocation("physicians", "form", raters_per_item=0), "expected 1 or more, got 0"),
        (Allocation("physicians", "form", arms={"text": 0}), "arms.text: expected 1 or more"),
        (Allocation("physicians", "form", weights={"a": -1.0}), "positive numbers"),
        (Allocation("physicians", "form", spans=6), "rates answers"),
        (Allocation("physicians", "fine", spans=6), "use show = 'each'"),
        (Allocation("physicians", "fine", show="each"), "has no sentences"),
        (Allocation("physicians", "pairs", show="pair", systems=("a",)), "answers of two systems"),
        (
            Allocation("physicians", "form", like="before"),
            "no earlier allocation has the phase 'before'",
        ),
        (Allocation("physicians", "form", repeats=11), "too few to repeat 11"),
        (Allocation("physicians", "form", batches=2, show="each"), "do not fit into a batch of 2"),
        (Allocation("physicians", "mixed"), "an instrument of their own"),
    ],
)
def test_what_cannot_be_met_is_said_in_one_sentence(allocation, message):
    items = some_items(10, ("core",))
    with pytest.raises(PlanError) as error:
        assign(
            [allocation],
            items=items,
            answers=some_answers(items),
            raters=panel(3),
            instruments=(*INSTRUMENTS, MIXED),
            seed=1,
        )
    assert message in str(error.value) and "\n" not in str(error.value)


def test_items_without_answers_are_left_out_and_all_else_stays_even():
    items = some_items(30)
    answered = [i for i in items if i.id not in ("i2", "i5")]
    fewer = [a for a in some_answers(answered) if a.id != "i7-b"]
    allocation = Allocation("physicians", "form", raters_per_item=2)
    tasks = plan_of((allocation,), items, fewer, panel(4))
    assert {t.item for t in tasks} == {i.id for i in answered}
    assert set(Counter(t.rater for t in tasks).values()) == {14}
    [found] = missing(
        [allocation], items=items, answers=fewer, raters=panel(4), instruments=INSTRUMENTS
    )
    assert found == Missing("plan[0]", tuple("abcde"), 30, ("i2", "i5"), ("i7",))
    assert {len(t.answers) for t in tasks if t.item == "i7"} == {4}
    with pytest.raises(PlanError, match="none of its 30 items has answers of a"):
        plan_of(
            (Allocation("physicians", "form", systems=("a",)),),
            items,
            [Answer("x", "z", "a")],
            panel(1),
        )
    one = some_answers(items, "a")
    with pytest.raises(PlanError, match="a pair needs answers of two systems, and no item has two"):
        plan_of((Allocation("physicians", "form", show="pair"),), items, one, panel(1))


@given(
    n_items=st.integers(1, 25),
    n_raters=st.integers(1, 6),
    k=st.none() | st.integers(1, 6),
    show=st.sampled_from(["all", "each", "pair"]),
    per_rater=st.none() | st.integers(1, 30),
    batches=st.none() | st.integers(5, 12),
    repeats=st.integers(0, 2),
    seed=st.integers(0, 2**40),
)
@settings(deadline=None, max_examples=150)
def test_any_plan_is_sound_or_refused(
    n_items, n_raters, k, show, per_rater, batches, repeats, seed
):
    items = some_items(n_items)
    answers = some_answers(items, "abc")
    allocation = Allocation(
        "physicians",
        "pairs" if show == "pair" else "form",
        raters_per_item=k,
        per_rater=per_rater,
        show=show,
        batches=batches,
        repeats=repeats,
    )
    try:
        tasks = plan_of((allocation,), items, answers, panel(n_raters), seed=seed)
    except PlanError:
        return
    of = {a.id: a.item for a in answers}
    assert len({t.id for t in tasks}) == len(tasks)
    assert all(
        {of[a] for a in t.answers} == {t.item} and len(set(t.answers)) == len(t.answers)
        for t in tasks
    )
    main = [t for t in tasks if t.purpose == "main"]
    assert len({(t.rater, t.item, frozenset(t.answers)) for t in main}) == len(main)
    raters_of, items_of = {}, {}
    for t in main:
        raters_of.setdefault(t.item, set()).add(t.rater)
        items_of.setdefault(t.rater, set()).add(t.item)
    if k is not None:
        assert {len(r) for r in raters_of.values()} == {k} and len(raters_of) == n_items
    if per_rater is not None:
        assert max(map(len, items_of.values())) <= per_rater
    for rater in items_of:
        mine = [t for t in tasks if t.rater == rater]
        assert [t.position for t in mine] == list(range(len(mine)))
        assert len({t.item for t in mine if t.purpose == "repeat"}) == repeats
        if batches is not None:
            assert max(Counter(t.batch for t in mine).values()) <= batches


def test_pairs_are_drawn_for_each_rater_and_single_answers_are_the_same_for_all():
    items = some_items(20)

    def shown(form: str, show: str) -> list[set[tuple[str, ...]]]:
        plan = [Allocation("physicians", form, show=show)]
        tasks = plan_of(plan, items, some_answers(items), panel(2))
        raters = sorted({t.rater for t in tasks})
        return [{tuple(sorted(t.answers)) for t in tasks if t.rater == r} for r in raters]

    pairs, single = shown("pairs", "pair"), shown("form", "each")
    assert pairs[0] != pairs[1]
    assert single[0] == single[1] == {(a.id,) for a in some_answers(items)}
