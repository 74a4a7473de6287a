"""The fake provider: it replies by rule and fails by stated rates.

Both are drawn from a seed and the request, and depend on nothing else.

It is what trials and tests use, in the process (`FakeProvider`) or behind a real socket
(`tests/fake_server.py`).
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from konsil.collect.fake.fake_tokens import logprobs, prepares, sources
from konsil.collect.providers.provider import (
    BusyError,
    CallError,
    Reply,
    Request,
    ServerError,
    request_key,
)
from konsil.collect.providers.replies import read_body
from konsil.errors import CollectError, nearest

Rule = Callable[[Request, random.Random], str]
"""What a fake model says: the request and a generator -> the reply's text."""

WORDS = (
    "metformin",
    "aspirin",
    "the left ventricle",
    "iron deficiency",
    "hypokalaemia",
    "ultrasound",
    "the vagus nerve",
)
REFUSAL = "I'm sorry, but I can't help with that."


@dataclass(frozen=True, slots=True)
class Faults:
    """How often what goes wrong, as shares of the calls; and how long a call takes."""

    busy: float = 0.0
    """Status 429 with Retry-After."""
    server: float = 0.0
    """Status 500."""
    malformed: float = 0.0
    """A text that ends in the middle of a word and is no JSON."""
    refused: float = 0.0
    """A refusal."""
    truncated: float = 0.0
    """A reply that is cut where its length was used up."""
    empty: float = 0.0
    """A reply without a text."""
    endless: float = 0.0
    """A reply that never ends."""
    retry_after: float = 0.05
    """Seconds asked for with status 429."""
    delay: float = 0.0
    """Seconds that a call takes."""

    def draw(self, rng: random.Random) -> str:
        """Draw what goes wrong; the empty text: nothing."""
        at = rng.random()
        for name in ("busy", "server", "malformed", "refused", "truncated", "empty", "endless"):
            at -= getattr(self, name)
            if at < 0:
                return name
        return ""


def fill(request: Request, rng: random.Random) -> str:
    """Fill the request's schema with drawn values; without a schema say one of a few words."""
    if request.schema is None:
        return rng.choice(WORDS)
    helped = prepares(request)
    if helped is not None:
        return json.dumps(helped, ensure_ascii=False)
    return json.dumps(_value(request.schema, rng), ensure_ascii=False)


# JSON has every type.
def _value(schema: Mapping[str, Any], rng: random.Random) -> Any:  # noqa: ANN401
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(list(schema["enum"]))
    if "anyOf" in schema:
        return _value(rng.choice(list(schema["anyOf"])), rng)
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: _value(part, rng) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [_value(schema.get("items", {}), rng) for _ in range(schema.get("minItems", 1))]
    if kind == "integer":
        return rng.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 10)))
    if kind == "number":
        return round(rng.uniform(schema.get("minimum", 0), schema.get("maximum", 10)), 2)
    return {"boolean": rng.random() < 0.5, "null": None}.get(kind, rng.choice(WORDS))


def knows(answers: Mapping[str, str], right: float, rule: Rule = fill) -> Rule:
    """Make a rule that gives a text's known answer with this probability, else that of `rule`."""

    def say(request: Request, rng: random.Random) -> str:
        answer = answers.get(request.messages[-1].text)
        return answer if answer is not None and rng.random() < right else rule(request, rng)

    return say


def thinks(answers: Mapping[str, str], names: float, rule: Rule) -> Rule:
    """Make a rule that writes a reasoning before the reply of `rule`.

    With this probability the reasoning names the known answer.
    """

    def say(request: Request, rng: random.Random) -> str:
        text = rule(request, rng)
        answer = answers.get(request.messages[-1].text)
        thought = answer if answer is not None and rng.random() < names else rng.choice(WORDS)
        return (
            text
            if request.schema is not None
            else f"<think>\nIt might be {thought}.\n</think>\n{text}"
        )

    return say


