"""Guesses about columns: right for odd names, the same in any order, never without a reason."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.design.columns import NAMES, Column
from konsil.design.guessing import Hints, guesses
from konsil.design.sources import Chosen, missing_roles, sources_of

N = 12
SYSTEMS = ("Alpha", "Beta", "Gamma")


def text(word: str, k: int) -> str:
    return f"{word} number {k}: what is given to a patient with nausea after anaesthesia?"


def items(names=("Nr", "Question", "Gold", "Ward")) -> list[Column]:
    return [
        Column(names[0], [str(k) for k in range(N)]),
        Column(names[1], [text("question", k) for k in range(N)]),
        Column(names[2], [f"drug {k}" for k in range(N)]),
        Column(names[3], ["icu" if k % 3 else "ward" for k in range(N)]),
    ]


def answers(names=("Case", "Model", "Output")) -> list[Column]:
    rows = [(k, s) for k in range(N) for s in SYSTEMS]
    return [
        Column(names[0], [str(k) for k, _ in rows]),
        Column(names[1], [s for _, s in rows]),
        Column(names[2], [text(f"{s} answers", k) for k, s in rows]),
    ]


def ratings(names=("Initials", "Case", "Which", "Quality", "Harm")) -> list[Column]:
    rows = [(r, k, s) for r in ("ab", "cd", "ef") for k in range(N) for s in SYSTEMS]
    draw = random.Random(1)
    return [
        Column(names[0], [r for r, _, _ in rows]),
        Column(names[1], [str(k) for _, k, _ in rows]),
        Column(names[2], [s for _, _, s in rows]),
        Column(names[3], [str(draw.randint(1, 5)) for _ in rows]),
        Column(names[4], [draw.choice(["yes", "no"]) for _ in rows]),
    ]


def roles(columns, hints=None):
    return {g.column: g.role for g in guesses(columns, hints)}


def test_a_table_of_questions_is_read_by_its_names():
    assert roles(items()) == {
        "Nr": "item",
        "Question": "text",
        "Gold": "reference",
        "Ward": "stratum",
    }


def test_a_row_for_each_answer():
    assert list(roles(answers()).values()) == ["item", "system", "answer"]


def test_a_column_for_each_system():
    names = ("GPT-5", "ours", "Claude 4")
    made = [Column(name, [text(name, k) for k in range(N)]) for name in names]
    columns = [*items()[:2], *made]
    assert list(roles(columns).values()) == ["item", "text", *["answer_of"] * 3]


def test_ratings_with_a_column_for_each_question():
    found = roles(ratings(), Hints(frozenset(SYSTEMS)))
    assert list(found.values()) == ["rater", "item", "system", *["label_of_criterion"] * 2]


def test_ratings_with_a_row_for_each_rating():
    rows = [(r, k, c) for r in ("ab", "cd") for k in range(N) for c in ("correct", "safe")]
    columns = [
        Column("Reviewer", [r for r, _, _ in rows]),
        Column("Item", [str(k) for _, k, _ in rows]),
        Column("Dimension", [c for _, _, c in rows]),
        Column("Score", [str(k % 2) for _, k, _ in rows]),
    ]
    assert list(roles(columns).values()) == ["rater", "item", "criterion", "label"]


def test_ratings_with_a_column_for_each_rater():
    draw = random.Random(2)
    columns = [
        Column("Fall", [str(k) for k in range(40)]),
        *(
            Column(name, [str(draw.randint(1, 5)) for _ in range(40)])
            for name in ("Meier", "Schulz")
        ),
    ]
    assert list(roles(columns).values()) == ["item", "label_of_rater", "label_of_rater"]


def test_fields_of_konsil_keep_their_names():
    columns = [*items(), Column("aliases", ["a"] * N)]
    assert roles(columns)["aliases"] == "own"
    [source] = sources_of(Chosen("x.csv", roles(columns)))
    assert "aliases" not in source["columns"]


def test_a_column_with_a_fields_name_and_another_role_is_not_read():
    """'text' is the answer here; as an item's text it must not be read from the same column."""
    columns = answers(("Case", "Model", "text"))
    chosen = Chosen("x.csv", {**roles(columns), "Case": "item"})
    [source] = sources_of(chosen)
    assert source["columns"] == {"item": "Case", "system": "Model", "case": []}
    items_of_it = Chosen("x.csv", {"text": "unused", "Case": "item", "Q": "text"})
    [entry] = sources_of(items_of_it)
    assert entry["columns"] == {"item": "Case", "text": "Q", "case": []}
    reference = Chosen("x.csv", {"reference": "unused", "Case": "item", "Q": "text"})
    assert sources_of(reference)[0]["columns"]["reference"] == []


