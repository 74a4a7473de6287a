"""One call of a judge's model, to try its address, name and key."""

from __future__ import annotations

import asyncio

from konsil.collect.providers.keys import HIDDEN, read_key, without_key
from konsil.collect.providers.opening import opened
from konsil.collect.providers.provider import CallError, Message, Request
from konsil.design.models import JudgeModel, Trial, check_model
from konsil.errors import KonsilError
from konsil.errors.message import TranslatableMessage, message, placed, replaced
from konsil.study.sections.calling import Endpoint

SECONDS = 60.0
"""How long the call may take."""
LONGEST = 300
"""Characters of the reply, or of the error, that are shown."""
QUESTION = "Reply with the single word: ready"


def try_model(model: JudgeModel) -> Trial:
    """Call a judge's model once; the key is in neither the reply nor the error."""
    try:
        check_model(model)
        key = read_key(model.rater, model.key_env)
        reply = asyncio.run(asyncio.wait_for(_call(model), SECONDS))
    except TimeoutError:
        fact = message(
            "gave no reply within {seconds:.0f} s", message_id="calls.no_reply", seconds=SECONDS
        )
        return Trial(model.rater, fault=placed(model.url, fact))
    except (KonsilError, CallError) as error:
        return Trial(model.rater, fault=_fault(error, _key_of(model)))
    return Trial(model.rater, _shown(reply, key))


def _fault(error: KonsilError | CallError, key: str) -> str:
    """What is wrong, without the key; words of the endpoint's own are cut."""
    sentence = error.sentence
    if not isinstance(sentence, TranslatableMessage):
        return _shown(sentence, key)
    return replaced(sentence, key, HIDDEN) if key else sentence


async def _call(model: JudgeModel) -> str:
    provider = opened(Endpoint(model.rater, model.url, key_env=model.key_env))
    try:
        request = Request(model.model, (Message("user", QUESTION),))
        return (await provider.complete(request)).text
    finally:
        await provider.close()


def _key_of(model: JudgeModel) -> str:
    try:
        return read_key(model.rater, model.key_env)
    except KonsilError:
        return ""


def _shown(text: str, key: str) -> str:
    line = " ".join(without_key(text, key).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
