"""What was decided before a study, step by step, and by whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from konsil.api.curation.decision_tables import write_cells
from konsil.api.folder.folder import Folder
from konsil.prepare import KEEP, decisions, last_screened, last_themed
from konsil.prepare.cases.marking import last_markings, markers_of
from konsil.prepare.identifiers.duplicates import DUPLICATE, last_duplicates, within
from konsil.prepare.questions.rewriting import decisions as wordings
from konsil.records import Event, Item
from konsil.store.engine.engine import reading
from konsil.store.people.staff import names

NOBODY = "not recorded"
"""Who decided, where it was decided before that was recorded."""
COLUMNS = ("step", "decision", "by", "items")
"""The table: a row for each step, decision and person."""


@dataclass(frozen=True, slots=True)
class Row:
    """How many items one person decided so in one step."""

    step: str
    """screening, duplicates, rewording, themes, marks or approval."""
    decision: str
    """What was decided; of a reason to leave items out the reason."""
    by: str
    """Who decided, a pseudonym."""
    items: int
    """Of how many items."""


def curation(events: Iterable[Event]) -> tuple[Row, ...]:
    """Who decided what, of the decisions that stand."""
    events = tuple(events)
    return tuple(
        Row(step, decision, by, n)
        for (step, decision, by), n in sorted(
            Counter(_decided(events)).items(), key=lambda entry: (_STEPS[entry[0][0]], entry)
        )
    )


_STEPS = {
    name: n
    for n, name in enumerate(
        ("screening", "duplicates", "rewording", "themes", "marks", "approval")
    )
}


def _decided(events: Sequence[Event]) -> Iterator[tuple[str, str, str]]:
    screened = last_screened(events)[1]
    last = {latest.item: latest for latest in decisions(events)}
    stated = (
        screened.decided
        if screened is not None
        else {i: latest.decision for i, latest in last.items() if latest.decision}
    )
    for item, decision in stated.items():
        latest = last.get(item)
        by = latest.by if latest is not None and latest.decision == decision else NOBODY
        step = "duplicates" if decision == DUPLICATE else "screening"
        yield step, "kept" if decision == KEEP else f"excluded: {decision}", by
    duplicates = last_duplicates(events)[1]
    for by in (duplicates.apart if duplicates is not None else {}).values():
        yield "duplicates", "apart", by
    for accepted in wordings(events).values():
        answered = " despite a warning" if accepted.despite else ""
        yield "rewording", f"{accepted.verdict}{answered}", accepted.by
    themed = last_themed(events)[1]
    if themed is not None:
        for key in (
            *(f"theme {name}" for name in themed.decided),
            *(f"item {item}" for item in themed.moved),
        ):
            yield (
                "themes",
                "renamed" if key.startswith("theme ") else "moved",
                themed.deciders.get(key, NOBODY),
            )
    for _, marking in last_markings(events).values():
        for by in markers_of(marking) or (NOBODY,):
            yield "marks", "marked", by
        if marking.approved:
            yield (
                "approval",
                "approved despite residual disclosure" if marking.despite else "approved",
                marking.by,
            )


def lines_of(
    events: Iterable[Event], items: Sequence[Item], names: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The curation in a few lines.

    The names behind pseudonyms, if `names` has them, are for those who run the study.
    """
    names = names or {}
    events = tuple(events)
    rows = curation(events)
    for step in dict.fromkeys(row.step for row in rows):
        yield step
        for row in rows:
            if row.step == step:
                name = f" ({names[row.by]})" if row.by in names else ""
                yield f"  {row.decision}: {row.items:,} by {row.by}{name}"
    if not rows:
        yield "nobody decided"
    yield duplicates_line(events, items)


def duplicates_line(events: Iterable[Event], items: Sequence[Item]) -> str:
    """How many duplicates count as independent, as far as they were searched."""
    events = tuple(events)
    duplicates = last_duplicates(events)[1]
    if duplicates is None:
        return "duplicates: not searched; run 'konsil duplicates'"
    screened = last_screened(events)[1]
    out = set(screened.reasons()) if screened is not None else set()
    n_remaining, groups = within(duplicates, (item.id for item in items if item.id not in out))
    translated = "" if "translated" in duplicates.searched else " (translations not searched)"
    return (
        f"duplicates{translated}: {n_remaining:,} items in {groups:,} groups still count as"
        f" independent"
    )


def write_table(rows: Iterable[Row], path: Path) -> None:
    """Write the rows as a table."""
    write_cells(path, COLUMNS, [(row.step, row.decision, row.by, row.items) for row in rows])


def names_of(folder: Folder) -> Mapping[str, str]:
    """The names behind pseudonyms, as far as they are known."""
    with folder.store() as store, reading(store.engine) as connection:
        return names(connection)


def events_of(folder: Folder) -> tuple[tuple[Event, ...], tuple[Item, ...]]:
    """A study's events and items."""
    with folder.store() as store:
        return store.events(), store.items()