def test_without_a_number_the_text_is_the_identifier():
    columns = [items()[1], Column("GPT-5", [text("g", k) for k in range(N)])]
    entries = sources_of(Chosen("x.csv", roles(columns)))
    assert [e["records"] for e in entries] == ["items", "answers"]
    assert all(e["hashed"] == ["item"] for e in entries)
    assert entries[1]["fixed"] == {"system": "GPT-5"}


opaque = st.lists(
    st.text("bcdfghjkpvwxyz", min_size=3, max_size=8).filter(
        lambda name: not any(name in words for words in NAMES.values())
    ),
    min_size=4,
    max_size=4,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(names=opaque, order=st.permutations(range(4)))
def test_texts_are_found_under_any_name_and_in_any_order(names, order):
    columns = items(tuple(names))
    found = roles([columns[n] for n in order])
    assert found[names[0]] == "item"
    assert found[names[1]] == "text"
    assert found[names[3]] == "stratum"


@settings(max_examples=60, deadline=None)
@given(names=opaque, order=st.permutations(range(3)))
def test_answers_are_found_under_any_name_and_in_any_order(names, order):
    columns = answers(tuple(names[:3]))
    found = roles([columns[n] for n in order])
    assert [found[name] for name in names[:3]] == ["item", "system", "answer"]
    assert missing_roles(Chosen("x.csv", found)) == ()


@settings(max_examples=60, deadline=None)
@given(
    names=opaque,
    order=st.permutations(range(4)),
)
def test_what_no_name_says_is_not_called_clear(names, order):
    """A content alone may be guessed, and then asks to be checked or is likely; the number of a
    row of numbers is no exception."""
    for guess in guesses([items(tuple(names))[n] for n in order]):
        assert guess.confidence != "sure" or guess.role == "unused", guess


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(max_size=12),
            st.lists(st.none() | st.text(max_size=40), min_size=5, max_size=5),
        ),
        max_size=6,
        unique_by=lambda column: column[0],
    ),
    st.randoms(use_true_random=False),
)
def test_any_table_has_a_guess_for_each_column_whatever_their_order(table, draw):
    columns = [Column(name, values) for name, values in table]
    found = {g.column: g for g in guesses(columns)}
    assert set(found) == {name for name, _ in table}
    assert all(g.reason for g in found.values())
    shuffled = list(columns)
    draw.shuffle(shuffled)
    assert {g.column: g for g in guesses(shuffled)} == found


@pytest.mark.parametrize("role", ["item", "text", "answer"])
def test_missing_roles_are_named(role):
    table = {"item": "item", "text": "text", "answer": "answer", "system": "system"}
    without = {name: r for name, r in table.items() if r != role}
    expected = {"item": (), "text": (), "answer": ()}
    assert missing_roles(Chosen("x.csv", without)) == expected[role]
    assert missing_roles(Chosen("x.csv", {"a": "answer"})) == ("item", "system")
    assert missing_roles(Chosen("x.csv", {"a": "label"})) == ("item", "rater", "criterion")
    assert missing_roles(Chosen("x.csv", {"a": "unused"})) == ("text",)
