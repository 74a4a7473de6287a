"""The parameter that an endpoint refuses, read from its error by the parameter's name only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from konsil.collect.providers.error_bodies import inner, own_words

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
