"""Vendors through pydantic-ai: Anthropic's own client over a real socket, other responses by a
function."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from replying import answering, calls

from konsil.collect.providers.opening import opened, unknown_vendors
from konsil.collect.providers.provider import (
    AccountError,
    BusyError,
    CallError,
    Message,
    ParameterError,
    Reply,
    Request,
    RequestError,
    ServerError,
)
from konsil.errors import CollectError
from konsil.records import Citation
from konsil.study.sections.calling import Endpoint

pytest.importorskip("anthropic")
pytest.importorskip("pydantic_ai")

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from konsil.collect.providers.vendor_calls import complete, reply_of
from konsil.collect.providers.vendors import Vendor

pytestmark = pytest.mark.slow

KEY = "very-secret"
SCHEMA = {
    "type": "object",
    "properties": {"a1": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["a1"],
    "additionalProperties": False,
}
ASKED = Request(
    "claude-haiku-4-5",
    (Message("system", "Be brief."), Message("user", "Größe „µ“?")),
    temperature=0.2,
    max_tokens=9,
    seed=7,
)


def body(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    about = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5-20251001",
    }
    usage = {"input_tokens": 11, "output_tokens": 3}
    return {
        **about,
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
        **more,
    }


TEXT = {"type": "text", "text": "iron"}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANT", KEY)


def call(handler: Any, *requests: Request) -> list[Reply | CallError]:
    def make(url: str) -> Vendor:
        return Vendor("anthropic", name="ant", url=url, key_env="ANT")

    return calls("/v1/messages", handler, make, requests or (ASKED,))


def test_what_is_sent_and_what_is_read() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append((dict(request.headers), await request.json()))
        return web.json_response(body(TEXT))

    [reply] = call(handler)
    [(headers, sent)] = seen
    assert KEY in json.dumps(headers)
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("claude-haiku-4-5", 0.2, 9)
    assert "Be brief." in json.dumps(sent["system"])
    assert "Größe „µ“?" in json.dumps(sent["messages"], ensure_ascii=False)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish, reply.usage) == ("iron", "stop", {"in": 11, "out": 3})
    assert reply.model == "claude-haiku-4-5-20251001"
    assert reply.sent == {"temperature": 0.2, "max_tokens": 9}, "this vendor takes no seed"
    assert json.loads(reply.raw) == body(TEXT)
    assert KEY not in repr(reply)


def test_a_schema_is_sent_where_the_model_takes_one() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(await request.json())
        return web.json_response(body({"type": "text", "text": '{"a1": "yes"}'}))

    for model in ("claude-sonnet-4-5", "claude-3-haiku-20240307"):
        [reply] = call(
            handler, Request(model, (Message("user", "?"),), max_tokens=9, schema=SCHEMA)
        )
        assert isinstance(reply, Reply)
        assert reply.text == '{"a1": "yes"}'
        assert ("schema" in reply.sent) == ("enum" in json.dumps(seen[-1]))
    assert "enum" in json.dumps(seen[0])


def test_what_a_model_does_not_take_is_not_claimed() -> None:
    """The library leaves out sampling for models that refuse it; what was sent is read off the
    request itself."""
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(await request.json())
        return web.json_response(body(TEXT))

    [reply] = call(
        handler, Request("claude-opus-5", (Message("user", "?"),), temperature=0.0, max_tokens=9)
    )
    assert isinstance(reply, Reply)
    assert ("temperature" in reply.sent) == ("temperature" in seen[0])


def test_options_are_sent_as_they_are_and_stated() -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(await request.json())
        return web.json_response(body(TEXT))

    [reply] = call(handler, replace(ASKED, options={"top_k": 4}))
    assert isinstance(reply, Reply)
    assert (seen[0]["top_k"], reply.sent["top_k"]) == (4, 4)


def error(kind: str, message: str = "x") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


@pytest.mark.parametrize(
    ("handler", "kind", "wait"),
    [
        (answering(429, error("rate_limit_error"), {"Retry-After": "7"}), BusyError, 7.0),
        (answering(429, error("rate_limit_error")), BusyError, None),
        (
            answering(429, error("rate_limit_error", "enforced_spend_limit_reached")),
            AccountError,
            None,
        ),
        (
            answering(400, error("invalid_request_error", "specified API usage limits")),
            AccountError,
            None,
        ),
        (answering(529, error("overloaded_error")), BusyError, None),
        (answering(500, error("api_error")), ServerError, None),
        (answering(502, "<html>"), ServerError, None),
        (
            answering(
                400, error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")
            ),
            RequestError,
            None,
        ),
        (
            answering(400, error("invalid_request_error", "temperature: unsupported value")),
            ParameterError,
            None,
        ),
        (
            answering(401, error("authentication_error", f"invalid x-api-key {KEY}")),
            AccountError,
            None,
        ),
        (answering(404, error("not_found_error", "model: claude-haiku-4-5")), AccountError, None),
    ],
)
def test_each_failure_is_told_apart(
    handler: Any, kind: type[CallError], wait: float | None
) -> None:
    [found] = call(handler)
    assert type(found) is kind
    assert isinstance(found, CallError)
    assert found.retry_after == wait
    assert KEY not in f"{found}{found.raw}"


def test_one_call_is_one_request() -> None:
    """The vendor's own client would try again by itself, and nobody would know."""
    seen: list[int] = []

    async def handler(_: web.Request) -> web.Response:
        seen.append(1)
        return web.json_response(error("api_error"), status=500)

    call(handler)
    assert len(seen) == 1


