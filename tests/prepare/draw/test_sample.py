"""Lexical matches, stratified samples and sets."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import PlanError
from konsil.prepare import MATCH, in_sets, lexical_matches, sizes, stratified, with_lexical_match
from konsil.records import Answer, Item

ITEM = Item("i", "Das Hormon ____", "Insulin", aliases=("das Insulin",))


def said(*texts: str) -> list[Answer]:
    return [Answer(f"i:s{n}", "i", f"s{n}", text) for n, text in enumerate(texts)]


def match(answers: list[Answer], **options: object) -> bool | None:
    return lexical_matches([ITEM], answers, **options)["i"]  # type: ignore[arg-type]


def test_one_system_is_enough_and_strings_must_be_equal():
    assert match(said("Glukagon", "Insulin")) is True
    assert match(said("insulin", "Insulin.", " Insulin", "das Insulin")) is False


def test_an_umlaut_is_one_string_however_it_is_written():
    item = Item("i", "Der ____", "Blutdruckabfall über Nacht")
    apart = Answer("i:s", "i", "s", "Blutdruckabfall u\u0308ber Nacht")
    assert lexical_matches([item], [apart]) == {"i": True}


def test_named_options():
    assert match(said("insulin."), same="folded") is True
    assert match(said("das Insulin"), aliases=True) is True
    assert match(said("Das  insulin!"), aliases=True) is False
    assert match(said("Das  insulin!"), aliases=True, same="folded") is True


def test_what_is_not_known():
    assert match([]) is None
    assert match(said("x"), systems=["s0", "s1"]) is None
    assert match(said("x", "y"), systems=["s0", "s1"]) is False
    assert match(said("Insulin"), systems=["s0", "s1"]) is True
    assert match(said("x", "Insulin"), systems=["s0"]) is False
    for reference in (None, ""):
        item = Item("i", "?", reference)
        assert lexical_matches([item], said(""))["i"] is None
    assert lexical_matches([Item("i", "?", "...")], said(""), same="folded")["i"] is None


def test_the_stratum_is_set_and_taken_back():
    [yes] = with_lexical_match([ITEM], {"i": True})
    assert yes.strata == {MATCH: "yes"}
    [again] = with_lexical_match([yes], {"i": False})
    assert again.strata == {MATCH: "no"}
    [gone] = with_lexical_match([yes], {})
    assert gone == ITEM


def pool(no: int, yes: int) -> list[Item]:
    return [
        Item(f"i{n:05}", "?", strata={MATCH: "no" if n < no else "yes"}) for n in range(no + yes)
    ]


def test_the_papers_sample():
    items = pool(14_000, 12_598)
    drawn = stratified(items, MATCH, sizes(3800, {"no": 0.8, "yes": 0.2}), seed=1)
    assert Counter(i.strata[MATCH] for i in drawn) == {"no": 3040, "yes": 760}
    split = in_sets(drawn, {"core": 200, "split": 3600}, seed=1, by=MATCH)
    assert Counter((i.sets, i.strata[MATCH]) for i in split) == {
        (("core",), "no"): 160,
        (("core",), "yes"): 40,
        (("split",), "no"): 2880,
        (("split",), "yes"): 720,
    }


def test_a_sample_depends_on_seed_and_name_and_on_nothing_else():
    items = pool(60, 40)
    wanted = {"no": 20, "yes": 10}
    drawn = stratified(items, MATCH, wanted, seed=1)
    assert drawn == stratified(items[::-1], MATCH, wanted, seed=1)
    assert drawn != stratified(items, MATCH, wanted, seed=2)
    assert drawn != stratified(items, MATCH, wanted, seed=1, name="other")
    more = stratified(items, MATCH, {"no": 21, "yes": 0}, seed=1)
    assert [i for i in drawn if i not in more] == [i for i in drawn if i.strata[MATCH] == "yes"]


def test_every_item_is_drawn_as_often_as_every_other():
    """Of ten items three: each in 30 % of 3,000 samples, within four standard errors."""
    items = pool(10, 0)
    drawn = Counter(
        i.id for seed in range(3000) for i in stratified(items, MATCH, {"no": 3}, seed=seed)
    )
    assert all(abs(n - 900) < 4 * (3000 * 0.3 * 0.7) ** 0.5 for n in drawn.values())
    assert len(drawn) == 10


@pytest.mark.parametrize(
    ("items", "by", "wanted", "sentence"),
    [
        (
            pool(5, 5),
            MATCH,
            {"no": 6},
            "sample: 6 items with lexical_match = 'no' are requested, but there are 5$",
        ),
        (
            [*pool(5, 0), Item("x", "?")],
            MATCH,
            {"no": 6},
            r"there are 5 \(1 items are without lexical_match\)$",
        ),
        (pool(5, 5), MATCH, {"nein": 1}, "no item has lexical_match = 'nein'; "),
        (
            pool(5, 5),
            "lexical",
            {"no": 1},
            "no item has the characteristic 'lexical'; did you mean 'lexical_match'?",
        ),
        (pool(5, 5), MATCH, {"no": -1}, "-1 items with"),
        ([], MATCH, {"no": 1}, "no item has the characteristic 'lexical_match'; none is known"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    items: list[Item], by: str, wanted: dict[str, int], sentence: str
):
    with pytest.raises(PlanError, match=sentence):
        stratified(items, by, wanted, seed=1)


@pytest.mark.parametrize("shares", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": float("nan")}])
def test_shares_are_of_one_whole(shares: dict[str, float]):
    with pytest.raises(PlanError, match="expected proportions with the sum 1"):
        sizes(10, shares)
    with pytest.raises(PlanError, match="its size is -1"):
        sizes(-1, shares)


@given(st.integers(0, 5000), st.lists(st.integers(1, 50), min_size=1, max_size=6))
def test_sizes_sum_up_and_are_near(n: int, weights: list[int]):
    shares = {str(k): w / sum(weights) for k, w in enumerate(weights)}
    found = sizes(n, shares)
    assert sum(found.values()) == n
    assert all(abs(found[k] - n * share) < 1 for k, share in shares.items())


@given(st.integers(0, 30), st.integers(0, 30), st.data())
def test_sets_are_disjoint_whole_and_of_the_items_proportions(
    no: int, yes: int, data: st.DataObject
):
    items = pool(no, yes)
    first = data.draw(st.integers(0, no + yes))
    second = data.draw(st.integers(0, no + yes - first))
    made = in_sets(items, {"a": first, "b": second}, seed=3, by=MATCH)
    assert [i.id for i in made] == [i.id for i in items]
    assert Counter(s for i in made for s in i.sets) == Counter({"a": first, "b": second})
    assert all(len(i.sets) <= 1 for i in made)
    own = sum(i.sets == ("a",) and i.strata[MATCH] == "no" for i in made)
    assert abs(own - first * no / max(1, no + yes)) <= 1


def test_sets_that_are_too_large_are_refused():
    with pytest.raises(
        PlanError, match=r"200 in 'core', 3,600 in 'split' are requested, but there are 100 items"
    ):
        in_sets(pool(50, 50), {"core": 200, "split": 3600}, seed=1)
