"""Systems answer items: every item, every system that has a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from konsil.collect.jobs.collection import Collected, Options, chunks, collect
from konsil.collect.jobs.jobs import Job, endpoint_of, sampling
from konsil.collect.providers.provider import Message, Request, clean
from konsil.errors import CollectError, nearest
from konsil.errors.message import message, placed
from konsil.prepare import in_study, last_drawn, prepared
from konsil.prepare.draw.draw import still_whole, unmasked_cases_sentence
from konsil.prepare.questions.rewriting import still_to_decide, undecided
from konsil.records import Answer, Call, Citation, Item, Outcome, System
from konsil.records.digits import stamp
from konsil.store import Batch, Store
from konsil.store.calls.calls import Calls
from konsil.store.curation.rewriting import worded
from konsil.study import Study
from konsil.study.data.cutting import with_sentences
from konsil.study.sections.calling import Settings, settings_of, split_model
from konsil.study.sections.section_split import parted

_CHUNK = 1_000


def answer(study: Study, store: Store, options: Options | None = None) -> Collected:
    """Let the study's systems answer every item; what is answered already is not asked again."""
    options = options or Options()
    systems = [s for s in study.systems if s.model is not None]
    if not systems:
        raise CollectError(
            'study.toml: no system has a model; expected model = "ENDPOINT:NAME" in at least one'
            " [[systems]]"
        )
    for name in options.only:
        if name not in {s.id for s in systems}:
            raise CollectError(
                f"there is no system {name!r} with a model;"
                f" {nearest(name, [s.id for s in systems])}"
            )
    chosen = [s for s in systems if not options.only or s.id in options.only]
    items = {i.id: i for i in _items(study, store)}
    if not items:
        fact = message(
            "there are no items yet; run 'konsil import' first", message_id="planning.not_imported"
        )
        raise CollectError(placed(store.name, fact))
    jobs = [_job(study, system, items) for system in chosen]
    fake_answers = {}
    if any(s.model is not None and s.model.startswith("fake:") for s in chosen):
        fake_answers = {
            _question(i, j.settings.template): i.reference
            for j in jobs
            for i in items.values()
            if i.reference
        }
    return collect(
        jobs,
        store,
        lambda: store_answers(study, store),
        options,
        description="answers",
        fake_answers=fake_answers,
    )


def _items(study: Study, store: Store) -> tuple[Item, ...]:
    """The items to answer, in their accepted wording.

    All items, or those drawn where the draw does not wait for the answers.
    """
    items, spec = store.items(), study.prepare
    if spec is None:
        return items
    events = store.events()
    shown = prepared(items, events)
    if spec.draws and not spec.lexical_match:
        if last_drawn(events)[1] is None:
            raise CollectError(
                f"{store.name}: the items are not selected yet; run 'konsil prepare' first"
            )
        shown = in_study(items, events)
    if spec.mask is not None:
        unmasked = still_whole(items, events)
        if unmasked:
            raise CollectError(f"{store.name}: {unmasked_cases_sentence(unmasked)}")
        shown = in_study(items, events)
    if spec.rewrite is not None:
        item_ids = {item.id for item in shown}
        with store.view() as view:
            wordings = worded(view.connection)
        waiting = undecided([item for item in items if item.id in item_ids], events, wordings)
        if waiting:
            raise CollectError(still_to_decide(store.name, len(waiting), len(item_ids)))
    return shown


def _job(study: Study, system: System, items: Mapping[str, Item]) -> Job:
    assert system.model is not None
    settings = settings_of(system.settings, f"study.toml: system {system.id!r}: settings")
    name = split_model(system.model)[1]
    first = (
        *([Message("system", settings.system)] if settings.system else []),
        *_preceding_messages(settings),
    )
    chosen: dict[str, Any] = sampling(settings)

    def request(subject: str) -> Request:
        return Request(
            name, (*first, Message("user", _question(items[subject], settings.template))), **chosen
        )

    return Job(
        "answer",
        system.id,
        system.model,
        endpoint_of(system.model, study.endpoints),
        settings,
        tuple(items),
        request,
        lambda _subject: _read,
        lambda subject: answer_id(subject, system.id),
    )


def _preceding_messages(settings: Settings) -> Iterator[Message]:
    for example in settings.examples:
        yield Message("user", settings.template.replace("{text}", example.text))
        yield Message("assistant", example.answer)


def _question(item: Item, template: str) -> str:
    return template.replace("{text}", item.text)


def _read(text: str) -> Outcome:
    return "ok" if text.strip() else "empty"


def answer_id(item: str, system: str) -> str:
    """The canonical id of a system's answer to an item."""
    return f"{item}:{system}"


def store_answers(study: Study, store: Store) -> int:
    """Make answers of the replies that have not become answers yet, and count them."""
    n_new = 0
    sections = {
        s.id: settings_of(s.settings, s.id).sections for s in study.systems if s.model is not None
    }
    for batch in chunks(Calls(store).unsettled_answers(), _CHUNK):
        at = stamp(datetime.now(UTC))
        answers = with_sentences(
            study, [answer_of(call, sections.get(call.who, ())) for call in batch], {}
        )
        n_new += store.add(Batch(answers=answers), source="konsil answer", at=at).total_new()
    return n_new


def answer_of(call: Call, sections: Sequence[str] = ()) -> Answer:
    """The answer of a readable call.

    Its reasoning is separate where the reply or its sections mark it.
    """
    reply: Mapping[str, Any] = call.reply
    reasoning, text = parted(clean(str(reply.get("text", ""))), sections)
    thought = (str(reply.get("reasoning", "")).strip("\n"), reasoning)
    cited = tuple(Citation(c["title"], c["url"]) for c in reply.get("citations", ()))
    return Answer(
        answer_id(call.subject, call.who),
        call.subject,
        call.who,
        text.strip(),
        (
            "\n\n".join(part for part in thought if part)
            if reasoning
            else str(reply.get("reasoning", ""))
        ),
        cited,
    )
