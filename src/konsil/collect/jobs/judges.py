"""Judges rate tasks: the instrument's own prompt, schema and reader, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from konsil.collect.jobs.collection import Collected, Options, chunks, collect
from konsil.collect.jobs.jobs import Job, endpoint_of, sampling
from konsil.collect.jobs.repeated_calls import (
    Round,
    attempt_of,
    complete,
    duration_of,
    polled,
    rounds,
    undecided_of,
)
from konsil.collect.providers.provider import Message, Request
from konsil.collect.running.works import Reader
from konsil.errors import CollectError, nearest
from konsil.errors.message import message, placed
from konsil.instrument import Instrument, fields, schema
from konsil.instrument.screens.injections import (
    INJECTED,
    chosen_answer,
    instruction,
    with_instruction,
)
from konsil.instrument.screens.prompt import prompt
from konsil.instrument.screens.reply import ratings, read_reply
from konsil.instrument.screens.screen import screen
from konsil.records import Answer, Attempt, Call, Outcome, Rating, Task
from konsil.records.digits import stamp
from konsil.store import Batch, Store
from konsil.store.calls.calls import READABLE, Calls
from konsil.study import Study
from konsil.study.sections.calling import Judge, split_model

_CHUNK = 1_000


def judge(study: Study, store: Store, options: Options | None = None) -> Collected:
    """Let the study's judges rate the tasks that the plan gave them.

    What is rated already is not asked again.
    """
    options = options or Options()
    if not study.judges:
        raise CollectError(
            "study.toml: there are no [[judges]]; expected at least one with its rater and model"
        )
    for name in options.only:
        if name not in {j.rater for j in study.judges}:
            raise CollectError(
                f"there is no judge {name!r}; {nearest(name, [j.rater for j in study.judges])}"
            )
    chosen = [j for j in study.judges if not options.only or j.rater in options.only]
    bench = _Bench(study, store)
    if not any(t.rater in {j.rater for j in chosen} for t in bench.tasks.values()):
        raise CollectError(
            placed(
                store.name,
                message(
                    "the plan gives these judges no tasks yet; run 'konsil plan' first",
                    message_id="calls.no_tasks",
                ),
            )
        )
    jobs = [bench.job(j, at) for j in chosen for at in rounds(j)]
    return collect(
        [j for j in jobs if j.subjects],
        store,
        bench.store_ratings,
        options,
        description="judgements",
    )


class _Bench:
    """The judges' tasks with all that they show."""

    def __init__(self, study: Study, store: Store) -> None:
        self.study = study
        self.store = store
        self.judges = {j.rater: j for j in study.judges}
        self.instruments = {i.id: i for i in study.instruments}
        self.tasks, self.items, self.answers = Calls(store).to_judge(set(self.judges))

    def request(self, task: Task, model: str, chosen: Mapping[str, Any]) -> Request:
        """What a judge is asked: what a person sees on the page."""
        instrument = self.study.instrument_of(task)
        answers = (
            self._with_instruction(instrument, task) if task.purpose == INJECTED else self.answers
        )
        view = screen(instrument, task, self.items.get(task.item or ""), answers)
        prompt_texts = prompt(view, task.id)
        messages = (Message("system", prompt_texts.system), Message("user", prompt_texts.user))
        return Request(
            model,
            messages,
            schema=schema(view.fields, reason_first=instrument.reason_first),
            **chosen,
        )

    def _with_instruction(self, instrument: Instrument, task: Task) -> Mapping[str, Answer]:
        """The answers of a control task, one of them with an instruction to the judge."""
        spec = self.study.injections
        criterion = instrument.criterion(spec.criterion) if spec is not None else None
        if spec is None or criterion is None:
            raise CollectError(
                f"task {task.id!r}: is a control task with an injected instruction, but"
                " study.toml has no [injections]; restore the table that the plan was made with"
            )
        chosen = self.answers[chosen_answer(task)]
        added = instruction(
            task.batch, spec.language or instrument.language, criterion.question, spec.label
        )
        return {**{a: self.answers[a] for a in task.answers}, chosen.id: _with(chosen, added)}

    def reader(self, task: Task) -> Reader:
        """Whether a reply to this task can be read."""
        reply_fields = fields(self.study.instrument_of(task), task)

        def read(text: str) -> Outcome:
            return read_reply(reply_fields, text).outcome

        return read

    def job(self, judge: Judge, at: Round) -> Job:
        """One round of a judge: all its tasks, asked once."""
        chosen = at.chosen(judge, sampling(judge.settings))
        name = split_model(judge.model)[1]
        rater_tasks = [t for t in self.tasks.values() if t.rater == judge.rater and at.takes(t)]
        return Job(
            "judge",
            judge.rater,
            judge.model,
            endpoint_of(judge.model, self.study.endpoints),
            judge.settings,
            tuple(t.id for t in sorted(rater_tasks, key=lambda t: (t.position, t.id))),
            lambda subject: self.request(at.task_as_shown(self.tasks[subject]), name, chosen),
            lambda subject: self.reader(at.task_as_shown(self.tasks[subject])),
            lambda subject: subject,
        )

    def store_ratings(self) -> int:
        """Make ratings of the replies that can be read, and attempts of all that ended.

        Count the ratings.

        A task with several calls is settled when the last of them has ended.
        """
        n_new = 0
        polls: dict[tuple[str, str], None] = {}
        # In chunks: a million replies do not fit into memory at once.
        for batch in chunks(Calls(self.store).unsettled_judgements(), _CHUNK):
            rated: dict[str, tuple[Rating, ...]] = {}
            attempts = []
            for call in batch:
                if (
                    call.who in self.judges
                    and self.judges[call.who].ballots > 1
                    and call.subject in self.tasks
                ):
                    polls[(call.who, call.subject)] = None
                    continue
                attempts.append(attempt_of(call))
                # The first readable call of a task counts: stored ratings are never replaced.
                rated.setdefault(call.subject, self._ratings(call))
            n_new += self._add(
                [r for task_ratings in rated.values() for r in task_ratings], attempts
            )
        return n_new + self._store_polls(polls)

    def _add(self, rated: Sequence[Rating], attempts: Sequence[Attempt]) -> int:
        if not rated and not attempts:
            return 0
        at = stamp(datetime.now(UTC))
        added = self.store.add(
            Batch(ratings=rated, attempts=attempts), source="konsil judge", at=at
        )
        return added.new.get("ratings", 0)

    def _ratings(self, call: Call) -> tuple[Rating, ...]:
        task, judge = self.tasks.get(call.subject), self.judges.get(call.who)
        if call.outcome not in READABLE or task is None or judge is None:
            return ()
        instrument = self.study.instrument_of(task)
        if not judge.logprobs:
            reading = read_reply(fields(instrument, task), str(call.reply.get("text", "")))
            return ratings(reading, instrument, task, seconds=duration_of(call), at=call.at)
        return polled(judge, instrument, task, [(Round(), call)]).ratings

    def _store_polls(self, polls: Iterable[tuple[str, str]]) -> int:
        """Decide the tasks whose last call has ended; a task that has ratings keeps them."""
        n_new = 0
        rated = set(Calls(self.store).rated()) if polls else set()
        by_judge: dict[str, list[str]] = {}
        for rater, subject in polls:
            by_judge.setdefault(rater, []).append(subject)
        for rater, subjects in by_judge.items():
            judge = self.judges[rater]
            works = [(at, self.job(judge, at)) for at in rounds(judge)]
            for start in range(0, len(subjects), _CHUNK // judge.ballots + 1):
                chunk = subjects[start : start + _CHUNK // judge.ballots + 1]
                cast: dict[str, list[Call]] = {}
                for call in Calls(self.store).judged(rater, chunk):
                    cast.setdefault(call.subject, []).append(call)
                new: list[Rating] = []
                attempts: list[Attempt] = []
                for subject, calls in cast.items():
                    task = self.tasks[subject]
                    identity_by_round = {
                        at: job.identity(subject) for at, job in works if at.takes(task)
                    }
                    ended = complete(identity_by_round, calls)
                    # Some calls of this poll are still to come.
                    if ended is None:
                        continue
                    attempts += [attempt_of(call) for call in calls]
                    if subject not in rated:
                        result = polled(judge, self.study.instrument_of(task), task, ended)
                        new += result.ratings
                        attempts += undecided_of(
                            # Equal times are told apart by the call's identity: every run names the
                            # same one.
                            result,
                            max((c for _, c in ended), key=lambda c: (c.at, c.work)),
                        )
                n_new += self._add(new, attempts)
        return n_new


def _with(answer: Answer, added: str) -> Answer:
    """An answer with an instruction in its text; its sentences are those of the text without."""
    return replace(answer, text=with_instruction(answer.text, added))
