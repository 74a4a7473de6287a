"""The interface of all providers: a request, its reply and its failures.

All modules above it are pure or storage; every module below it concerns one vendor.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol

from konsil.records import Citation

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filtered", "refused", "tools", "other"]

SAMPLING = ("temperature", "top_p", "max_tokens", "seed", "logprobs")
"""The parameters of a request that have a name of their own."""
_KEY_VERSION = 1
"""Part of every key: a change in how requests are written is a change of the requests."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation."""

    role: Role
    """Who says it."""
    text: str
    """What is said."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that can change a reply, but for the endpoint."""

    model: str
    """What the endpoint calls the model."""
    messages: tuple[Message, ...]
    """The conversation so far."""
    temperature: float | None = None
    """Sampling temperature; None: not sent."""
    top_p: float | None = None
    """Share of the probability that tokens are drawn from; None: not sent."""
    max_tokens: int | None = None
    """The longest reply; None: not sent."""
    seed: int | None = None
    """The seed of sampling; None: not sent."""
    logprobs: int | None = None
    """How many alternatives to report with each token's log-probability; None: none are asked
    for."""
    schema: Mapping[str, object] | None = None
    """The JSON schema the reply must follow; None: free text."""
    tools: tuple[str, ...] = ()
    """Tools of the endpoint that the model may use: web_search."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Further parameters, sent as they stand."""
    repeat: int = 0
    """Which of several equal requests it is, from 0; not sent."""
    without: frozenset[str] = frozenset()
    """Parameters that the endpoint refused for this request, and that are left out of this attempt;
    not sent."""

    def requested_parameters(self) -> dict[str, object]:
        """The parameters asked for, for the record: the schema by its digest."""
        parameters: dict[str, object] = {
            n: getattr(self, n) for n in SAMPLING if getattr(self, n) is not None
        }
        if self.schema is not None:
            parameters["schema"] = hashlib.sha256(schema_json(self.schema).encode()).hexdigest()[
                :16
            ]
        if self.tools:
            parameters["tools"] = list(self.tools)
        return {**parameters, **self.options}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    text: str
    """The final response."""
    reasoning: str = ""
    """What the model thought aloud, where the endpoint tells it apart."""
    citations: tuple[Citation, ...] = ()
    """Sources, as structure."""
    finish: Finish = "stop"
    """Why it ended."""
    model: str = ""
    """The model that the reply says it is from."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Tokens: `in` and `out`, and others by the endpoint's names."""
    logprobs: tuple[Mapping[str, Any], ...] = ()
    """Tokens with their log-probabilities, where asked for."""
    sent: Mapping[str, object] = field(default_factory=dict)
    """The parameters as sent: what is asked for and not here, the endpoint refuses."""
    status: int = 200
    """The HTTP status."""
    raw: str = ""
    """The body as received."""
    seconds: float = 0.0
    """From sending the request to the end of the body."""


class CallError(Exception):
    """A call that gave no reply."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        raw: str = "",
        retry_after: float | None = None,
        is_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.raw = raw
        self.retry_after = retry_after
        self.is_billed = is_billed
        """Whether the endpoint may have made a reply and charge for it."""

    @property
    def sentence(self) -> str:
        """What failed; where it is one of a catalogue, it can be translated."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


class BusyError(CallError):
    """The endpoint is busy (429, 503 with Retry-After), which is no failure.

    The call is repeated later, with fewer calls at once.
    """


class ServerError(CallError):
    """The endpoint failed, or the line did: call again."""


class DeadlineError(CallError):
    """The reply had not ended when the call's time was up."""


class RequestError(CallError):
    """The endpoint does not take this request (too long, for one).

    Calling again would not change that.
    """


class ParameterError(CallError):
    """The endpoint refuses one parameter: call again without it.

    A reply then shows that it was to blame.
    """

    def __init__(self, parameter: str, **about: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(f"refuses the parameter {parameter!r}", **about)
        self.parameter = parameter


class FilteredError(CallError):
    """The endpoint withholds this item.

    Calling again would not change that, and other items may pass.
    """

    # Passed on.
    def __init__(self, message: str, *, certain: bool, **about: Any) -> None:  # noqa: ANN401
        super().__init__(message, **about)
        self.certain = certain
        """Whether the body says so; otherwise it may be the key, where nothing was ever heard from
        the model."""


class AccountError(CallError):
    """The user's error: a wrong key, an unknown model. Nothing that is called will do better."""


class Provider(Protocol):
    """Whoever can complete a conversation."""

    async def complete(self, request: Request) -> Reply:
        """Give the reply, or raise a CallError that says which kind of failure it was."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def request_key(endpoint: str, request: Request) -> str:
    """Digest everything that can change the reply; never keys, timeouts or concurrency.

    >>> from dataclasses import replace
    >>> request = Request("m", (Message("user", "Which drug?"),), temperature=0.2)
    >>> key = request_key("local", request)
    >>> key == request_key("local", request), len(key)
    (True, 64)
    >>> key == request_key("local", replace(request, repeat=1))
    False
    """
    # The SHA-256 of one JSON list, written in two parts: what all requests of a run begin with (a
    # codebook of many pages, it may be) is digested once, so that ten thousand finished calls are
    # recognised in a second.
    *head, last = request.messages or (None,)
    digest = _begun(endpoint, request.model, tuple(head)).copy()
    last_message = _encode([last.role, last.text]) if last is not None else ""
    sampling = _sampled(
        request.temperature, request.top_p, request.max_tokens, request.seed, request.logprobs
    )
    tools = _encode(request.tools) if request.tools else "[]"
    options = _encode(dict(request.options)) if request.options else "{}"
    rest = f"{sampling},{schema_json(request.schema)},{tools},{options},{request.repeat}"
    digest.update(f"{last_message}],{rest}]".encode())
    return digest.hexdigest()


@lru_cache(maxsize=256, typed=True)  # 1 and 1.0 are not written alike
def _sampled(*values: float | None) -> str:
    return _encode(values)


@lru_cache(maxsize=256)
def _begun(endpoint: str, model: str, head: tuple[Message, ...]) -> hashlib._Hash:
    start = _encode([_KEY_VERSION, endpoint, model])[:-1]
    return hashlib.sha256(
        f"{start},[{''.join(f'{_encode([m.role, m.text])},' for m in head)}".encode()
    )


_schemas: OrderedDict[int, tuple[Mapping[str, object], str]] = OrderedDict()
"""Schemas as text, by identity: a run has few, and every request of a kind carries the same one."""
_MOST_SCHEMAS = 64


def schema_json(schema: Mapping[str, object] | None) -> str:
    """The schema as JSON without spaces; a run has few schemas, and each is written once."""
    if schema is None:
        return "null"
    # The schema is held with its text, so that no other one can come to lie where it lay.
    cached = _schemas.get(id(schema))
    if cached is None:
        cached = _schemas[id(schema)] = (schema, _encode(schema))
        if len(_schemas) > _MOST_SCHEMAS:
            _schemas.popitem(last=False)
    return cached[1]


def work_key(kind: str, actor: str, subject: str, key: str) -> str:
    """Digest what is to be done: the same request for two systems is two works."""
    return hashlib.sha256("\0".join((kind, actor, subject, key)).encode()).hexdigest()[:32]


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str
).encode


def clean(text: str) -> str:
    r"""Make a text storable: replace what no database keeps.

    A NUL or half a character becomes the replacement character.

    >>> clean("a\0b\ud800c") == "a\ufffdb\ufffdc"
    True
    """
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
    return text