def test_a_refused_parameter_is_left_out_from_then_on() -> None:
    async def handler(request: web.Request) -> web.Response:
        if "temperature" in await request.json():
            return web.json_response(
                error("invalid_request_error", "temperature: unsupported"), status=400
            )
        return web.json_response(body(TEXT))

    first, second, third = call(
        handler, ASKED, replace(ASKED, without=frozenset({"temperature"})), ASKED
    )
    assert type(first) is ParameterError
    for reply in (second, third):
        assert isinstance(reply, Reply)
        assert reply.sent == {"max_tokens": 9}


def test_a_dead_line_is_a_servers_failure() -> None:
    async def dead() -> None:
        provider = Vendor("anthropic", name="ant", url="http://127.0.0.1:9", key_env="ANT")
        with pytest.raises(ServerError, match="ant: "):
            await provider.complete(ASKED)
        await provider.close()

    asyncio.run(dead())


@pytest.mark.parametrize(
    ("content", "stop", "expected"),
    [
        ([TEXT], "max_tokens", Reply("iron", finish="length")),
        ([], "refusal", Reply("", finish="refused")),
        (
            [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, TEXT],
            "end_turn",
            Reply("iron", "Hm."),
        ),
    ],
)
def test_how_replies_end(content: list[dict[str, Any]], stop: str, expected: Reply) -> None:
    [reply] = call(answering(200, body(*content, stop=stop)))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.reasoning, reply.finish) == (
        expected.text,
        expected.reasoning,
        expected.finish,
    )


def test_search_and_what_it_found() -> None:
    seen: list[Any] = []
    cited = {
        "type": "web_search_result_location",
        "url": "https://x.org",
        "title": "X",
        "encrypted_index": "e",
        "cited_text": "c",
    }

    async def handler(request: web.Request) -> web.Response:
        seen.append(await request.json())
        return web.json_response(body({**TEXT, "citations": [cited]}))

    searching = Request(
        "claude-sonnet-4-5", (Message("user", "?"),), max_tokens=9, tools=("web_search",)
    )
    [reply] = call(handler, searching)
    assert any(str(t["type"]).startswith("web_search") for t in seen[0]["tools"])
    assert isinstance(reply, Reply)
    assert reply.citations == (Citation("X", "https://x.org"),)
    assert reply.sent["tools"] == ["web_search"]


