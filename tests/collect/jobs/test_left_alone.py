"""Runs that are left alone: whatever a server does, every work ends, typed and right."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import HIT, Server, protocol, serving

from konsil.cli.collecting import run_lines
from konsil.cli.main import main
from konsil.collect.jobs.collection import Collected, Options
from konsil.collect.jobs.systems import answer
from konsil.errors import CollectError, options_as_flags
from konsil.records import Item
from konsil.store import Batch, Store
from konsil.store.calls.calls import Calls
from konsil.study import check, parse

AT = "2025-03-01T12:00:00Z"
N = 6
QUICK = "concurrency = 2\nseconds = 5\ntries = 3\nstop_after = 0"
OK = {"ok": N}
BUT_ONE = {"ok": N - 1}


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    with serving(server) as address:
        yield address


def run(folder: Path, text: str, n: int = N, **options: object) -> tuple[Collected, Store]:
    """Answer n items; the store is left open for a look at it."""
    study = parse(text, lambda name: name)
    check(study)
    store = Store.open(folder)
    if not store.items():
        items = [
            Item(f"i{k}", f"Question q{k} about the patient's temperature of 39?") for k in range(n)
        ]
        store.add(Batch(items=items), source="items", at=AT)
    return answer(study, store, Options(back_off=0.001, **options)), store  # type: ignore[arg-type]


TABLE: dict[str, dict[str, int]] = {
    # Replies, and why they ended.
    "ok": OK,
    "byte order mark": OK,
    "no reason": OK,
    "null content": {"empty": N},
    "length": {"truncated": N},
    "content filter": {"filtered": N},
    "part, then filter": {"filtered": N},
    "RECITATION": {"filtered": N},
    "PROHIBITED_CONTENT": {"filtered": N},
    "a detail": {"filtered": N},
    "refusal": {"refused": N},
    "tool calls": {"ended otherwise": N},
    "tool calls and a part": {"ended otherwise": N},
    "unheard of": {"ended otherwise": N},
    "pause_turn": {"ended otherwise": N},
    "error": {"gave up": N},
    "an error in a reply": {"gave up": N},
    "cut": {"gave up": N},
    # Thoughts.
    "reasoning": OK,
    "think": OK,
    "think without opening": OK,
    "thinking": OK,
    "harmony": OK,
    "own marks": OK,
    "think, cut": {"truncated": N},
    "think, no end": {"empty": N},
    # One item is withheld, or not taken.
    "one: openrouter moderation": {**BUT_ONE, "filtered": 1},
    "one: azure content filter": {**BUT_ONE, "filtered": 1},
    "one: openai usage policy": {**BUT_ONE, "filtered": 1},
    "one: a firewall's page": {**BUT_ONE, "filtered": 1},
    "one: forbidden, no more": {**BUT_ONE, "filtered": 1},
    "one: openai context": {**BUT_ONE, "http error": 1},
    "one: openai cap too large": {**BUT_ONE, "http error": 1},
    "one: openai too large": {**BUT_ONE, "http error": 1},
    "repeats the question": {**BUT_ONE, "http error": 1},
    "blames and refuses": {**BUT_ONE, "http error": 1},
    "all: openrouter moderation": {"filtered": N},
    # A parameter that is not taken.
    "one: openai temperature": OK,
    "one: openai cap": OK,
    "one: anthropic temperature": OK,
    # Patience: more often than `tries`, and nothing is lost.
    "retryDelay": OK,
    "first: openai rate": OK,
    "first: google overloaded": OK,
    "first: anthropic overloaded": OK,
    "first: mistral capacity": OK,
    "first: openrouter, in a reply": OK,
    "first: a proxy's page": {"gave up": N},
}


WAITING = ("retryDelay", "first: ")
"""Modes in which a run waits as long as the server asks for."""


@pytest.mark.covering(3)
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(mode, marks=[pytest.mark.slow] if mode.startswith(WAITING) else [])
        for mode in TABLE
    ],
)
def test_every_work_ends_typed_and_right(
    mode: str, tmp_path: Path, url: str, server: Server
) -> None:
    settings = 'temperature = 0.2, max_tokens = 64, thoughts = [["<plan>", "</plan>"]]'
    done, store = run(tmp_path, protocol(url, {"s": mode}, QUICK, settings))
    with store:
        assert done.progress.outcomes == TABLE[mode]
        assert done.progress.total == N
        calls = list(Calls(store).each())
        assert len(calls) == len(server.bodies), "every request has a row"
        assert Counter(c.work for c in calls if c.ended) == dict.fromkeys(
            {c.work for c in calls}, 1
        )
        answers = store.answers()
        assert len(answers) == TABLE[mode].get("ok", 0)
        assert {a.text for a in answers} <= {"insulin"}
        thinks = mode in (
            "reasoning",
            "think",
            "think without opening",
            "thinking",
            "harmony",
            "own marks",
        )
        assert {"secret" in a.reasoning for a in answers} <= {thinks}
        assert all("secret" not in str(c.reply.get("text", "")) for c in calls)
        assert store.verify_log() == ()


@pytest.mark.parametrize("concurrency", [1, 16])
def test_one_forbidden_item_is_one_outcome_and_the_study_goes_on(
    tmp_path: Path, url: str, concurrency: int
) -> None:
    text = protocol(url, {"s": "one: forbidden, no more"}, f"concurrency = {concurrency}")
    done, store = run(tmp_path, text, 40)
    with store:
        assert done.progress.outcomes == {"ok": 39, "filtered": 1}
    # Alone in a later run it is still the item, as the model has been heard before.
    done, store = run(tmp_path, text, again=("filtered",))
    with store:
        assert done.progress.outcomes == {"filtered": 1}


@pytest.mark.parametrize("n", [1, 40])
def test_a_key_that_may_do_nothing_stops_its_endpoint(
    tmp_path: Path, url: str, server: Server, n: int
) -> None:
    text = protocol(url, {"s": "all: forbidden, no more"}, "concurrency = 4")
    with pytest.raises(
        CollectError, match="'h': does not permit this; status 403; check what its key may do"
    ):
        run(tmp_path, text, n)
    assert len(server.bodies) <= 12


def test_an_account_at_fault_leaves_the_other_endpoints_alone(
    tmp_path: Path, url: str, server: Server
) -> None:
    text = protocol(url, {"s": "all: openai quota"}, "concurrency = 2")
    text += (
        f'[[endpoints]]\nid = "k"\nurl = "{url}"\nconcurrency = 2\n[[systems]]\nid = "t"\nmodel ='
        ' "k:ok"\n'
    )
    with pytest.raises(CollectError, match="'h': the account's quota is used up"):
        run(tmp_path, text, 40)
    with Store.open(tmp_path) as store:
        assert len(store.answers()) == 40


def test_what_one_item_says_about_a_parameter_changes_no_other_call(
    tmp_path: Path, url: str, server: Server
) -> None:
    for mode in ("repeats the question", "blames and refuses", "one: openai cap too large"):
        folder = tmp_path / mode.replace(" ", "-").replace(":", "")
        folder.mkdir()
        _, store = run(
            folder, protocol(url, {"s": mode}, QUICK, "temperature = 0.2, max_tokens = 64"), 20
        )
        store.close()
        others = [b for b in server.of(mode) if HIT not in b["messages"][-1]["content"]]
        assert len(others) == 19
        assert all(b.get("temperature") == 0.2 and b.get("max_tokens") == 64 for b in others)


def test_a_parameter_that_was_to_blame_is_left_out_from_then_on(
    tmp_path: Path, url: str, server: Server
) -> None:
    _, store = run(
        tmp_path, protocol(url, {"s": "one: openai cap"}, "concurrency = 1", "max_tokens = 64")
    )
    with store:
        assert [("max_tokens" in b, b.get("max_completion_tokens")) for b in server.bodies] == [
            (True, None),
            *[(False, 64)] * N,
        ]
        assert {c.sent.get("max_completion_tokens") for c in Calls(store).each() if c.ended} == {64}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (
            "length",
            "20 consecutive requests of 's' were truncated at max_tokens = 64; raise max_tokens",
        ),
        ("null content", "20 consecutive requests of 's' had no text; check max_tokens"),
        ("refusal", "20 consecutive requests of 's' were refused by the model"),
        ("content filter", "20 consecutive requests of 's' were withheld by the endpoint"),
        ("unheard of", "20 consecutive requests of 's' ended abnormally"),
        (
            "an error in a reply",
            "20 consecutive requests of 's' got no reply, last error: h: status 502; check the address",
        ),
    ],
)
def test_what_cannot_succeed_is_called_no_more(
    tmp_path: Path, url: str, server: Server, mode: str, reason: str
) -> None:
    text = protocol(url, {"s": mode, "fine": "ok"}, "concurrency = 4\ntries = 2", "max_tokens = 64")
    done, store = run(tmp_path, text, 120)
    with store:
        assert set(done.progress.hopeless) == {"s"}
        assert f"endpoint 'h': {reason}" in done.progress.hopeless["s"]
        assert done.progress.outcomes["ok"] == 120, "the other model goes on"
        assert 20 <= done.progress.ended - 120 < 24
        assert len({b["messages"][0]["content"] for b in server.of(mode)}) < 24


def test_nobody_listens(tmp_path: Path) -> None:
    done, store = run(
        tmp_path,
        protocol("http://127.0.0.1:9/v1", {"s": "x"}, "concurrency = 4\nstop_after = 5"),
        50,
    )
    with store:
        assert (
            "5 consecutive requests of 's' got no reply, last error" in done.progress.hopeless["s"]
        )
        assert "check the address http://127.0.0.1:9/v1" in done.progress.hopeless["s"]
        assert done.progress.ended < 9
        assert done.spent == 0.0


def test_a_model_that_answers_is_not_stopped_by_a_group_of_items(tmp_path: Path, url: str) -> None:
    """Items may stand in groups: thirty on one matter, all of them filtered."""
    text = protocol(url, {"s": "one: openrouter moderation"}, "concurrency = 1\nstop_after = 2")
    study = parse(text, lambda name: name)
    with Store.open(tmp_path) as store:
        items = [Item(f"i{k:02}", f"Question {HIT if 10 < k < 30 else ''}{k}?") for k in range(40)]
        store.add(Batch(items=items), source="items", at=AT)
        done = answer(study, store, Options(back_off=0.001))
        assert (done.progress.outcomes, done.progress.hopeless) == ({"ok": 21, "filtered": 19}, {})
        again = answer(study, store, Options(back_off=0.001, again=("filtered",)))
        assert (again.progress.outcomes, again.progress.hopeless) == ({"filtered": 19}, {})


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["bucket", "token bucket"])
def test_a_healthy_server_that_counts_by_the_minute_loses_no_answer(
    mode: str, tmp_path: Path, url: str, server: Server
) -> None:
    quick = "concurrency = 8\nseconds = 30\ntries = 2\nstop_after = 0"
    done, store = run(tmp_path, protocol(url, {"s": mode}, quick), 12)
    with store:
        assert done.progress.outcomes == {"ok": 12}
        assert len(store.answers()) == 12
    # Eight at once pass a bucket of two and a half: it refused, far more often than a work may
    # fail.
    assert server.refused[mode] > 2


def test_patience_ends_on_its_own_clock(tmp_path: Path, url: str, server: Server) -> None:
    text = protocol(
        url,
        {"s": "all: mistral capacity"},
        "concurrency = 1\ntries = 1\npatience = 0.2\nstop_after = 1",
    )
    done, store = run(tmp_path, text)
    with store:
        assert done.progress.outcomes == {"gave up": 1}
        assert "for 0 seconds" in done.progress.gave_up["h"]
        assert len(server.bodies) > 1, "more often than `tries`"


@pytest.mark.slow
def test_a_model_that_is_always_busy_holds_up_no_other(
    tmp_path: Path, url: str, server: Server
) -> None:
    """Its works wait, at most so many as may be under way; the other's are asked meanwhile."""
    modes = {"s": "all: mistral capacity", "fine": "ok"}
    done, store = run(
        tmp_path, protocol(url, modes, "concurrency = 2\npatience = 0.5\nstop_after = 0")
    )
    with store:
        assert done.progress.outcomes == {"ok": N, "gave up": N}
        asked = [(body["model"], body["messages"][-1]["content"]) for body in server.bodies]
        first = next(n for n, (model, _) in enumerate(asked) if model == "ok")
        assert len({question for model, question in asked[:first] if model != "ok"}) <= 2


