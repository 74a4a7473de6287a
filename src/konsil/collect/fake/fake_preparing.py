"""Replies of the endpoint for trials in the steps before a study.

They follow rules that a user can check by hand, so that every step can be tried.
"""

from __future__ import annotations

import re
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
