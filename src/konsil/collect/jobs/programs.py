"""Programs rate tasks: whether an answer names the reference (`konsil.prepare.cases.naming`).

No model, no network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from konsil.instrument import Instrument, digest
from konsil.prepare.cases.homonyms import means_another
from konsil.prepare.cases.naming import Mention, mentions, names_of
from konsil.prepare.text.negation import is_ruled_out
from konsil.records import Answer, Item, Rating, Task
from konsil.records.digits import stamp
from konsil.store import Batch, Store
from konsil.store.calls.calls import Calls
from konsil.study import Study
from konsil.study.sections.programs import Program


@dataclass(frozen=True, slots=True)
class Programmed:
    """What a program did, or would do."""

    rater: str
    """The program."""
    tasks: int
    """Its tasks."""
    n_rated_before: int
    """Tasks that were rated before."""
    rated: int
    """Tasks that are rated now."""
    without: int
    """Tasks whose item has no reference to look for; they stay without a rating."""


def run_programs(
    study: Study, store: Store, *, only: Collection[str] = (), dry_run: bool = False
) -> tuple[Programmed, ...]:
    """Let the study's programs rate the tasks that the plan gave them.

    What is rated already is left alone.
    """
    chosen = [p for p in study.programs if not only or p.rater in only]
    if not chosen:
        return ()
    tasks, items, answers = Calls(store).to_judge({p.rater for p in chosen})
    before = set(Calls(store).rated())
    at = stamp(datetime.now(UTC))
    summaries = []
    for program in chosen:
        rater_tasks = [t for t in tasks.values() if t.rater == program.rater]
        open_tasks = [t for t in rater_tasks if t.id not in before]
        ratings = [r for t in open_tasks for r in _rate(study, program, t, items, answers, at)]
        if ratings and not dry_run:
            store.add(Batch(ratings=ratings), source="konsil judge", at=at)
        rated = len({r.task for r in ratings})
        summaries.append(
            Programmed(
                program.rater,
                len(rater_tasks),
                len(rater_tasks) - len(open_tasks),
                rated,
                len(open_tasks) - rated,
            )
        )
    return tuple(summaries)


def _rate(
    study: Study,
    program: Program,
    task: Task,
    items: Mapping[str, Item],
    answers: Mapping[str, Answer],
    at: str,
) -> Iterator[Rating]:
    instrument = study.instrument_of(task)
    item = items.get(task.item or "")
    if item is not None and item.reference:
        for answer in task.answers:
            yield from _program_ratings(program, instrument, task, item, answers[answer], at)


def _program_ratings(
    program: Program, instrument: Instrument, task: Task, item: Item, answer: Answer, at: str
) -> Iterator[Rating]:
    # A reasoning that considers the diagnosis and discards it has named it; a final response that
    # rules it out has not.
    parts = ((program.reasoning, answer.reasoning, True), (program.answer, answer.text, False))
    for criterion, text, ruled_out in parts:
        rated_criterion = instrument.criterion(criterion)
        if rated_criterion is not None:
            mention = named(item, text, misspelt=program.misspelt, ruled_out=ruled_out)
            label = rated_criterion.scale.labels[mention is not None]
            note = (
                f"{text[mention.start : mention.end]!r} at {mention.start}: {mention.way}"
                if mention is not None
                else ""
            )
            yield Rating(
                task.id,
                task.rater,
                criterion,
                task.item,
                (answer.id,),
                label=label,
                note=note,
                at=at,
                instrument=digest(instrument),
            )


def named(
    item: Item, text: str, *, misspelt: bool = True, ruled_out: bool = False
) -> Mention | None:
    """Where a text names the item's reference or one of its aliases; None where it does not.

    The first mention of the surest kind. A part of the name is none, nor is a person of that name,
    another disease whose name contains it, or an abbreviation that means something else. What its
    sentence rules out is none either, unless `ruled_out`: a reasoning that considers a diagnosis
    and discards it has named it.

    >>> item = Item("i", "?", "multiple sclerosis", ("MS",))
    >>> named(item, "Most likely multiple sclerosis.").way, named(item, "Ischaemia.")
    ('named', None)
    >>> named(item, "MS was ruled out."), named(item, "MS was ruled out.", ruled_out=True).way
    (None, 'named')
    """
    ways = ("named", "form", "abbreviation", *(["misspelt"] if misspelt else []))
    names = names_of((item.reference or "", *item.aliases))
    by_text = {name.text: name for name in names}
    candidates = [
        m
        for m in mentions(text, names)
        if m.way in ways
        and not means_another(text, m, by_text[m.name])
        and (ruled_out or not is_ruled_out(text, m.start, m.end))
    ]
    return min(candidates, key=lambda m: (ways.index(m.way), m.start), default=None)
