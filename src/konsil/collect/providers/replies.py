"""Bodies of chat completions -> replies: pure, and tolerant of parts that servers leave out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from konsil.collect.providers.provider import Finish, Reply, clean
from konsil.records import Citation

_FINISH: Mapping[str, Finish] = {
    **dict.fromkeys(
        ("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"), "stop"
    ),
    **dict.fromkeys(
        (
            "length",
            "max_tokens",
            "max_output_tokens",
            "model_length",
            "model_context_window_exceeded",
        ),
        "length",
    ),
    **dict.fromkeys(
        (
            "content_filter",
            "content_filtered",
            "guardrail_intervened",
            "safety",
            "image_safety",
            "recitation",
            "prohibited_content",
            "blocklist",
            "spii",
            "sensitive",
        ),
        "filtered",
    ),
    "refusal": "refused",
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tools"),
}
"""Why a reply ended, as vendors write it, in small letters. Any other reason is no end by the
model's own will."""
_FAILED = ("error", "network_error", "timeout", "cancelled", "aborted", "abort")
"""The endpoint's own failure in the middle of a reply."""
_MOST_TOKENS = 10**12
"""No call has more; a larger number is no count."""


def read_body(raw: str) -> Reply | None:
    """Read a chat completion.

    None where the body is none, or where the endpoint failed in the middle of it.
    """
    try:
        data = json.loads(raw.lstrip("\ufeff"))
    except ValueError:
        return None
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    # A reason may have a detail behind it: "content_filter: PROHIBITED_CONTENT".
    reason = str(choice.get("finish_reason") or "stop").lower().partition(":")[0].strip()
    if reason in _FAILED:
        return None
    finish = finish_of(reason)
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    return Reply(
        text=clean(text or refusal),
        reasoning=clean(reasoning),
        citations=_citations(message, data),
        finish="refused" if refusal and not text else finish,
        model=clean(str(data.get("model") or "")),
        usage=_usage(data.get("usage")),
        logprobs=_logprobs(choice.get("logprobs")),
    )


def finish_of(reason: str) -> Finish:
    """Why a reply ended, by the vendor's own word for it.

    >>> finish_of("end_turn"), finish_of("MAX_TOKENS"), finish_of("OTHER")
    ('stop', 'length', 'other')
    """
    return _FINISH.get(reason.lower(), "other")


def _text(value: object) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(str(p.get("text") or "") for p in value if isinstance(p, dict))
    return ""


def _citations(message: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Citation, ...]:
    citations = []
    for note in message.get("annotations") or ():
        cited = note.get("url_citation") if isinstance(note, dict) else None
        if isinstance(cited, dict):
            url = clean(str(cited.get("url") or ""))
            citations.append(Citation(clean(str(cited.get("title") or url)), url))
    citations += [
        Citation(clean(url), clean(url))
        for url in data.get("citations") or ()
        if isinstance(url, str)
    ]
    # A vendor may list one source in both forms.
    return tuple(dict.fromkeys(citations))


def _usage(value: object) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    counts = {}
    for ours, theirs in (("in", "prompt_tokens"), ("out", "completion_tokens")):
        n = _tokens(value.get(theirs))
        if n is not None:
            counts[ours] = n
    for group in ("prompt_tokens_details", "completion_tokens_details"):
        details = value.get(group)
        for name, detail in details.items() if isinstance(details, dict) else ():
            if n := _tokens(detail):
                counts[str(name)] = n
    return counts


def _tokens(value: object) -> int | None:
    """A count of tokens.

    None of what cannot be one, which would count as money that comes back, or as no number.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= _MOST_TOKENS
    ):
        return None
    return int(value)


def _logprobs(value: object) -> tuple[Mapping[str, Any], ...]:
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list):
        return ()
    tokens = []
    for token in content:
        if isinstance(token, dict):
            listed = [t for t in token.get("top_logprobs") or () if isinstance(t, dict)]
            top = {clean(str(t.get("token"))): _finite(t.get("logprob")) for t in listed}
            tokens.append(
                {
                    "token": clean(str(token.get("token"))),
                    "logprob": _finite(token.get("logprob")),
                    "top": top,
                }
            )
    return tuple(tokens)


def _finite(value: object) -> float | None:
    # Some servers write -Infinity for what cannot be sampled; no database and no JSON keeps it.
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
