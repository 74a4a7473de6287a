"""The calls of one task: as many as the judge has votes and orders.

Ratings when the last of them has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from konsil.collect.jobs.confidence import chances
from konsil.collect.jobs.votes import Ballot, Polled, Subject, poll, subject_of
from konsil.instrument import Field, Instrument, canonical, fields
from konsil.instrument.screens.reply import ratings, read_reply
from konsil.records import Attempt, Call, Rating, Task
from konsil.store.calls.calls import READABLE
from konsil.study.sections.calling import LABEL_ALTERNATIVES, Judge


@dataclass(frozen=True, slots=True)
class Round:
    """One of the calls that each task of a judge takes."""

    vote: int = 0
    """Its number within its order, from 0."""
    exchanged: bool = False
    """Whether the two answers stand the other way round."""

    def takes(self, task: Task) -> bool:
        """Whether this task is asked in this round: only two answers can change places."""
        return not self.exchanged or len(task.answers) == 2

    def task_as_shown(self, task: Task) -> Task:
        """The task as it is shown in this round."""
        return replace(task, answers=task.answers[::-1]) if self.exchanged else task

    def chosen(self, judge: Judge, sampling: Mapping[str, Any]) -> dict[str, Any]:
        """Sampling of this round: a stated seed rises from vote to vote.

        Log-probabilities come where they count.
        """
        # Two answers with the same text make the same request in either order, and are two calls
        # all the same.
        parameters = {**sampling, "repeat": 2 * self.vote + self.exchanged}
        # The same seed would give the same reply in every vote.
        if parameters.get("seed") is not None:
            parameters["seed"] += self.vote
        if judge.logprobs and parameters.get("logprobs") is None:
            parameters["logprobs"] = LABEL_ALTERNATIVES
        return parameters


def rounds(judge: Judge) -> tuple[Round, ...]:
    """All rounds of a judge: the plan's order first."""
    orders = (False, True) if judge.orders == "both" else (False,)
    return tuple(Round(vote, exchanged) for exchanged in orders for vote in range(judge.votes))


def ballot_of(
    call: Call, instrument: Instrument, task: Task, at: Round, *, weighed: bool
) -> Ballot:
    """Read what a call said; `weighed`: with the probabilities of its labels."""
    if call.outcome not in READABLE:
        return Ballot(at.exchanged)
    shown = at.task_as_shown(task)
    reply_fields = fields(instrument, shown)
    reading = read_reply(reply_fields, str(call.reply.get("text", "")))
    call_ratings = ratings(reading, instrument, shown, seconds=duration_of(call), at=call.at)
    tokens: Any = call.reply.get("logprobs", ())
    probabilities = (
        _chances(reply_fields, shown, call_ratings, tokens) if weighed and tokens else {}
    )
    return Ballot(at.exchanged, call_ratings, probabilities)


def duration_of(call: Call) -> float | None:
    """The time of a call; None in a batch, whose requests have no times of their own."""
    return call.seconds or None


def _chances(
    reply_fields: Sequence[Field],
    task: Task,
    call_ratings: Sequence[Rating],
    tokens: Sequence[Mapping[str, Any]],
) -> dict[Subject, dict[str, float]]:
    """The probabilities of labels as they read in the ratings, which may be the other way round."""
    by_subject: dict[Subject, dict[str, float]] = {}
    rated_subjects = {subject_of(r) for r in call_ratings}
    for field in reply_fields:
        answers = tuple(task.answers[a] for a in field.answers)
        span = task.spans[field.span] if field.span is not None else None
        subject = (field.criterion.id, frozenset(answers), span)
        if subject not in rated_subjects:
            continue
        abstain = field.criterion.scale.abstain
        by_subject[subject] = {
            label if label == abstain else canonical(field.criterion, answers, label)[1]: p
            for label, p in chances(field, tokens).items()
        }
    return by_subject


def polled(
    judge: Judge, instrument: Instrument, task: Task, cast: Iterable[tuple[Round, Call]]
) -> Polled:
    """Decide a task by all its calls."""
    ballots = [ballot_of(call, instrument, task, at, weighed=judge.logprobs) for at, call in cast]
    return poll(ballots, instrument.criteria, judge.inconsistent, judge.combine)


def attempt_of(call: Call) -> Attempt:
    """The record of an ended call for the analysis: its outcome, counted.

    Its body where it could not be read.
    """
    raw = "" if call.outcome in READABLE else call.raw
    return Attempt(
        f"{call.work}.{call.attempt}", call.subject, call.who, call.outcome, raw, call.at
    )


def undecided_of(result: Polled, last: Call) -> Iterator[Attempt]:
    """The records of questions that the calls of a task left open.

    `last` is the call that ended last.
    """
    for n, question in enumerate(result.undecided):
        yield Attempt(
            f"{last.work}.{last.attempt}.{n}",
            last.subject,
            last.who,
            question.outcome,
            question.evidence,
            last.at,
        )


def complete(works: Mapping[Round, str], calls: Sequence[Call]) -> list[tuple[Round, Call]] | None:
    """The last call of every round, or None where a round has not ended yet.

    Other settings' calls do not count.
    """
    last: dict[str, Call] = {}
    for call in calls:
        if call.work not in last or call.attempt > last[call.work].attempt:
            last[call.work] = call
    if any(work not in last for work in works.values()):
        return None
    return [(at, last[work]) for at, work in works.items()]
