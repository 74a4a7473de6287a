"""The kind of failure that a status and a body are. Pure.

It is a failure of the account, of this item, of a busy endpoint or of a broken one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from konsil.collect.providers.error_bodies import inner, is_page, own_words, requested_wait
from konsil.collect.providers.provider import (
    AccountError,
    BusyError,
    CallError,
    FilteredError,
    ParameterError,
    Request,
    RequestError,
    ServerError,
)
from konsil.errors.message import message, placed

_SIGNS = re.compile(
    r"unsupported|not support|unknown|unrecognized|unexpected|not allowed|not"
    r" permitted|extra|invalid|only the default"
    r"|not available|deprecated|does not accept|unable to|cannot both",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"too (?:large|small|high|low|long)|at most|at least|maximum|minimum|less than|greater"
    r" than|between|out of range"
    r"|exceed|context",
    re.IGNORECASE,
)
"""The endpoint takes the parameter and not this value of it: without the parameter it would be
another request."""
_NAME_ITSELF = re.compile(
    r"unsupported[ _]parameter|not supported (?:with|for|by) this"
    r" model|unknown|unrecognized|unexpected|extra|instead"
    r"|not permitted|deprecated",
    re.IGNORECASE,
)
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "schema": ("response_format", "json_schema", "schema"),
    "logprobs": ("logprobs", "top_logprobs"),
    "tools": ("web_search_options", "web_search", "tools"),
}


_STATUS_SENTENCES = {
    401: message("does not accept the key", message_id="calls.key_not_accepted"),
    402: message("requires payment", message_id="calls.payment"),
    404: message("does not know the model or the address", message_id="calls.not_known"),
}
_MODERATED = re.compile(
    r"moderation|\bflagged\b|content[ _-]?filter|content management policy|content[ _](?:usage"
    r" )?policy|ResponsibleAI"
    r"|usage polic|safety (?:polic|filter|system|setting|guideline)|prohibited[ _]content|data["
    r" _]?inspection"
    r"|inappropriate content|content exists risk|unsafe content|sensitive content|guardrail",
    re.IGNORECASE,
)
"""The endpoint withholds this item; OpenAI, Azure, OpenRouter, DeepSeek, Alibaba and others say it
in these words."""
_KEY = re.compile(
    r"api[ _-]?key|credit balance|\bbilling\b|insufficient[ _](?:quota|balance|credits?)",
    re.IGNORECASE,
)
"""Words about the key or the account that count with any status."""
_SPENT = re.compile(
    r"insufficient_quota|credit_balance_exhausted|spend[ _]limit|usage_limit_exceeded|\bAPI usage"
    r" limits?\b",
    re.IGNORECASE,
)
"""A limit of money, which waiting does not lift before the month is over: OpenAI's and Anthropic's
codes."""
_PERMISSION = re.compile(
    _KEY.pattern
    + r"|permission|credential|authenti|authori[sz]|not have access|\baccess (?:was|has"
    r" been|is) \w+"
    r"|\baccount\b|organi[sz]ation|subscription|\bcredits?\b|\bquota\b|\bcountry\b|\bregion\b|\bterritory\b"
    r"|\baccess denied\b|\bkey limit\b|virtual network|firewall rules",
    re.IGNORECASE,
)
"""Words of a 403 that is about the key or what it may do."""
_OVERLOADED = re.compile(
    r"overload|(?:at|over|exceeded?) capacity|capacity exceeded|high demand|try again"
    r" later|currently loading"
    r"|temporarily unavailable|(?:server|engine) (?:is )?busy|pending requests|slow[ _]down"
    r"|resource[ _]exhausted|\bUNAVAILABLE\b|rate[ _]limit|too many requests|throttl",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(
    r"request too large|reduce the (?:length|size)|input or output tokens must be reduced", re.I
)
"""A 429 that asks for another request, and not for patience: it would never fit into the limit of a
minute."""
_INFRASTRUCTURE = frozenset({408, 409, 425, 429, 502, 503, 529})


def failure(
    status: int,
    raw: str,
    request: Request,
    *,
    endpoint: str,
    sent: list[str],
    wait: float | None = None,
) -> CallError:
    """The failure that a response without a reply is.

    `wait` is what its headers ask for, `sent` the parameters.
    """
    if status == 200:
        return _in_a_reply(raw, request, endpoint=endpoint, sent=sent)
    words = own_words(raw, texts_of(request))
    retry_seconds = wait if wait is not None else requested_wait(raw)
    about: dict[str, Any] = {"status": status, "raw": raw}
    if status in _INFRASTRUCTURE or status >= 500:
        return _not_now(status, raw, words, retry_seconds, endpoint, about)
    # Before the parameters: vendors report moderation with the status of a bad request.
    if status in (400, 403, 413, 422, 451) and _MODERATED.search(words):
        return FilteredError(
            placed(
                endpoint,
                message(
                    "withholds this item; status {status}",
                    message_id="calls.withheld",
                    status=status,
                ),
            ),
            certain=True,
            **about,
        )
    if status == 403:
        if not is_page(raw) and _PERMISSION.search(words):
            return AccountError(
                of_endpoint(
                    endpoint,
                    message(
                        "does not permit this with the given key{quoted}",
                        message_id="calls.not_permitted",
                        quoted=_quoted(raw),
                    ),
                ),
                **about,
            )
        return FilteredError(
            of_endpoint(
                endpoint, message("does not permit this; status 403", message_id="calls.forbidden")
            ),
            certain=False,
            **about,
        )
    if status in _STATUS_SENTENCES:
        model = (
            message(" (model {model!r})", message_id="calls.of_model", model=request.model)
            if status == 404
            else ""
        )
        fact = message(
            "{reason}{model}; status {status}",
            message_id="calls.status_reason",
            reason=_STATUS_SENTENCES[status],
            model=model,
            status=status,
        )
        return AccountError(of_endpoint(endpoint, fact), **about)
    if status in (400, 422, 501):
        parameter = blamed(raw, sent, texts_of(request))
        if parameter == "tools":
            # Never left out in silence: a system that cannot search is another system.
            fact = message(
                "does not let model {model!r} use {tools}; status {status}",
                message_id="calls.no_tools",
                model=request.model,
                tools=", ".join(request.tools),
                status=status,
            )
            return AccountError(of_endpoint(endpoint, fact), **about)
        if parameter is not None:
            return ParameterError(parameter, **about)
        if _KEY.search(words) or is_spent(words):
            fact = message(
                "refuses the account{quoted}",
                message_id="calls.account_refused",
                quoted=_quoted(raw),
            )
            return AccountError(of_endpoint(endpoint, fact), **about)
    if 300 <= status < 400:
        fact = message(
            "redirect not followed; set url to the final address", message_id="calls.redirect"
        )
        return AccountError(of_endpoint(endpoint, fact), **about)
    return RequestError(placed(endpoint, _status(status)), **about)


def _not_now(
    status: int,
    raw: str,
    words: str,
    retry_seconds: float | None,
    endpoint: str,
    about: dict[str, Any],
) -> CallError:
    """A limit that is reached, an endpoint that is overloaded, or one that fails."""
    error = placed(endpoint, _status(status))
    if status == 429:
        # A used-up quota has the status of a rate limit, but no waiting helps.
        if is_spent(words) or (retry_seconds is None and _KEY.search(words)):
            fact = message("the account's quota is used up", message_id="calls.quota")
            return AccountError(of_endpoint(endpoint, fact), **about)
        if _TOO_LARGE.search(words):
            fact = message(
                "status {status}: the request is larger than the limit",
                message_id="calls.too_large",
                status=status,
            )
            return RequestError(placed(endpoint, fact), **about)
        return BusyError(error, retry_after=retry_seconds, **about)
    is_overloaded = status in (503, 529) and not is_page(raw) and _OVERLOADED.search(words)
    if status == 529 or is_overloaded or "overloaded_error" in words:
        return BusyError(error, retry_after=retry_seconds, **about)
    if (retry_seconds is not None and status < 500) or (
        retry_seconds is not None and status == 503
    ):
        return BusyError(error, retry_after=retry_seconds, **about)
    return ServerError(error, retry_after=retry_seconds, **about)


def _in_a_reply(raw: str, request: Request, *, endpoint: str, sent: list[str]) -> CallError:
    """A body that is no chat completion.

    Some endpoints give status 200 with an error and its own status in it.
    """
    error = inner(raw)
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 600:
        call_error = failure(code, raw, request, endpoint=endpoint, sent=sent)
        call_error.status = 200
        return call_error
    is_error = is_page(raw) or (isinstance(error, dict) and "choices" not in error)
    words = own_words(raw, texts_of(request))
    if isinstance(error, dict) and _OVERLOADED.search(words):
        return BusyError(
            placed(endpoint, message("is busy", message_id="calls.busy")),
            retry_after=requested_wait(raw),
            status=200,
            raw=raw,
        )
    return ServerError(
        placed(
            endpoint,
            message("the response is not a chat completion", message_id="calls.no_completion"),
        ),
        status=200,
        raw=raw,
        is_billed=not is_error,
    )


def is_spent(words: str) -> bool:
    """Whether the words of an error are about money that is used up, and not about a pace.

    >>> is_spent("enforced_spend_limit_reached"), is_spent("rate_limit_exceeded")
    (True, False)
    """
    return _SPENT.search(words) is not None


def texts_of(request: Request) -> tuple[str, ...]:
    """Every text of a request that an error's body may repeat."""
    return tuple(message.text for message in request.messages)


