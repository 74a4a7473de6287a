"""A whole study rehearsed through its pages.

A copy is served, simulated raters sign in by invitations and rate, and the copy gets its report.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from konsil.api.curation.masking import pretended_versions
from konsil.api.folder.folder import Folder, open_folder
from konsil.api.folder.opened import PROTOCOL, now
from konsil.api.progress import progress
from konsil.api.rehearsal.rehearsal import (
    MATERIAL,
    SIMULATION,
    TRUTH,
    copy_as_simulated,
    drawn_items,
    report,
    state_truth,
    truth_of,
)
from konsil.api.rehearsal.requests import RehearsalRequest
from konsil.api.rehearsal.scaling import scale_down
from konsil.api.running.invitations import PATH
from konsil.api.running.planning import implied_answers, make_plan, still_silent
from konsil.errors import StudyError, option
from konsil.errors.message import message, placed
from konsil.locale import entries
from konsil.prepare import DECISION, SAMPLING, SCREENING, in_study
from konsil.prepare.cases.marking import MARKING
from konsil.prepare.questions.rewriting import REWRITING
from konsil.prepare.questions.themes import THEMING
from konsil.progress import advance
from konsil.records import Answer, Event, Item, Source, Task
from konsil.records.digits import stamp
from konsil.rehearse import Outcome, Replies, Server, browser_there, work
from konsil.rehearse.people import Person
from konsil.rehearse.replies import about
from konsil.simulate import Truth, check_truth, lengthened, people, without_effects
from konsil.simulate.pretended import pool_size, pretended_pool
from konsil.store import Batch, Store
from konsil.store.engine.folders import copy_new
from konsil.store.people.access import Access
from konsil.study import Study
from konsil.study.data.cutting import pretended

PREPARED = (SCREENING, DECISION, SAMPLING, MARKING, REWRITING, THEMING)
"""The kinds of events that say what becomes of the items before anybody rates; a rehearsal takes
them over."""
UNANSWERED = "…"
"""What is shown for an answer that is not there yet."""
ESTIMATES = "estimates.csv"
"""The report's file of all results."""
DAYS = 7.0
"""How long a rehearsal's invitations work."""


@dataclass(frozen=True)
class Rehearsed:
    """What came of a rehearsal."""

    folder: Folder
    """The copy, with everything that was collected."""
    outcome: Outcome
    """Pages handed in, times, faults."""
    planned: int
    """Pages that the plan had for people, tie-breaks that came about included."""
    report: Path | None
    """The report it would give; None where nothing came to report on."""

    @property
    def estimates(self) -> tuple[int, int] | None:
        """How many results the report estimates, and of how many; None without a report."""
        if self.report is None:
            return None
        with (self.report.parent / ESTIMATES).open(encoding="utf-8", newline="") as file:
            values = [row["value"] for row in csv.DictReader(file)]
        return sum(map(bool, values)), len(values)