class Script:
    """What a fake endpoint does with each request: the same for the same seed, request and try."""

    def __init__(self, rule: Rule = fill, faults: Faults | None = None, seed: int = 0) -> None:
        self.rule = rule
        self.faults = faults or Faults()
        self.seed = seed
        self._tries: dict[bytes, int] = {}

    def act(self, request: Request) -> tuple[str, str]:
        """Give what goes wrong (or the empty text) and the reply's body."""
        key = hashlib.sha256(f"{self.seed}/{request_key('fake', request)}".encode()).digest()[:16]
        tried = 0
        if self.faults != Faults():  # nothing to remember where nothing goes wrong
            tried = self._tries[key] = self._tries.get(key, 0) + 1
        # Faults differ from try to try, the reply does not: a retry gets what the first call would
        # have.
        fault = self.faults.draw(random.Random(key + tried.to_bytes(4)))  # noqa: S311 - no secret
        text = self.rule(request, random.Random(key))  # noqa: S311 - no secret
        finish = "stop"
        if fault == "malformed":
            text = '{"a1": "' + text[: len(text) // 2]
        elif fault == "refused":
            return fault, _body(request, "", "stop", refusal=REFUSAL)
        elif fault == "truncated":
            text, finish = text[: len(text) // 2], "length"
        elif fault == "empty":
            text = ""
        # No secret.
        return fault, _body(request, text, finish, rng=random.Random(key + b"more"))  # noqa: S311


def _body(
    request: Request,
    text: str,
    finish: str,
    refusal: str | None = None,
    rng: random.Random | None = None,
) -> str:
    n_in = sum(len(m.text) for m in request.messages) // 4 + 1
    n_out = len(text) // 4 + 1
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        **({"refusal": refusal} if refusal else {}),
    }
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
    if rng is not None and request.tools:
        message["annotations"] = sources(text, rng)
    if rng is not None and request.logprobs is not None:
        choice["logprobs"] = logprobs(text, request.schema, request.logprobs, rng)
    return json.dumps(
        {
            "object": "chat.completion",
            "model": request.model,
            "choices": [choice],
            "usage": {
                "prompt_tokens": n_in,
                "completion_tokens": n_out,
                "total_tokens": n_in + n_out,
            },
        },
        ensure_ascii=False,
    )


class FakeProvider:
    """A provider without a network."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.calls = 0
        """Calls begun."""

    async def close(self) -> None:
        """Nothing is open."""

    async def complete(self, request: Request) -> Reply:
        """Reply as the script says."""
        self.calls += 1
        began = time.perf_counter()
        fault, raw = self.script.act(request)
        if self.script.faults.delay:
            await asyncio.sleep(self.script.faults.delay)
        if fault == "endless":
            # Never set: the runner's time limit must end the call.
            await asyncio.Event().wait()
        if fault in ("busy", "server"):
            raise _failure(fault, self.script.faults)
        reply = read_body(raw)
        if reply is None:
            raise ServerError("fake: the body is no chat completion", status=200, raw=raw)
        seconds = time.perf_counter() - began
        return dataclasses.replace(
            reply, sent=request.requested_parameters(), raw=raw, seconds=seconds
        )


def _failure(fault: str, faults: Faults) -> CallError:
    if fault == "busy":
        return BusyError(
            "fake: status 429", status=429, raw='{"error":"busy"}', retry_after=faults.retry_after
        )
    return ServerError("fake: status 500", status=500, raw='{"error":"fault"}')


def script_of(name: str, answers: Mapping[str, str]) -> Script:
    """Read a fake model's name: 'right=0.7,busy=0.05,seed=3'.

    Anything without '=' is a name and nothing more.

    >>> script_of("weak,right=0.4,delay=0.1", {}).faults.delay
    0.1
    """
    valid_names = {"right", "reasons", "seed", *(f.name for f in dataclasses.fields(Faults))}
    rates: dict[str, float] = {}
    for part in name.split(","):
        word, equals, value = part.partition("=")
        if not equals:
            continue
        if word not in valid_names:
            raise CollectError(
                f"model 'fake:{name}': {word!r} is nothing to set; {nearest(word, valid_names)}"
            )
        try:
            rates[word] = float(value)
        except ValueError:
            raise CollectError(
                f"model 'fake:{name}': {word} is {value!r}, expected a number"
            ) from None
    right, seed = rates.pop("right", None), int(rates.pop("seed", 0))
    rule = fill if right is None else knows(answers, right)
    reasons = rates.pop("reasons", None)
    if reasons is not None:
        rule = thinks(answers, reasons, rule)
    return Script(rule, Faults(**rates), seed)
