"""Which of the collected questions may be rated: rules look, people decide, an event keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.curation.decision_tables import DECISION, read_decisions, write_cells
from konsil.api.curation.requests import ScreeningRequest
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import PlanError, StudyError
from konsil.prepare import DECISION as BY_PEOPLE
from konsil.prepare import (
    KEEP,
    SCREENING,
    Decision,
    Finding,
    Recognise,
    Screened,
    Screening,
    decided_of,
    decision_event,
    last_screened,
    screen,
    screening_event,
)
from konsil.prepare.cases.marking import cases
from konsil.prepare.identifiers.suspects import RECALLS, Rule
from konsil.prepare.questions.screening import UNDECIDED
from konsil.records import Event, Item
from konsil.sources.files.table import read_table
from konsil.sources.language.languages import recogniser
from konsil.store import Batch
from konsil.store.people.staff import TABLE, decider

if TYPE_CHECKING:
    from konsil.collect.jobs.preparing import Replies

COLUMNS = ("item", "reason", "evidence", DECISION, "text")
"""The table for people: what the rules found, and an empty column for what is decided."""


@dataclass(frozen=True)
class Looked:
    """What a screening found."""

    items: Sequence[Item]
    """All items."""
    screened: Screened
    """Who is left out."""
    findings: Mapping[str, Finding]
    """Item -> what the rules found, whatever was decided."""
    new: bool
    """Whether it differs from the last one, or is the first."""
    replies: Replies | None = None
    """What a model was asked; None where the protocol names none."""
    rules: tuple[Rule, ...] = ()
    """What the rules look for."""


def screen_items(folder: Folder, request: ScreeningRequest | None = None) -> Looked:
    """Look through all items as the protocol's [prepare.screen] says.

    A dry run stores nothing and calls no model.

    Where the protocol names a model, it is asked about all items in which no rule finds anything;
    nothing is kept before.

    What people decided before stands, with what the request's `decisions` add or change; each of
    these is kept with who decided, as on the pages.
    """
    request = ScreeningRequest() if request is None else request
    decisions, save = request.decisions, not request.dry_run
    spec, where = _screening(folder), folder.path / PROTOCOL
    with folder.store() as store:
        with store.view() as view:
            events = [
                event for event in view.each("events") if event.kind in (SCREENING, BY_PEOPLE)
            ]
            is_planned = view.counts()["tasks"] > 0
            items = cases(view.each("items"))
        if not items:
            raise PlanError(
                f"{where}: prepare.screen: there are no items yet; run 'konsil import' first"
            )
        number, before = last_screened(events)
        decided, last_number = decided_of(events)
        stated = dict[str, str]()
        if decisions is not None:
            stated = read_decisions(
                read_table(decisions), "item", {item.id for item in items}, "item", KEEP
            )
            # A table that was written with the decisions repeats them: only what differs is a new
            # decision.
            stated = {
                item: decision for item, decision in stated.items() if decided.get(item) != decision
            }
            decided |= stated
        replies, suspected = None, dict[str, Finding]()
        if spec.model:
            from konsil.api.curation.screen_asking import (
                ask_model,
            )  # with what calls models, which rules need not

            # What a rule has found needs no call of the model.
            by_rules_alone = screen(spec, items, {}, recogniser_of(spec))[1]
            unsuspected = [item for item in items if item.id not in by_rules_alone]
            replies, suspected = ask_model(
                folder, store, spec, unsuspected, request.calls.options(dry_run=not save)
            )
        screened, findings = screen(spec, items, decided, recogniser_of(spec), suspected)
        at = now()
        new_events = decision_events(
            stated,
            findings,
            spec,
            last_number,
            decider(store, request.by or TABLE, may_write=save),
            at,
        )
        screened = replace(screened, seen=last_number + len(new_events))
        if replies is not None and replies.n_pending:
            return Looked(items, screened, findings, False, replies, spec.rules)
        is_new = screened != before
        if is_new and is_planned:
            raise PlanError(
                f"{where}: prepare.screen: the assignment plan already exists; its items can no"
                " longer change"
            )
        if save and is_new:
            note_study(store, folder.study, at)
            store.add(
                Batch(events=[*new_events, screening_event(screened, number + 1, at)]),
                source="screen",
                at=at,
            )
    return Looked(items, screened, findings, is_new, replies, spec.rules)


def decision_events(
    stated: Mapping[str, str],
    findings: Mapping[str, Finding],
    spec: Screening,
    last_number: int,
    by: str,
    at: str,
) -> list[Event]:
    """One event for each item that somebody decided on.

    `last_number` is the number of the last decision before.
    """
    otherwise = KEEP if spec.keeps_undecided else UNDECIDED
    return [
        decision_event(
            Decision(
                n, item, decision, by, at, findings[item].reason if item in findings else otherwise
            )
        )
        for n, (item, decision) in enumerate(sorted(stated.items()), last_number + 1)
    ]


def _screening(folder: Folder) -> Screening:
    prepare = folder.study.prepare
    if prepare is None or prepare.screen is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.screen]; expected one with reasons"
            " for exclusion"
        )
    return prepare.screen


def recogniser_of(spec: Screening) -> Recognise | None:
    """The recognition of languages, where the protocol asks for some."""
    return recogniser() if spec.languages else None


def by_rules(folder: Folder, events: Sequence[Event], items: Sequence[Item]) -> tuple[Event, ...]:
    """The screening by rules alone, for a rehearsal of a study without screening or decisions."""
    prepare = folder.study.prepare
    number, before = last_screened(events)
    if (
        prepare is None
        or prepare.screen is None
        or (before is not None and not _undecided(before, items))
    ):
        return ()
    decided, recognise = decided_of(events)[0], recogniser_of(prepare.screen)
    screened, findings = screen(prepare.screen, cases(items), decided, recognise)
    waiting = {name: KEEP for name in screened.out.get(UNDECIDED, ()) if name not in findings}
    if waiting:  # a rehearsal has nobody who decides
        screened, _ = screen(prepare.screen, cases(items), {**waiting, **decided}, recognise)
    return (screening_event(screened, number + 1, now()),)


def _undecided(screened: Screened, items: Sequence[Item]) -> bool:
    """Whether all that rules leave waits for people, so that nothing could be drawn."""
    return bool(screened.out.get(UNDECIDED)) and len(screened.reasons()) >= len(cases(items))


def write_table(looked: Looked, path: Path) -> None:
    """Write the table for people: flagged items first, then all others.

    The others are in it so that they can be read through as well.
    """
    suspects = [item for item in looked.items if item.id in looked.findings]
    others = [item for item in looked.items if item.id not in looked.findings]
    findings, decided = looked.findings, looked.screened.decided
    rows = []
    for item in (*suspects, *others):
        finding = findings.get(item.id, Finding(""))
        by = (
            []
            if looked.replies is None
            else ["model" if finding.by_model else "rule" if finding.reason else ""]
        )
        rows.append(
            (item.id, finding.reason, *by, finding.evidence, decided.get(item.id, ""), item.text)
        )
    write_cells(
        path, COLUMNS if looked.replies is None else (*COLUMNS[:2], "by", *COLUMNS[2:]), rows
    )


def screening_lines(looked: Looked) -> Iterator[str]:
    """A screening in a few lines."""
    out = {reason: len(items) for reason, items in looked.screened.out.items()}
    if looked.replies is not None:
        for outcome, n in sorted(looked.replies.unreadable.items()):
            yield f"invalid reply ({outcome}): {n:,}; these were screened by the rules only"
        if looked.replies.n_pending:
            yield (
                f"{looked.replies.n_pending:,} items have not been sent to the model yet;"
                " nothing was stored"
            )
            return
    yield f"{len(looked.items):,} items"
    if looked.screened.by_model:
        yield f"  flagged by the model only: {len(looked.screened.by_model):,}"
    for reason, n in sorted(out.items()):
        yield f"  excluded, {reason}: {n:,}"
    if looked.screened.decided:
        n_retained = sum(decision == KEEP for decision in looked.screened.decided.values())
        yield (
            f"  decided by reviewers: {len(looked.screened.decided):,}, of these retained:"
            f" {n_retained:,}"
        )
    n_eligible = len(looked.items) - sum(out.values())
    yield f"{n_eligible:,} items eligible"
    yield from _recalls(looked.rules)
    if "identifier" in looked.rules:
        yield from _caution(looked, n_eligible)


_TARGETS: Mapping[Rule, tuple[str, str]] = {
    "identifier": ("identifiers", "questions with identifiers"),
    "follow-up": ("follow-ups", "follow-up questions"),
    "no question for a decision": ("no decision", "texts that ask for no clinical decision"),
}
"""Rule -> what its line of the summary begins with, and the texts whose recall is stated."""


def _recalls(rules: Sequence[Rule]) -> Iterator[str]:
    """The recall of each rule, one line a rule."""
    for rule in rules:
        (name, target), (k, n, low, high) = _TARGETS[rule], RECALLS[rule]
        share = f"{k / n:.0%} ({k}/{n}; 95% CI, {low:.0%} to {high:.0%})"
        if rule == "identifier":
            yield (
                f"{name}: the rules flag {share} of invented {target}, written without"
                " knowledge of the rules; decide on every question"
            )
        else:
            yield (
                f"{name}: the rules flag {share} of invented {target}, written without"
                " knowledge of the rules"
            )


def _caution(looked: Looked, n_eligible: int) -> Iterator[str]:
    """The number of items that no person has read."""
    n_unread = n_eligible - sum(decision == KEEP for decision in looked.screened.decided.values())
    if n_unread:
        yield (
            f"  {n_unread:,} of the eligible items were not read by any person; some may"
            " identify a patient"
        )
