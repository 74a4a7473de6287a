"""Questions that are asked more than once.

A command searches for them, people decide on them in a table, and an event stores the groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.api.curation.decision_tables import DECISION, read_decisions, write_cells
from konsil.api.curation.requests import DuplicatesRequest
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import PlanError, SourceError, StudyError, nearest, option
from konsil.prepare import DECISION as BY_PEOPLE
from konsil.prepare import (
    KEEP,
    SCREENING,
    Decision,
    decided_of,
    decision_event,
    in_study,
    last_screened,
)
from konsil.prepare import decisions as decisions_of
from konsil.prepare.cases.marking import cases
from konsil.prepare.identifiers.duplicates import (
    DUPLICATE,
    DUPLICATES,
    Duplicates,
    Embed,
    duplicate_groups,
    duplicates_event,
    last_duplicates,
    pairs,
    same_texts,
    to_leave_out,
    within,
)
from konsil.records import Event, Item
from konsil.sources.files.table import read_table
from konsil.store import Batch
from konsil.store.people.staff import decider

APART = "apart"
"""The decision that an item asks something else than the others of its group."""
COLUMNS = ("group", "item", "how", DECISION, "text")
"""The table for people: the groups, and an empty column for what is decided."""


@dataclass(frozen=True)
class Searched:
    """The groups of a study's items that ask the same."""

    items: Sequence[Item]
    """The study's items."""
    duplicates: Duplicates
    """The groups."""
    out: Sequence[str]
    """Items of groups that are left out as duplicates."""
    excluded: Sequence[str]
    """Items of groups that are left out for another reason."""
    new: bool
    """Whether anything differs from the last search."""


def search_duplicates(folder: Folder, request: DuplicatesRequest | None = None) -> Searched:
    """Search a study's items for duplicates and store the groups.

    The request's `decisions` are a table with 'duplicate' (left out) or 'apart' (asks something
    else) for some items.
    """
    request = DuplicatesRequest() if request is None else request
    save = not request.dry_run
    where = folder.path / PROTOCOL
    with folder.store() as store:
        with store.view() as view:
            kinds = (DUPLICATES, SCREENING, BY_PEOPLE)
            events = [event for event in view.each("events") if event.kind in kinds]
            items, is_planned = cases(view.each("items")), view.counts()["tasks"] > 0
        if not items:
            raise PlanError(f"{where}: there are no items yet; run 'konsil import' first")
        number, before = last_duplicates(events)
        stated = _stated(request.decisions, items)
        by = decider(store, request.by, may_write=save)
        # What somebody declared to be apart stays so until a table says otherwise.
        apart = {item: by for item, decision in stated.items() if decision == APART}
        apart |= {
            i: person
            for i, person in (before.apart if before is not None else {}).items()
            if stated.get(i) != DUPLICATE
        }
        embed = _embedder(request.translated)
        some = pairs(items, likeness=request.likeness, embed=embed)
        grouping = duplicate_groups(items, some, translated=request.translated, apart=apart)
        out = _out(events)
        duplicate_ids = {item for item, decision in stated.items() if decision == DUPLICATE}
        if request.leave_one:
            duplicate_ids.update(to_leave_out(grouping, set(out) | duplicate_ids))
        at = now()
        exclusions = _excluded(folder, events, duplicate_ids - set(out), by, at)
        # Groups alone change no item, so they may be stored when the plan is there, too.
        if exclusions and is_planned:
            raise PlanError(
                f"{where}: the assignment plan already exists; its items can no longer change"
            )
        is_new = grouping != before or bool(exclusions)
        if save and is_new:
            note_study(store, folder.study, at)
            search_events = (
                [duplicates_event(grouping, number + 1, at)] if grouping != before else []
            )
            store.add(
                Batch(events=[*exclusions, *search_events]),
                source=DUPLICATES,
                at=at,
                # A search by rule is nobody's decision.
                by=by if stated or request.leave_one else "",
            )
    grouped = {item for group in grouping.groups for item in group}
    duplicates = (
        duplicate_ids | {item for item, reason in out.items() if reason == DUPLICATE}
    ) & grouped
    return Searched(
        items, grouping, sorted(duplicates), sorted((out.keys() & grouped) - duplicates), is_new
    )


