"""Judges rate tasks: the instrument's own prompt, schema and reader, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from konsil.collect.collection import Collected, Options, chunks, collect
from konsil.collect.jobs import Job, endpoint_of, sampling
from konsil.collect.provider import Message, Request
from konsil.collect.works import Reader
from konsil.errors import CollectError, nearest
from konsil.instrument import Instrument, fields, prompt, ratings, read_reply, schema, screen
from konsil.records import Attempt, Call, Outcome, Rating, Task
from konsil.store import Batch, Store
from konsil.store.calls import READABLE, Calls
from konsil.study import Study
from konsil.study.calling import Judge, split_model

_CHUNK = 1_000


def judge(study: Study, store: Store, options: Options | None = None) -> Collected:
    """Let the study's judges rate the tasks that the plan gave them; what is rated already is not asked again."""
    options = options or Options()
    if not study.judges:
        raise CollectError("study.toml: there are no [[judges]]; they say which model speaks for which rater")
    for name in options.only:
        if name not in {j.rater for j in study.judges}:
            raise CollectError(f"there is no judge {name!r}; {nearest(name, [j.rater for j in study.judges])}")
    chosen = [j for j in study.judges if not options.only or j.rater in options.only]
    bench = _Bench(study, store, {j.rater for j in study.judges})
    if not any(t.rater in {j.rater for j in chosen} for t in bench.tasks.values()):
        raise CollectError(f"{store.name}: the plan gives these judges no tasks yet; run 'konsil plan' first")
    jobs = [_job(study, one, bench) for one in chosen]
    return collect(jobs, store, bench.settle, options, what="judgements")


class _Bench:
    """The judges' tasks with all that they show."""

    def __init__(self, study: Study, store: Store, judges: set[str]) -> None:
        self.store = store
        self.instruments = {i.id: i for i in study.instruments}
        self.tasks, self.items, self.answers = Calls(store).to_judge(judges)

    def instrument(self, task: Task) -> Instrument:
        """The task's instrument."""
        found = self.instruments.get(task.instrument)
        if found is None:
            hint = nearest(task.instrument, self.instruments)
            raise CollectError(f"task {task.id!r}: there is no instrument {task.instrument!r}; {hint}")
        return found

    def request(self, task: Task, model: str, chosen: Mapping[str, Any]) -> Request:
        """What a judge is asked: what a person sees on the page."""
        seen = screen(self.instrument(task), task, self.items.get(task.item or ""), self.answers)
        told = prompt(seen, task.id)
        messages = (Message("system", told.system), Message("user", told.user))
        return Request(model, messages, schema=schema(seen.fields), **chosen)

    def reader(self, task: Task) -> Reader:
        """Whether a reply to this task can be read."""
        asked = fields(self.instrument(task), task)

        def read(text: str) -> Outcome:
            return read_reply(asked, text).outcome

        return read

    def settle(self) -> int:
        """Make ratings of the replies that can be read, and attempts of all that ended; count the ratings."""
        made = 0
        for batch in chunks(Calls(self.store).unsettled_judgements(), _CHUNK):
            rated: list[Rating] = []
            for call in batch:
                rated += self._ratings(call)
            attempts = [attempt_of(call) for call in batch]
            at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            added = self.store.add(Batch(ratings=rated, attempts=attempts), source="konsil judge", at=at)
            made += added.new.get("ratings", 0)
        return made

    def _ratings(self, call: Call) -> tuple[Rating, ...]:
        task = self.tasks.get(call.subject)
        if call.outcome not in READABLE or task is None:
            return ()
        instrument = self.instrument(task)
        reading = read_reply(fields(instrument, task), str(call.reply.get("text", "")))
        return ratings(reading, instrument, task, seconds=call.seconds, at=call.at)


def _job(study: Study, one: Judge, bench: _Bench) -> Job:
    chosen: dict[str, Any] = sampling(one.settings)
    name = split_model(one.model)[1]
    subjects = tuple(t.id for t in sorted(_of(bench, one.rater), key=lambda t: (t.position, t.id)))
    return Job(
        "judge", one.rater, one.model, endpoint_of(one.model, study.endpoints), one.settings, subjects,
        lambda subject: bench.request(bench.tasks[subject], name, chosen),
        lambda subject: bench.reader(bench.tasks[subject]), lambda subject: subject,
    )  # fmt: skip


def _of(bench: _Bench, rater: str) -> list[Task]:
    return [t for t in bench.tasks.values() if t.rater == rater]


def attempt_of(call: Call) -> Attempt:
    """What becomes of an ended call in the analysis: its outcome, counted; its body where it could not be read."""
    raw = "" if call.outcome in READABLE else call.raw
    return Attempt(f"{call.work}.{call.attempt}", call.subject, call.who, call.outcome, raw, call.at)
