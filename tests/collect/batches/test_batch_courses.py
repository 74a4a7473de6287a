"""What a result makes of a work, and what is asked next: the rules of direct calls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_works import work

from konsil.collect.batches.courses import Verdict, course_of, verdict_of
from konsil.collect.batches.interface import place_of, token_of
from konsil.collect.providers.provider import (
    AccountError,
    CallError,
    FilteredError,
    ParameterError,
    Reply,
    RequestError,
    ServerError,
)
from konsil.collect.running.verdicts import AGAIN
from konsil.collect.running.works import CallAttempt
from konsil.records import Call, Outcome

OK = Reply('{"a1": "yes"}')
BAD = Reply("what?")
SERVER = ServerError("x", status=500)


def tried(reply: Reply | None = None, error: CallError | None = None) -> CallAttempt:
    one = work(0)
    return CallAttempt("h", one, one.request, 1, reply, error or SERVER, 0.0, 0.0, None, "")


def stored(outcome: Outcome, *, text: str = "", status: int = 200, raw: str = "") -> Call:
    call = tried(Reply(text)).call(outcome)
    return replace(call, status=status, raw=raw, asked={"temperature": 0.2, "seed": 7})


@pytest.mark.parametrize(
    ("reply", "error", "expected"),
    [
        (OK, None, Verdict("ok", ended=True)),
        (BAD, None, Verdict("not json", ended=False)),
        (Reply("", finish="refused"), None, Verdict("refused", ended=True)),
        (None, SERVER, Verdict("http error", ended=False)),
        (None, RequestError("too long"), Verdict("http error", ended=True)),
        (None, ParameterError("seed"), Verdict("http error", ended=False)),
        (None, FilteredError("x", certain=True), Verdict("filtered", ended=True)),
        (None, FilteredError("x", certain=False), Verdict("http error", ended=False)),
        (None, AccountError("no key"), Verdict("http error", ended=False)),
    ],
)
def test_the_first_result(reply: Reply | None, error: CallError | None, expected: Verdict) -> None:
    course = course_of(work(0), [])
    assert verdict_of(course, tried(reply, error), has_replied=False, tries=3) == expected


def test_a_reply_that_cannot_be_read_is_asked_again_once() -> None:
    course = course_of(work(0), [stored("not json", text="what?")])
    assert [m.text for m in course.request.messages[-2:]] == [
        "what?",
        AGAIN.format(outcome="not json"),
    ]
    attempts = [verdict_of(course, tried(reply), has_replied=True, tries=3) for reply in (OK, BAD)]
    assert attempts == [Verdict("re-asked", ended=True), Verdict("not json", ended=True)]


def test_failures_add_up_and_expiry_is_none() -> None:
    failed = stored("http error", status=500, raw='{"error": "internal"}')
    course = course_of(work(0), [failed, stored("expired"), failed])
    assert (course.failures, course.request) == (2, work(0).request)
    assert verdict_of(course, tried(), has_replied=True, tries=3) == Verdict("gave up", ended=True)
    assert not verdict_of(course, tried(), has_replied=True, tries=4).ended


def test_a_refused_parameter_is_left_out_for_good() -> None:
    body = '{"error": {"message": "Unsupported parameter", "param": "seed"}}'
    refused = stored("http error", status=400, raw=body)
    course = course_of(work(0), [refused, stored("not json", text="what?")])
    assert course.request.without == {"seed"}
    assert course.is_repeated
    again = verdict_of(course, tried(error=ParameterError("seed")), has_replied=True, tries=3)
    assert again == Verdict("http error", ended=True)


def test_ids_of_requests_lead_back_to_their_places() -> None:
    assert [place_of("b", token_of("b", n), 3) for n in range(4)] == [0, 1, 2, None]
    assert place_of("b", "b-²", 3) is None
    assert place_of("b", "", 3) is None
