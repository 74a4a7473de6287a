"""Parts of the fake provider's replies: tokens, citations, and the steps before a study.

Both are added where the request asks for them; the cited sources were never read.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from konsil.collect.providers.provider import Request
from konsil.prepare.identifiers.suspects import Rule, suspects
from konsil.prepare.questions.prompts import MOST_PHRASES, NOTHING

SHORT = 3
"""A question of so few words is taken for a turn of a conversation: the rules of a screening do not
find it."""
_GREETING = re.compile(
    r"(?i)^\s*(?:hi|hello|hey|hallo|guten tag)\b[\s,!.]*|[\s,]*\b(?:thanks|thx|danke)\b[\s!.]*$"
)
_ABBREVIATIONS = {
    "pt": "patient",
    "pts": "patients",
    "hx": "history",
    "pls": "please",
    "w": "with",
    "y": "year",
}
_WORD = re.compile(r"[^\W\d_][\w-]{3,}")


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


def prepares(request: Request) -> dict[str, Any] | None:
    """The reply to what is asked before a study, told by the form of the reply.

    None where something else is asked.
    """
    properties: Any = (request.schema or {}).get("properties", ())
    names = tuple(properties)
    user_text = next((m.text for m in request.messages if m.role == "user"), "")
    if names == ("question",):
        return {"question": rewritten(user_text)}
    if names == ("reason", "evidence"):
        return _suspicion(request, user_text)
    if names == ("phrases",):
        return {"phrases": phrases(user_text)}
    if names == ("name",):
        return {"name": " and ".join(user_text.partition("\n")[0].split(", ")[:2]).capitalize()}
    if names == ("diagnosis",):
        return {"diagnosis": max(_WORD.findall(user_text), key=len, default="nothing")}
    if names == ("theme",):
        return {"theme": _theme(request, user_text)}
    return None


def rewritten(text: str) -> str:
    """The question without greetings, a few abbreviations written out.

    It begins with a capital and ends with a punctuation mark.

    >>> rewritten("hi, pt w AF,  which dose of apixaban? thanks!")
    'Patient with AF, which dose of apixaban?'
    """
    words = " ".join(_GREETING.sub("", text).split())
    words = re.sub(r"\b(pts?|hx|pls|w|y)\b", lambda match: _ABBREVIATIONS[match[0]], words)
    words = words[:1].upper() + words[1:]
    return words if not words or words[-1] in ".?!" else f"{words}?"


def phrases(text: str) -> list[str]:
    """The longest words of a text.

    >>> phrases("Which dose of apixaban in atrial fibrillation?")[:2]
    ['fibrillation', 'apixaban']
    """
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return sorted(words, key=lambda word: (-len(word), word))[:MOST_PHRASES] or ["question"]


def _suspicion(request: Request, text: str) -> dict[str, str]:
    for reason in _choices(request, "reason"):
        rule = next((option for option in get_args(Rule) if option == reason), None)
        evidence = next(suspects(text, rule), None) if rule is not None else None
        if evidence is not None:
            return {"reason": reason, "evidence": evidence}
    if "follow-up" in _choices(request, "reason") and len(text.split()) <= SHORT:
        return {"reason": "follow-up", "evidence": text}
    return {"reason": NOTHING, "evidence": ""}


def _theme(request: Request, text: str) -> str:
    """The theme with most words in common; of several the first."""
    words = {word.lower() for word in _WORD.findall(text)}
    themes = _choices(request, "theme")
    return max(
        themes, key=lambda theme: sum(word.lower() in words for word in _WORD.findall(theme))
    )


def _choices(request: Request, name: str) -> list[str]:
    schema: Any = request.schema
    return [str(choice) for choice in schema["properties"][name]["enum"]]