def test_the_models_of_an_endpoint_share_its_rate(tmp_path: Path, url: str) -> None:
    begun = time.monotonic()
    modes = {"s": "ok", "t": "think", "u": "reasoning"}
    done, store = run(tmp_path, protocol(url, modes, "requests_per_minute = 6000"), 10)
    with store:
        assert done.progress.outcomes == {"ok": 30}
        assert time.monotonic() - begun >= 29 * 60 / 6000 * 0.99


def test_what_a_budget_counts(tmp_path: Path, url: str, server: Server) -> None:
    """A server that bills more tokens than the text can have: the first call goes alone and teaches
    it."""
    text = protocol(
        url,
        {"s": "bills 5,000 read"},
        "concurrency = 16",
        "price_in = 10, price_out = 10, max_tokens = 64",
    )
    # On this machine's address models cost nothing, unless the study says so.
    done, store = run(tmp_path, text, 60, budget=0.20)
    with store:
        assert 0.0 < done.spent <= 0.20
        assert done.progress.ended == len(store.answers()) == len(server.bodies) == 3
        assert (
            done.progress.stopped
            == "the next call of 's' is estimated to cost up to 0.0507 US dollars, and 0.0494 of"
            " the budget of 0.2 US dollars remain; raise budget to 0.202 or more"
        )
    # What was learnt stays learnt: the next run knows before its first call that nothing is left
    # for it.
    done, store = run(tmp_path, text, 60, budget=0.20)
    with store:
        assert (done.progress.ended, len(server.bodies)) == (0, 3)
    dry, store = run(tmp_path, text, 60, dry_run=True)
    with store:
        assert dry.todos[0].cost() == pytest.approx(57 * (5_000 * 10 + 64 * 10) / 1e6)
        assert "estimated at" in next(run_lines(dry, dry_run=True)), (
            "the endpoint has passed what the text allows"
        )


