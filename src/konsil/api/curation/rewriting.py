"""Rewritten questions.

A model proposes a wording, people decide in a table or on the pages, and events store both
wordings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from konsil.api.curation.decision_tables import DECISION, read_decisions, write_cells
from konsil.api.curation.requests import RewritingRequest
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.api.item_checks import check_drawn
from konsil.collect.jobs.collection import Collected, Options
from konsil.collect.jobs.preparing import PromptBatch, Replies, ask, subjects
from konsil.errors import PlanError, SourceError, StudyError, nearest
from konsil.prepare import in_study
from konsil.prepare.identifiers.fidelity import fidelity_warnings
from konsil.prepare.questions.prompts import language_of, prompt_of, rewriting_form
from konsil.prepare.questions.rewriting import (
    PROPOSED,
    REWRITING,
    Accepted,
    Proposal,
    Rewriting,
    decisions,
    proposals,
    proposed_event,
    undecided,
)
from konsil.records import Event, Item
from konsil.records.formulas import harmless
from konsil.sources.files.table import Table, read_table
from konsil.store import Batch, Store
from konsil.store.curation.rewriting import Choice, decide, worded
from konsil.store.people.staff import TABLE, decider

PROPOSAL = "rewritten"
"""The column with the model's wording, which people may change."""
WARNINGS = "warnings"
"""The column with what differs between the question and the wording, and must not."""
ANSWER = "answer"
"""The column with the reason to accept a wording despite a warning."""
COLUMNS = ("item", "text", PROPOSAL, WARNINGS, ANSWER, DECISION)
"""The table for people: the question, the model's wording, what differs, and columns for what is
decided."""
VERDICTS = ("accept", "keep")


@dataclass(frozen=True)
class Reworded:
    """Questions, what a model made of them, and what people decided."""

    items: Sequence[Item]
    """The study's items as they were imported."""
    proposed: Mapping[str, Proposal]
    """Item -> the model's wording."""
    decided: Mapping[str, Accepted]
    """Item -> what was decided."""
    open: Sequence[str]
    """Items on which nobody has decided."""
    run: Collected | None = None
    """The run that asked the model; None where it was not asked."""
    unreadable: Mapping[str, int] = field(default_factory=dict)
    """Outcome -> questions whose reply could not be read."""
    new: int = 0
    """Decisions that are new."""


def rewrite_items(folder: Folder, request: RewritingRequest | None = None) -> Reworded:
    """Ask the model for every undecided question, or take the decisions of a table instead."""
    request = RewritingRequest() if request is None else request
    spec = _rewriting(folder)
    with folder.store() as store:
        items, events = _items(folder, store)
        if request.decisions is not None:
            choices = read_choices(
                read_table(request.decisions), {item.id for item in items}, proposals(events)
            )
            new = decide(store, choices, by=decider(store, request.by or TABLE), at=now())
            return _reworded(items, store, new=new)
        replies = _ask(
            folder, store, spec, items, events, request.calls.options(dry_run=request.calls.dry_run)
        )
        return _reworded(items, store, replies)


def _rewriting(folder: Folder) -> Rewriting:
    prepare = folder.study.prepare
    if prepare is None or prepare.rewrite is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.rewrite]; expected one with a model"
        )
    return prepare.rewrite


def _items(folder: Folder, store: Store) -> tuple[tuple[Item, ...], tuple[Event, ...]]:
    """The study's items as they were imported: those that were drawn, where the protocol draws."""
    with store.view() as view:
        items, events = tuple(view.each("items")), tuple(view.each("events"))
        check_drawn(folder, events, is_planned=view.counts()["tasks"] > 0)
    item_ids = {item.id for item in in_study(items, events)}
    items = tuple(item for item in items if item.id in item_ids)
    if not items:
        raise PlanError(
            f"{folder.path / PROTOCOL}: prepare.rewrite: there are no items yet; run 'konsil"
            " import' first"
        )
    return items, events


def _ask(
    folder: Folder,
    store: Store,
    spec: Rewriting,
    items: Sequence[Item],
    events: Sequence[Event],
    options: Options,
) -> Replies:
    decided = decisions(events)
    with store.view() as view:
        fixed_ids = worded(view.connection)
    questions = [
        (item.id, item.text)
        for item in items
        if item.id not in decided and item.id not in fixed_ids
    ]
    language = language_of(spec, folder.study.language)
    batch = PromptBatch(
        "rewrite", prompt_of(spec, "rewrite", language), rewriting_form(), subjects(questions)
    )
    if not options.dry_run:
        note_study(store, folder.study, now())
    try:
        return ask(folder.study, store, spec, batch, options)
    finally:
        if not options.dry_run:  # however the run ended, what has come back is a proposal
            # A dry run asks nothing: it reads what has been answered so far.
            store_proposals(store, ask(folder.study, store, spec, batch, Options(dry_run=True)))


def store_proposals(store: Store, replies: Replies) -> int:
    """Make proposals of the replies that are none yet, and count them."""
    before = proposals(store.events())
    new_events = []
    for item, reply in replies.replies.items():
        last = before.get(item)
        text = str(reply["question"])
        # The same reply read again is no new proposal.
        if text and (last is None or last.work != replies.works[item]):
            number = last.number + 1 if last is not None else 1
            new_events.append(proposed_event(item, text, replies.works[item], number, now()))
    if new_events:
        store.add(Batch(events=tuple(new_events)), source="rewrite", at=now())
    return len(new_events)


