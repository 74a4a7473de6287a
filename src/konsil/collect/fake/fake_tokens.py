"""Log-probabilities of a reply's tokens, and citations, from the fake provider.

Both are added where the request asks for them; the cited sources were never read.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PIECE = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")


def logprobs(
    text: str, schema: Mapping[str, Any] | None, n: int, rng: random.Random
) -> dict[str, Any]:
    """Give a reply's tokens in the form of chat completions.

    Labels of the schema are uncertain, every other token is certain.
    """
    content: list[dict[str, Any]] = []
    for piece, labels in _pieces(text, (schema or {}).get("properties", {})):
        sure = rng.uniform(1 / len(labels), 1.0) if len(labels) > 1 else 1.0
        others = [label for label in labels if label != piece]
        shares = [rng.random() + 0.01 for _ in others]
        rest = [(1.0 - sure) * share / sum(shares) for share in shares]
        listed = sorted(
            [(piece, sure), *zip(others, rest, strict=True)], key=lambda pair: -pair[1]
        )[:n]
        top = [{"token": label, "logprob": _log(p)} for label, p in listed]
        content.append({"token": piece, "logprob": _log(sure), "top_logprobs": top})
    return {"content": content}


def _log(p: float) -> float:
    return math.log(max(p, 1e-12))


def _pieces(text: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """The text in pieces; a label is one piece, with all that could stand in its place."""
    position = 0
    for name, part in properties.items():
        labels = [str(label) for label in part.get("enum", ())]
        match = re.compile(rf'{re.escape(json.dumps(name, ensure_ascii=False))}\s*:\s*"').search(
            text, position
        )
        if match is None or not labels:
            continue
        label = next(
            (
                o
                # The longest first, because a label may begin with another one.
                for o in sorted(labels, key=len, reverse=True)
                if text.startswith(f'{o}"', match.end())
            ),
            None,
        )
        if label is None:
            continue
        yield from ((piece, ()) for piece in _PIECE.findall(text[position : match.end()]))
        yield label, labels
        position = match.end() + len(label)
    yield from ((piece, ()) for piece in _PIECE.findall(text[position:]))


def sources(text: str, rng: random.Random) -> list[dict[str, Any]]:
    """Make one to three sources up, as annotations of chat completions.

    Their addresses lead nowhere.
    """
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "title": f"Source {n} on {text[:40]}".rstrip(),
                "url": f"https://example.org/{rng.randrange(1_000_000):06d}",
            },
        }
        for n in range(1, rng.randint(1, 3) + 1)
    ]