def test_no_call_begins_that_could_pass_the_budget(
    tmp_path: Path, url: str, server: Server
) -> None:
    """Not even the first: what it can cost at most is stated, and enough once the budget is raised
    to that."""
    text = protocol(url, {"s": "ok"}, settings="price_in = 10, price_out = 10, max_tokens = 64")
    done, store = run(tmp_path, text, budget=0.002)
    store.close()
    assert (done.progress.calls, len(server.bodies), done.spent) == (0, 0, 0.0)
    assert (
        done.progress.stopped
        == "the next call of 's' can cost up to 0.00258 US dollars, and 0.00200 of the budget of"
        " 0.002 US dollars remain; raise budget to 0.00258 or more"
    )
    with options_as_flags():
        done, store = run(tmp_path, text, budget=0.002)
    store.close()
    assert done.progress.stopped.endswith("raise --budget to 0.00258 or more")
    done, store = run(tmp_path, text, budget=0.00258)
    with store:
        assert (done.progress.calls, done.spent) == (1, pytest.approx(0.0012))
        assert "raise budget to 0.00378 or more" in done.progress.stopped


def test_a_budget_that_earlier_calls_have_passed_is_stated(
    tmp_path: Path, url: str, server: Server
) -> None:
    text = protocol(url, {"s": "ok"}, settings="price_in = 1000, price_out = 1000, max_tokens = 64")
    run(tmp_path, text, limit=1)[1].close()
    done, store = run(tmp_path, text, budget=0.1)
    with store:
        assert len(server.bodies) == 1
        assert (
            done.progress.stopped
            == "earlier calls of the study cost 0.12 US dollars, more than the budget of 0.1 US"
            " dollars; raise budget"
        )