def function(reply: ModelResponse | Exception, request: Request = ASKED, **profile: Any) -> Reply:
    def say(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        if isinstance(reply, Exception):
            raise reply
        return reply

    model = FunctionModel(say, profile=ModelProfile(**profile))
    return asyncio.run(complete(model, request, endpoint="f", refused=set()))


class _NoOptions(FunctionModel):
    """A vendor whose requests have no room for further parameters."""

    unsupported_settings = frozenset({"extra_body"})


@pytest.mark.parametrize(("refused", "is_error"), [(set(), True), ({"top_k"}, False)])
def test_options_that_a_vendor_has_no_room_for_are_an_error_of_the_settings(
    refused: set[str], is_error: bool
) -> None:
    model = _NoOptions(lambda *_: ModelResponse(parts=[TextPart("iron")]))

    def asked(request: Request) -> Reply:
        return asyncio.run(complete(model, request, endpoint="f", refused=refused))

    assert asked(ASKED).text == "iron"
    with_options = replace(ASKED, options={"top_k": 4})
    if is_error:
        with pytest.raises(AccountError, match=r"takes no further parameters; leave options out"):
            asked(with_options)
    else:
        assert "top_k" not in asked(with_options).sent


def test_without_a_line_to_watch_the_librarys_record_is_kept() -> None:
    answer = ModelResponse(parts=[ThinkingPart("Hm."), TextPart("iron")], finish_reason="stop")
    reply = function(answer)
    assert (reply.text, reply.reasoning, reply.finish) == ("iron", "Hm.", "stop")
    assert "iron" in reply.raw
    assert reply.sent == {"temperature": 0.2, "max_tokens": 9, "seed": 7}


@pytest.mark.parametrize(
    ("details", "vendor", "finish"),
    [
        (None, "function", "stop"),
        ({"finish_reason": "OTHER"}, "google", "other"),  # the library has no word for it
        ({"finish_reason": "FINISH_REASON_UNSPECIFIED"}, "google", "other"),
        ({"finish_reason": "TOO_MANY_TOOL_CALLS"}, "google", "other"),
        ({"finish_reason": "unheard_of"}, "mistral", "other"),
        ({"finish_reason": "end_turn"}, "bedrock", "stop"),
        (None, "xai", "other"),
    ],
)
def test_a_reason_that_the_library_has_no_word_for_is_no_end_by_the_models_own_will(
    details: dict[str, Any] | None, vendor: str, finish: str
) -> None:
    answer = ModelResponse(
        parts=[TextPart("a part")], provider_details=details, provider_name=vendor
    )
    assert reply_of(answer, {}, "", 0.1).finish == finish


def test_what_the_library_raises_is_told_apart() -> None:
    from pydantic_ai import exceptions as theirs

    assert function(theirs.ContentFilterError("blocked", '{"x": 1}')).finish == "filtered"
    for raised, kind in (
        (theirs.ModelQuotaExceededError("m", "no credit"), AccountError),
        (theirs.ModelConnectionError("m", "line cut"), ServerError),
        (theirs.UnexpectedModelBehavior("odd", "<html>"), ServerError),
        (theirs.UserError("no such tool"), AccountError),
    ):
        with pytest.raises(kind):
            function(raised)
    with pytest.raises(ServerError, match="interrupted"):
        function(ModelResponse(parts=[], state="interrupted"))
    assert function(ModelResponse(parts=[TextPart("a part")], state="suspended")).finish == "other"


def test_a_tool_that_the_model_does_not_have_stops_the_run() -> None:
    searching = Request("m", (Message("user", "?"),), tools=("web_search",))
    with pytest.raises(AccountError):
        function(
            ModelResponse(parts=[TextPart("x")]), searching, supported_native_tools=frozenset()
        )


def test_unknown_and_missing_vendors_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        CollectError, match=r"endpoint 'e': there is no vendor 'antropic'; did you mean 'anthropic'"
    ):
        opened(Endpoint("e", vendor="antropic"))
    with pytest.raises(CollectError, match="ANT2 contains no key"):
        opened(Endpoint("e", vendor="anthropic", key_env="ANT2"))
    monkeypatch.setitem(sys.modules, "groq", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.providers.groq", raising=False)
    with pytest.raises(CollectError, match=r"install 'pydantic-ai-slim\[groq\]'"):
        opened(Endpoint("e", vendor="groq"))
    monkeypatch.setitem(sys.modules, "pydantic_ai.providers", None)
    with pytest.raises(CollectError, match=r"pip install '\.\[vendors\]'"):
        opened(Endpoint("e", vendor="anthropic"))


def test_a_package_may_bring_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs.py").write_text(
        "from konsil.collect.providers.provider import Reply\n"
        "class Theirs:\n"
        "    def __init__(self, endpoint): self.endpoint = endpoint\n"
        "    async def complete(self, request): return Reply(self.endpoint.url)\n"
        "    async def close(self): pass\n"
    )
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[konsil.providers]\nhospital = theirs:Theirs\nbroken = theirs:Nobody\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    provider = opened(Endpoint("ward", "http://ward.example", vendor="hospital"))
    assert asyncio.run(provider.complete(ASKED)).text == "http://ward.example"
    with pytest.raises(
        CollectError, match=r"plug-in 'theirs:Nobody' for vendor 'broken' cannot be loaded"
    ):
        opened(Endpoint("ward", vendor="broken"))


def test_a_vendor_that_nobody_here_brings_is_told_before_a_call() -> None:
    endpoints = [
        Endpoint("a", "http://127.0.0.1:1/v1"),
        Endpoint("b", vendor="antropic"),
        Endpoint("c", vendor="google"),
    ]
    (said,) = unknown_vendors(endpoints)
    assert said.startswith("endpoints[1].vendor: 'antropic' is unknown; did you mean 'anthropic'?")
