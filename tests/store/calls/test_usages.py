"""Time, tokens, prices and failures of the calls, by system and judge."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from konsil.records import Call, Usage
from konsil.store import Store
from konsil.store.calls.calls import Calls
from konsil.store.calls.usages import failure, usages

COUNTED = {"in": 100, "out": 20}


def call(n: int, attempt: int = 1, **more: Any) -> Call:
    about = {
        "kind": "answer",
        "who": "s",
        "endpoint": "hosted",
        "outcome": "ok",
        "ended": 1,
        "status": 200,
        "usage": COUNTED,
        "cost": 0.25,
        "seconds": float(n),
        "reply": {"text": "x", "finish": "stop"},
        **more,
    }
    return Call(f"w{n:031d}", attempt, subject=f"q{n}", key="k", model="m", **about)


def unanswered(n: int, attempt: int, status: int, *, ended: int = 0, **more: Any) -> Call:
    outcome = "gave up" if ended else "http error"
    about: dict[str, Any] = {"usage": {}, "reply": {}, "cost": None, "seconds": 900.0, **more}
    return call(n, attempt, outcome=outcome, ended=ended, status=status, **about)


def test_nothing_was_called(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        assert usages(store) == ()


@pytest.mark.slow
def test_latency_is_of_calls_with_a_reply(tmp_path: Path) -> None:
    """The refused call of 900 seconds has no latency, the reply that could not be used has."""
    with Store.open(tmp_path) as store:
        Calls(store).add(
            [
                unanswered(1, 1, 429),
                call(1, 2),
                call(2),
                call(3, outcome="truncated", seconds=30.0),
                unanswered(4, 1, 0, ended=1),
            ]
        )
        [one] = usages(store)
    assert (one.works, one.calls, one.replies) == (4, 5, 3)
    assert one.median == 2.0
    assert one.slow == pytest.approx(
        statistics.quantiles((1.0, 2.0, 30.0), n=10, method="inclusive")[8]
    )
    assert one.slow == pytest.approx(24.4)
    assert one.failures == {"no reply": 1, "rate limit": 1, "truncated": 1}
    assert one.truncated == 1


def test_what_is_not_reported_is_not_zero(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        Calls(store).add([call(1, usage={}, cost=None), call(2, usage={}, cost=None)])
        [one] = usages(store)
    assert (one.tokens_in, one.tokens_out, one.cached) == (None, None, None)
    assert (one.cost, one.cost_estimated, one.unpriced, one.counted) == (None, None, 2, 0)


def test_a_model_that_never_replied_has_no_latency(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        Calls(store).add([unanswered(1, 1, 500, ended=1)])
        [one] = usages(store)
    assert (one.median, one.slow, one.replies) == (None, None, 0)
    assert one.failures == {"server error": 1}


def test_prices_by_reported_and_by_estimated_tokens(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        Calls(store).add(
            [
                call(1, usage={**COUNTED, "cached_tokens": 64}),
                call(2),
                call(3, usage={"in": 7}, cost=0.5),
                unanswered(4, 1, 0, cost=2.0),
            ]
        )
        [one] = usages(store)
    assert (one.cost, one.cost_estimated, one.unpriced) == (0.5, 2.5, 0)
    assert (one.tokens_in, one.tokens_out, one.cached, one.counted) == (207, 40, 64, 2)


def test_systems_and_judges_apart_and_help_before_the_study_left_out(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        Calls(store).add(
            [
                call(1, kind="judge", who="a"),
                call(2, who="z"),
                call(3, who="a"),
                call(4, kind="prepare", who="themes"),
            ]
        )
        assert [(u.kind, u.who, u.calls) for u in usages(store)] == [
            ("answer", "a", 1),
            ("answer", "z", 1),
            ("judge", "a", 1),
        ]


def test_played_models_have_no_latency(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        Calls(store).add([call(1, endpoint="fake")])
        [one] = usages(store)
    assert isinstance(one, Usage)
    assert one.is_played
    assert (one.median, one.slow, one.replies) == (None, None, 1)


@pytest.mark.parametrize(
    ("outcome", "status", "kind"),
    [
        ("http error", 429, "rate limit"),
        ("gave up", 429, "rate limit"),
        ("http error", 503, "overloaded"),
        ("http error", 529, "overloaded"),
        ("http error", 502, "server error"),
        ("http error", 400, "request refused"),
        ("http error", 408, "no reply"),
        ("http error", 200, "no reply"),
        ("filtered", 403, "filtered"),
        ("refused", 200, "refused"),
    ],
)
def test_failures_by_kind(outcome: str, status: int, kind: str) -> None:
    assert failure(outcome, status) == kind
