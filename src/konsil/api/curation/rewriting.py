"""Questions in better words: a model is asked, people decide in a table or on the pages, events keep both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from konsil.api.curation.decision_tables import DECISION, read_decisions, write_cells
from konsil.api.curation.preparing import check_drawn
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
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


def rewrite_items(
    folder: Folder,
    options: Options | None = None,
    decisions_from: Path | None = None,
    *,
    by: str = TABLE,
) -> Reworded:
    """Ask the model for every question that nobody has decided on; with a table of decisions, take these instead.

    `by` is who made these decisions.
    """
    spec = _rewriting(folder)
    with folder.store() as store:
        items, events = _items(folder, store)
        if decisions_from is not None:
            choices = read_choices(
                read_table(decisions_from), {item.id for item in items}, proposals(events)
            )
            new = decide(store, choices, by=decider(store, by), at=now())
            return _reworded(items, store, new=new)
        said = _ask(folder, store, spec, items, events, options or Options())
        return _reworded(items, store, said)


def _rewriting(folder: Folder) -> Rewriting:
    prepare = folder.study.prepare
    if prepare is None or prepare.rewrite is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.rewrite]; nothing says which model is"
            " asked"
        )
    return prepare.rewrite


def _items(folder: Folder, store: Store) -> tuple[tuple[Item, ...], tuple[Event, ...]]:
    """The study's items as they were imported: those that were drawn, where the protocol draws."""
    with store.view() as view:
        items, events = tuple(view.each("items")), tuple(view.each("events"))
        check_drawn(folder, events, is_planned=view.counts()["tasks"] > 0)
    kept = {item.id for item in in_study(items, events)}
    items = tuple(item for item in items if item.id in kept)
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
        stands = worded(view.connection)
    asked = [
        (item.id, item.text) for item in items if item.id not in decided and item.id not in stands
    ]
    language = language_of(spec, folder.study.language)
    wanted = PromptBatch(
        "rewrite", prompt_of(spec, "rewrite", language), rewriting_form(), subjects(asked)
    )
    if not options.dry_run:
        note_study(store, folder.study, now())
    try:
        return ask(folder.study, store, spec, wanted, options)
    finally:
        if not options.dry_run:  # however the run ended, what has come back is a proposal
            store_proposals(store, ask(folder.study, store, spec, wanted, Options(dry_run=True)))


def store_proposals(store: Store, said: Replies) -> int:
    """Make proposals of the replies that are none yet, and count them."""
    before = proposals(store.events())
    made = []
    for item, reply in said.replies.items():
        last = before.get(item)
        text = str(reply["question"])
        if text and (last is None or last.work != said.works[item]):
            number = last.number + 1 if last is not None else 1
            made.append(proposed_event(item, text, said.works[item], number, now()))
    if made:
        store.add(Batch(events=tuple(made)), source="rewrite", at=now())
    return len(made)


def _reworded(
    items: Sequence[Item], store: Store, said: Replies | None = None, new: int = 0
) -> Reworded:
    known = {item.id for item in items}
    with store.view() as view:
        stands = worded(view.connection)
    told_ = [e for e in store.events() if e.kind in (PROPOSED, REWRITING) and e.subject in known]
    run, unreadable = (
        (said.collected, said.unreadable) if said is not None else (None, Counter[str]())
    )
    return Reworded(
        items,
        proposals(told_),
        decisions(told_),
        undecided(items, told_, stands),
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
        items, events, stands = (
            tuple(view.each("items")),
            tuple(view.each("events")),
            worded(view.connection),
        )
    kept = {item.id for item in in_study(items, events)}
    items = tuple(item for item in items if item.id in kept)
    if items:
        yield (
            f"wordings: {len(undecided(items, events, stands)):,} of {len(items):,} questions wait"
            " for a decision"
        )


def read_choices(table: Table, known: set[str], proposed: Mapping[str, Proposal]) -> list[Choice]:
    """Take a table's decisions: 'accept' the wording that stands there, or 'keep' the question.

    Empty: none.
    """
    found = read_decisions(table, "item", known, "item", VERDICTS[0])
    if found and PROPOSAL not in table.frame.columns:
        raise SourceError(
            f"{table.name}: there is no column {PROPOSAL!r};"
            f" {nearest(PROPOSAL, table.frame.columns)}"
        )
    choices = []
    wordings = dict(table.frame.select("item", PROPOSAL).iter_rows()) if found else {}
    answers = (
        dict(table.frame.select("item", ANSWER).iter_rows())
        if ANSWER in table.frame.columns
        else {}
    )
    for item, said in found.items():
        verdict = said.lower()
        if verdict not in VERDICTS:
            raise SourceError(
                f"{table.name}: item {item!r}: the decision {said!r} is not one of"
                f" {', '.join(map(repr, VERDICTS))}; {nearest(verdict, VERDICTS)}"
            )
        wording, answer = str(wordings.get(item) or ""), str(answers.get(item) or "")
        proposal = proposed[item].text if item in proposed else ""
        if verdict == "keep":
            choices.append(Choice(item, "keep"))
        elif wording in (proposal, harmless(proposal)):
            choices.append(Choice(item, "accept", despite=answer))
        else:  # what a spreadsheet was kept from calculating is written back as it was
            own = wording[1:] if harmless(wording[1:]) == wording else wording
            choices.append(Choice(item, "edit", own, answer))
    return choices


def write_table(done: Reworded, path: Path) -> None:
    """Write the table for people: what is open first."""
    waiting = set(done.open)
    rows = []
    for item in sorted(done.items, key=lambda item: (item.id not in waiting, item.id)):
        decided, proposal = done.decided.get(item.id), done.proposed.get(item.id)
        wording = decided.text if decided is not None and decided.verdict == "edit" else ""
        verdict = "" if decided is None else "keep" if decided.verdict == "keep" else "accept"
        shown = wording or (proposal.text if proposal is not None else "")
        warned = (
            "; ".join(one.sentence() for one in fidelity_warnings(item.text, shown))
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


def progress_lines(done: Reworded) -> Iterator[str]:
    """How far the rewriting is, in a few lines."""
    same = sum(
        item.id in done.proposed and done.proposed[item.id].text == item.text for item in done.items
    )
    yield (
        f"{len(done.items):,} questions, {len(done.proposed):,} rewritten by the model, {same:,} of"
        " them unchanged"
    )
    for outcome, n in sorted(done.unreadable.items()):
        yield f"  reply not readable ({outcome}): {n:,}"
    verdicts = Counter(one.verdict for one in done.decided.values())
    if verdicts:
        yield (
            f"  decided by people: {verdicts['accept']:,} accepted, {verdicts['edit']:,} edited,"
            f" {verdicts['keep']:,} kept as they were"
        )
    yield f"{len(done.open):,} to be decided"
    texts = {item.id: item.text for item in done.items}
    proposed = {item: done.proposed[item].text for item in done.open if item in done.proposed}
    warned = [item for item, text in proposed.items() if fidelity_warnings(texts[item], text)]
    if warned:
        yield (
            f"  {len(warned):,} of them with a warning to be answered: numbers, negations, drugs or"
            " identifiers"
        )
    accepted = {i: one for i, one in done.decided.items() if one.verdict != "keep" and i in texts}
    unanswered = [
        i
        for i, one in accepted.items()
        if not one.despite and fidelity_warnings(texts[i], one.text)
    ]
    if unanswered:
        yield (
            f"  {len(unanswered):,} accepted with a warning that was not answered"
            f" ({', '.join(sorted(unanswered)[:5])}); look at them again"
        )
