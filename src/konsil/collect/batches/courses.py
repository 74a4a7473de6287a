"""How far a work has come in earlier batches, and what a result makes of it. Pure.

The same rules as for direct calls: one more request after a reply that cannot be read, without a
parameter that the endpoint refuses, and again after a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from konsil.collect.providers.failures import failure
from konsil.collect.providers.provider import (
    AccountError,
    CallError,
    FilteredError,
    ParameterError,
    Reply,
    RequestError,
)
from konsil.collect.running.lanes import Course
from konsil.collect.running.verdicts import ASK_AGAIN, ask_again, outcome_and_next
from konsil.collect.running.works import CallAttempt, Work
from konsil.records import Call, Outcome


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a result is, and whether the work has ended with it."""

    outcome: Outcome
    """How the call ended."""
    ended: bool
    """Whether no further request follows."""


def course_of(work: Work, earlier: Sequence[Call]) -> Course:
    """What is asked next, by the calls of earlier batches in their order."""
    course = Course(work, work.request, work.attempts)
    for call in earlier:
        course.attempt = call.attempt
        _follow(course, call)
    return course


def _follow(course: Course, call: Call) -> None:
    if call.outcome == "expired":
        return
    if call.outcome in ASK_AGAIN:
        reply = Reply(str(call.reply.get("text", "")))
        request = ask_again(course.work.request, reply, call.outcome)
        course.request = replace(request, without=course.request.without)
        course.is_repeated = True
        return
    error = failure(
        call.status, call.raw, course.request, endpoint=call.endpoint, sent=_sent(course, call)
    )
    if isinstance(error, ParameterError):
        course.request = replace(course.request, without=course.request.without | {error.parameter})
    else:
        course.failures += 1


def _sent(course: Course, call: Call) -> list[str]:
    return [name for name in call.asked if name not in course.request.without]


def verdict_of(course: Course, tried: CallAttempt, *, has_replied: bool, tries: int) -> Verdict:
    """What an attempt is: of a reply its outcome, of a failure whether another one follows."""
    error = tried.error
    if tried.reply is not None:
        outcome, is_next = outcome_and_next(
            tried.reply, course.work.read, is_repeated=course.is_repeated
        )
        return Verdict(outcome, ended=not is_next)
    if isinstance(error, ParameterError):
        return Verdict("http error", ended=error.parameter in course.request.without)
    if isinstance(error, FilteredError) and (error.certain or has_replied):
        return Verdict("filtered", ended=True)
    if is_of_account(error, has_replied=has_replied):
        return Verdict("http error", ended=False)
    if isinstance(error, RequestError):
        return Verdict("http error", ended=True)
    if course.failures + 1 >= tries:
        return Verdict("gave up", ended=True)
    return Verdict("http error", ended=False)


def is_of_account(error: CallError, *, has_replied: bool) -> bool:
    """Whether the user has to act before anything is asked again."""
    return isinstance(error, AccountError) or (
        isinstance(error, FilteredError) and not error.certain and not has_replied
    )
