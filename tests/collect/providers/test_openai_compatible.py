"""Chat completions over a real socket: what is sent, what is read, which failure is which."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from replying import Handler, answering, calls

from konsil.collect.providers.failures import blamed
from konsil.collect.providers.openai_compatible import OpenAICompatible, retry_after
from konsil.collect.providers.provider import (
    AccountError,
    BusyError,
    CallError,
    FilteredError,
    Message,
    ParameterError,
    Reply,
    Request,
    RequestError,
    ServerError,
)
from konsil.collect.providers.replies import read_body
from konsil.errors import CollectError
from konsil.records import Citation

ASKED = Request("m", (Message("user", "Which drug?"),), temperature=0.0, seed=7, max_tokens=9)
KEY = "sk-very-secret"


def body(**message: Any) -> dict[str, Any]:
    finish = message.pop("finish", "stop")
    about = {"model": "m-1", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    return {
        **about,
        "choices": [{"message": {"content": "iron", **message}, "finish_reason": finish}],
    }


def call(handler: Handler, *requests: Request, **how: Any) -> list[Reply | CallError]:
    def make(url: str) -> OpenAICompatible:
        return OpenAICompatible(f"{url}/v1", name="hosted", **how)

    return calls("/v1/chat/completions", handler, make, requests or (ASKED,))


def test_what_is_sent_and_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((request.headers.get("Authorization"), await request.json()))
        return web.json_response(body())

    monkeypatch.setenv("HOSTED", KEY)
    schema = {"type": "object", "properties": {}}
    request = Request(
        "m",
        (Message("system", "Be brief."), Message("user", "Größe „µ“?")),
        0.2,
        0.9,
        9,
        7,
        2,
        schema,
        options={"reasoning_effort": "low"},
    )
    [reply] = call(handler, request, key_env="HOSTED")
    [(authorization, sent)] = seen
    assert authorization == f"Bearer {KEY}"
    assert sent == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Größe „µ“?"},
        ],
        "temperature": 0.2,
        "top_p": 0.9,
        "max_tokens": 9,
        "seed": 7,
        "logprobs": True,
        "top_logprobs": 2,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": schema},
        },
        "reasoning_effort": "low",
    }
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.usage, reply.status) == (
        "iron",
        "m-1",
        {"in": 3, "out": 2},
        200,
    )
    assert reply.sent == request.requested_parameters()
    assert json.loads(reply.raw) == body()
    assert KEY not in repr(reply)


@pytest.mark.parametrize(
    ("handler", "kind", "wait"),
    [
        (answering(429, {}, {"Retry-After": "7"}), BusyError, 7.0),
        (answering(429, {}), BusyError, None),
        (answering(503, {}, {"Retry-After": "2"}), BusyError, 2.0),
        (answering(500, "oops"), ServerError, None),
        (answering(502, "<html>"), ServerError, None),
        (answering(200, "<html>"), ServerError, None),
        (answering(200, {"error": {"message": "overloaded"}}), BusyError, None),
        (answering(200, {"error": {"message": "fault"}}), ServerError, None),
        (answering(200, {"choices": []}), ServerError, None),
        (answering(400, {"error": {"message": "context length exceeded"}}), RequestError, None),
        (answering(401, {}), AccountError, None),
        (answering(403, {}), FilteredError, None),
        (answering(404, {}), AccountError, None),
        (answering(429, {"error": {"code": "insufficient_quota"}}), AccountError, None),
        (answering(307, {}, {"Location": "http://127.0.0.1:9/"}), AccountError, None),
    ],
)
def test_each_failure_is_told_apart(
    handler: Handler, kind: type[CallError], wait: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED", KEY)
    [error] = call(handler, key_env="HOSTED")
    assert type(error) is kind
    assert error.retry_after == wait
    assert KEY not in f"{error}{error.raw}"


def test_a_line_that_is_dead_is_a_servers_failure() -> None:
    async def dead() -> None:
        provider = OpenAICompatible("http://127.0.0.1:9/v1", name="hosted")
        with pytest.raises(ServerError, match="hosted: "):
            await provider.complete(ASKED)
        await provider.close()

    asyncio.run(dead())


def test_a_cut_line_is_a_servers_failure() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        assert request.transport is not None
        request.transport.close()
        return response

    [error] = call(handler)
    assert type(error) is ServerError


def test_a_refused_parameter_is_left_out_from_then_on_and_noted() -> None:
    async def handler(request: web.Request) -> web.Response:
        data = await request.json()
        for name in ("temperature", "max_tokens"):
            if name in data:
                told = {
                    "error": {
                        "message": (
                            f"Unsupported parameter: '{name}' is not supported with this model."
                        )
                    }
                }
                return web.json_response(told, status=400)
        return web.json_response(body(content=json.dumps(sorted(data))))

    names = ("temperature", "max_tokens")
    first, second, third, fourth = call(
        handler, ASKED, *(replace(ASKED, without=frozenset(names[:n])) for n in (1, 2)), ASKED
    )
    assert [type(e) for e in (first, second)] == [ParameterError, ParameterError]
    for reply in (third, fourth):
        assert isinstance(reply, Reply)
        assert json.loads(reply.text) == ["max_completion_tokens", "messages", "model", "seed"]
        assert reply.sent == {"max_completion_tokens": 9, "seed": 7}


@pytest.mark.parametrize(
    ("raw", "parameter"),
    [
        ('{"error": {"message": "x", "param": "seed"}}', "seed"),
        ('{"error": {"message": "x", "param": "response_format.json_schema"}}', "schema"),
        (
            (
                "'temperature' does not support 0.2 with this model. Only the default (1) value is"
                " supported."
            ),
            "temperature",
        ),
        ('{"detail": "Unknown field logprobs"}', "logprobs"),
        ('{"error": {"message": "the prompt is too long: its seed of doubt"}}', None),
        ('{"error": {"message": "invalid user id"}}', None),
        ("", None),
    ],
)
def test_who_is_blamed(raw: str, parameter: str | None) -> None:
    assert blamed(raw, ["temperature", "seed", "schema", "logprobs"]) == parameter


def test_retry_after_in_every_form() -> None:
    assert retry_after({"Retry-After": "3"}) == 3.0
    assert retry_after({"retry-after-ms": "250", "Retry-After": "1"}) == 0.25
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({}) is None


@pytest.mark.parametrize("value", ["", "with\nbreak"])
def test_a_key_that_is_none_is_told_without_showing_it(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED", value)
    with pytest.raises(
        CollectError, match=r"HOSTED (contains no|does not contain a valid) key"
    ) as caught:
        OpenAICompatible("http://127.0.0.1:9/v1", key_env="HOSTED")
    assert "break" not in str(caught.value).replace("line breaks", "")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": None, "refusal": "No."}, Reply("No.", finish="refused")),
        ({"content": None}, Reply("")),
        (
            {"content": [{"type": "text", "text": "ir"}, {"type": "text", "text": "on"}]},
            Reply("iron"),
        ),
        ({"finish": "length"}, Reply("iron", finish="length")),
        ({"finish": "content_filter"}, Reply("iron", finish="filtered")),
        ({"finish": None}, Reply("iron")),
        ({"reasoning_content": "Hm."}, Reply("iron", "Hm.")),
        ({"content": "a\0b\ud800"}, Reply("a\ufffdb\ufffd")),
        (
            {
                "annotations": [
                    {"type": "url_citation", "url_citation": {"url": "https://x.org", "title": "X"}}
                ]
            },
            Reply("iron", citations=(Citation("X", "https://x.org"),)),
        ),
    ],
)
def test_bodies_of_many_servers(message: dict[str, Any], expected: Reply) -> None:
    found = read_body(json.dumps(body(**message)))
    assert found is not None
    assert (found.text, found.reasoning, found.citations, found.finish) == (
        expected.text,
        expected.reasoning,
        expected.citations,
        expected.finish,
    )


def test_log_probabilities_are_finite_or_none() -> None:
    data = body()
    top = [{"token": "a", "logprob": -0.1}, {"token": "b", "logprob": float("-inf")}]
    data["choices"][0]["logprobs"] = {
        "content": [{"token": "a", "logprob": -0.1, "top_logprobs": top}]
    }
    found = read_body(json.dumps(data))
    assert found is not None
    assert found.logprobs == ({"token": "a", "logprob": -0.1, "top": {"a": -0.1, "b": None}},)


@pytest.mark.parametrize(
    "raw", ["", "null", "[]", '"x"', '{"choices": 3}', '{"choices": [3]}', '{"choices": [{}]}']
)
def test_other_bodies_are_none(raw: str) -> None:
    assert read_body(raw) is None


def test_a_key_that_the_endpoint_repeats_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED", KEY)
    told = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    [error] = call(answering(401, told), key_env="HOSTED")
    assert isinstance(error, AccountError)
    assert KEY not in error.raw
    assert "[key]" in error.raw


def test_search_is_asked_for_and_never_left_out_in_silence() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(await request.json())
        note = {"type": "url_citation", "url_citation": {"url": "https://x.org", "title": "X"}}
        return web.json_response(body(annotations=[note]))

    searching = Request("m", (Message("user", "Which drug?"),), tools=("web_search",))
    [reply] = call(handler, searching)
    assert seen[0]["web_search_options"] == {}
    assert isinstance(reply, Reply)
    assert (reply.citations, reply.sent) == (
        (Citation("X", "https://x.org"),),
        {"tools": ["web_search"]},
    )
    told = {
        "error": {
            "message": "Unknown parameter: 'web_search_options'",
            "param": "web_search_options",
        }
    }
    [error] = call(answering(400, told), searching)
    assert isinstance(error, AccountError)
    assert "does not let model 'm' use web_search" in str(error)