def test_an_endpoint_that_bills_what_it_was_not_sent_can_pass_the_budget_once_and_this_is_stated(
    tmp_path: Path, url: str
) -> None:
    """What an endpoint bills beyond the text cannot be known before its first reply."""
    text = protocol(
        url, {"s": "bills 5,000 read"}, settings="price_in = 10, price_out = 10, max_tokens = 64"
    )
    done, store = run(tmp_path, text, budget=0.01)
    with store:
        assert (done.progress.ended, done.spent) == (1, pytest.approx(0.0506, abs=0.001))
        assert (
            done.progress.stopped
            == "the budget of 0.01 US dollars has been passed, as 's' was billed more tokens than"
            " its request and max_tokens allow: 0.05 US dollars in all; raise budget to continue"
        )


def test_without_a_cap_the_first_call_teaches(tmp_path: Path, url: str, server: Server) -> None:
    text = protocol(
        url, {"s": "bills 5,000 written"}, "concurrency = 16", "price_in = 1, price_out = 10"
    )
    done, store = run(tmp_path, text, 60, budget=0.20)
    with store:
        assert done.spent <= 0.20
        assert len(server.bodies) == 3
        dry, _ = run(tmp_path, text, 60, dry_run=True)
        assert dry.todos[0].tokens_written == 57 * 5_000
        assert not dry.todos[0].is_capped
        assert done.progress.stopped.startswith(
            "the next call of 's' is estimated to cost up to 0.0"
        )


