"""Whether the items are ready for a plan: selected, reworded and masked as the protocol says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL
from konsil.errors import PlanError
from konsil.prepare import (
    Drawn,
    Screened,
    in_study,
    last_drawn,
    last_screened,
    request_digest,
)
from konsil.prepare.draw.draw import still_whole, unmasked_cases_sentence
from konsil.prepare.questions.rewriting import still_to_decide, undecided
from konsil.records import Answer, Event, Item, Rating


def planned_draw(folder: Folder, before: Drawn | None, screened: Screened | None) -> Drawn:
    """The draw on which a plan stands.

    A PlanError where there is none or the protocol asks for another one.
    """
    study = folder.study
    if (
        study.prepare is not None
        and before is not None
        and before.asked == request_digest(study.prepare, study.seed, screened)
    ):
        return before
    raise PlanError(
        f"{folder.path / PROTOCOL}: prepare: the assignment plan already exists for"
        f" {'all items' if before is None else 'the items of another [prepare] or seed'}; its items"
        " cannot change any more"
    )


def check_drawn(folder: Folder, events: Sequence[Event], *, is_planned: bool) -> None:
    """Raise a PlanError where the protocol's draw of items was not made or was made otherwise."""
    study = folder.study
    if study.prepare is None or not study.prepare.draws:
        return
    drawn, screened = last_drawn(events)[1], last_screened(events)[1]
    if is_planned:
        planned_draw(folder, drawn, screened)
        return
    if drawn is None:
        raise PlanError(
            f"{folder.path}: the items are not selected yet; run 'konsil prepare' first"
        )
    if drawn.asked != request_digest(study.prepare, study.seed, screened):
        raise PlanError(
            f"{folder.path / PROTOCOL}: prepare: requests other items than were selected; run"
            " 'konsil"
            " prepare' again"
        )


def check_rewritten(
    folder: Folder,
    items: Sequence[Item],
    events: Sequence[Event],
    answers: Iterable[Answer],
    ratings: Iterable[Rating],
) -> None:
    """Raise a PlanError where the protocol rewrites questions and some are still undecided."""
    if folder.study.prepare is None or folder.study.prepare.rewrite is None:
        return
    item_ids = {item.id for item in in_study(items, events)}
    fixed_ids = {a.item for a in answers if a.text} | {
        r.item for r in ratings if r.item is not None
    }
    waiting = undecided([item for item in items if item.id in item_ids], events, fixed_ids)
    if waiting:
        raise PlanError(still_to_decide(str(folder.path), len(waiting), len(item_ids)))


def check_masked(folder: Folder, items: Sequence[Item], events: Sequence[Event]) -> None:
    """Raise a PlanError where the protocol masks cases and a case has no versions yet."""
    prepare = folder.study.prepare
    unmasked = (
        still_whole(items, events) if prepare is not None and prepare.mask is not None else ()
    )
    if unmasked:
        raise PlanError(f"{folder.path}: {unmasked_cases_sentence(unmasked)}")
