"""One direct request through pydantic-ai-slim; its reply and failures in konsil's types."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from konsil.collect.providers.error_bodies import is_page, own_words, requested_wait
from konsil.collect.providers.failures import failure, is_spent, texts_of
from konsil.collect.providers.keys import without_key
from konsil.collect.providers.provider import (
    AccountError,
    BusyError,
    CallError,
    Finish,
    Reply,
    Request,
    ServerError,
    clean,
)
from konsil.collect.providers.replies import finish_of
from konsil.records import Citation

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_FINISH: Mapping[str, Finish] = {"stop": "stop", "length": "length", "tool_call": "tools"}
_NAMELESS = frozenset({"xai"})
"""Vendors that give a reason with every reply, of which the library keeps no name where it does not
know it."""
_WRITTEN_AS: Mapping[str, frozenset[str]] = {
    "temperature": frozenset({"temperature"}),
    "top_p": frozenset({"top_p", "topP", "p"}),
    "max_tokens": frozenset({"max_tokens", "maxTokens", "maxOutputTokens", "max_output_tokens"}),
    "seed": frozenset({"seed", "random_seed"}),
    "schema": frozenset(
        {
            "output_config",
            "output_format",
            "response_format",
            "responseSchema",
            "responseJsonSchema",
        }
    ),
    "tools": frozenset({"tools"}),
}
"""Our parameter -> what it is called in the bodies of the vendors' requests."""


@dataclass(slots=True)
class Traffic:
    """What passed the line during one call."""

    keys: set[str] = field(default_factory=set)
    """The keys of the request's body, at any depth."""
    body: str = ""
    """The reply's body as received."""


async def complete(
    model: Model[Any],
    request: Request,
    *,
    endpoint: str,
    refused: set[str],
    key: str = "",
    traffic: Traffic | None = None,
) -> Reply:
    """Make one request of a model of the library's.

    Gives the reply or raises a CallError, as every provider does.
    """
    from pydantic_ai.direct import model_request
    from pydantic_ai.exceptions import (
        ContentFilterError,
        ModelAPIError,
        UnexpectedModelBehavior,
        UserError,
    )

    settings, parameters, sent = _vendor_request(model, request, refused | request.without)
    began = time.perf_counter()
    try:
        answer = await model_request(
            model, _messages(request), model_settings=settings, model_request_parameters=parameters
        )
    except ModelAPIError as error:
        raise _failure(error, request, endpoint, sent, key) from None
    except ContentFilterError as error:
        body = without_key(clean(error.body or str(error)), key)
        return Reply(
            "", finish="filtered", sent=sent, raw=body, seconds=time.perf_counter() - began
        )
    except UnexpectedModelBehavior as error:
        body = without_key(clean(error.body or ""), key)
        raise ServerError(
            f"{endpoint}: {error.message}", raw=body, is_billed=not is_page(body)
        ) from None
    except UserError as error:
        raise AccountError(f"endpoint {endpoint!r}: {without_key(error.message, key)}") from None
    if answer.state not in ("complete", "suspended"):
        raise ServerError(f"{endpoint}: the reply is {answer.state}", raw=_written(answer))
    # The library leaves settings out in silence: sent is what the request contained.
    if traffic is not None and traffic.keys:
        sent = {
            n: v for n, v in sent.items() if n not in _WRITTEN_AS or _WRITTEN_AS[n] & traffic.keys
        }
    refused |= request.without  # only now is it known that these were to blame
    raw = traffic.body if traffic is not None and traffic.body else _written(answer)
    return reply_of(answer, sent, without_key(clean(raw), key), time.perf_counter() - began)


def reply_of(answer: ModelResponse, sent: Mapping[str, object], raw: str, seconds: float) -> Reply:
    """Read the library's response as a reply."""
    from pydantic_ai.messages import TextPart, ThinkingPart

    texts = [p for p in answer.parts if isinstance(p, TextPart)]
    thoughts = [p.content for p in answer.parts if isinstance(p, ThinkingPart) and p.content]
    details = answer.provider_details or {}
    finish = _finish(answer)
    if answer.state == "suspended":
        finish = "other"  # the vendor has paused the turn: what is there is a part of a reply
    if answer.finish_reason == "content_filter":
        # Vendors have one word for a model that declines and another for a filter that cuts it off.
        finish = (
            "refused" if "refusal" in {str(details.get("finish_reason")), *details} else "filtered"
        )
    usage = answer.usage
    tokens = {
        "in": usage.input_tokens,
        "out": usage.output_tokens,
        "cached_tokens": usage.cache_read_tokens,
    }
    return Reply(
        text=clean("".join(p.content for p in texts)),
        reasoning=clean("\n\n".join(thoughts)),
        citations=tuple(dict.fromkeys(c for p in texts for c in _citations(p))),
        finish=finish,
        model=clean(answer.model_name or ""),
        usage={n: t for n, t in tokens.items() if t > 0},
        sent=sent,
        raw=raw,
        seconds=seconds,
    )