def test_a_cap_that_the_endpoint_does_not_take_bounds_nothing(
    tmp_path: Path, url: str, server: Server
) -> None:
    """Its calls are estimated from then on, in this run and in later ones, however short the
    replies were."""
    text = protocol(
        url,
        {"s": "takes no cap"},
        "concurrency = 16",
        "price_in = 1, price_out = 10, max_tokens = 64",
    )
    done, store = run(tmp_path, text, 12, budget=0.20)
    with store:
        assert done.spent <= 0.20
        assert "is estimated to cost up to" in done.progress.stopped
        dry, _ = run(tmp_path, text, 12, dry_run=True)
        assert "estimated at" in next(run_lines(dry, dry_run=True))


@pytest.mark.slow
def test_calls_that_died_are_costed(tmp_path: Path, url: str) -> None:
    text = protocol(url, {"s": "cut"}, QUICK, "price_in = 10, price_out = 10, max_tokens = 64")
    done, store = run(tmp_path, text)
    with store:
        assert done.spent == pytest.approx(Calls(store).spent()[1])
        assert done.spent >= 18 * 64 * 10 / 1e6
    done, store = run(
        tmp_path,
        protocol(url, {"t": "first: a proxy's page"}, QUICK, "price_in = 10, price_out = 10"),
    )
    with store:
        assert {c.cost for c in Calls(store).each() if c.who == "t"} == {None}, (
            "an error costs nothing"
        )


def test_the_command_ends_with_the_sentence_and_status_2(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text(
        protocol(url, {"s": "length", "fine": "ok"}, "", "max_tokens = 64")
    )
    with Store.open(tmp_path) as store:
        store.add(
            Batch(items=[Item(f"i{k}", f"Question {k}?") for k in range(50)]), source="items", at=AT
        )
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    with pytest.raises(SystemExit) as ended:
        main(["answer", str(tmp_path)])
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert "50 ok" in out
    assert err.startswith(
        "konsil: endpoint 'h': 20 consecutive requests of 's' were truncated at max_tokens = 64; raise"
    )
    assert len(err.strip().splitlines()) == 1
