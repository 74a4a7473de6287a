"""A server that behaves as vLLM documents: reasoning apart, forms enforced, errors in its words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web
from replying import calls

from konsil.collect.batches.batch_lanes import BatchOptions, Pace
from konsil.collect.jobs.collection import Options
from konsil.collect.jobs.systems import answer
from konsil.collect.providers.openai_compatible import OpenAICompatible
from konsil.collect.providers.provider import (
    AccountError,
    Message,
    ParameterError,
    Reply,
    Request,
    RequestError,
)
from konsil.errors import CollectError
from konsil.records import Item
from konsil.store import Store
from konsil.study import parse

KEY = "token-abc123"
MODEL = "Qwen/Qwen3-8B"
SCHEMA = {
    "type": "object",
    "properties": {"a1": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["a1"],
    "additionalProperties": False,
}
LENGTH = 40
"""Tokens that prompt and reply may have together."""
OWN = {"top_k", "min_p", "guided_json", "chat_template_kwargs", "stop_token_ids"}


def error(
    message: str, kind: str = "BadRequestError", code: int = 400, *, old: bool
) -> web.Response:
    """Older versions give the error itself, newer ones wrap it."""
    body = {"object": "error", "message": message, "type": kind, "param": None, "code": code}
    return web.json_response(body if old else {"error": body}, status=code)


def vllm(*, old: bool, seen: list[dict[str, Any]]) -> Any:
    async def handle(request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"error": "Unauthorized"}, status=401)
        data = await request.json()
        seen.append(data)
        if data["model"] != MODEL:
            message = f"The model `{data['model']}` does not exist."
            return error(message, "NotFoundError", 404, old=old)
        if data.get("max_tokens", 0) > LENGTH:
            message = (
                f"This model's maximum context length is {LENGTH} tokens. However, you requested"
                f" {data['max_tokens']} tokens in the completion."
            )
            return error(message, old=old)
        if "response_format" in data and "guided_json" in data:
            return error("You can only use one kind of guided decoding", old=old)
        form = data.get("guided_json") or (
            data.get("response_format", {}).get("json_schema", {}).get("schema")
        )
        text = json.dumps(dict.fromkeys(form["properties"], "yes")) if form else "insulin"
        thinks = data.get("chat_template_kwargs", {}).get("enable_thinking", True)
        thoughts = "Low glucose." if thinks else None
        reply = {
            "role": "assistant",
            ("reasoning_content" if old else "reasoning"): thoughts,
            "content": text,
            "tool_calls": [],
        }
        choice = {
            "index": 0,
            "message": reply,
            "logprobs": None,
            "finish_reason": "stop",
            "stop_reason": None,
        }
        usage = {"prompt_tokens": 12, "total_tokens": 20, "completion_tokens": 8}
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": MODEL,
            "choices": [choice],
            "usage": {**usage, "prompt_tokens_details": None},
            "prompt_logprobs": None,
        }
        return web.json_response(body)

    return handle


def ask(*requests: Request, old: bool = False, key: str = KEY) -> tuple[list[Any], list[Any]]:
    seen: list[dict[str, Any]] = []

    def make(url: str) -> OpenAICompatible:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("VLLM_KEY", key)
            return OpenAICompatible(f"{url}/v1", name="vllm", key_env="VLLM_KEY")

    handler = vllm(old=old, seen=seen)
    return calls("/v1/chat/completions", handler, make, requests), seen


ASKED = Request(
    MODEL,
    (Message("user", "Which hormone?"),),
    temperature=0.2,
    max_tokens=20,
    seed=7,
    options={"top_k": 20},
)


@pytest.mark.parametrize("old", [True, False])
def test_thoughts_are_apart_and_own_parameters_are_sent(old: bool) -> None:
    [reply], [sent] = ask(ASKED, old=old)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.reasoning, reply.finish) == ("insulin", "Low glucose.", "stop")
    assert (reply.model, reply.usage) == (MODEL, {"in": 12, "out": 8})
    assert (sent["top_k"], sent["seed"], sent["max_tokens"]) == (20, 7, 20)


def test_a_form_is_enforced_by_its_schema_or_by_guided_json() -> None:
    by_schema = Request(MODEL, ASKED.messages, schema=SCHEMA)
    guided = Request(MODEL, ASKED.messages, options={"guided_json": SCHEMA})
    replies, sent = ask(by_schema, guided)
    assert [r.text for r in replies] == ['{"a1": "yes"}'] * 2
    assert sent[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert sent[1]["guided_json"] == SCHEMA
    without = Request(
        MODEL, ASKED.messages, options={"chat_template_kwargs": {"enable_thinking": False}}
    )
    [reply], _ = ask(without)
    assert (reply.text, reply.reasoning) == ("insulin", "")


@pytest.mark.parametrize("old", [True, False])
def test_its_errors_are_told_apart(old: bool) -> None:
    too_long = Request(MODEL, ASKED.messages, max_tokens=500)
    unknown = Request("other", ASKED.messages)
    [length, model], _ = ask(too_long, unknown, old=old)
    assert isinstance(length, RequestError)
    assert not isinstance(length, ParameterError)
    assert isinstance(model, AccountError)
    [refused], _ = ask(ASKED, key="other")
    assert isinstance(refused, AccountError)
    assert "other" not in str(refused)


def test_it_has_no_batch_interface(store: Store, items: tuple[Item, ...]) -> None:
    from batch_vendors import BatchVendor, serving

    class Vllm(BatchVendor):
        def routes(self) -> list[web.RouteDef]:
            return [web.post("/v1/chat/completions", vllm(old=False, seen=[]))]

    with serving(Vllm()) as url:
        study = parse(
            f'title = "t"\nseed = 1\n[[endpoints]]\nid = "vllm"\nurl = "{url}/v1"\n'
            f'[[systems]]\nid = "a"\nmodel = "vllm:{MODEL}"\n',
            str,
        )
        batch = BatchOptions(pace=Pace(0.0, 0.0, 0.0, 0.0))
        with pytest.raises(CollectError, match="offers no batch interface at /v1/files"):
            answer(study, store, Options(batch=batch))