def _finish(answer: ModelResponse) -> Finish:
    """Why a reply ended: in the library's word, else in the vendor's own.

    No word at all is an end like any other.
    """
    if answer.finish_reason is not None:
        return _FINISH.get(answer.finish_reason, "other")
    # The library gives no word for a reason that it does not know, or that is none of its own.
    reason = (answer.provider_details or {}).get("finish_reason")
    if reason is not None:
        return finish_of(str(reason))
    return "other" if answer.provider_name in _NAMELESS else "stop"


def _citations(part: Any) -> Iterator[Citation]:  # noqa: ANN401 - a part of the library's
    for citation in part.citations or ():
        for source in citation.sources:
            url = clean(str(getattr(source, "url", "") or ""))
            title = clean(str(source.title or url or getattr(source, "document_id", "") or ""))
            if title:
                yield Citation(title, url)


def _vendor_request(
    model: Model[Any], request: Request, refused: set[str]
) -> tuple[ModelSettings, ModelRequestParameters, dict[str, object]]:
    """The request in the library's words, and which of our parameters are in it."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.native_tools import WebSearchTool
    from pydantic_ai.output import OutputObjectDefinition

    requested = {n: v for n, v in request.requested_parameters().items() if n not in refused}
    ignored: Iterable[str] = model.unsupported_settings
    settings: dict[str, Any] = {}
    if "max_retries" not in ignored:
        settings["max_retries"] = 0  # the runner tries again, and keeps every attempt
    sent: dict[str, object] = {}
    for name in ("temperature", "top_p", "max_tokens", "seed"):
        if name in requested and name not in ignored:
            settings[name] = sent[name] = requested[name]
    options = {n: v for n, v in request.options.items() if n not in refused}
    if options and "extra_body" in ignored:
        raise AccountError(
            f"model {request.model!r}: takes no further parameters; leave options out of its"
            " settings"
        )
    if options:
        settings["extra_body"] = options
        sent.update(options)
    parameters = ModelRequestParameters()
    if "schema" in requested and model.profile.get("supports_json_schema_output", False):
        parameters.output_mode = "native"
        parameters.output_object = OutputObjectDefinition(
            dict(request.schema or {}), name="reply", strict=True
        )
        sent["schema"] = requested["schema"]
    if request.tools:
        parameters.native_tools = [WebSearchTool()]
        sent["tools"] = list(request.tools)
    return cast("ModelSettings", settings), parameters, sent


def _messages(request: Request) -> list[ModelMessage]:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    messages: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            messages.append(ModelResponse(parts=[TextPart(content=message.text)]))
            continue
        part = (
            SystemPromptPart(message.text)
            if message.role == "system"
            else UserPromptPart(message.text)
        )
        if messages and isinstance(messages[-1], ModelRequest):
            messages[-1] = ModelRequest(parts=[*messages[-1].parts, part])
        else:
            messages.append(ModelRequest(parts=[part]))
    return messages


def _failure(
    error: ModelAPIError, request: Request, endpoint: str, sent: Mapping[str, object], key: str
) -> CallError:
    from pydantic_ai import exceptions as theirs

    raw = without_key(clean(_body(error)), key)
    status = int(getattr(error, "status_code", 0) or 0)
    about: dict[str, Any] = {"status": status, "raw": raw}
    wait = error.retry_after
    if isinstance(error, theirs.ModelAuthenticationError) and status != 403:
        return AccountError(
            f"endpoint {endpoint!r}: does not accept the key; status {status}", **about
        )
    if isinstance(error, theirs.ModelNotFoundError):
        return AccountError(
            f"endpoint {endpoint!r}: does not know the model {request.model!r}", **about
        )
    # A quota that names a time comes back by itself.
    is_patience = wait is not None or requested_wait(raw) is not None
    is_quota = isinstance(error, theirs.ModelQuotaExceededError) and not is_patience
    if is_quota or (status == 429 and is_spent(own_words(raw, texts_of(request)))):
        return AccountError(f"endpoint {endpoint!r}: the account's quota is used up", **about)
    if isinstance(
        error,
        theirs.ModelRateLimitError | theirs.ModelOverloadedError | theirs.ModelQuotaExceededError,
    ):
        return BusyError(
            f"{endpoint}: status {status}", retry_after=_longer(wait, requested_wait(raw)), **about
        )
    if status:
        return failure(status, raw, request, endpoint=endpoint, sent=list(sent), wait=wait)
    is_billed = not isinstance(error, theirs.ModelConnectionError)
    return ServerError(
        f"{endpoint}: {type(error).__name__}", retry_after=wait, is_billed=is_billed, **about
    )


def _longer(header: float | None, body: float | None) -> float | None:
    return max((s for s in (header, body) if s is not None), default=None)


def _body(error: ModelAPIError) -> str:
    if isinstance(error.body, str):
        return error.body
    return (
        json.dumps(error.body, ensure_ascii=False, default=str)
        if error.body is not None
        else error.message
    )


def _written(answer: ModelResponse) -> str:
    """The library's own record of a response, where the body cannot be had."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    return ModelMessagesTypeAdapter.dump_json([answer]).decode()
