r"""A model's thoughts, separated from its response by the model's own marks. Pure.

Some servers leave these marks in the text.

Nothing between such marks may reach an answer that people rate: what cannot be told apart counts as
thought.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache

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