@progress()
def rehearse(
    folder: Folder,
    request: RehearsalRequest | None = None,
    truth: Truth | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Rehearsed:
    """Rehearse a study in a new folder: its plan, its pages, its report.

    The study itself is only read.

    The folder is filled beside its place and is there when the rehearsal has ended, or not at all.

    Each rater rates at most `most` pages; `copy_database` is an empty one for the copy, instead of
    a file in its folder. The first `windows` raters sit at a real browser. `items` is the number
    of placeholder items that are used instead of the study's own. `truth`, where it is given,
    stands instead of the request's file.
    """
    request = RehearsalRequest() if request is None else request
    is_stated = truth is None and (request.truth is not None or (folder.path / TRUTH).is_file())
    simulated = truth_of(folder, request.truth) if is_stated else truth or Truth()
    if request.null:
        simulated = without_effects(simulated)
    seed = folder.study.seed if request.seed is None else request.seed
    place = folder.path.absolute()
    target = request.target or place.with_name(f"{place.name}-rehearsal")
    if request.windows:
        browser_there()
    rehearsals: list[Rehearsed] = []

    def fill(draft: Path) -> None:
        copy = prepared_copy(
            folder,
            simulated,
            draft,
            database=request.copy_database,
            pretend=request.items,
            seed=seed,
        )
        if is_stated:
            state_truth(draft, simulated)
        rehearsals.append(_rehearsed(copy, simulated, seed, request, say))

    copy_new(target, fill)
    [rehearsed] = rehearsals
    report = rehearsed.report
    return replace(
        rehearsed,
        folder=Folder(target, rehearsed.folder.study, request.copy_database),
        report=target / report.relative_to(rehearsed.folder.path) if report is not None else None,
    )


def _rehearsed(
    copy: Folder,
    truth: Truth,
    seed: int,
    request: RehearsalRequest,
    say: Callable[[str], None],
) -> Rehearsed:
    """Plan a prepared copy, let simulated raters rate it, simulate its judges and report."""
    study = copy.study
    planned = make_plan(copy)
    say(f"{len(planned.tasks):,} tasks planned")
    human = {r.id for r in study.everybody() if r.kind == "human"}
    of_people = _pages_of(human, planned.tasks, request.most)
    with copy.store() as store:
        rated, answers = _material(store)
        replies = Replies(study, store, rated, answers, truth, seed)
        guests = invited(study, store)
        with Server(copy.path, database=copy.database, workers=request.workers) as server:
            say(f"{len(guests)} simulated raters at {server.url}")
            outcome = work(
                [Person(p.rater, server.url + p.link, p.about) for p in guests],
                replies.to,
                lambda seconds: request.pace * seconds,
                max_pages=request.most,
                windows=request.windows,
                watch=lambda n: advance("pages", n, max(n, of_people)),
            )
        tasks = store.tasks()
    judged = _judge(copy, truth, seed)
    say(
        f"{sum(outcome.handed_in.values()):,} pages submitted; {judged:,} ratings of judges"
        " simulated"
    )
    n = _pages_of(human, tasks)
    return Rehearsed(copy, outcome, n, report(copy) if outcome.handed_in else None)


def _pages_of(human: Collection[str], tasks: Sequence[Task], most: int | None = None) -> int:
    """Pages of these tasks for people, each of whom rates at most `most`.

    Of a place, its slot counts: nobody may have taken it yet.
    """
    pages = Counter(
        t.rater if t.rater in human else t.slot
        for t in tasks
        if t.rater in human or t.slot in human
    )
    return sum(pages.values() if most is None else (min(n, most) for n in pages.values()))


def prepared_copy(
    folder: Folder,
    truth: Truth,
    target: Path,
    *,
    database: str = "",
    pretend: int | None = None,
    seed: int | None = None,
) -> Folder:
    """A copy of a study with its items and answers in an empty folder, ready to be planned.

    Ratings and people are not copied. With `pretend`, the copy gets that number
    of placeholder items instead; then only the protocol of the study is read.
    """
    if not folder.study.plan:
        fact = message(
            "there is no [[plan]]; a rehearsal needs an assignment plan",
            message_id="rehearsing.no_plan",
        )
        raise StudyError(placed(str(folder.path / PROTOCOL), fact))
    material = [s for s in folder.study.sources if s.records in MATERIAL]
    if pretend is None:
        _expect_files(folder, material)
    target.mkdir(parents=True, exist_ok=True)
    copy_as_simulated(folder, target)
    _entitle(target / PROTOCOL, folder.study)
    if pretend is not None:
        scale_down(target / PROTOCOL, folder.study, pretend)
    copy = Folder(target, open_folder(target).study, database)
    if material and pretend is None:
        copy.import_sources(material)
    with copy.store(create=True) as store:
        if pretend is None:
            _take_over(folder, store)
        else:
            store.add(
                Batch(items=pretended_pool(folder.study, pretend, truth.items)),
                source="rehearsal",
                at=now(),
            )
        if not store.items():
            fact = message(
                "there are no items to rehearse with; run 'konsil import' first",
                message_id="rehearsing.no_items",
            )
            raise StudyError(placed(str(folder.path), fact))
        chosen = drawn_items(copy, store.events(), store.items(), store.answers())
        versions = pretended_versions(copy, store.items(), (*store.events(), *chosen))
        store.add(Batch(items=versions, events=chosen), source="rehearsal", at=now())
        items, answers = _material(store)
        silent = still_silent(folder.study, answers)
        if silent:
            spoken = lengthened(
                folder.study,
                items,
                answers,
                pretended(folder.study, implied_answers(items, silent), UNANSWERED),
                truth,
                folder.study.seed if seed is None else seed,
            )
            store.add(Batch(answers=spoken), source="rehearsal", at=now())
        check_truth(truth, folder.study, store.answers())
    return copy


def _expect_files(folder: Folder, material: Sequence[Source]) -> None:
    """Refuse a study without its files before anything is copied.

    The error names how the study can be rehearsed all the same.
    """
    for source in material:
        if not (folder.path / source.file).exists():
            fact = message(
                "there is no such file or folder; '{option}' rehearses with simulated items",
                message_id="rehearsing.no_file",
                option=option("items", pool_size(folder.study)),
            )
            raise StudyError(placed(str(folder.path / source.file), fact))


def invited(study: Study, store: Store) -> tuple[Person, ...]:
    """A personal link for every person who rates, and for one person per place.

    Links are paths only; the server has the rest.
    """
    access, moment = Access(store), datetime.now(UTC)
    until = stamp(moment + timedelta(days=DAYS))
    named = {r.id for r in study.raters}
    guests = []
    for rater in study.everybody():
        if rater.kind == "human":
            account, place = (
                (rater.id, None) if rater.id in named else (f"rehearsed {rater.id}", rater)
            )
            secret = access.invite(account, "rater", at=now(), expires_at=until)
            guests.append(Person(account, PATH + secret, about(study, place)))
    return tuple(guests)


def _take_over(folder: Folder, store: Store) -> None:
    """What the study's own database has of items, answers and their preparation.

    It may not be there yet.
    """
    if not folder.has_store():
        return
    with folder.store() as origin, origin.view() as view:
        draws = tuple(e for e in view.each("events") if e.kind in PREPARED)
        batch = Batch(
            items=tuple(view.each("items")), answers=tuple(view.each("answers")), events=draws
        )
    store.add(batch, source="the study", at=now())


def _material(store: Store) -> tuple[tuple[Item, ...], tuple[Answer, ...]]:
    items = in_study(store.items(), store.events())
    item_ids = {i.id for i in items}
    return tuple(items), tuple(a for a in store.answers() if a.item in item_ids)


def _judge(copy: Folder, truth: Truth, seed: int) -> int:
    """Draw what judges and programs say: models cost money, and a rehearsal asks none."""
    study = copy.study
    make_plan(copy)
    with copy.store() as store:
        items, answers = _material(store)
        others = {r.id for r in study.raters if r.kind != "human"}
        tasks = sorted(
            (t for t in store.tasks() if t.rater in others),
            key=lambda t: (t.rater, t.position, t.id),
        )
        ratings = people(study, items, answers, truth, seed).rate(tasks)
        event = Event("simulation", SIMULATION, "study", now(), {"seed": seed})
        return store.add(
            Batch(ratings=ratings, events=(event,)), source="rehearsal", at=now()
        ).new.get("ratings", 0)


def _entitle(protocol: Path, study: Study) -> None:
    """The copy's title says what it is, on the pages and on the report."""
    word = entries(study.language, "rehearsal", ["title"]).get("title", "Rehearsal")
    text = protocol.read_text(encoding="utf-8")
    protocol.write_text(
        re.sub(r'(?m)^(title\s*=\s*")', rf"\1{word}: ", text, count=1), encoding="utf-8"
    )


def time_lines(rehearsed: Rehearsed) -> Sequence[str]:
    """The times of a rehearsal, one line a kind of request."""
    lines = [
        f"{'request':<12}{'number':>9}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'max ms':>9}{'KB':>8}"
    ]
    for row in rehearsed.outcome.times.rows():
        numbers = "".join(f"{1000 * s:>9.0f}" for s in (row.p50, row.p95, row.p99, row.largest))
        lines.append(f"{row.kind:<12}{row.count:>9,}{numbers}{row.size / 1000:>8.1f}")
    return lines
