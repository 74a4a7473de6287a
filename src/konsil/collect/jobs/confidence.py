"""The probability of a label when a judge wrote it, from its tokens' log-probabilities."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from konsil.instrument import Field

Chances = Mapping[str, float]
"""Option -> its probability among the options; empty where it cannot be told."""


def chances(field: Field, tokens: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Give the probability of each option of a field where its value stands in the reply.

    P(label) = product, over the tokens of the label written, of the share of the alternatives that
    lead on to it among those that lead to an option at all; an alternative that leads elsewhere
    gives its share to where it leads. Empty where the field has no options, the value cannot be
    found or is none of them, or there are no log-probabilities.

    Source: token probabilities as scores follow Liu et al. (2023), G-Eval; here they are shares of
    the options alone.
    """
    value = _value(field, tokens)
    if value is None:
        return {}
    chosen, quoted, place = value
    joined = "".join(map(_text, tokens))
    shares = dict.fromkeys(field.options, 0.0)
    still, remaining = set(field.options), 1.0
    for begin, token in _from(tokens, place):
        led = _led(token, begin, chosen, place, still, quoted)
        total = math.fsum(led.values())
        if total <= 0.0:
            return {}
        for label, mass in led.items():
            if label != chosen:
                shares[label] += remaining * mass / total
        remaining *= led.get(chosen, 0.0) / total
        written = joined[place : begin + len(_text(token))]
        still = {label for label in still if _fits(written, _ending(label, quoted), quoted)}
        if still <= {chosen}:
            break
    shares[chosen] = remaining
    return shares


def _value(field: Field, tokens: Sequence[Mapping[str, Any]]) -> tuple[str, bool, int] | None:
    """The option in the reply, whether it is quoted, and its position in the joined tokens."""
    joined = "".join(map(_text, tokens))
    places = list(
        re.finditer(rf'{re.escape(json.dumps(field.name, ensure_ascii=False))}\s*:\s*("?)', joined)
    )
    if not places:
        return None
    # The last one: a reasoning before the object may name the key as well.
    quoted, place = bool(places[-1][1]), places[-1].end()
    # The longest first, because a label may begin with another one.
    for label in sorted(field.options, key=len, reverse=True):
        ending = _ending(label, quoted)
        rest = joined[place : place + len(ending)]
        follows = joined[place + len(ending) : place + len(ending) + 1]
        if rest.casefold() == ending.casefold() and (quoted or not follows.isalnum()):
            return label, quoted, place
    return None


def _from(
    tokens: Sequence[Mapping[str, Any]], place: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The tokens that reach beyond a place, each with where it begins."""
    begin = 0
    for token in tokens:
        end = begin + len(_text(token))
        if end > place:
            yield begin, token
        begin = end


def _led(
    token: Mapping[str, Any], begin: int, chosen: str, place: int, still: set[str], quoted: bool
) -> dict[str, float]:
    """How much probability of a token's alternatives leads to which option.

    What fits the chosen one counts for it.
    """
    written = _text(token)
    ahead = written[: place - begin] if begin < place else ""
    mass: dict[str, float] = {}
    for text, logprob in _alternatives(token):
        piece = _after(text, ahead)
        if piece is None or logprob is None:
            continue
        offset = max(0, begin - place)
        fits = [label for label in still if _fits(piece, _ending(label, quoted)[offset:], quoted)]
        for label in [chosen] if chosen in fits else fits:
            mass[label] = mass.get(label, 0.0) + math.exp(min(logprob, 0.0)) / (
                1 if chosen in fits else len(fits)
            )
    return mass


def _alternatives(token: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    top: Mapping[str, float | None] = token.get("top") or {}
    # Some vendors leave the chosen token out of the alternatives.
    if _text(token) not in top:
        yield _text(token), token.get("logprob")
    yield from top.items()


def _after(text: str, ahead: str) -> str | None:
    """The part of an alternative that belongs to the value.

    It is shorter than the alternative where the token began before the value (`"`, ` "`).
    """
    if not ahead.strip():
        return text if not ahead else text.lstrip()
    mark = ahead.strip()
    begun = text.lstrip()
    return begun[len(mark) :] if begun.startswith(mark) else None


def _fits(piece: str, ending: str, quoted: bool) -> bool:
    """Whether a piece of text begins what is still to be written, or contains all of it."""
    piece, ending = piece.casefold(), ending.casefold()
    if not piece:
        return False
    if piece.startswith(ending):
        return quoted or not piece[len(ending) : len(ending) + 1].isalnum()
    return ending.startswith(piece)


def _ending(label: str, quoted: bool) -> str:
    """A label as it stands in JSON, with the quotation mark that ends it."""
    return json.dumps(label, ensure_ascii=False)[1:] if quoted else label


def _text(token: Mapping[str, Any]) -> str:
    return str(token.get("token") or "")
