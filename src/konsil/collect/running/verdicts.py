"""What a reply is worth: its outcome, its thoughts, whether to ask once more, its price."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from konsil.collect.providers.provider import Message, Reply, Request
from konsil.collect.running.prices import Price, tokens_of
from konsil.collect.running.works import CallAttempt, Reader
from konsil.records import Outcome

Marks = tuple[str, str]
"""What opens a thought and what closes it."""

_TAG = (
    r"(?:\w+:)?(?:thinking|thinks?|thoughts?|reasoning|reflection|scratchpad|"
    r"inner_?(?:monologue|thoughts?))\s*"
)
_OPENING = (
    *(
        rf"<{_TAG}>",
        r"\[THINK\]",
        r"◁think▷",
        r"<\|begin_of_thought\|>",
        r"<\|START_THINKING\|>",
        r"<\|think\|>",
    ),
    *(r"<unused94>(?:\s*thought\b)?", r"<\|channel>(?:\s*thought\b)?"),
)
_CLOSING = (
    *(
        rf"</{_TAG}>",
        r"\[/THINK\]",
        r"◁/think▷",
        r"<\|end_of_thought\|>",
        r"<\|END_THINKING\|>",
        r"<\|/think\|>",
    ),
    *(r"<unused95>", r"<channel\|>"),
)
_SOLUTION = re.compile(r"<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>")
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*\w*\s*)?<\|channel\|>\s*(\w*)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call)\|>|<\|start\|>\s*\w*")
_BARE_CHANNELS = re.compile(
    r"\A\s*analysis(?:(?=[A-Z\W])(?P<apart>.*)assistant\s*final|(?P<run>.*)assistantfinal)(?P<rest>.+)\Z",
    re.DOTALL,
)
"""Harmony's channels where a server has taken out the marks and left their words; run together no
text has them."""


ASK_AGAIN: frozenset[Outcome] = frozenset({"not json", "off schema", "empty"})
"""Outcomes after which the model is asked once more; a refusal and a cut reply are taken as they
are."""
AGAIN = (
    "Your reply could not be read ({outcome}). Reply again, with nothing but what was asked for, in"
    " the form asked for."
)


def price_of(reply: Reply, request: Request, price: Price) -> float:
    """What a reply costs.

    What the endpoint does not count is estimated, within the cap that the reply was given.
    """
    written = len(reply.text + reply.reasoning) // 3
    if request.max_tokens is not None:
        written = min(written, request.max_tokens)
    return price.of(reply.usage.get("in", tokens_of(request)), reply.usage.get("out", written))


def without_thoughts(reply: Reply, marks: Sequence[Marks]) -> Reply:
    """The reply with what the model thought aloud in its text moved to its reasoning."""
    reasoning, text = part_thoughts(reply.text, marks)
    if not reasoning and text == reply.text:
        return reply
    thoughts = "\n\n".join(part for part in (reply.reasoning, reasoning) if part)
    return replace(reply, text=text, reasoning=thoughts)


def reason_of(tried: CallAttempt) -> str:
    """What is known about an attempt without a usable reply."""
    return str(tried.error) if tried.reply is None else f"finish reason: {tried.reply.finish}"


def outcome_of(reply: Reply, read: Reader) -> Outcome:
    """The typed outcome of a reply: why it ended goes before what it says."""
    if reply.finish == "refused":
        return "refused"
    if reply.finish == "filtered":
        return "filtered"
    if reply.finish == "length":
        return "truncated"
    if reply.finish in ("tools", "other"):
        return "ended otherwise"
    if not reply.text.strip():
        return "empty"
    return read(reply.text)


def outcome_and_next(reply: Reply, read: Reader, *, is_repeated: bool) -> tuple[Outcome, bool]:
    """The outcome of a reply, and whether the model is asked once more.

    That is so for a first reply that cannot be read; a second one that can is `re-asked`.
    """
    outcome = outcome_of(reply, read)
    if is_repeated:
        return ("re-asked" if outcome in ("ok", "repaired") else outcome), False
    return outcome, outcome in ASK_AGAIN


def ask_again(request: Request, reply: Reply, outcome: Outcome) -> Request:
    """Write the request that shows a model its reply, and why it could not be read."""
    user_message = Message("user", AGAIN.format(outcome=outcome))
    reply_messages = (Message("assistant", reply.text),) if reply.text.strip() else ()
    return replace(request, messages=(*request.messages, *reply_messages, user_message))


def part_thoughts(text: str, marks: Sequence[Marks] = ()) -> tuple[str, str]:
    r"""The thoughts of a text and its response.

    `marks` are further ones than those that konsil knows.

    A thought ends at its last closing mark, with or without an opening one: some servers put the
    opening mark into the prompt. A thought that does not end has no response after it. A text that
    is one JSON object has no thoughts.

    >>> part_thoughts("Okay, low glucose.\n</think>\n\ninsulin")
    ('Okay, low glucose.', 'insulin')
    >>> part_thoughts("<think>Hm. insu")
    ('Hm. insu', '')
    >>> part_thoughts(
    ...     "<|channel|>analysis<|message|>Hm.<|end|>"
    ...     "<|start|>assistant<|channel|>final<|message|>insulin"
    ... )
    ('Hm.', 'insulin')
    """
    # A single object has no thoughts before it, and marks within it belong to its texts.
    if _is_object(text):
        return "", text
    if _CHANNEL.search(text):
        return _channels(text)
    bare = _BARE_CHANNELS.match(text)
    if bare is not None:
        return (bare["apart"] or bare["run"] or "").strip(), bare["rest"].lstrip()
    opening, closing = _patterns(tuple(marks))
    ends = list(closing.finditer(text))
    thoughts, response = (
        ("", text) if not ends else (text[: ends[-1].start()], text[ends[-1].end() :])
    )
    start = opening.search(response)
    if start is not None:  # the last thought has no end
        thoughts, response = f"{thoughts}\n{response[start.end() :]}", response[: start.start()]
    if not ends and start is None:
        return "", text
    response = _SOLUTION.sub("", response)
    return closing.sub("", opening.sub("", thoughts)).strip(), (
        response.lstrip("\r\n") if ends else response.strip()
    )


def _is_object(text: str) -> bool:
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return False
    try:
        return isinstance(json.loads(text.lstrip("\ufeff")), dict)
    except (ValueError, RecursionError):
        return False


def _channels(text: str) -> tuple[str, str]:
    """Harmony: the channel `final` is the response; a message in any other channel is none."""
    starts = list(_CHANNEL.finditer(text))
    thoughts: list[str] = [text[: starts[0].start()]]
    response: list[str] = []
    for n, start in enumerate(starts):
        following = starts[n + 1].start() if n + 1 < len(starts) else len(text)
        part = text[start.end() : following]
        end = _CHANNEL_END.search(part)
        (response if start[1] == "final" else thoughts).append(
            part if end is None else part[: end.start()]
        )
    return "\n".join(filter(None, (t.strip() for t in thoughts))), "".join(response).strip()


@cache
def _patterns(marks: tuple[Marks, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    opening = "|".join([*_OPENING, *(re.escape(m[0]) for m in marks)])
    closing = "|".join([*_CLOSING, *(re.escape(m[1]) for m in marks)])
    return re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE)
