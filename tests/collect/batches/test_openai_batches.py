"""Answers by OpenAI's batch interface: nothing twice, nothing lost, whatever the vendor does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from batch_vendors import OpenAIVendor, chat, fine, serving

from konsil.collect.batches.batch_lanes import BatchOptions, Pace
from konsil.collect.jobs.collection import Collected, Options
from konsil.collect.jobs.systems import answer
from konsil.errors import CollectError
from konsil.records import Item
from konsil.store import Store
from konsil.store.calls.batches import Batches
from konsil.store.calls.calls import Calls
from konsil.study import Study, check, parse

QUICK = Pace(0.0, 0.0, 0.0, 0.0)
KEY = "very-secret"


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> OpenAIVendor:
    monkeypatch.setenv("BATCH_KEY", KEY)
    return OpenAIVendor()


@pytest.fixture
def url(vendor: OpenAIVendor) -> Iterator[str]:
    with serving(vendor) as address:
        yield f"{address}/v1"


def study(url: str, endpoint: str = "", settings: str = "") -> Study:
    more = f", {settings}" if settings else ""
    made = parse(
        f'title = "t"\nseed = 1\n[[endpoints]]\nid = "h"\nurl = "{url}"\nkey_env = "BATCH_KEY"\n'
        f'{endpoint}\n[[systems]]\nid = "secret-system"\nmodel = "h:m"\n'
        f"settings = {{ temperature = 0.2, max_tokens = 30{more} }}\n",
        lambda name: f"text of {name}",
    )
    check(made)
    return made


def run(made: Study, store: Store, **options: Any) -> Collected:
    chosen = {
        name: options.pop(name) for name in ("is_waiting", "is_cancelling") if name in options
    }
    return answer(made, store, Options(batch=BatchOptions(pace=QUICK, **chosen), **options))


def question(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"])


@pytest.mark.slow
def test_all_items_are_answered_in_one_batch(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.looks = 3
    done = run(study(url), store)
    assert (done.n_records, done.progress.outcomes) == (40, {"ok": 40})
    assert len(vendor.batches) == 1
    assert set(vendor.asked.values()) == {1}
    assert Batches(store).unfinished() == ()
    assert store.verify_log() == ()
    calls = list(Calls(store).each())
    assert {(c.outcome, c.seconds, c.cost) for c in calls} == {("ok", 0.0, 0.0)}
    assert run(study(url), store).progress.total == 0
    # Direct calls find everything answered.
    assert answer(study(url), store, Options()).progress.total == 0


def test_what_the_vendor_gets_says_nothing_of_the_study(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    run(study(url), store)
    [batch] = vendor.batches.values()
    [(name, data)] = vendor.files.values()
    for text in (*vendor.tokens, json.dumps(batch.about), name):
        assert "system" not in text
        assert not any(item.id in text.split("-") for item in items)
    assert "secret-system" not in data.decode()
    assert {h.get("Authorization") for h in vendor.heads} == {f"Bearer {KEY}"}
    assert KEY not in data.decode()


def test_the_body_is_that_of_a_direct_call(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    run(study(url), store, limit=1)
    [body] = map(json.loads, vendor.asked)
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Question 0?"}],
        "temperature": 0.2,
        "max_tokens": 30,
    }


@pytest.mark.slow
def test_a_batch_is_half_the_price_and_is_set_aside_as_a_whole(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...], monkeypatch: Any
) -> None:
    from konsil.collect.jobs import jobs

    monkeypatch.setattr(jobs, "_LOOPBACK", set())
    priced = study(url, settings="price_in = 10.0, price_out = 20.0")
    dry = run(priced, store, dry_run=True)
    direct = answer(priced, store, Options(dry_run=True))
    assert dry.todos[0].cost() == pytest.approx((direct.todos[0].cost() or 0.0) / 2)
    # Its text has at most 156 tokens, its reply 30.
    most = (len("Question 10?") + 16 + 128) * 5e-6 + 30 * 10e-6
    cost = 100 * 5e-6 + 20 * 10e-6
    # What a batch costs less than was set aside is there for the next ones: 10 + 4 + 1 + 1 fit.
    cut = run(priced, store, budget=10.5 * most, is_waiting=False)
    assert "the budget of 0.01134 US dollars does not suffice" in cut.progress.stopped
    assert [len(b.requests) for b in vendor.batches.values()] == [10]
    assert (cut.spent, cut.progress.remaining) == (0.0, 30)
    direct = answer(priced, store, Options(budget=10.5 * most, limit=1))
    assert (direct.progress.calls, direct.spent) == (0, 0.0)
    cut = run(priced, store, budget=10.5 * most)
    assert cut.spent == pytest.approx(cut.progress.ended * cost)
    assert sum(len(b.requests) for b in vendor.batches.values()) == cut.progress.ended
    assert cut.spent + most > 10.5 * most >= cut.spent
    with pytest.raises(CollectError, match="budget: expected 0"):
        run(priced, store, budget=-1.0)
    assert run(priced, store).progress.ended == 40 - cut.progress.ended


@pytest.mark.slow
def test_batches_under_way_are_resumed_and_hold_their_share_of_the_budget(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.looks = 3
    first = run(study(url), store, is_waiting=False)
    assert (first.progress.batches, first.progress.in_batches) == (1, 40)
    assert first.progress.ended == 0
    direct = answer(study(url), store, Options())
    assert (direct.progress.total, direct.todos[0].n_under_way) == (0, 40)
    assert run(study(url), store, is_waiting=False).progress.batches == 1
    last = run(study(url), store)
    assert last.progress.outcomes == {"ok": 40}
    assert len(vendor.batches) == 1


@pytest.mark.slow
def test_replies_that_cannot_be_read_are_asked_again_in_another_batch(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    def fate(body: dict[str, Any]) -> Any:
        is_second = len(body["messages"]) > 1
        number = int(question(body).split()[1].rstrip("?"))
        return 200, chat("" if number < 3 and not (is_second and number) else "insulin")

    vendor.fate = fate
    done = run(study(url), store)
    assert done.progress.outcomes == {"ok": 37, "re-asked": 2, "empty": 1}
    assert [len(b.requests) for b in vendor.batches.values()] == [40, 3]
    assert set(vendor.asked.values()) == {1}


@pytest.mark.slow
def test_a_refused_parameter_is_left_out_in_the_next_batch(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    def fate(body: dict[str, Any]) -> Any:
        error = {"message": "Unsupported parameter: 'temperature'", "param": "temperature"}
        return (400, {"error": error}) if "temperature" in body else fine(body)

    vendor.fate = fate
    # Also when the run ends between the two.
    run(study(url), store, is_waiting=False)
    run(study(url), store, is_waiting=False)
    done = run(study(url), store)
    assert done.progress.outcomes == {"ok": 40}
    assert set(vendor.asked.values()) == {1}
    assert all("temperature" not in c.sent for c in Calls(store).each() if c.ended)


@pytest.mark.slow
def test_errors_of_single_requests(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    def fate(body: dict[str, Any]) -> Any:
        match int(question(body).split()[1].rstrip("?")):
            case 0:
                return 400, {"error": {"message": "the context is too long"}}
            case 1:
                return 400, {"error": {"code": "content_filter", "message": "flagged"}}
            case 2:
                return 500, {"error": {"message": "internal"}}
        return fine(body)

    vendor.fate = fate
    done = run(study(url, "tries = 2"), store)
    assert done.progress.outcomes == {"ok": 37, "http error": 1, "filtered": 1, "gave up": 1}
    assert [len(b.requests) for b in vendor.batches.values()] == [40, 1]


def test_duplicates_foreign_ids_and_broken_lines(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    foreign = json.dumps({"custom_id": "other-1", "response": {"status_code": 200, "body": {}}})

    def lines(rows: list[str]) -> list[str]:
        return [*rows, *rows[:5], foreign, "[]"] if rows else []

    vendor.lines = lines
    done = run(study(url), store)
    assert done.progress.outcomes == {"ok": 40}
    assert len(list(Calls(store).each())) == 40


@pytest.mark.slow
def test_a_result_that_is_absent_is_asked_again(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    seen: set[str] = set()

    def fate(body: dict[str, Any]) -> Any:
        is_lost = question(body) == "Question 7?" and not seen
        seen.update({"lost"} if is_lost else ())
        return "lost" if is_lost else fine(body)

    vendor.fate = fate
    done = run(study(url), store)
    assert done.progress.outcomes == {"ok": 40}
    assert [len(b.requests) for b in vendor.batches.values()] == [40, 1]


@pytest.mark.slow
def test_what_expired_is_stored_as_that_and_asked_anew_by_the_next_run(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.ends = "expired"
    vendor.fate = lambda body: fine(body) if question(body) < "Question 3" else "expired"
    done = run(study(url), store)
    answered = sum(f"Question {n}?" < "Question 3" for n in range(40))
    assert done.progress.outcomes == {"ok": answered}
    assert done.progress.expired == 40 - answered
    stored = [c.outcome for c in Calls(store).each()]
    assert stored.count("expired") == 40 - answered
    vendor.ends, vendor.fate = "completed", fine
    again = run(study(url), store)
    assert again.progress.outcomes == {"ok": 40 - answered}
    assert max(c.attempt for c in Calls(store).each()) == 2
    assert sum(vendor.asked.values()) == 40 + 40 - answered


@pytest.mark.slow
def test_cancelling_stores_what_was_answered_and_sends_nothing(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.looks = 9
    run(study(url), store, is_waiting=False)
    vendor.fate = lambda body: fine(body) if question(body) < "Question 3" else "cancelled"
    done = run(study(url), store, is_cancelling=True)
    answered = sum(f"Question {n}?" < "Question 3" for n in range(40))
    assert done.progress.outcomes == {"ok": answered}
    assert Batches(store).unfinished() == ()
    vendor.looks, vendor.fate = 1, fine
    assert answer(study(url), store, Options(dry_run=True)).progress.total == 40 - answered
    assert run(study(url), store).progress.outcomes == {"ok": 40 - answered}


@pytest.mark.slow
def test_a_batch_that_is_refused_as_a_whole_waits_for_another(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.ends = "failed"
    with pytest.raises(CollectError, match="refused a batch of 'secret-system': token_limit"):
        run(study(url), store)
    assert list(Calls(store).each()) == []
    vendor.ends = "completed"
    assert run(study(url), store).progress.outcomes == {"ok": 40}


@pytest.mark.slow
def test_a_busy_or_failing_vendor_is_asked_again(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.failures = [
        ("POST /v1/files", 429),
        ("POST /v1/batches", 500),
        ("GET /v1/batches/", 429),
        ("GET /v1/batches/", 503),
        ("GET /v1/files/", 500),
    ]
    assert run(study(url), store).progress.outcomes == {"ok": 40}
    assert (len(vendor.batches), len(vendor.files)) == (1, 1)
    assert vendor.failures == []


@pytest.mark.slow
def test_results_that_break_off_are_read_again(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...], monkeypatch: Any
) -> None:
    from konsil.collect.batches import results

    monkeypatch.setattr(results, "CHUNK", 7)
    vendor.cuts = 2
    assert run(study(url), store).progress.outcomes == {"ok": 40}
    assert [c.attempt for c in Calls(store).each()] == [1] * 40
    assert set(vendor.asked.values()) == {1}


@pytest.mark.slow
def test_a_key_that_is_refused_ends_the_run(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.failures = [("POST /v1/files", 401)]
    with pytest.raises(CollectError, match="does not accept the key"):
        run(study(url), store)
    assert run(study(url), store).progress.outcomes == {"ok": 40}


@pytest.mark.slow
def test_a_model_that_gives_nothing_usable_is_sent_no_further_batch(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.fate = lambda _body: (200, chat(""))
    done = run(study(url), store)
    assert (
        "20 consecutive requests of 'secret-system' had no text"
        in (done.progress.hopeless["secret-system"])
    )
    assert [len(b.requests) for b in vendor.batches.values()] == [40]
    assert done.progress.remaining == 40


@pytest.mark.slow
def test_an_error_of_the_account_in_the_results_ends_the_run(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    error = {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}
    vendor.fate = lambda _body: (404, error)
    with pytest.raises(CollectError, match="does not know the model"):
        run(study(url), store)
    assert len(vendor.batches) == 1
    vendor.fate = fine
    assert run(study(url), store).progress.outcomes == {"ok": 40}


@pytest.mark.slow
def test_a_batch_of_another_model_is_named(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.looks = 2
    run(study(url), store, limit=3, is_waiting=False)
    other = study(url)
    changed = replace(other, systems=(replace(other.systems[0], model="h:m2"),))
    with pytest.raises(CollectError, match="was sent to h:m; restore this model"):
        run(changed, store, limit=1, is_waiting=False)


@pytest.mark.slow
def test_batches_are_no_larger_than_the_vendor_takes(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...], monkeypatch: Any
) -> None:
    from konsil.collect.batches import openai_batches
    from konsil.collect.batches.interface import Caps

    monkeypatch.setattr(openai_batches.OpenAIBatches, "caps", Caps(15, 10**6))
    assert run(study(url), store).progress.outcomes == {"ok": 40}
    assert [len(b.requests) for b in vendor.batches.values()] == [15, 15, 10]
    assert all(token.split("-")[1] == str(n % 15) for n, token in enumerate(vendor.tokens))


@pytest.mark.slow
def test_a_changed_protocol_does_not_get_replies_to_other_questions(
    vendor: OpenAIVendor, url: str, store: Store, items: tuple[Item, ...]
) -> None:
    vendor.looks = 2
    run(study(url), store, limit=5, is_waiting=False)
    changed = study(url, settings="seed = 3")
    with pytest.raises(CollectError, match="5 requests in a batch of 'secret-system'"):
        run(changed, store, limit=1)
    assert run(study(url), store, limit=5).progress.outcomes["ok"] >= 5


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ["fake", "local"])
def test_endpoints_without_batches_are_refused(
    endpoint: str, store: Store, items: tuple[Item, ...]
) -> None:
    made = parse(
        f'title = "t"\nseed = 1\n[[systems]]\nid = "a"\nmodel = "{endpoint}:smollm2"\n', str
    )
    with pytest.raises(CollectError, match="has no batch interface"):
        run(made, store)
