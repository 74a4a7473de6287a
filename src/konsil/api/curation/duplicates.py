"""Questions that are asked more than once: searched by a command, decided on by people in a table, kept as an event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.api.curation.decision_tables import DECISION, read_decisions, write_cells
from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import PlanError, SourceError, StudyError, nearest, option
from konsil.prepare import DECISION as BY_PEOPLE
from konsil.prepare import KEEP, SCREENING, Decision, decided_of, decision_event, last_screened
from konsil.prepare import decisions as decisions_of
from konsil.prepare.cases.marking import cases
from konsil.prepare.identifiers.duplicates import (
    DUPLICATE,
    DUPLICATES,
    LIKENESS,
    Duplicates,
    Embed,
    duplicates_event,
    found_duplicates,
    last_duplicates,
    pairs,
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


def search_duplicates(
    folder: Folder,
    decisions: Path | None = None,
    *,
    by: str = "",
    leave_one: bool = False,
    translated: bool = False,
    likeness: float = LIKENESS,
    keep: bool = True,
) -> Searched:
    """Search a study's items for duplicates and keep the groups; `keep` False only looks.

    Args:
        folder: the study's.
        decisions: a table with 'duplicate' (left out) or 'apart' (asks something else) for some
            items.
        by: who decides.
        leave_one: whether all but one of each group are left out.
        translated: whether items are compared by what they mean, too, in any of sixteen languages.
        likeness: the share of shingles that near duplicates have in common.
        keep: False stores nothing.
    """
    where = folder.path / PROTOCOL
    with folder.store() as store:
        with store.view() as view:
            kinds = (DUPLICATES, SCREENING, BY_PEOPLE)
            events = [event for event in view.each("events") if event.kind in kinds]
            items, is_planned = cases(view.each("items")), view.counts()["tasks"] > 0
        if not items:
            raise PlanError(f"{where}: there are no items yet; run 'konsil import' first")
        number, before = last_duplicates(events)
        stated = _stated(decisions, items)
        by = decider(store, by, may_write=keep)
        apart = {item: by for item, said in stated.items() if said == APART}
        apart |= {
            i: who
            for i, who in (before.apart if before is not None else {}).items()
            if stated.get(i) != DUPLICATE
        }
        embed = _embedder(translated)
        some = pairs(items, likeness=likeness, embed=embed)
        found = found_duplicates(items, some, translated=translated, apart=apart)
        out = _out(events)
        wanted = {item for item, said in stated.items() if said == DUPLICATE}
        if leave_one:
            wanted.update(to_leave_out(found, set(out) | wanted))
        at = now()
        made = _excluded(folder, events, wanted - set(out), by, at)
        if made and is_planned:
            raise PlanError(f"{where}: a plan is drawn already; its items cannot change any more")
        is_new = found != before or bool(made)
        if keep and is_new:
            note_study(store, folder.study, at)
            kept = [duplicates_event(found, number + 1, at)] if found != before else []
            store.add(Batch(events=[*made, *kept]), source=DUPLICATES, at=at)
    grouped = {item for group in found.groups for item in group}
    duplicates = (wanted | {item for item, reason in out.items() if reason == DUPLICATE}) & grouped
    return Searched(
        items, found, sorted(duplicates), sorted((out.keys() & grouped) - duplicates), is_new
    )


def _embedder(translated: bool) -> Embed | None:
    """What makes vectors of texts, where meanings are compared."""
    if not translated:
        return None
    from konsil.sources.language.embeddings import embedder

    try:
        return embedder()
    except SourceError as error:
        told_ = str(error).replace(
            "prepare.themes: finding themes", f"{option('translated')}: comparing meanings"
        )
        raise SourceError(told_) from None


def _stated(path: Path | None, items: Sequence[Item]) -> dict[str, str]:
    if path is None:
        return {}
    table = read_table(path)
    stated = read_decisions(table, "item", {item.id for item in items}, "item", DUPLICATE)
    for item, said in stated.items():
        if said.lower() not in (DUPLICATE, APART):
            raise SourceError(
                f"{table.name}: item {item!r}: the decision {said!r} is not one of {DUPLICATE!r},"
                f" {APART!r}; {nearest(said.lower(), (DUPLICATE, APART))}"
            )
    return {item: said.lower() for item, said in stated.items()}


def _out(events: Sequence[Event]) -> dict[str, str]:
    """Item -> why it is left out, by a rule or by somebody's decision."""
    screened = last_screened(events)[1]
    reasons = dict(screened.reasons()) if screened is not None else {}
    decided = decided_of(events)[0]
    return reasons | {
        item: DUPLICATE for item, decision in decided.items() if decision == DUPLICATE
    }


def _excluded(
    folder: Folder, events: Sequence[Event], wanted: set[str], by: str, at: str
) -> list[Event]:
    """The decisions by which items are left out as duplicates."""
    if not wanted:
        return []
    prepare = folder.study.prepare
    if prepare is None or prepare.screen is None:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [prepare.screen]; expected one, since it leaves"
            " out what is decided to be a duplicate"
        )
    if last_screened(events)[1] is None:
        raise PlanError(
            f"{folder.path / PROTOCOL}: the items are not screened yet; run 'konsil screen' first"
        )
    otherwise = {one.item: one.otherwise for one in decisions_of(events)}
    return [
        decision_event(Decision(n, item, DUPLICATE, by, at, otherwise.get(item, KEEP)))
        for n, item in enumerate(sorted(wanted), decided_of(events)[1] + 1)
    ]


def write_table(searched: Searched, path: Path) -> None:
    """Write the groups for people, a row an item."""
    texts = {item.id: item.text for item in searched.items}
    out, how = set(searched.out), searched.duplicates.how
    rows = [
        (str(n), item, how.get(item, ""), DUPLICATE if item in out else "", texts[item])
        for n, group in enumerate(searched.duplicates.groups, 1)
        for item in group
    ]
    write_cells(path, COLUMNS, rows)


def lines_of(searched: Searched) -> Iterator[str]:
    """What was found in a few lines."""
    found = searched.duplicates
    yield f"{found.pool:,} items: {found.n_items:,} in {len(found.groups):,} groups of duplicates"
    counts: Mapping[str, int] = Counter(
        found.how[item] for group in found.groups for item in group if item in found.how
    )
    for how in ("exact", "same words", "near", "translated"):
        if how in found.searched:
            yield f"  {how}: {counts.get(how, 0):,}"
        else:
            yield f"  {how}: not searched"
    if found.apart:
        yield f"  declared apart by people: {len(found.apart):,}"
    left, groups = within(
        found, {item.id for item in searched.items} - {*searched.out, *searched.excluded}
    )
    yield f"  left out as duplicates: {len(searched.out):,}"
    if searched.excluded:
        yield f"  left out for another reason: {len(searched.excluded):,}"
    yield f"{left:,} items in {groups:,} groups still count as independent"
