"""What a reply is worth: its outcome, whether to ask once more, its price. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from konsil.collect.providers.provider import Message, Reply, Request
from konsil.collect.running.prices import Price, tokens_of
from konsil.collect.running.thoughts import Marks, part_thoughts
from konsil.collect.running.works import CallAttempt, Reader
from konsil.records import Outcome

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