def unsearched_lines(folder: Folder) -> Iterator[str]:
    """Number of rated items with equal texts, where duplicates were not searched."""
    with folder.store() as store:
        events = store.events()
        if last_duplicates(events)[1] is not None:
            return
        out = _out(events)
        groups = same_texts(
            item for item in cases(in_study(store.items(), events)) if item.id not in out
        )
    if groups:
        yield (
            f"{sum(map(len, groups)):,} items repeat the text of another item ({len(groups):,}"
            f" {'group' if len(groups) == 1 else 'groups'}) but count as independent; run 'konsil"
            " duplicates'"
        )


def _embedder(translated: bool) -> Embed | None:
    """What makes vectors of texts, where meanings are compared."""
    if not translated:
        return None
    from konsil.sources.language.embeddings import embedder

    try:
        return embedder()
    except SourceError as error:
        # The sentence was written for the other part that compares meanings, [prepare.themes].
        sentence = str(error).replace(
            "prepare.themes: finding themes", f"{option('translated')}: comparing meanings"
        )
        raise SourceError(sentence) from None


def _stated(path: Path | None, items: Sequence[Item]) -> dict[str, str]:
    if path is None:
        return {}
    table = read_table(path)
    stated = read_decisions(table, "item", {item.id for item in items}, "item", DUPLICATE)
    for item, decision in stated.items():
        if decision.lower() not in (DUPLICATE, APART):
            raise SourceError(
                f"{table.name}: item {item!r}: the decision {decision!r} is not one of"
                f" {DUPLICATE!r},"
                f" {APART!r}; {nearest(decision.lower(), (DUPLICATE, APART))}"
            )
    return {item: decision.lower() for item, decision in stated.items()}


def _out(events: Sequence[Event]) -> dict[str, str]:
    """Item -> why it is left out, by a rule or by somebody's decision."""
    screened = last_screened(events)[1]
    reasons = dict(screened.reasons()) if screened is not None else {}
    decided = decided_of(events)[0]
    return reasons | {
        item: DUPLICATE for item, decision in decided.items() if decision == DUPLICATE
    }


def _excluded(
    folder: Folder, events: Sequence[Event], duplicate_ids: set[str], by: str, at: str
) -> list[Event]:
    """The decisions by which items are left out as duplicates."""
    if not duplicate_ids:
        return []
    prepare = folder.study.prepare
    if prepare is None or prepare.screen is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.screen]; expected one, because"
            " screening excludes the items decided to be duplicates"
        )
    if last_screened(events)[1] is None:
        raise PlanError(
            f"{folder.path / PROTOCOL}: the items are not screened yet; run 'konsil screen' first"
        )
    otherwise = {decision.item: decision.otherwise for decision in decisions_of(events)}
    return [
        decision_event(Decision(n, item, DUPLICATE, by, at, otherwise.get(item, KEEP)))
        for n, item in enumerate(sorted(duplicate_ids), decided_of(events)[1] + 1)
    ]


def write_table(searched: Searched, path: Path) -> None:
    """Write the groups for people, a row an item."""
    texts = {item.id: item.text for item in searched.items}
    out, kinds = set(searched.out), searched.duplicates.how
    rows = [
        (str(n), item, kinds.get(item, ""), DUPLICATE if item in out else "", texts[item])
        for n, group in enumerate(searched.duplicates.groups, 1)
        for item in group
    ]
    write_cells(path, COLUMNS, rows)


def lines_of(searched: Searched) -> Iterator[str]:
    """What was found in a few lines."""
    duplicates = searched.duplicates
    yield (
        f"{duplicates.pool:,} items: {duplicates.n_items:,} in {len(duplicates.groups):,} groups of"
        f" duplicates"
    )
    counts: Mapping[str, int] = Counter(
        duplicates.how[item]
        for group in duplicates.groups
        for item in group
        if item in duplicates.how
    )
    for kind in ("exact", "same words", "near", "translated"):
        if kind in duplicates.searched:
            yield f"  {kind}: {counts.get(kind, 0):,}"
        else:
            yield f"  {kind}: not searched"
    if duplicates.apart:
        yield f"  declared distinct by reviewers: {len(duplicates.apart):,}"
    n_remaining, groups = within(
        duplicates, {item.id for item in searched.items} - {*searched.out, *searched.excluded}
    )
    yield f"  excluded as duplicates: {len(searched.out):,}"
    if searched.excluded:
        yield f"  excluded for another reason: {len(searched.excluded):,}"
    yield f"{n_remaining:,} items in {groups:,} groups still count as independent"
