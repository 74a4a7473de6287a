"""Answers by the batch interfaces of Anthropic and Gemini, in the words of their documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from batch_vendors import (
    AnthropicVendor,
    BatchVendor,
    Fate,
    GeminiVendor,
    Sent,
    content,
    message,
    serving,
)

from konsil.collect.batches.batch_lanes import BatchOptions, Pace
from konsil.collect.jobs.collection import Collected, Options
from konsil.collect.jobs.systems import answer
from konsil.errors import CollectError
from konsil.records import Item
from konsil.store import Store
from konsil.store.calls.batches import Batches
from konsil.store.calls.calls import Calls
from konsil.study import Study, check, parse

pytest.importorskip("anthropic")
pytest.importorskip("google.genai")
pytest.importorskip("pydantic_ai")
pytestmark = pytest.mark.slow

QUICK = Pace(0.0, 0.0, 0.0, 0.0)
KEY = "very-secret"


@dataclass
class Case:
    """One vendor and its words."""

    name: str
    vendor: BatchVendor
    reply: Callable[[str], dict[str, Any]]
    too_long: dict[str, Any]
    url: str = ""

    def fine(self, _body: dict[str, Any]) -> Fate:
        return 200, self.reply("insulin")

    def question(self, body: dict[str, Any]) -> str:
        return json.dumps(body).partition("Question ")[2].partition("?")[0]


CASES: dict[str, Callable[[], Case]] = {
    "anthropic": lambda: Case(
        "anthropic",
        AnthropicVendor(),
        message,
        {"type": "invalid_request_error", "message": "prompt is too long"},
    ),
    "google": lambda: Case(
        "google", GeminiVendor(), content, {"code": 3, "message": "The input is too long."}
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    monkeypatch.setenv("BATCH_KEY", KEY)
    made = CASES[request.param]()
    made.vendor.fate = made.fine
    with serving(made.vendor) as made.url:
        yield made


def study(case: Case) -> Study:
    made = parse(
        f'title = "t"\nseed = 1\n[[endpoints]]\nid = "v"\nvendor = "{case.name}"\n'
        f'url = "{case.url}"\nkey_env = "BATCH_KEY"\n[[systems]]\nid = "secret-system"\n'
        'model = "v:gemini-2.5-flash"\nsettings = { temperature = 0.2, max_tokens = 30 }\n',
        lambda name: f"text of {name}",
    )
    check(made)
    return made


def run(case: Case, store: Store, **options: Any) -> Collected:
    chosen = {
        name: options.pop(name) for name in ("is_waiting", "is_cancelling") if name in options
    }
    return answer(study(case), store, Options(batch=BatchOptions(pace=QUICK, **chosen), **options))


def test_all_items_are_answered_once(case: Case, store: Store, items: tuple[Item, ...]) -> None:
    case.vendor.looks = 2
    done = run(case, store)
    assert done.progress.outcomes == {"ok": 40}
    assert {a.text for a in store.answers()} == {"insulin"}
    assert len(case.vendor.batches) == 1
    assert set(case.vendor.asked.values()) == {1}
    for token in case.vendor.tokens:
        assert "system" not in token
    assert any(KEY in head.values() for head in case.vendor.heads)
    assert KEY not in json.dumps(dict(case.vendor.asked))
    calls = list(Calls(store).each())
    assert {(c.seconds, c.usage["in"], c.usage["out"]) for c in calls} == {(0.0, 100, 20)}
    assert {tuple(sorted(c.sent)) for c in calls} == {("max_tokens", "temperature")}
    assert store.verify_log() == ()


def test_errors_of_single_requests(case: Case, store: Store, items: tuple[Item, ...]) -> None:
    case.vendor.fate = lambda body: (
        (400, case.too_long) if case.question(body) == "3" else case.fine(body)
    )
    assert run(case, store).progress.outcomes == {"ok": 39, "http error": 1}


def test_a_batch_whose_id_was_not_stored_is_found_in_the_list(
    case: Case, store: Store, items: tuple[Item, ...]
) -> None:
    class Killed(BaseException):
        pass

    def fail(*_args: object, **_values: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Batches, "update", fail)
        with pytest.raises(Killed):
            run(case, store)
    [record] = Batches(store).unfinished()
    assert (record.state, record.vendor_id) == ("intended", "")
    assert run(case, store).progress.outcomes == {"ok": 40}
    assert len(case.vendor.batches) == 1


def test_an_intention_that_was_never_sent_is_sent(
    case: Case, store: Store, items: tuple[Item, ...]
) -> None:
    case.vendor.failures = [("POST", 401)]
    with pytest.raises(CollectError):
        run(case, store)
    assert Batches(store).unfinished() == ()
    assert run(case, store).progress.outcomes == {"ok": 40}


def test_cancelling(case: Case, store: Store, items: tuple[Item, ...]) -> None:
    case.vendor.looks = 3
    run(case, store, is_waiting=False)
    # The first time the vendor does not cancel any more.
    cancel = "POST /v1/messages/batches/" if case.name == "anthropic" else "POST /v1beta/batches/"
    case.vendor.failures = [(cancel, 409)]
    done = run(case, store, is_cancelling=True)
    assert done.progress.outcomes == {"ok": 40}
    assert Batches(store).unfinished() == ()


def test_anthropic_does_not_take_another_batch_for_ours(
    store: Store, items: tuple[Item, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCH_KEY", KEY)
    case = CASES["anthropic"]()
    case.vendor.fate = case.fine
    with serving(case.vendor) as case.url:
        case.vendor.failures = [("POST", 500)] * 6
        with pytest.raises(CollectError, match="failed 6 times"):
            run(case, store)
        # Somebody else's batches of the same size, one of them from before.
        for n, age in (("a", timedelta(0)), ("b", timedelta(days=3))):
            others = [(f"other-{k}", {"question": f"{n} {k}"}) for k in range(40)]
            case.vendor.batches[n] = Sent(n, others, {}, created=datetime.now(UTC) - age)
        assert run(case, store).progress.outcomes == {"ok": 40}
        assert set(case.vendor.asked.values()) == {1}
        assert len(case.vendor.batches) == 3


def test_anthropic_stores_what_expired(
    store: Store, items: tuple[Item, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCH_KEY", KEY)
    case = CASES["anthropic"]()
    case.vendor.fate = lambda body: "expired" if case.question(body) == "3" else case.fine(body)
    with serving(case.vendor) as case.url:
        done = run(case, store)
        assert (done.progress.outcomes, done.progress.expired) == ({"ok": 39}, 1)
        case.vendor.fate = case.fine
        assert run(case, store).progress.outcomes == {"ok": 1}


def test_results_that_anthropic_has_archived_have_expired(
    store: Store, items: tuple[Item, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCH_KEY", KEY)
    case = CASES["anthropic"]()
    case.vendor.fate = case.fine
    shown = AnthropicVendor.shown
    with serving(case.vendor) as case.url:
        run(case, store, is_waiting=False)
        with pytest.MonkeyPatch.context() as patch:
            gone = {"archived_at": "2026-02-01T00:00:00Z", "results_url": None}
            patch.setattr(AnthropicVendor, "shown", lambda s, b: {**shown(s, b), **gone})
            done = run(case, store, is_waiting=False)
        assert (done.progress.expired, done.progress.ended, done.progress.batches) == (40, 0, 0)