def of_endpoint(endpoint: str, fact: str) -> str:
    """What an endpoint does, with its name."""
    return message(
        "endpoint {endpoint!r}: {fact}",
        message_id="calls.of_endpoint",
        endpoint=endpoint,
        fact=fact,
    )


def _status(status: int) -> str:
    return message("status {status}", message_id="calls.status", status=status)


def _quoted(raw: str) -> str:
    """What the endpoint says, for the one who must act.

    Keys have been taken out of the body before.
    """
    error = inner(raw)
    message = error.get("message") if isinstance(error, dict) else error
    text = " ".join(str(message or "").split())[:200]
    return f": {text}" if text and not is_page(raw) else ""


def blamed(raw: str, sent: Iterable[str], texts: Iterable[str] = ()) -> str | None:
    """Find the parameter that an error's body refuses, among those sent.

    `texts` are the request's own.

    >>> body = '{"error": {"message": "Unsupported value", "param": "temperature"}}'
    >>> blamed(body, ["temperature", "seed"])
    'temperature'
    >>> question = "Fever, the patient's temperature of 39 is invalid?"
    >>> body = '{"detail": [{"msg": "invalid prompt", "input": "%s"}]}' % question
    >>> blamed(body, ["temperature"], [question])
    """
    sent = list(sent)
    words = own_words(raw, texts)
    named = _named(inner(raw))
    if named:
        # What the endpoint names is what it means, even where it is none of ours.
        parameter = next((p for p in sent if any(n in _ALIASES.get(p, (p,)) for n in named)), None)
    elif _SIGNS.search(words):
        parameter = next(
            (p for p in sent if any(_occurs(w, words) for w in _ALIASES.get(p, (p,)))), None
        )
    else:
        parameter = None
    # A value out of range is the protocol's mistake: left out, the call would be another one.
    if parameter is not None and _VALUE.search(words) and not _NAME_ITSELF.search(words):
        return None
    return parameter


def _named(error: Any) -> list[str]:  # noqa: ANN401 - JSON has every type
    """The names in `param`, or in the places (`loc`) that a validating server lists."""
    if not isinstance(error, dict):
        return []
    if error.get("param"):
        return [str(error["param"]).split(".")[0]]
    places = [
        d["loc"]
        for d in error.get("detail") or ()
        if isinstance(d, dict) and isinstance(d.get("loc"), list)
    ]
    names = [
        str(p)
        for place in places
        for p in place
        if isinstance(p, str) and p not in ("body", "query")
    ]
    return names if places else []


def _occurs(word: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z_]){re.escape(word)}(?![A-Za-z_])", text) is not None
