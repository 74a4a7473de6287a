"""Which parameter an endpoint refuses, from what its error says."""

from __future__ import annotations

import json
import re

_SIGNS = re.compile(
    r"unsupported|not support|unknown|unrecognized|unexpected|not allowed|not permitted|extra|invalid|only the default"
    r"|not available|deprecated|does not accept|unable to",
    re.IGNORECASE,
)


def blamed(raw: str, sent: list[str]) -> str | None:
    """Find the parameter that an error's body blames, among those sent."""
    try:
        error = json.loads(raw)
    except ValueError:
        error = raw
    inner = error.get("error", error) if isinstance(error, dict) else error
    named = inner.get("param") if isinstance(inner, dict) else None
    text = json.dumps(inner) if not isinstance(inner, str) else inner
    aliases = {
        "schema": ("response_format", "json_schema", "schema"),
        "logprobs": ("logprobs", "top_logprobs"),
        "tools": ("web_search_options", "web_search", "tools"),
    }
    for parameter in sent:
        words = aliases.get(parameter, (parameter,))
        if named and str(named).split(".")[0] in words:
            return parameter
    if not _SIGNS.search(text):
        return None
    for parameter in sent:
        if any(re.search(rf"(?<![A-Za-z_]){w}(?![A-Za-z_])", text) for w in aliases.get(parameter, (parameter,))):
            return parameter
    return None
