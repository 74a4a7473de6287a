"""What the methods say of models: nothing that a model did not take; and pairs seen in both
orders."""

from __future__ import annotations

import json

import pytest

from konsil.analysis.model.results import OrderRow
from konsil.analysis.table.frame import Data
from konsil.analysis.table.model_provenance import model_call_sentences, orders, played
from konsil.analysis.table.outcomes import outcomes
from konsil.instrument import Criterion, Instrument, Scale
from konsil.records import Attempt, Callee, Rater, Rating, Task

BETTER = Criterion("better", "?", Scale(("A", "tie", "B")), "pair")
FORM = Instrument("form", (BETTER,), unit="pair")


def told(*callees: Callee, rows: tuple[OrderRow, ...] = ()) -> list[str]:
    return [str(s) for s in model_call_sentences(callees, rows)]


def test_what_was_asked_and_taken_is_said() -> None:
    one = Callee(
        "judge",
        "j",
        "hosted:m",
        9,
        ("m",),
        {"temperature": (0.0,), "seed": (7, 8, 9), "max_tokens": (5,)},
    )
    assert told(one) == [
        "LLM judge ratings were collected from j (hosted:m; temperature 0, seed 7–9)."
    ]
    assert told(Callee("answer", "s", "hosted:m", 9, ("m-2025",))) == [
        "Answers were collected from s (hosted:m, reported by the endpoint as m-2025; sampling by the endpoint's"
        " default)."
    ]


def test_models_that_do_not_exist_are_told() -> None:
    fakes = [Callee("answer", "s", "fake:m", 9), Callee("judge", "j", "fake:m,right=0.5", 9)]
    assert (
        "s and j: konsil's scripted test endpoint"
        in told(*fakes, Callee("judge", "k", "hosted:m", 9))[2]
    )


def test_models_that_are_played_are_told_in_the_first_lines() -> None:
    fakes = [Callee("answer", "s", "fake:m", 9), Callee("judge", "j", "fake:m,right=0.5", 9)]
    real = Callee("judge", "k", "hosted:m", 9)
    assert str(played([*fakes, real], named=True)).startswith(
        "Scripted test endpoint: s and j are not language models"
    )
    hidden = str(played(fakes, named=False))
    assert "some of the answers or ratings" in hidden
    assert played([real], named=True) is None


def test_what_a_model_refuses_is_never_claimed() -> None:
    asked = {"temperature": (0.0,), "seed": (7,)}
    said, *more = told(
        Callee("judge", "j", "hosted:m", 9, ("m",), asked, {"temperature": 9, "seed": 9})
    )
    assert "temperature" not in said
    assert more == ["j does not accept temperature and seed: all its 9 calls were made without."]
    _, *more = told(Callee("judge", "j", "hosted:m", 1200, ("m",), asked, {"seed": 1000}))
    assert more == ["j did not always accept seed: 1,000 of 1,200 calls were made without."]


def test_a_server_without_log_probabilities_is_told() -> None:
    _, more = told(Callee("judge", "j", "hosted:m", 9, ("m",), {"logprobs": (5,)}, {"logprobs": 9}))
    assert more == "j gave no log-probabilities in 9 of 9 calls; their labels have no confidence."


def test_votes_are_told() -> None:
    three = [Callee("judge", name, "hosted:m", 9, ("m",), votes=3) for name in ("j1", "j2")]
    assert "j1 and j2 rated each task 3 times" in told(*three)[-1]


def rating(task: str, label: str) -> Rating:
    return Rating(task, "j", "better", task, (f"{task}:a", f"{task}:b"), label=label)


def contradicted(task: str) -> Attempt:
    raw = json.dumps(
        {"criterion": "better", "answers": [f"{task}:a", f"{task}:b"], "votes": ["A", "B"]}
    )
    return Attempt(f"{task}.1.0", task, "j", "inconsistent", raw, "2026-01-01T00:00:09Z")


def data(*, tie: bool) -> Data:
    """Ten pairs of a judge, three of them inconsistent."""
    tasks = [f"t{n}" for n in range(10)]
    rated = [rating(t, "tie" if n < 3 else "A") for n, t in enumerate(tasks) if tie or n >= 3]
    fine = [
        Attempt(f"{t}.{k}", t, "j", "ok", at="2026-01-01T00:00:01Z")
        for t in tasks
        for k in range(2)
    ]
    return Data(
        raters=[Rater("j", "judges", "llm")],
        tasks=[Task(t, t, "j", "form", t, (f"{t}:a", f"{t}:b")) for t in tasks],
        ratings=rated,
        attempts=[*fine, *map(contradicted, tasks[:3])],
        callees=[Callee("judge", "j", "hosted:m", 20, ("m",), both_orders=True, tie=tie)],
    )


@pytest.mark.parametrize("tie", [False, True])
def test_contradictions_are_a_number_whatever_the_rule(tie: bool) -> None:
    found = orders(data(tie=tie), [FORM])
    assert found == (OrderRow("j", "better", 10, 3),)
    said = told(*data(tie=tie).callees, rows=found)[-1]
    assert "j 3 of 10 on better (30.0%)" in said
    assert f"verdicts counted as {'ties' if tie else 'missing'}: " in said


def test_a_judge_that_never_contradicts_itself_is_counted_too() -> None:
    calm = Data(ratings=[rating("t", "A")], callees=data(tie=False).callees)
    assert orders(calm, [FORM]) == (OrderRow("j", "better", 1, 0),)
    assert orders(Data(ratings=[rating("t", "A")]), [FORM]) == ()


def test_tasks_that_contradict_themselves_have_an_outcome_of_their_own() -> None:
    from konsil.analysis.model.spec import Exclusions
    from konsil.analysis.table.frame import rating_table

    made = data(tie=False)
    [row] = outcomes(made, rating_table(made, Exclusions(), (FORM,)))
    assert row.counts == {"ok": 7, "inconsistent": 3}
