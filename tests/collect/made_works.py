"""Works made of nothing, for the tests of collecting."""

from __future__ import annotations

from konsil.collect.providers.provider import Message, Request, request_key, work_key
from konsil.collect.running.works import Reader, Work
from konsil.records import Outcome

AT = "2025-03-01T12:00:00Z"


def is_json(text: str) -> Outcome:
    return "ok" if text.startswith("{") and text.endswith("}") else "not json"


def work(n: int, read: Reader = is_json, model: str = "m", schema: bool = True) -> Work:
    asked = {"type": "object", "properties": {"a1": {"type": "string", "enum": ["yes", "no"]}}}
    request = Request(
        model, (Message("user", f"item {n}"),), temperature=0.0, schema=asked if schema else None
    )
    key = request_key("test", request)
    return Work(work_key("judge", "j", f"t{n}", key), "judge", "j", f"t{n}", key, request, read)
