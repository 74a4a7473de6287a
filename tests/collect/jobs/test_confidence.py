"""Log-probabilities of tokens, however a tokeniser cuts them, become probabilities of labels."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from konsil.collect.fake.fake_tokens import logprobs
from konsil.collect.jobs.confidence import chances
from konsil.collect.providers.replies import read_body
from konsil.instrument import Criterion, Field, Scale, schema


def field(*labels: str, name: str = "correct.a1") -> Field:
    return Field(name, Criterion("correct", "?", Scale(labels)), (0,))


def token(text: str, p: float = 1.0, **others: float) -> dict[str, Any]:
    top = {text: math.log(p), **{name: math.log(q) for name, q in others.items()}}
    return {"token": text, "logprob": math.log(p), "top": top}


def reply(*value: dict[str, Any]) -> list[dict[str, Any]]:
    return [token('{"'), token("correct"), token(".a1"), token('":'), *value]


def test_a_label_of_one_token() -> None:
    found = chances(
        field("no", "yes"), reply(token(' "'), token("yes", 0.6, no=0.2, maybe=0.2), token('"}'))
    )
    assert found == pytest.approx({"no": 0.25, "yes": 0.75})


def test_a_token_that_begins_with_the_quotation_mark() -> None:
    found = chances(
        field("no", "yes"),
        reply(token(' "yes', 0.7, **{' "no': 0.1, "no": 0.1, ' "n': 0.1}), token('"}')),
    )
    assert found == pytest.approx({"no": 2 / 9, "yes": 7 / 9}, abs=1e-9)


def test_labels_that_begin_alike_are_told_apart_where_they_part() -> None:
    value = [
        token(' "'),
        token("not", 0.8, yes=0.2),
        token(" wrong", 0.5, **{" right": 0.5}),
        token('"}'),
    ]
    found = chances(field("not right", "not wrong", "yes"), reply(*value))
    assert found == pytest.approx({"not right": 0.4, "not wrong": 0.4, "yes": 0.2})


def test_a_label_that_is_the_beginning_of_another() -> None:
    value = [token(' "'), token("no", 1.0), token('"', 0.9, **{"t": 0.1}), token("}")]
    assert chances(field("no", "not sure"), reply(*value)) == pytest.approx(
        {"no": 0.9, "not sure": 0.1}
    )


def test_numbers_without_quotation_marks() -> None:
    found = chances(
        field("1", "10", "2"),
        reply(token(" "), token("1", 0.6, **{"2": 0.2, "10": 0.2}), token("}")),
    )
    assert found["2"] == pytest.approx(0.2)
    assert found["1"] + found["10"] == pytest.approx(0.8)


def test_the_last_object_counts_and_quoted_words_do_not() -> None:
    planted = token('"why": "\\"correct.a1\\": \\"no\\"", ')
    first = [token('{"correct.a1": "'), token("no", 0.9, yes=0.1), token('"}\n')]
    value = [
        *first,
        token("{"),
        planted,
        token('"correct.a1": "'),
        token("yes", 0.8, no=0.2),
        token('"}'),
    ]
    assert chances(field("no", "yes"), value)["yes"] == pytest.approx(0.8)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        [token("I cannot say.")],
        reply(token(' "'), token("perhaps"), token('"}')),
        reply(token(' "'), {"token": "yes", "logprob": None, "top": {}}, token('"}')),
    ],
)
def test_what_cannot_be_told_is_not(tokens: list[dict[str, Any]]) -> None:
    assert chances(field("no", "yes"), tokens) == {}


def test_case_that_the_reader_forgives_is_forgiven_here() -> None:
    found = chances(
        field("No", "Yes"), reply(token(' "'), token("yes", 0.5, Yes=0.25, no=0.25), token('"}'))
    )
    assert found == pytest.approx({"No": 0.25, "Yes": 0.75})


LABELS = ("Richtig", "Falsch", "Keine Angabe", "Größe „µ“", 'a "quoted" one')


@settings(deadline=None)
@given(st.sampled_from(LABELS), st.integers(0, 2**20), st.integers(2, 5))
def test_the_fakes_own_probabilities_come_back(label: str, seed: int, n: int) -> None:
    """The fake gives a label as one token with the others beside it: what is read is what it
    drew."""
    plain = LABELS[:4]
    one, two = (
        field(*plain),
        Field("difficulty", Criterion("difficulty", "?", Scale(("easy", "hard")))),
    )
    label = label if label in plain else plain[0]
    text = json.dumps({"correct.a1": label, "difficulty": "hard"}, ensure_ascii=False)
    told = logprobs(text, schema([one, two]), n, random.Random(seed))
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop", "logprobs": told}]}
    read = read_body(json.dumps(body))
    assert read is not None
    assert "".join(t["token"] for t in read.logprobs) == text
    for asked in (one, two):
        found = chances(asked, read.logprobs)
        assert math.fsum(found.values()) == pytest.approx(1.0)
        drawn = next(t for t in read.logprobs if t["token"] == (label if asked is one else "hard"))
        if n >= len(asked.options):
            assert found[drawn["token"]] == pytest.approx(math.exp(drawn["logprob"]), abs=1e-9)
        assert 0.0 < found[drawn["token"]] <= 1.0


@settings(deadline=None)
@given(st.data())
def test_however_a_label_is_cut_its_probability_is_the_product(data: st.DataObject) -> None:
    labels = ("wrong", "right", "wrist")
    chosen = data.draw(st.sampled_from(labels))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(chosen) - 1), max_size=3)))
    pieces = [chosen[a:b] for a, b in zip([0, *cuts], [*cuts, len(chosen)], strict=True)]
    tokens, left, expected = [token(' "')], set(labels), 1.0
    before = ""
    for piece in pieces:
        others = {label[len(before) : len(before) + len(piece)] for label in left} - {piece}
        p = data.draw(st.floats(0.1, 0.9)) if others else 1.0
        tokens.append(token(piece, p, **{o: (1 - p) / len(others) for o in others}))
        before += piece
        left = {label for label in left if label.startswith(before)}
        expected *= p
    found = chances(field(*labels), reply(*tokens, token('"}')))
    assert found[chosen] == pytest.approx(expected)
    assert math.fsum(found.values()) == pytest.approx(1.0)