def _reworded(
    items: Sequence[Item], store: Store, replies: Replies | None = None, new: int = 0
) -> Reworded:
    item_ids = {item.id for item in items}
    with store.view() as view:
        fixed_ids = worded(view.connection)
    events = [
        e for e in store.events() if e.kind in (PROPOSED, REWRITING) and e.subject in item_ids
    ]
    run, unreadable = (
        (replies.collected, replies.unreadable) if replies is not None else (None, Counter[str]())
    )
    return Reworded(
        items,
        proposals(events),
        decisions(events),
        undecided(items, events, fixed_ids),
        run,
        unreadable,
        new,
    )


def waiting(folder: Folder, store: Store) -> Iterator[str]:
    """How many questions wait for a decision on their wording.

    Nothing where none is asked for or none is there.
    """
    if folder.study.prepare is None or folder.study.prepare.rewrite is None:
        return
    with store.view() as view:
        items, events, fixed_ids = (
            tuple(view.each("items")),
            tuple(view.each("events")),
            worded(view.connection),
        )
    item_ids = {item.id for item in in_study(items, events)}
    items = tuple(item for item in items if item.id in item_ids)
    if items:
        yield (
            f"rewritten questions: {len(undecided(items, events, fixed_ids)):,} of"
            f" {len(items):,} await a decision"
        )


def read_choices(
    table: Table, item_ids: set[str], proposed: Mapping[str, Proposal]
) -> list[Choice]:
    """Take a table's decisions: 'accept' the wording that stands there, or 'keep' the question.

    Empty: none.
    """
    decisions = read_decisions(table, "item", item_ids, "item", VERDICTS[0])
    if decisions and PROPOSAL not in table.frame.columns:
        raise SourceError(
            f"{table.name}: there is no column {PROPOSAL!r};"
            f" {nearest(PROPOSAL, table.frame.columns)}"
        )
    choices = []
    wordings = dict(table.frame.select("item", PROPOSAL).iter_rows()) if decisions else {}
    answers = (
        dict(table.frame.select("item", ANSWER).iter_rows())
        if ANSWER in table.frame.columns
        else {}
    )
    for item, decision in decisions.items():
        verdict = decision.lower()
        if verdict not in VERDICTS:
            raise SourceError(
                f"{table.name}: item {item!r}: the decision {decision!r} is not one of"
                f" {', '.join(map(repr, VERDICTS))}; {nearest(verdict, VERDICTS)}"
            )
        wording, answer = str(wordings.get(item) or ""), str(answers.get(item) or "")
        proposal = proposed[item].text if item in proposed else ""
        if verdict == "keep":
            choices.append(Choice(item, "keep"))
        elif wording in (proposal, harmless(proposal)):
            choices.append(Choice(item, "accept", despite=answer))
        else:  # what a spreadsheet was kept from calculating is written back as it was
            edited = wording[1:] if harmless(wording[1:]) == wording else wording
            choices.append(Choice(item, "edit", edited, answer))
    return choices


def write_table(reworded: Reworded, path: Path) -> None:
    """Write the table for people: what is open first."""
    waiting = set(reworded.open)
    rows = []
    for item in sorted(reworded.items, key=lambda item: (item.id not in waiting, item.id)):
        decided, proposal = reworded.decided.get(item.id), reworded.proposed.get(item.id)
        wording = decided.text if decided is not None and decided.verdict == "edit" else ""
        verdict = "" if decided is None else "keep" if decided.verdict == "keep" else "accept"
        shown = wording or (proposal.text if proposal is not None else "")
        warned = (
            "; ".join(warning.sentence() for warning in fidelity_warnings(item.text, shown))
            if shown
            else ""
        )
        rows.append(
            (
                item.id,
                item.text,
                shown,
                warned,
                decided.despite if decided is not None else "",
                verdict,
            )
        )
    write_cells(path, COLUMNS, rows)


def progress_lines(reworded: Reworded) -> Iterator[str]:
    """How far the rewriting is, in a few lines."""
    same = sum(
        item.id in reworded.proposed and reworded.proposed[item.id].text == item.text
        for item in reworded.items
    )
    yield (
        f"{len(reworded.items):,} questions, {len(reworded.proposed):,} rewritten by the model,"
        f" {same:,} of"
        " them unchanged"
    )
    for outcome, n in sorted(reworded.unreadable.items()):
        yield f"  invalid reply ({outcome}): {n:,}"
    verdicts = Counter(decision.verdict for decision in reworded.decided.values())
    if verdicts:
        yield (
            f"  decided by reviewers: {verdicts['accept']:,} accepted, {verdicts['edit']:,}"
            f" edited, {verdicts['keep']:,} left unchanged"
        )
    yield f"{len(reworded.open):,} await a decision"
    texts = {item.id: item.text for item in reworded.items}
    proposed = {
        item: reworded.proposed[item].text for item in reworded.open if item in reworded.proposed
    }
    warned = [item for item, text in proposed.items() if fidelity_warnings(texts[item], text)]
    if warned:
        yield (
            f"  {len(warned):,} of them with a warning that needs an answer: numbers,"
            " negations, drugs or"
            " identifiers"
        )
    accepted = {
        i: decision
        for i, decision in reworded.decided.items()
        if decision.verdict != "keep" and i in texts
    }
    unanswered = [
        i
        for i, decision in accepted.items()
        if not decision.despite and fidelity_warnings(texts[i], decision.text)
    ]
    if unanswered:
        yield (
            f"  {len(unanswered):,} accepted with an unanswered warning"
            f" ({', '.join(sorted(unanswered)[:5])}); review them again"
        )
