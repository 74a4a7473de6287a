"""A planned overlap: exact counts by stratum, arm and rater, nobody an item twice; added places
move nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.api import open_folder
from konsil.cli.main import group
from konsil.errors import PlanError
from konsil.instrument import Criterion, Instrument, Scale
from konsil.plan import Allocation, History, Overlap, assign, overlaps_of
from konsil.plan.model.places import ADDED, SIGN_UP, Places
from konsil.records import Answer, Event, Item, Rater, Task

PAIR = Instrument(
    "pair", (Criterion("better", "Which?", Scale(("A", "B")), scope="pair"),), unit="pair"
)
FORM = Instrument("form", (Criterion("correct", "Is it?", Scale(("no", "yes"))),))
SYSTEMS = ("w", "x", "y", "z")
Comparison = tuple[str | None, tuple[str, ...], str]


def material(n_items: int, strata: Sequence[str] = ("",)) -> tuple[list[Item], list[Answer]]:
    items = [Item(f"i{n:03}", "?", strata={"s": strata[n % len(strata)]}) for n in range(n_items)]
    return items, [Answer(f"{i.id}:{s}", i.id, s) for i in items for s in SYSTEMS]


def shared(tasks: Sequence[Task]) -> dict[Comparison, set[str]]:
    found: dict[Comparison, set[str]] = defaultdict(set)
    for task in tasks:
        found[task.item, tuple(sorted(task.answers)), task.arm].add(task.slot)
    return found


def draw(
    plan: Allocation,
    n_items: int,
    raters: Sequence[Rater],
    strata: Sequence[str] = ("",),
    **more: object,
):
    items, answers = material(n_items, strata)
    return assign(
        [plan],
        items=items,
        answers=answers,
        raters=raters,
        instruments=[PAIR, FORM],
        seed=7,
        **more,
    )  # type: ignore[arg-type]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 5),
    st.integers(1, 3),
    st.sampled_from([0.05, 0.1, 0.2, 0.3]),
    st.sampled_from([2, 3]),
    st.integers(3, 12),
)
def test_exact_counts_by_stratum_and_arm_and_nobody_an_item_twice(
    n_raters: int, n_strata: int, share: float, k: int, load: int
) -> None:
    strata = [f"s{n}" for n in range(n_strata)]
    raters = [
        Rater(f"r{n}", "p", strata={"s": strata[n % n_strata]})
        for n in range(n_strata * n_raters * 2)
    ]
    plan = Allocation(
        "p",
        "pair",
        show="pair",
        match="s",
        per_rater=load,
        arms={"t": 1, "c": 1},
        overlap=Overlap(share, k),
    )
    # So many items that no two draw the same comparison by chance: systems differ in every pair
    # that is drawn.
    n_items = n_strata * n_raters * 2 * load
    sizes = Counter(
        (r.strata["s"], arm) for r, arm in zip(raters, arms_by_rater(plan, raters), strict=True)
    )
    able = [n for n in sizes.values() if n >= k]
    if not able:
        with pytest.raises(PlanError, match="but all groups are smaller"):
            draw(plan, n_items, raters, strata)
        return
    tasks = draw(plan, n_items, raters, strata)
    assert set(Counter(t.rater for t in tasks).values()) == {load}
    assert max(Counter((t.rater, t.item) for t in tasks).values()) == 1
    of_item, of_rater = (
        {f"i{n:03}": strata[n % n_strata] for n in range(n_items)},
        {r.id: r.strata["s"] for r in raters},
    )
    assert all(of_item[str(t.item)] == of_rater[t.rater] for t in tasks)
    several = {key: who for key, who in shared(tasks).items() if len(who) > 1}
    assert {len(who) for who in several.values()} <= {k}
    exact = {cell: n * load * share / (1 + share * (k - 1)) for cell, n in sizes.items() if n >= k}
    got = Counter((of_item[str(item)], arm) for item, _, arm in several)
    assert sum(got.values()) == int(sum(exact.values()) + 0.5 + 1e-9)  # halves up
    assert all(abs(got[cell] - wanted) < 1 for cell, wanted in exact.items())
    assert set(got) <= set(exact)


def arms_by_rater(plan: Allocation, raters: Sequence[Rater]) -> list[str]:
    items, answers = material(40 * len(raters), sorted({r.strata["s"] for r in raters}))
    drawn = assign(
        [replace(plan, overlap=None)],
        items=items,
        answers=answers,
        raters=raters,
        instruments=[PAIR],
        seed=7,
    )
    arm = {t.rater: t.arm for t in drawn}
    return [arm[r.id] for r in raters]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(3, 9),
    st.integers(10, 60),
    st.sampled_from([0.1, 0.25, 1.0]),
    st.sampled_from([2, 3]),
)
def test_one_rater_an_item_and_a_share_by_several(
    n_raters: int, n_items: int, share: float, k: int
) -> None:
    raters = [Rater(f"r{n}", "p") for n in range(n_raters)]
    plan = Allocation("p", "pair", show="pair", raters_per_item=1, overlap=Overlap(share, k))
    found = shared(draw(plan, n_items, raters))
    several = int(n_items * share + 0.5 + 1e-9)
    assert (
        Counter(map(len, found.values())) == Counter({k: several, 1: n_items - several}) - Counter()
    )
    loads = Counter(t.rater for t in draw(plan, n_items, raters))
    assert max(loads.values()) - min(loads[r.id] for r in raters) <= 2


def test_the_plan_without_an_overlap_stays_and_a_seed_gives_the_same() -> None:
    raters = [Rater(f"r{n}", "p") for n in range(6)]
    plan = Allocation("p", "form", per_rater=5, overlap=Overlap(0.2))
    assert draw(plan, 40, raters) == draw(plan, 40, list(raters))
    assert draw(plan, 40, raters) != draw(replace(plan, overlap=None), 40, raters)


def test_the_balance_report_counts_planned_and_asked() -> None:
    raters = [Rater(f"r{n}", "p") for n in range(10)]
    plan = Allocation("p", "pair", show="pair", per_rater=11, overlap=Overlap(0.1))
    [found] = overlaps_of([plan], draw(plan, 200, raters))
    assert (found.panel, found.share, found.raters) == ("p", 0.1, 2)
    assert (found.comparisons, found.shared) == (100, 10)
    assert found.each == (2, 2)  # shared comparisons of the rater with the fewest and the most


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (
            Allocation("p", "pair", show="pair", per_rater=3, overlap=Overlap(0)),
            "a share above 0 and up to 1",
        ),
        (
            Allocation("p", "pair", show="pair", per_rater=3, overlap=Overlap(0.1, 1)),
            "raters: expected 2 or more",
        ),
        (
            Allocation("p", "pair", show="pair", raters_per_item=2, overlap=Overlap(0.1)),
            "already has every item rated several times",
        ),
        (Allocation("p", "form", overlap=Overlap(0.1)), "already rates every item"),
        (
            Allocation("p", "form", per_rater=1, purpose="pilot", overlap=Overlap(0.1)),
            "only a main allocation",
        ),
        (Allocation("p", "pair", show="pair", overlap=Overlap(1.0, 3)), "state a smaller share"),
    ],
)
def test_what_cannot_be_drawn_is_refused(plan: Allocation, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        draw(plan, 4, [Rater(f"r{n}", "p") for n in range(5)])


def added(n: int, number: int, **strata: str) -> Event:
    data = {"number": number, "strata": strata, "by": "office", "reason": "more volunteers"}
    return Event(f"{ADDED} {n:04}", ADDED, "p", f"2026-01-0{9 - n}T00:00:00Z", data)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["s0", "s1"])), min_size=1, max_size=3),
    st.booleans(),
)
def test_places_that_are_added_move_nothing_that_was_drawn(
    waves: list[tuple[int, str]], overlaps: bool
) -> None:
    items, answers = material(30, ("s0", "s1"))
    plan = [
        Allocation(
            "p",
            "pair",
            show="pair",
            match="s",
            per_rater=6,
            arms={"t": 2, "c": 1},
            phase="main",
            overlap=Overlap(0.2) if overlaps else None,
            repeats=2,
        ),
        Allocation("p", "form", phase="fine", like="main"),
        Allocation("judges", "pair", show="pair", phase="judging", like="main", arms={"t": 1}),
    ]
    places = [Places("p", 3, {"s": "s0"}), Places("p", 3, {"s": "s1"})]

    def all_tasks(*events: Event) -> tuple[Task, ...]:
        return assign(
            plan,
            items=items,
            answers=answers,
            raters=[Rater("j", "judges", kind="llm")],
            instruments=[PAIR, FORM],
            seed=3,
            places=places,
            history=History(events=events),
        )

    before, events = all_tasks(), []
    for n, (number, stratum) in enumerate(waves):
        events.append(added(n + 1, number, s=stratum))
        after = all_tasks(*events)
        assert set(before) < set(
            after
        )  # every task as it was: order of answers, position and batch too
        fresh = {t for t in after if t not in set(before)}
        assert len({t.slot for t in fresh if t.phase == "main"}) == number
        assert all(int(str(t.item)[1:]) % 2 == int(stratum[1]) for t in fresh if t.item is not None)
        people = [t for t in fresh if t.phase == "main" and t.purpose == "main"]
        assert set(Counter(t.slot for t in people).values()) == {6}
        assert len({(t.slot, t.item) for t in people}) == len(people)
        before = after


def test_an_added_place_can_be_taken_and_shares_its_part() -> None:
    plan = Allocation("p", "pair", show="pair", per_rater=10, overlap=Overlap(0.25))
    came = Event("sign-up a 1", SIGN_UP, "a", "2026-02-01T00:00:00Z", {"slot": "p 5"})
    tasks = draw(
        plan, 200, [], places=[Places("p", 4)], history=History(events=[added(1, 1), came])
    )
    assert Counter(t.rater for t in tasks) == {"": 40, "a": 10}
    several = [who for who in shared(tasks).values() if len(who) > 1]
    # 40 seats share 8 of 32; with ten more it is a quarter of 40 again.
    assert len(several) == 10 and sum("p 5" in who for who in several) == 2


def test_with_more_than_two_raters_an_added_place_completes_what_was_begun_first() -> None:
    plan = Allocation("p", "pair", show="pair", per_rater=10, overlap=Overlap(0.2, 3))
    events = [added(1, 1), added(2, 1)]
    tasks = draw(plan, 300, [], places=[Places("p", 6)], history=History(events=events))
    sizes = Counter(map(len, shared(tasks).values()))
    assert sizes[2] <= 1
    assert abs(sizes[3] / sum(sizes.values()) - 0.2) < 0.03


@pytest.mark.slow
def test_one_in_ten_comparisons_of_the_specialists_is_made_twice(tmp_path: Path) -> None:
    CliRunner().invoke(
        group, ["new", str(tmp_path / "s"), "--protocol", "real-pocqi"], catch_exceptions=False
    )
    study = open_folder(tmp_path / "s").study
    specialties = sorted({p.strata["specialty"] for p in study.places})
    items = [Item(f"q{n:04}", "?", strata={"specialty": specialties[n % 30]}) for n in range(600)]
    answers = [Answer(f"{i.id}:{s.id}", i.id, s.id) for i in items for s in study.systems]
    line = replace(study.plan[0], per_rater=8, overlap=Overlap(0.1))
    assert (line.show, line.match, set(line.arms)) == ("pair", "specialty", {"text", "citations"})
    tasks = assign(
        [line],
        items=items,
        answers=answers,
        raters=study.raters,
        instruments=study.instruments,
        seed=1,
        places=study.places,
    )
    [found] = overlaps_of([line], tasks, items)
    of = {i.id: i.strata["specialty"] for i in items}
    # 1,200 seats; a cell of one rater has no share, and chance brings some more where 40 seats have
    # 20 questions.
    assert set(Counter(t.slot for t in tasks).values()) == {8}
    assert found.shared >= 100 and found.comparisons + 100 <= 1200
    raters = {
        cell: len({t.slot for t in tasks if (of[str(t.item)], t.arm) == cell})
        for cell in found.cells
    }
    seats = {cell: 8 * n for cell, n in raters.items()}
    assert all(
        found.cells[cell][0] >= int(seats[cell] * 0.1 / 1.1) for cell, n in raters.items() if n > 1
    )
    assert sum(len(who) > 1 for who in shared(tasks).values()) >= found.shared
