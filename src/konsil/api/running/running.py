"""While a study runs: letting a rater go, adding places, closing batches."""

from __future__ import annotations

from collections.abc import Sequence

from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL, now
from konsil.errors import StudyError, nearest, option
from konsil.plan.changes.handover import Handover
from konsil.plan.model.places import Places
from konsil.records.numerals import natural
from konsil.store.engine.engine import reading
from konsil.store.people.staff import decider
from konsil.store.tasks import additions, batches, progress, vacancies, withdrawal
from konsil.store.tasks.additions import Addition, Group


def withdraw(
    folder: Folder, rater: str, *, reason: str = "", by: str = "", save: bool = True
) -> Handover:
    """Let a rater go: her links end, what she rated stays, the rest goes to others.

    With `save` False nothing is stored: the handover is only described.
    """
    with folder.store() as store:
        if not save:
            return withdrawal.preview(store, folder.study, rater)
        who = decider(store, by)
        handover = withdrawal.withdraw(store, folder.study, rater, at=now(), reason=reason, by=who)
    if handover is None:
        raise StudyError(f"{folder.path}: rater {rater!r} could not be withdrawn; try again")
    return handover


def vacant(folder: Folder) -> tuple[vacancies.Vacancy, ...]:
    """The places that nobody has since somebody withdrew, and in which something waits."""
    with folder.store() as store, reading(store.engine) as connection:
        return vacancies.vacancies(connection, folder.study)


def succeed(folder: Folder, slot: str, rater: str, *, by: str = "") -> int:
    """Name who takes over a place that nobody has; count the tasks that are theirs now."""
    with folder.store() as store:
        return vacancies.succeed(store, folder.study, slot, rater, at=now(), by=decider(store, by))


def place_groups(folder: Folder) -> tuple[Group, ...]:
    """The places that people sign up for, by panel and profile, with how many are free."""
    if not folder.study.places:
        raise StudyError(f"{folder.path / PROTOCOL}: there are no [[places]] for sign-up")
    with folder.store() as store:
        return additions.groups(folder.study, store)


def add_places(
    folder: Folder,
    number: int,
    *,
    panel: str = "",
    profile: Sequence[str] = (),
    by: str = "",
    reason: str = "",
) -> Addition:
    """Add places to a panel after the plan was drawn.

    `profile`: NAME=VALUE, what somebody who signs up must say.
    """
    panels = list(dict.fromkeys(p.panel for p in folder.study.places))
    if not panels:
        raise StudyError(f"{folder.path / PROTOCOL}: there are no [[places]] for sign-up")
    if not panel and len(panels) > 1:
        raise StudyError(
            f"{option('panel')}: expected the panel of the rater slots; known: {', '.join(panels)}"
        )
    strata: dict[str, str] = {}
    for setting in profile:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise StudyError(
                f"{option('profile', flag='for')}: expected NAME=VALUE such as"
                f" specialty=cardiology, got {setting!r}"
            )
        strata[name.strip()] = value.strip()
    for name, text in ((option("by"), by), (option("reason"), reason)):
        if not text.strip():
            raise StudyError(
                f"{name}: is empty; the log requires the person who adds rater slots and the reason"
            )
    with folder.store() as store:
        addition = Addition(Places(panel or panels[0], number, strata), reason, decider(store, by))
        return additions.add_places(store, folder.study, addition, at=now())


def blocks(folder: Folder) -> tuple[tuple[str, str, int, int], ...]:
    """Every batch in the order of work: phase, batch, screens and how many of them are done.

    Tie-breaks left out.
    """
    with folder.store() as store, reading(store.engine) as connection:
        counts = sorted(
            (c for c in progress.counts(connection) if c.rater),
            key=lambda c: (c.first, c.phase, c.batch),
        )
    counts_by_batch: dict[tuple[str, str], list[int]] = {}
    for row in counts:
        totals = counts_by_batch.setdefault((row.phase, row.batch), [0, 0])
        totals[0] += row.tasks
        totals[1] += row.n_completed
    return tuple(
        (phase, batch, tasks, completed)
        for (phase, batch), (tasks, completed) in counts_by_batch.items()
    )


def close(
    folder: Folder,
    batch: str,
    *,
    rater: str = "",
    reopen: bool = False,
    reason: str = "",
    by: str = "",
) -> bool:
    """Close a batch by its name, or open it again for a reason.

    The empty name is a plan without batches.

    Says whether anything changed.
    """
    batch_rows = blocks(folder)
    names = [name for _, name, _, _ in batch_rows]
    matching = [
        # A batch's name may occur in several phases: without the phase it means all of them.
        (phase, name)
        for phase, name, _, _ in batch_rows
        if batch in (name, f"{phase} {name}".strip())
    ]
    if not matching:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no batch {batch!r}; {nearest(batch, names)}"
        )
    if rater and rater not in (r := _raters(folder)):
        raise StudyError(
            f"{folder.path}: there is no rater {rater!r} with tasks; {nearest(rater, r)}"
        )
    with folder.store() as store:
        who = decider(store, by)
        if reopen:
            changed = [
                batches.reopen(store, *block, rater, at=now(), reason=reason, by=who)
                for block in matching
            ]
        else:
            changed = [batches.close(store, *block, rater, at=now(), by=who) for block in matching]
    return any(changed)


def _raters(folder: Folder) -> Sequence[str]:
    with folder.store() as store, reading(store.engine) as connection:
        return sorted({c.rater for c in progress.counts(connection) if c.rater}, key=natural)
