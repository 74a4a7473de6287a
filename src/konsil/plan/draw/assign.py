"""assign: allocations + events + ratings -> tasks. A pure function of its arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from konsil.errors import PlanError, nearest
from konsil.errors.message import message, placed
from konsil.instrument import Instrument
from konsil.plan.draw.conflicts import conflicting_items
from konsil.plan.draw.pairing import seatings
from konsil.plan.draw.schedule import schedule
from konsil.plan.draw.seating import seat_panel
from konsil.plan.draw.slot_holders import assign_slot_holders
from konsil.plan.model.allocation import Allocation
from konsil.plan.model.history import UNSTARTED, History
from konsil.plan.model.places import (
    Places,
    added_places,
    placeholder_raters,
    signed_up,
    slots_of,
    waves_of,
)
from konsil.plan.model.references import ReferenceIndex, check_numbers, is_survey
from konsil.plan.model.rng_streams import generator, token
from konsil.plan.model.screens import (
    Draft,
    Site,
    Subjects,
    arms_of,
    drafts_of,
    item_subjects,
    pool_of,
    screens_of,
)
from konsil.plan.model.task_columns import TaskColumns
from konsil.prepare import in_study
from konsil.records import Answer, Item, Purpose, Rater, Rating

_UNCOUNTED = ("practice", "pilot")


def assign(
    plan: Sequence[Allocation],
    *,
    items: Iterable[Item],
    answers: Iterable[Answer],
    raters: Iterable[Rater],
    instruments: Iterable[Instrument],
    seed: int,
    history: History = UNSTARTED,
    places: Iterable[Places] = (),
) -> TaskColumns:
    """Every rater's tasks in the order of work, as columns.

    A PlanError states which allocation cannot be met.

    Each allocation draws from a stream of its own, keyed by the seed and by what the allocation is,
    so another allocation changes none of its tasks (only `position`, where both share a panel's
    phase and are mixed). The order of items and answers does not matter; that of raters numbers a
    panel's slots. Ratings matter to tie-breaks only (`when = "disagreed"`), events only to which
    items were drawn, to who holds a slot and to which places were added: these draw from streams of
    their own, so that what was drawn before stays. The tasks of `places` are nobody's (rater empty)
    until somebody signs up; what is on them does not depend on who that is.

    >>> from konsil.instrument import Criterion, Scale
    >>> form = Instrument("form", (Criterion("correct", "Is it correct?", Scale(("no", "yes"))),))
    >>> tasks = assign(
    ...     [Allocation("panel", "form")],
    ...     items=[Item("i1", "Which organ makes insulin?")],
    ...     answers=[Answer("a1", "i1", "x"), Answer("a2", "i1", "y")],
    ...     raters=[Rater("r1", "panel"), Rater("r2", "panel")],
    ...     instruments=[form],
    ...     seed=1,
    ... )
    >>> [(t.rater, t.item, sorted(t.answers)) for t in tasks]
    [('r1', 'i1', ['a1', 'a2']), ('r2', 'i1', ['a1', 'a2'])]
    """
    # Both are walked through several times, and may be iterators.
    named, events = tuple(raters), tuple(history.events)
    places = (*places, *added_places(events))
    free = placeholder_raters(places, named)
    people = {r.id: r for r in (*named, *free)}
    waves = waves_of(places[: len(places) - len(added_places(events))], events, named)
    book = ReferenceIndex(
        in_study(items, events), answers, people.values(), instruments, seed, waves
    )
    people = {r.id: r for r in signed_up(events, slots_of(people.values()))} | people
    rating_rows = tuple(history.ratings)
    drafts: list[Draft] = []
    occurrences: Counter[tuple[str, ...]] = Counter()
    for n, allocation in enumerate(plan):
        where = f"plan[{n}]"
        instrument = book.instrument(allocation, where)
        check_numbers(allocation, instrument, where)
        # Streams belong to what a line is and not to its number: a line that is inserted moves no
        # other.
        name = _identity(allocation)
        site = Site(book, allocation, instrument, (*name, occurrences[name]), where)
        occurrences[name] += 1
        if is_survey(instrument, where):
            drafts += _surveys(site)
        elif allocation.when == "disagreed":
            drafts += _tiebreaks(site, drafts, rating_rows, people)
        elif allocation.like:
            drafts += _alike(site, drafts)
        else:
            drafts += _screens(site)
    return assign_slot_holders(schedule(drafts, seed), events, rating_rows, {r.id for r in free})


def _identity(allocation: Allocation) -> tuple[str, ...]:
    a = allocation
    return (a.panel, a.instrument, a.items, a.phase, a.purpose, a.when)


def _screens(site: Site) -> list[Draft]:
    book, allocation = site.book, site.allocation
    panel, pool = book.panel(allocation, site.where), pool_of(site)
    arms = arms_of(book.seed, panel, allocation)
    seating = seat_panel(site, pool, panel, arms)
    # Only pairs are drawn for each rater; all else is the same for the whole panel.
    drawn = (
        [item_subjects(site, pool, rater) for rater in panel]
        if allocation.show == "pair"
        else [item_subjects(site, pool, panel[0])] * len(panel)
    )
    drafts: list[Draft] = []
    for seat, (rater, arm) in enumerate(zip(panel, arms, strict=True)):
        chosen = [
            (pool[i].id, drawn[seating.leads.get((seat, i), seat)][i]) for i in seating.seats[seat]
        ]
        drafts += drafts_of(site, seat, rater, arm, allocation.purpose, chosen)
    return drafts


def _surveys(site: Site) -> list[Draft]:
    panel = site.book.panel(site.allocation, site.where)
    scopes = dict.fromkeys(c.scope for c in site.instrument.criteria)
    arms = arms_of(site.book.seed, panel, site.allocation)
    return [
        Draft(
            token(site.book.seed, *site.key, "survey", rater.id, scope),
            site.allocation,
            seat,
            rater.id,
            None,
            arm=arm,
            purpose=site.allocation.purpose,
            scope=scope,
            wave=site.book.waves.get(rater.id, 0),
        )
        for seat, (rater, arm) in enumerate(zip(panel, arms, strict=True))
        for scope in scopes
    ]


def _alike(site: Site, earlier: Sequence[Draft]) -> list[Draft]:
    """The item-answer sets of an earlier phase.

    They are a rater's own where the panel is the same, else all of them.
    """
    book, allocation = site.book, site.allocation
    sources = [d for d in earlier if d.allocation.phase == allocation.like and d.item is not None]
    if not sources:
        phases = {d.allocation.phase for d in earlier if d.allocation.phase}
        raise PlanError(
            f"{site.where}.like: no earlier allocation has the phase {allocation.like!r};"
            f" {nearest(allocation.like, phases)}"
        )
    if allocation.purpose not in _UNCOUNTED:
        # What people only practised on is no judge's main task: it would count for judges alone.
        sources = [d for d in sources if d.purpose not in _UNCOUNTED] or sources
    # What was added to an earlier line comes after all else of it, so that it moves nothing here
    # either.
    sources.sort(key=lambda d: d.wave)
    panel, items_by_id = (
        book.panel(allocation, site.where),
        {i.id: i for i in book.pool(allocation, site.where)},
    )
    same_panel = [d for d in sources if d.allocation.panel == allocation.panel]
    pool = [
        items_by_id[i]
        for i in dict.fromkeys(d.item for d in same_panel or sources)
        if i is not None and i in items_by_id
    ]
    if same_panel and (allocation.raters_per_item is not None or allocation.match is not None):
        raise PlanError(
            f"{site.where}.like: each rater of {allocation.panel!r} keeps their own items of"
            f" phase {allocation.like!r}; leave out raters_per_item and match"
        )
    rng = generator(book.seed, *site.key, "limits")
    seats = [] if same_panel else seatings(allocation, pool, panel, rng, site.where)
    systems = set(book.chosen_systems(allocation, site.where))
    all_drafts: list[Draft] = []
    for seat, (rater, arm) in enumerate(
        zip(panel, arms_of(book.seed, panel, allocation), strict=True)
    ):
        rater_sources = [d for d in same_panel or sources if not same_panel or d.rater == rater.id]
        sets, waves = _sets(site, rater_sources, arm, systems)
        if same_panel:
            # The first batches are made by the shared key, so everybody in the panel comes back to
            # the same items.
            first = sorted(
                {d.item: d.shared for d in rater_sources if d.item in sets}.items(),
                key=lambda pair: pair[1],
            )
            first_items = {item for item, _ in first[: allocation.per_rater]}
            ids = [i.id for i in pool if i.id in first_items]
        else:
            ids = [pool[i].id for i in seats[seat] if pool[i].id in sets]
        drafts = drafts_of(
            site, seat, rater, arm, allocation.purpose, [(i, sets[i]) for i in ids], waves
        )
        if allocation.purpose == "repeat":
            _tie_repeats(site, drafts, earlier)
        all_drafts += drafts
    return all_drafts


def _sets(
    site: Site, sources: Iterable[Draft], arm: str, systems: set[str]
) -> tuple[dict[str, Subjects], dict[str, list[int]]]:
    """Item -> its displayed answers, in the order of the sources.

    The second mapping states with which addition each of these came.
    """
    subjects_by_item: dict[str, Subjects] = {}
    waves: dict[str, list[int]] = {}
    for draft in sources:
        if draft.item is None or (arm and draft.arm and arm != draft.arm):
            continue
        shown_answers = tuple(a for a in draft.subject if site.book.by_id[a].system in systems)
        split = (
            [(a,) for a in shown_answers]
            if site.allocation.show == "each"
            else [shown_answers]
            if shown_answers
            else []
        )
        subjects = subjects_by_item.setdefault(draft.item, [])
        for subject in split:
            # Every human comparison of a pair has its counterpart; whole sets and single answers
            # come once.
            if site.allocation.show == "pair" or subject not in subjects:
                subjects.append(subject)
                waves.setdefault(draft.item, []).append(draft.wave)
    return {item: subjects for item, subjects in subjects_by_item.items() if subjects}, waves


def _tie_repeats(site: Site, drafts: Iterable[Draft], earlier: Iterable[Draft]) -> None:
    before = {
        (d.rater, d.item, d.subject): d
        # From the last to the first, so that the first time a subject is rated stands.
        for d in reversed(list(earlier))
        if d.allocation.instrument == site.allocation.instrument and d.purpose in ("main", "pilot")
    }
    for draft in drafts:
        first = before.get((draft.rater, draft.item, draft.subject))
        if first is None:
            fact = message(
                "rater {rater!r} is to repeat item {item!r} on instrument {instrument!r} but has"
                " not rated it there before",
                message_id="planning.not_rated_before",
                rater=draft.rater,
                item=str(draft.item),
                instrument=site.allocation.instrument,
            )
            raise PlanError(placed(site.where, fact))
        if draft.parts and not {*draft.spans} <= {*first.spans}:
            raise PlanError(
                f"{site.where}.spans: rater {draft.rater!r} is to repeat sentences of item"
                f" {draft.item!r} that they have not rated before; expected the spans of the line"
                " that is repeated, or fewer"
            )
        draft.repeat_of = first.id


def _tiebreaks(
    site: Site, earlier: Sequence[Draft], ratings: Sequence[Rating], people: dict[str, Rater]
) -> list[Draft]:
    book, allocation = site.book, site.allocation
    # Turns go by the number of members: places that are added would move tie-breaks that came up
    # before.
    panel, pool = book.first_panel(allocation, site.where), pool_of(site)
    chosen_systems = set(book.chosen_systems(allocation, site.where))
    systems = {a.id: a.system for a in book.by_id.values() if a.system in chosen_systems}
    purposes: dict[str, Purpose] = {task: d.purpose for d in earlier for task, _ in screens_of(d)}
    conflicts = conflicting_items(ratings, site.instrument, panel, people, purposes, systems)
    rated: dict[str, set[str]] = {}
    for draft in earlier:
        if draft.item is not None and draft.allocation.instrument == allocation.instrument:
            rated.setdefault(draft.item, set()).add(draft.rater)
    # Seats follow from the item's place in the whole set, so a new conflict moves no earlier
    # tie-break.
    items_by_seat: list[list[int]] = [[] for _ in panel]
    for i, item in enumerate(pool):
        if item.id not in conflicts:
            continue
        turn = [(i + k) % len(panel) for k in range(len(panel))]
        fresh = [s for s in turn if panel[s].id not in rated.get(item.id, set())]
        n_raters = len(fresh) if allocation.raters_per_item is None else allocation.raters_per_item
        if len(fresh) < max(n_raters, 1):
            raise PlanError(
                f"{site.where}.panel: the tie-break of item {item.id!r} needs {max(n_raters, 1)}"
                f" raters of {allocation.panel!r} who have not rated it, there are {len(fresh)}"
            )
        for seat in fresh[:n_raters]:
            items_by_seat[seat].append(i)
    drafts: list[Draft] = []
    for seat, (rater, arm) in enumerate(
        zip(panel, arms_of(book.seed, panel, allocation), strict=True)
    ):
        if items_by_seat[seat]:
            subjects = item_subjects(site, pool, rater)
            drafts += drafts_of(
                site,
                seat,
                rater,
                arm,
                "tiebreak",
                [(pool[i].id, subjects[i]) for i in items_by_seat[seat]],
            )
    return drafts
