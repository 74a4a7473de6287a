"""Documented error bodies to failures: of the account, of one item, of patience, of a parameter
that is named."""

from __future__ import annotations

import json

import pytest
from vendor_bodies import DOCUMENTED, OURS, PAGES, QUESTION, Documented

from konsil.collect.providers.error_bodies import own_words, requested_wait
from konsil.collect.providers.failures import failure
from konsil.collect.providers.provider import (
    CallError,
    FilteredError,
    Message,
    ParameterError,
    Request,
)

ASKED = Request(
    "m", (Message("system", "Be brief."), Message("user", QUESTION)), 0.2, max_tokens=9, seed=7
)


def failed(one: Documented) -> CallError:
    raw = one.body if isinstance(one.body, str) else json.dumps(one.body)
    return failure(
        one.status, raw, ASKED, endpoint="hosted", sent=["temperature", "max_tokens", "seed"]
    )


@pytest.mark.parametrize("one", DOCUMENTED, ids=lambda one: one.name)
def test_each_documented_error_is_what_it_means(one: Documented) -> None:
    error = failed(one)
    assert (type(error).__name__, error.retry_after) == (one.kind, one.wait)
    if isinstance(error, ParameterError):
        assert error.parameter == one.parameter
    if isinstance(error, FilteredError):
        assert error.certain == (one.name not in ("a firewall's page", "forbidden, no more"))


@pytest.mark.parametrize("one", DOCUMENTED, ids=lambda one: one.name)
def test_each_has_a_public_page_or_is_of_no_vendor(one: Documented) -> None:
    pages = [PAGES[start] for start in sorted(PAGES, key=len) if one.name.startswith(start)]
    assert one.name in OURS or pages[-1].startswith("https://")


def test_names_are_unique() -> None:
    assert len({one.name for one in DOCUMENTED}) == len(DOCUMENTED)


def test_the_account_is_told_in_the_endpoints_words() -> None:
    by_name = {one.name: one for one in DOCUMENTED}
    told = str(failed(by_name["openai model access"]))
    assert (
        told
        == "endpoint 'hosted': does not permit this with the given key: Project `p` does not have"
        " access to model `m`"
    )


@pytest.mark.parametrize(
    ("asked", "body"),
    [
        (0.85, {"error": {"message": "Please try again in 850ms."}}),
        (3661.0, {"error": {"message": "Please try again in 1h1m1s."}}),
        (7.0, {"retry_after": 7}),
        (None, {"error": {"message": "Please try again with 2 fewer tokens"}}),
        (None, {"retry_after": True}),
    ],
)
def test_patience_is_read_from_the_body(asked: float | None, body: object) -> None:
    assert requested_wait(json.dumps(body)) == asked


def test_the_request_repeated_in_an_error_is_not_its_word() -> None:
    assert "temperature" not in own_words(
        json.dumps({"message": f"bad prompt '{QUESTION}'"}), [QUESTION]
    )
    assert "temperature" not in own_words(f"no JSON: {QUESTION.upper()}", [QUESTION])
    assert "temperature" in own_words('{"message": "no temperature here"}', [QUESTION])
    assert "Fever" not in own_words('{"message": "cannot read Fever? now"}', ["Fever?"])


@pytest.mark.parametrize(
    ("code", "is_status"), [(399, False), (400, True), (404, True), (599, True), (600, False)]
)
def test_the_status_within_a_reply_decides_where_it_is_one_of_an_error(
    code: int, is_status: bool
) -> None:
    raw = json.dumps({"error": {"code": code, "message": "no such thing"}})
    about = {"endpoint": "hosted", "sent": ["temperature"]}
    error = failure(200, raw, ASKED, **about)
    assert error.status == 200
    if is_status:
        direct = failure(code, raw, ASKED, **about)
        assert (type(error), str(error)) == (type(direct), str(direct))
    else:
        assert str(error) == "hosted: the response is not a chat completion"
