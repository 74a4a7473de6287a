"""Why replies end, as the vendors document it, and what each reason means: an unknown one is never
an answer."""

from __future__ import annotations

import json

import pytest

from konsil.collect.providers.replies import read_body
from konsil.collect.running.verdicts import outcome_of

# https://platform.openai.com/docs/api-reference/chat/object; Azure's content_filter:
# https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
OPENAI = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filtered",
    "tool_calls": "tools",
    "function_call": "tools",
}
# https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
ANTHROPIC = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tools",
    "pause_turn": "other",
    "refusal": "refused",
}
# https://ai.google.dev/api/generate-content#FinishReason
GOOGLE = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "IMAGE_SAFETY": "filtered",
    "LANGUAGE": "other",
    "OTHER": "other",
    "MALFORMED_FUNCTION_CALL": "other",
    "UNEXPECTED_TOOL_CALL": "other",
    "TOO_MANY_TOOL_CALLS": "other",
    "FINISH_REASON_UNSPECIFIED": "other",
}
# https://docs.mistral.ai/api/
MISTRAL = {
    "stop": "stop",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tools",
    "error": None,
}
# https://openrouter.ai/docs/api-reference/overview
OPENROUTER = {
    "stop": "stop",
    "length": "length",
    "content_filter": "filtered",
    "tool_calls": "tools",
    "error": None,
}
# https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
VLLM = {"stop": "stop", "length": "length", "abort": None}
UNKNOWN = {"because": "other", "": "stop"}
REASONS = [
    (reason, finish)
    for vendor in (OPENAI, ANTHROPIC, GOOGLE, MISTRAL, OPENROUTER, VLLM, UNKNOWN)
    for reason, finish in vendor.items()
]


@pytest.mark.parametrize(("reason", "finish"), REASONS)
def test_each_documented_ending(reason: str, finish: str | None) -> None:
    reply = read_body(
        json.dumps({"choices": [{"message": {"content": "iron"}, "finish_reason": reason}]})
    )
    assert (reply.finish if reply is not None else None) == finish
    if reply is not None:
        assert (outcome_of(reply, lambda _: "ok") == "ok") == (finish == "stop")
