"""The items of a study that are rated: the protocol's draw, its event and its summary lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from konsil.api.folder.folder import Folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.api.item_checks import planned_draw
from konsil.errors import PlanError, StudyError
from konsil.prepare import (
    Drawn,
    draw,
    event_of,
    last_drawn,
    last_screened,
)
from konsil.prepare.questions.rewriting import (
    REHEARSAL,
    Accepted,
    decided_event,
    undecided,
)
from konsil.records import Event, Item
from konsil.store import Batch


@dataclass(frozen=True)
class Prepared:
    """What was drawn."""

    drawn: Drawn
    """The items, and what became of the others."""
    new: bool
    """Whether it is another draw than the last one, or the first."""


def prepare(folder: Folder, *, save: bool = True) -> Prepared:
    """Draw the items that the protocol's [prepare] asks for, and store the draw.

    With `save` False nothing is stored.

    Asked again it gives the same items and writes nothing. Where the protocol, the items or the
    answers have changed it draws anew, unless a plan was drawn: then the items stay as they are.
    """
    study, where = folder.study, folder.path / PROTOCOL
    if study.prepare is None:
        raise StudyError(
            f"{where}: there is no [prepare]; expected one that states which items are rated"
        )
    if not study.prepare.draws:
        masks = study.prepare.themes is None and study.prepare.mask is not None
        alone, command = ("masks", "mask") if masks else ("themes", "themes")
        raise StudyError(
            f"{where}: prepare: requests only {alone}, and all items are rated; run 'konsil"
            f" {command}'"
        )
    with folder.store() as store:
        with store.view() as view:
            number, before = last_drawn(view.each("events"))
            screened = last_screened(view.each("events"))[1]
            is_planned = view.counts()["tasks"] > 0
            if is_planned:
                return Prepared(planned_draw(folder, before, screened), new=False)
            items = tuple(view.each("items"))
            answers = view.each("answers") if study.prepare.lexical_match else iter(())
            try:
                systems = [s.id for s in study.systems]
                drawn = draw(
                    study.prepare,
                    items,
                    answers,
                    systems=systems,
                    seed=study.seed,
                    screened=screened,
                )
            except PlanError as error:
                raise PlanError(f"{where}: {error}") from None
        event = event_of(drawn, number + 1, now())
        is_new = before != drawn
        if save and is_new:
            note_study(store, study, now())
            store.add(Batch(events=[event]), source="prepare", at=event.at)
    return Prepared(drawn, is_new)


def is_being_prepared(folder: Folder) -> bool:
    """Whether people still choose, mark or reword items on the pages.

    They do where the protocol asks for it and no plan is drawn.
    """
    prepare = folder.study.prepare
    if prepare is None or (
        prepare.screen is None and prepare.mask is None and prepare.rewrite is None
    ):
        return False
    with folder.store() as store:
        counts = store.counts()
    return counts["items"] > 0 and not counts["tasks"]


def as_they_are(
    folder: Folder, events: Sequence[Event], items: Sequence[Item]
) -> tuple[Event, ...]:
    """Every question unchanged, for a rehearsal of a study in which nobody has decided yet."""
    if folder.study.prepare is None or folder.study.prepare.rewrite is None:
        return ()
    waiting = set(undecided(items, events))
    return tuple(
        decided_event(item, Accepted("keep", item.text, REHEARSAL), now())
        for item in items
        if item.id in waiting
    )


def of_items(events: Sequence[Event]) -> Iterator[str]:
    """The flow of a study's items, from the files they were taken from to those that are rated."""
    from konsil.api.folder import decks

    read = sorted((e.at, e.subject, e.id, e.data) for e in events if e.kind == decks.PREPARATION)
    yield from (decks.preparation_line(subject, data) for _, subject, _, data in read)
    drawn = last_drawn(events)[1]
    if drawn is not None:
        yield from draw_lines(drawn)


def draw_lines(drawn: Drawn) -> Iterator[str]:
    """A draw in a few lines.

    >>> drawn = Drawn("", 9, by="lexical_match", found={"no": 6, "yes": 3}, sample=True,
    ...               drawn={"core": {"no": ["a", "b"], "yes": ["c"]}})
    >>> for line in draw_lines(drawn):
    ...     print(line)
    9 items (lexical_match no 6, yes 3)
    3 drawn (lexical_match no 2, yes 1)
      core: 3 (no 2, yes 1)
    """
    yield f"{drawn.pool:,} items" + _listed(drawn.found, drawn.by)
    for reason, n in sorted(drawn.lost.items()):
        yield f"  excluded, {reason}: {n:,}"
    for value, n in sorted(drawn.short.items()):
        yield f"  shortfall, {value}: {n:,} fewer than requested"
    matches = Counter[str]()
    for parts in drawn.drawn.values():
        matches.update({match: len(ids) for match, ids in parts.items() if match})
    yield f"{drawn.size:,} {'drawn' if drawn.sample else 'kept'}" + _listed(
        matches, "lexical_match"
    )
    for name, parts in sorted(drawn.drawn.items()):
        if name or len(drawn.drawn) > 1:
            sizes = {match: len(ids) for match, ids in parts.items()}
            named_sizes = {match: n for match, n in sizes.items() if match}
            yield f"  {name or 'in no set'}: {sum(sizes.values()):,}" + _listed(named_sizes, "")


def _listed(counts: Mapping[str, int], name: str) -> str:
    if not counts:
        return ""
    listing = ", ".join(f"{value} {n:,}" for value, n in sorted(counts.items()))
    return f" ({name} {listing})" if name else f" ({listing})"
