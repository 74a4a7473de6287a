"""Keys cover everything that can change a reply; prices and estimates."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.collect.fake.fake import FakeProvider, Faults, Script, fill, knows, script_of
from konsil.collect.providers.provider import Message, Request, clean, request_key, work_key
from konsil.collect.running.budget import Budget
from konsil.collect.running.prices import tokens_of
from konsil.errors import CollectError
from konsil.store.engine.rows import CALLS

ONE = Request(
    "m",
    (Message("user", "?"),),
    0.0,
    1.0,
    9,
    7,
    2,
    {"type": "object"},
    ({"type": "web"},),
    {"x": 1},
)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"messages": (Message("user", "!"),)},
        {"messages": (Message("system", "?"),)},
        {"temperature": 0.1},
        {"temperature": None},
        {"top_p": 0.9},
        {"max_tokens": 8},
        {"seed": 8},
        {"logprobs": 1},
        {"schema": {"type": "array"}},
        {"schema": None},
        {"tools": ()},
        {"options": {"x": 2}},
    ],
)
def test_whatever_can_change_the_reply_changes_the_key(change: dict[str, object]) -> None:
    assert request_key("e", replace(ONE, **change)) != request_key("e", ONE)  # type: ignore[arg-type]


def test_endpoint_repeat_and_order_of_keys() -> None:
    assert (
        request_key("f", ONE) != request_key("e", ONE) != request_key("e", replace(ONE, repeat=1))
    )
    swapped = replace(ONE, options={"b": 1, "a": {"d": 1, "c": 2}})
    assert request_key("e", swapped) == request_key(
        "e", replace(ONE, options={"a": {"c": 2, "d": 1}, "b": 1})
    )
    works = {
        work_key(*p, "k") for p in (("answer", "a", "i"), ("judge", "a", "i"), ("answer", "ai", ""))
    }
    assert len(works) == 3


def test_every_field_of_a_request_is_in_its_key() -> None:
    """A new field must be added to the key, or replies to different requests would be taken for the
    same."""
    assert set(Request.__slots__) == {
        "model",
        "messages",
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "logprobs",
        "schema",
        "tools",
        "options",
        "repeat",
        "without",
    }
    # What an endpoint refuses is left out of an attempt, and the same is asked for: no other work.
    assert request_key("e", ONE) == request_key("e", replace(ONE, without=frozenset({"seed"})))


@given(st.text(st.characters(codec=None)))
def test_a_cleaned_text_can_be_stored(text: str) -> None:
    found = clean(text)
    assert len(found) == len(text)
    CALLS.fields[-2].to_cell(found)


def test_tokens_are_estimated_by_length() -> None:
    assert tokens_of(ONE) < tokens_of(replace(ONE, messages=(Message("user", "?" * 300),)))


def test_a_character_of_another_script_is_a_token_and_several_latin_letters_are_one() -> None:
    chinese = tokens_of(replace(ONE, messages=(Message("user", "糖尿病患者" * 150),)))
    latin = tokens_of(replace(ONE, messages=(Message("user", "dia b" * 150),)))
    assert 750 <= chinese <= 900
    assert latin < chinese / 2


def test_a_budget_holds_what_is_under_way() -> None:
    budget = Budget(1.0, 0.25)
    assert budget.hold(0.5)
    assert not budget.hold(0.5)
    budget.settle_cost(0.5, 0.1)
    assert budget.hold(0.5)
    assert Budget(None).hold(1e9)


def test_the_fake_fills_schemas() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "enum": ["x", "y"]},
            "b": {"type": "integer", "minimum": 1, "maximum": 3},
            "c": {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
            "d": {"const": 4},
            "e": {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]},
        },
    }
    import json

    found = json.loads(fill(replace(ONE, schema=schema), random.Random(1)))
    assert found["a"] in ("x", "y")
    assert found["b"] in (1, 2, 3)
    assert [type(v) for v in found["c"]] == [bool, bool]
    assert found["d"] == 4
    assert found["e"] is None or 0 <= found["e"] <= 1


def test_the_fake_is_drawn_from_seed_and_request_alone() -> None:
    faults = Faults(busy=0.3, server=0.3)
    requests = [replace(ONE, messages=(Message("user", str(n)),)) for n in range(50)]
    one, two, other = (Script(faults=faults, seed=s) for s in (1, 1, 2))
    said = [one.act(r) for r in requests]
    assert [two.act(r) for r in reversed(requests)][::-1] == said
    assert [other.act(r) for r in requests] != said
    assert [one.act(r)[0] for r in requests] != [fault for fault, _ in said], (
        "a second try is drawn anew"
    )


def test_names_of_fake_models() -> None:
    assert script_of("plain", {}).faults == Faults()
    assert script_of("x,busy=0.1,seed=4", {}).seed == 4
    with pytest.raises(CollectError, match="busy is 'often', expected a number"):
        script_of("busy=often", {})
    assert knows({"?": "iron"}, 1.0)(ONE, random.Random(1)) == "iron"
    assert FakeProvider().calls == 0
