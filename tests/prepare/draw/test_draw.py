"""Which items are rated: drawn as the protocol asks, kept as an event, read from it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import PlanError
from konsil.prepare import (
    MATCH,
    Preparation,
    Sample,
    draw,
    event_of,
    in_study,
    last_drawn,
    preparation_problems,
    prepared,
    request_digest,
)
from konsil.records import Answer, Event, Item

SPEC = Preparation(
    lexical_match=True,
    sample=Sample(50, MATCH, {"no": 0.8, "yes": 0.2}),
    sets={"core": 10, "split": 40},
)
ITEMS = tuple(
    Item(f"i{n:03}", f"Question {n}", f"answer {n}", strata={"deck": "ab"[n % 2]})
    for n in range(200)
)
ANSWERS = tuple(
    # System a is right in every fourth item, b in every fifth.
    Answer(
        f"{item.id}:{s}", item.id, s, item.reference or "" if n % every == 0 else "something else"
    )
    for n, item in enumerate(ITEMS)
    for s, every in (("a", 4), ("b", 5))
)
N_MATCHES = sum(n % 4 == 0 or n % 5 == 0 for n in range(200))


def event(spec: Preparation = SPEC, *, seed: int = 3, number: int = 1) -> Event:
    """As the database gives it back."""
    made = event_of(
        draw(spec, ITEMS, ANSWERS, systems=("a", "b"), seed=seed), number, "2026-01-01T00:00:00Z"
    )
    return replace(made, data=json.loads(json.dumps(dict(made.data), sort_keys=True)))


def test_a_sample_by_lexical_match_in_two_sets():
    drawn = draw(SPEC, ITEMS, ANSWERS, seed=3)
    assert (drawn.pool, drawn.answered, drawn.lost) == (200, {"a": 200, "b": 200}, {})
    assert drawn.found == {"yes": N_MATCHES, "no": 200 - N_MATCHES}
    assert {s: {m: len(ids) for m, ids in parts.items()} for s, parts in drawn.drawn.items()} == {
        "core": {"no": 8, "yes": 2},
        "split": {"no": 32, "yes": 8},
    }
    right = {a.item for a in ANSWERS if a.text != "something else"}
    for parts in drawn.drawn.values():
        assert {*parts["yes"]} <= right
        assert not {*parts["no"]} & right


def test_an_item_and_its_event_are_the_item_of_the_study():
    chosen = in_study(ITEMS, [event()])
    assert len(chosen) == 50
    assert Counter(i.sets for i in chosen) == {("sample", "core"): 10, ("sample", "split"): 40}
    assert Counter(i.strata[MATCH] for i in chosen) == {"no": 40, "yes": 10}
    assert all(i.strata["deck"] in "ab" for i in chosen)
    every = prepared(ITEMS, [event()])
    assert len(every) == 200
    assert tuple(i for i in every if i.sets) == chosen
    assert [replace(i, sets=(), strata={"deck": i.strata["deck"]}) for i in every] == list(ITEMS)
    assert in_study(ITEMS, []) == prepared(ITEMS, []) == ITEMS


def test_applied_again_it_changes_nothing():
    once = prepared(ITEMS, [event()])
    assert prepared(once, [event()]) == once
    assert in_study(once, [event()]) == in_study(ITEMS, [event()])
    assert in_study(in_study(ITEMS, [event()]), [event()]) == in_study(ITEMS, [event()])


def test_the_last_draw_counts_and_reads_back_equal():
    first, second = event(), event(seed=4, number=2)
    assert in_study(ITEMS, [second, first]) == in_study(ITEMS, [second]) != in_study(ITEMS, [first])
    assert last_drawn([first, second]) == (2, draw(SPEC, ITEMS, ANSWERS, seed=4))
    assert last_drawn([Event("x", "withdrawal", "p1", "")]) == (0, None)


def test_items_that_were_rated_all_the_same_stay_in():
    out = next(
        i.id
        for i in ITEMS
        if i not in in_study(ITEMS, [event()]) and not prepared([i], [event()])[0].sets
    )
    assert len(in_study(ITEMS, [event()], also={out})) == 51


@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_order_plays_no_part(random, seed):
    items, answers = list(ITEMS), list(ANSWERS)
    random.shuffle(items)
    random.shuffle(answers)
    assert draw(SPEC, items, answers, seed=seed) == draw(SPEC, ITEMS, ANSWERS, seed=seed)


def test_without_a_sample_all_items_are_in():
    drawn = draw(Preparation(lexical_match=True, sets={"core": 20}), ITEMS, ANSWERS, seed=1)
    assert (drawn.size, drawn.sample) == (200, False)
    assert {s: sum(map(len, parts.values())) for s, parts in drawn.drawn.items()} == {
        "core": 20,
        "": 180,
    }
    kept = in_study(ITEMS, [event_of(drawn, 1, "")])
    assert Counter(i.sets for i in kept) == {("core",): 20, (): 180}
    assert Counter(i.strata[MATCH] for i in kept)["yes"] == N_MATCHES


def test_a_sample_needs_no_answers_and_no_stratum():
    plain = draw(Preparation(sample=Sample(20)), ITEMS, (), seed=1)
    assert (plain.size, plain.found, plain.drawn.keys()) == (20, {}, {""})
    by_deck = draw(Preparation(sample=Sample(20, "deck"), sets={"pilot": 4}), ITEMS, (), seed=1)
    chosen = in_study(ITEMS, [event_of(by_deck, 1, "")])
    assert Counter(i.strata["deck"] for i in chosen) == {"a": 10, "b": 10}
    assert Counter(i.strata["deck"] for i in chosen if "pilot" in i.sets) == {"a": 2, "b": 2}
    assert all(MATCH not in i.strata for i in chosen)


def test_items_that_not_all_systems_answered():
    some = [a for a in ANSWERS if a.id != "i007:b"] + [Answer("i007:c", "i007", "c", "answer 7")]
    with pytest.raises(
        PlanError,
        match=r"1 of 200 items are not answered by all systems \(system 'b' answered 199\)",
    ):
        draw(SPEC, ITEMS, some, systems=("a", "b"), seed=1)
    dropped = draw(replace(SPEC, unanswered="drop"), ITEMS, some, systems=("a", "b"), seed=1)
    assert dropped.lost == {"not answered by all systems": 1}
    assert sum(dropped.found.values()) == 199
    kept = draw(replace(SPEC, unanswered="keep"), ITEMS, some, systems=("a", "b"), seed=1)
    assert (kept.lost, sum(kept.found.values())) == ({}, 200)
    with pytest.raises(PlanError, match="system 'b' answered 199"):
        draw(SPEC, ITEMS, [*some, Answer("i007:b", "i007", "b", "")], systems=("a", "b"), seed=1)


def test_items_without_a_reference_are_counted():
    items = [replace(i, reference=None) if i.id == "i003" else i for i in ITEMS]
    assert draw(SPEC, items, ANSWERS, seed=1).lost == {"lexical_match not known": 1}


@pytest.mark.parametrize(
    ("spec", "items", "answers", "sentence"),
    [
        (SPEC, (), (), "there are no items yet"),
        (SPEC, ITEMS, (), "there are no answers yet; run 'konsil answer'"),
        (
            replace(SPEC, sample=Sample(150, MATCH, {"yes": 1.0})),
            ITEMS,
            ANSWERS,
            f"150 items with lexical_match = 'yes' are requested, but there are {N_MATCHES}",
        ),
        (Preparation(sample=Sample(300)), ITEMS, (), "300 items are requested, but there are 200"),
        (
            Preparation(sets={"core": 300}),
            ITEMS,
            (),
            "300 in 'core' are requested, but there are 200 items",
        ),
        (
            Preparation(sample=Sample(3, "decks")),
            ITEMS,
            (),
            "no item has the characteristic 'decks'; did you mean 'deck'?",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(spec, items, answers, sentence):
    with pytest.raises(PlanError) as told:
        draw(spec, items, answers, seed=1)
    assert sentence in str(told.value)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (Preparation(), "prepare: is empty"),
        (
            replace(SPEC, systems=("aa",)),
            "prepare.systems: there is no system 'aa'; did you mean 'a'?",
        ),
        (
            replace(SPEC, sets={"core": 0}),
            "prepare.sets.core: expected a name and 1 or more items, got 0",
        ),
        (
            replace(SPEC, sets={"core": 60}),
            "60 items are requested for sets, but the sample has 50",
        ),
        (replace(SPEC, sample=Sample(0)), "prepare.sample.size: expected 1 or more items, got 0"),
        (
            replace(SPEC, sample=Sample(50, "", {"no": 1.0})),
            "prepare.sample.shares: expected the characteristic in by",
        ),
        (
            replace(SPEC, sample=Sample(50, MATCH, {"no": 0.8})),
            "expected shares that sum to 1, got 0.8",
        ),
        (
            replace(SPEC, sample=Sample(50, MATCH, {"no": 1.8, "yes": -0.8})),
            "expected shares from 0",
        ),
        (
            replace(SPEC, sample=Sample(50, MATCH, {"No": 1.0})),
            "'No' is no value of lexical_match; did you mean 'no'?",
        ),
    ],
)
def test_what_makes_no_sense_is_said(spec, sentence):
    assert any(
        sentence in problem
        for problem in preparation_problems(spec, ("a", "bb"), "study.toml: prepare")
    )
    assert not list(preparation_problems(SPEC, ("a", "bb"), "study.toml: prepare"))


def test_what_was_asked_is_noticed():
    assert (
        request_digest(SPEC, 1)
        != request_digest(SPEC, 2)
        != request_digest(replace(SPEC, aliases=True), 2)
    )


CROSSED = tuple(
    Item(
        f"x{n:03}",
        "?",
        strata={"field": "skin" if n % 4 else "heart", "hard": "yes" if n % 10 < 3 else "no"},
    )
    for n in range(120)
)


def drawn_by(items, drawn):
    chosen = {i for parts in drawn.drawn.values() for ids in parts.values() for i in ids}
    return Counter((i.strata["field"], i.strata["hard"]) for i in items if i.id in chosen)


def test_a_sample_by_several_columns():
    equal = Preparation(sample=Sample(24, "field", across=("hard",), equal=True))
    made = draw(equal, CROSSED, (), seed=1)
    assert drawn_by(CROSSED, made) == {(f, h): 6 for f in ("skin", "heart") for h in ("yes", "no")}
    assert (made.by, made.short) == ("field × hard", {})
    assert made.found == {"heart × no": 18, "heart × yes": 12, "skin × no": 66, "skin × yes": 24}
    as_they_are = draw(
        Preparation(sample=Sample(60, "field", across=("hard",))), CROSSED, (), seed=1
    )
    assert drawn_by(CROSSED, as_they_are) == {
        ("heart", "no"): 9,
        ("heart", "yes"): 6,
        ("skin", "no"): 33,
        ("skin", "yes"): 12,
    }
    shares = {"heart × yes": 0.5, "skin × no": 0.5}
    stated = draw(
        Preparation(sample=Sample(20, "field", shares, across=("hard",))), CROSSED, (), seed=1
    )
    assert drawn_by(CROSSED, stated) == {("heart", "yes"): 10, ("skin", "no"): 10}
    items = in_study(CROSSED, [event_of(stated, 1, "")])
    assert all(set(item.strata) == {"field", "hard"} for item in items), (
        "the combination is no stratum of the study"
    )


def test_every_shortage_is_told():
    equal = Sample(80, "field", across=("hard",), equal=True)
    with pytest.raises(
        PlanError,
        match=r"2 values of field × hard have fewer .* 'heart × no' 18 of 20, 'heart × yes' 12",
    ):
        draw(Preparation(sample=equal), CROSSED, (), seed=1)
    made = draw(Preparation(sample=replace(equal, short="keep")), CROSSED, (), seed=1)
    assert made.short == {"heart × no": 2, "heart × yes": 8}
    assert made.size == 70
    assert last_drawn([event_of(made, 1, "")]) == (1, made)


def test_digests_of_samples_by_one_column_stay():
    assert request_digest(Preparation(sample=Sample(3)), 1) == request_digest(
        Preparation(sample=Sample(3, across=(), equal=False)), 1
    )
    assert request_digest(Preparation(sample=Sample(3, "a")), 1) != request_digest(
        Preparation(sample=Sample(3, "a", across=("b",))), 1
    )
    wrong = preparation_problems(
        Preparation(sample=Sample(3, "", across=("b",), equal=True)), (), "prepare"
    )
    assert [one.split(":")[0] for one in wrong] == ["prepare.sample.across", "prepare.sample.equal"]
