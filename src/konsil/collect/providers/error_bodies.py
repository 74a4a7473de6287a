"""An endpoint's error body: as structure, and as words without those of the request.

Words of the request are left out because many endpoints repeat them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_RUN = 4
"""So many words in a row that stand in the request too are taken for a repetition of it."""
_ECHOES = frozenset(
    {"input", "flagged_input", "messages", "prompt", "body", "request", "failed_generation"}
)
"""Keys under which endpoints repeat the request or a part of it."""
_WORD = re.compile(r"\w+")
_DURATION = re.compile(
    r"(?:try"
    r" again|retry|wait)\D{0,12}(?=\d)(?:(\d+)\s?h)?(?:(\d+)\s?m(?!s))?"
    r"(?:(\d+(?:\.\d+)?)\s?(ms|s))?",
    re.IGNORECASE,
)


def parsed(raw: str) -> Any:  # noqa: ANN401 - JSON has every type
    """The body as JSON; the text itself where it is none."""
    try:
        return json.loads(raw.lstrip("\ufeff"))
    except ValueError:
        return raw


def inner(raw: str) -> Any:  # noqa: ANN401 - JSON has every type
    """The error itself: endpoints wrap it in `error`, some in a list."""
    data = parsed(raw)
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    return data.get("error", data) if isinstance(data, dict) else data


def is_page(raw: str) -> bool:
    """Whether the body is a page for people: of a proxy or a firewall, and not of the endpoint.

    >>> is_page(" <!DOCTYPE html><html>..."), is_page('{"error": "busy"}')
    (True, False)
    """
    return raw.lstrip("\ufeff \t\r\n").startswith("<")


def own_words(raw: str, sent: Iterable[str]) -> str:
    r"""The words of an error's body, without those that are the request's.

    Only keys and texts count, so that no mark of JSON stands between two words of a sentence.

    >>> own_words('{"error": "invalid prompt", "input": "his temperature of 39"}', [])
    'invalid prompt'
    >>> own_words(
    ...     '{"error": "cannot read: his temperature of 39 was"}',
    ...     ["He is ill, his temperature of 39 rises."],
    ... )
    'cannot read:  was'
    """
    runs: set[tuple[str, ...]] = set()
    short_texts = []
    for text in sent:
        words = [word.lower() for word in _WORD.findall(text)]
        runs.update(tuple(words[n : n + _RUN]) for n in range(len(words) - _RUN + 1))
        if len(words) < _RUN and text.strip():
            short_texts.append(text.strip())
    return "\n".join(_without(text, runs, short_texts) for text in _texts(inner(raw)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield str(name)
            if name not in _ECHOES:
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _without(text: str, runs: set[tuple[str, ...]], short_texts: Iterable[str]) -> str:
    for short_text in short_texts:
        text = (
            re.sub(rf"(?<!\w){re.escape(short_text)}(?!\w)", "", text)
            if len(short_text) > _RUN
            else text
        )
    words = list(_WORD.finditer(text))
    ours = [False] * len(words)
    for n in range(len(words) - _RUN + 1):
        if tuple(w[0].lower() for w in words[n : n + _RUN]) in runs:
            ours[n : n + _RUN] = [True] * _RUN
    parts, end = [], 0
    for n, word in enumerate(words):
        if ours[n]:
            if n == 0 or not ours[n - 1]:
                parts.append(text[end : word.start()])
            end = word.end()
    return "".join([*parts, text[end:]])


def requested_wait(raw: str) -> float | None:
    """Seconds that a body asks us to wait, as Google's `retryDelay` and the sentences of others do.

    None: it does not.

    >>> requested_wait('[{"error": {"details": [{"retryDelay": "20s"}]}}]')
    20.0
    >>> requested_wait('{"error": {"message": "Rate limit reached. Please try again in 1m2.5s."}}')
    62.5
    >>> requested_wait('{"error": {"message": "Please try again later."}}') is None
    True
    """
    error = inner(raw)
    for name, value in _pairs(error):
        if (
            name == "retryDelay"
            and isinstance(value, str)
            and re.fullmatch(r"\d+(?:\.\d+)?s", value)
        ):
            return float(value[:-1])
        if (
            name == "retry_after"
            and isinstance(value, int | float)
            and not isinstance(value, bool)
            and value >= 0
        ):
            return float(value)
    for text in _texts(error):
        for match in _DURATION.finditer(text):
            hours, minutes, number, unit = match.groups()
            if hours or minutes or number:
                seconds = float(number or 0) * (0.001 if unit == "ms" else 1.0)
                return int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + seconds
    return None


def _pairs(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield str(name), part
            yield from _pairs(part)
    elif isinstance(value, list):
        for part in value:
            yield from _pairs(part)
