"""Calls of a model before the study: one durable call for each question or theme.

Its reply is read strictly.

What it says decides nothing. A reply becomes a proposal, a suspicion, phrases, a name or a tag;
`konsil.prepare` makes items and strata of them, and people's decisions stand above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from konsil.collect.jobs.collection import Collected, Options, collect
from konsil.collect.jobs.jobs import Job, endpoint_of, sampling
from konsil.collect.providers.provider import Message, Request, clean
from konsil.collect.running.works import Reader
from konsil.instrument.definition.objects import verdict
from konsil.prepare.questions.asking import Asking, Step
from konsil.records import Call, Outcome
from konsil.store import Store
from konsil.store.calls.calls import READABLE, Calls
from konsil.study import Study
from konsil.study.sections.calling import settings_of, split_model

WORDS: Mapping[Step, str] = {
    "rewrite": "rewritings",
    "screen": "questions screened",
    "phrases": "questions",
    "names": "themes",
    "tags": "tags",
    "guess": "diagnoses guessed",
}
"""What a run's display calls its works."""


@dataclass(frozen=True, slots=True)
class PromptBatch:
    """What is asked of a model, once for each subject."""

    step: Step
    """What for."""
    system_prompt: str
    """What the model is told, the same for all subjects."""
    form: Mapping[str, object]
    """The JSON schema of a reply: an object of texts and lists of texts."""
    texts: Mapping[str, str]
    """Subject -> the message that is about it."""


@dataclass(frozen=True, slots=True)
class Replies:
    """What came of it."""

    step: Step
    """What was asked for."""
    collected: Collected
    """The run."""
    replies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Subject -> its readable reply, as the form has it."""
    works: Mapping[str, str] = field(default_factory=dict)
    """Subject -> the work that its reply came from."""
    unreadable: Mapping[str, int] = field(default_factory=dict)
    """Outcome -> subjects whose reply could not be read."""

    @property
    def n_pending(self) -> int:
        """Subjects that nobody was asked about yet."""
        return (
            len(self.collected.todos[0].job.subjects)
            - len(self.replies)
            - sum(self.unreadable.values())
        )


def ask(
    study: Study, store: Store, asking: Asking, batch: PromptBatch, options: Options | None = None
) -> Replies:
    """Ask a model about every subject.

    What was asked in the same words before is not asked again.
    """
    options = options or Options()
    job = _job(study, asking, batch)
    collected = collect([job], store, lambda: 0, options, description=WORDS[batch.step])
    return _replies(collected, job, batch, store)


def _job(study: Study, asking: Asking, batch: PromptBatch) -> Job:
    settings = settings_of(asking.settings, f"study.toml: prepare: {batch.step}: settings")
    name = split_model(asking.model)[1]
    chosen: dict[str, Any] = sampling(settings)
    read = _reader(batch.form)

    def request(subject: str) -> Request:
        messages = (Message("system", batch.system_prompt), Message("user", batch.texts[subject]))
        return Request(name, messages, schema=batch.form, **chosen)

    return Job(
        "prepare",
        batch.step,
        asking.model,
        endpoint_of(asking.model, study.endpoints),
        settings,
        tuple(batch.texts),
        request,
        lambda _subject: read,
        lambda subject: subject,
    )


def _replies(collected: Collected, job: Job, batch: PromptBatch, store: Store) -> Replies:
    works = {job.identity(subject): subject for subject in batch.texts}
    last: dict[str, Call] = {}
    for call in Calls(store).prepared(batch.step):
        if call.work in works and (call.work not in last or last[call.work].attempt < call.attempt):
            last[call.work] = call
    replies: dict[str, Mapping[str, Any]] = {}
    failed = Counter[str]()
    for work, subject in works.items():
        if work in last:
            call = last[work]
            reply = (
                read_object(str(call.reply.get("text", "")), batch.form)[0]
                if call.outcome in READABLE
                else None
            )
            if reply is None:
                failed[call.outcome] += 1
            else:
                replies[subject] = reply
    work_by_subject = {subject: work for work, subject in works.items() if subject in replies}
    return Replies(batch.step, collected, replies, work_by_subject, dict(sorted(failed.items())))


def _reader(form: Mapping[str, object]) -> Reader:
    def read(text: str) -> Outcome:
        return read_object(text, form)[1]

    return read


def read_object(text: str, form: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Outcome]:
    """Read a reply strictly: every key of the form once, and nothing that the form does not allow.

    >>> form = {"properties": {"name": {"type": "string"}}}
    >>> read_object('{"name": " Anticoagulation "}', form)
    ({'name': 'Anticoagulation'}, 'ok')
    >>> read_object('{"name": 7}', form)[1], read_object("Anticoagulation", form)[1]
    ('off schema', 'not json')
    """
    parts: Mapping[str, Mapping[str, Any]] = form["properties"]
    parsed = verdict(text, parts)
    if parsed.pairs is None or parsed.problem:
        return None, "off schema" if parsed.pairs is not None else "not json"
    data = dict(parsed.pairs)
    # A key that occurs twice has two values, and nothing says which one is meant.
    if len(data) != len(parsed.pairs) or set(data) != set(parts):
        return None, "off schema"
    read = {name: _value(data[name], part) for name, part in parts.items()}
    if any(value is None for value in read.values()):
        return None, "off schema"
    return read, "ok" if parsed.bare else "repaired"


def _value(value: object, part: Mapping[str, Any]) -> str | list[str] | None:
    """A text, or a list of texts, as the part of a form allows it; None where it does not."""
    if part.get("type") == "array":
        texts = _texts(value)
        fits = texts is not None and part.get("minItems", 0) <= len(texts) <= part.get(
            "maxItems", len(texts)
        )
        return texts if fits else None
    if not isinstance(value, str):
        return None
    text = clean(value).strip()
    return text if "enum" not in part or text in part["enum"] else None


def _texts(value: object) -> list[str] | None:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return None
    # A name for one line.
    normalised: Callable[[str], str] = lambda text: " ".join(clean(text).split())  # noqa: E731
    return list(dict.fromkeys(filter(None, map(normalised, value))))


def subjects(texts: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Subjects and their messages; what has no text is not asked about."""
    return {subject: text for subject, text in texts if text.strip()}
