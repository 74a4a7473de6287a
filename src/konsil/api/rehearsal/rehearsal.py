"""Simulated ratings of a study: into a study that says it is simulated, and nowhere else."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Collection, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.curation.masking import pretended_versions
from konsil.api.curation.preparing import as_they_are
from konsil.api.curation.screening import by_rules
from konsil.api.editor_schema import LINE, SCHEMA
from konsil.api.folder.folder import Folder, open_folder
from konsil.api.folder.noting import note_study
from konsil.api.folder.opened import PROTOCOL, now
from konsil.api.item_checks import check_drawn
from konsil.api.progress import progress
from konsil.api.running.planning import implied_answers, still_silent
from konsil.collect.local.shipped_model import SHIPPED
from konsil.design.edits import edited
from konsil.errors import StudyError
from konsil.prepare import draw as draw_items
from konsil.prepare import event_of, in_study, last_drawn, last_screened
from konsil.records import Answer, Event, Item
from konsil.simulate import (
    Truth,
    cases_of,
    draw,
    lengthened,
    lengths_of,
    read_truth,
    recovery,
    sets_of,
    toml_of,
)
from konsil.simulate.pretended import pretended_answers
from konsil.stats.engine.contract import Estimate
from konsil.store import Added, Batch, Store
from konsil.store.engine.folders import copy_new
from konsil.study.data.cutting import pretended
from konsil.study.sections.calling import LOCAL

if TYPE_CHECKING:
    from konsil.analysis import Results
    from konsil.report import Section
    from konsil.report.manuscript.request import ReportRequest


TRUTH = "simulation.toml"
"""The file of a study's folder that states what is true in a simulation."""

MATERIAL = ("items", "answers", "anki")
"""The sources whose records are rated; a simulation leaves the ratings that exist alone."""

SIMULATION = "simulation"
"""The kind of the event that says with which seed the ratings were drawn."""


def truth_of(folder: Folder, file: Path | None = None) -> Truth:
    """Read the parameters of a simulation: the folder's simulation.toml, or another file."""
    place = file or folder.path / TRUTH
    if not place.is_file():
        raise StudyError(
            f"{place}: there is no such file; it states the true parameters of the simulation"
        )
    try:
        text = place.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise StudyError(f"{place}: is not UTF-8 text; save it as UTF-8") from None
    return read_truth(text, str(place))


def state_truth(place: Path, truth: Truth) -> None:
    """Write what a simulation is drawn from beside its protocol, unless the file there states it.

    The report compares its estimates with this file.
    """
    file = place / TRUTH
    if not file.is_file() or read_truth(file.read_text(encoding="utf-8"), str(file)) != truth:
        file.write_text(edited("", toml_of(truth)), encoding="utf-8")


@progress()
def simulate(
    folder: Folder, truth: Truth, seed: int | None = None, *, but: Collection[str] = ()
) -> Added:
    """Draw every rater's ratings by the plan and store them; the same seed again changes nothing.

    `but` are raters who get their tasks and rate themselves.

    Only a study with `simulated = true` takes simulated ratings, so that they never mix with
    collected ones.
    """
    study, drawn_seed = folder.study, folder.study.seed if seed is None else seed
    if not study.simulated:
        raise StudyError(
            f"{folder.path / PROTOCOL}: the study is not marked simulated = true; simulate into a"
            " copy with 'konsil simulate --to COPY'"
        )
    if not study.plan:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there is no [[plan]]; a simulation needs an assignment plan"
        )
    material = [s for s in study.sources if s.records in MATERIAL]
    if material:
        folder.import_sources(material)
    with folder.store(create=True) as store:
        items, answers = store.items(), store.answers()
        if not items:
            raise StudyError(
                f"{folder.path / PROTOCOL}: there are no items; add a [[sources]] with records ="
                " 'items'"
            )
        chosen = drawn_items(folder, store.events(), items, answers)
        versions = pretended_versions(folder, items, (*store.events(), *chosen))
        items = in_study((*items, *versions), (*store.events(), *chosen))
        silent = still_silent(study, answers)
        implied = pretended(study, implied_answers(items, silent)) if silent or not answers else ()
        implied = lengthened(study, items, answers, implied, truth, drawn_seed)
        drawn = draw(study, items, (*answers, *implied), truth, drawn_seed)
        note_study(store, study, now())
        events = (*chosen, *_drawn_with(store, drawn_seed, but))
        ratings = [r for r in drawn.ratings if r.rater not in but]
        batch = Batch(
            items=versions,
            answers=implied,
            raters=study.everybody(),
            tasks=drawn.tasks,
            ratings=ratings,
            events=events,
        )
        return store.add(batch, source="simulation", at=now())


def drawn_items(
    folder: Folder, events: Sequence[Event], items: Sequence[Item], answers: Sequence[Answer]
) -> tuple[Event, ...]:
    """The draw that the protocol asks for, where it is still to be made.

    Without answers, placeholder answers are used for it.
    """
    study, unchanged = folder.study, as_they_are(folder, events, items)
    if study.prepare is None or not study.prepare.draws:
        return unchanged
    if last_drawn(events)[1] is not None:
        check_drawn(folder, events, is_planned=False)
        return unchanged
    looked = by_rules(folder, events, items)
    screened = last_screened((*events, *looked))[1]
    systems = [s.id for s in study.systems]
    if not any(a.text for a in answers):
        answers = pretended_answers(items, systems, study.prepare, study.seed)
    drawn = draw_items(
        study.prepare, items, answers, systems=systems, seed=study.seed, screened=screened
    )
    return (*looked, *unchanged, event_of(drawn, 1, now()))


def _drawn_with(store: Store, seed: int, but: Collection[str]) -> tuple[Event, ...]:
    """The event with the seed, stored with the ratings.

    From it the report knows which raters were simulated and which rated themselves.
    """
    if any(e.kind == SIMULATION for e in store.events()):
        return ()
    return (
        Event(
            "simulation",
            SIMULATION,
            "study",
            now(),
            {"seed": seed, **({"but": sorted(but)} if but else {})},
        ),
    )


def simulate_copy(folder: Folder, truth: Truth, target: Path, seed: int | None = None) -> Added:
    """Simulate a study into a new folder, which is there with its ratings or not at all."""
    added: list[Added] = []

    def fill(draft: Path) -> None:
        copy_as_simulated(folder, draft)
        state_truth(draft, truth)
        added.append(simulate(open_folder(draft), truth, seed))

    copy_new(target, fill)
    return added[0]


def copy_as_simulated(folder: Folder, place: Path) -> None:
    """Copy a study's protocol and the files it names into an empty folder, marked simulated.

    No ratings come along.
    """
    file_names = {PROTOCOL, TRUTH, SCHEMA} | {
        s.file for s in folder.study.sources if s.records in MATERIAL
    }
    file_names |= {p.name for p in folder.path.glob("*.md")}
    for name in sorted(file_names):
        if (folder.path / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder.path / name, place / name)
    protocol = place / PROTOCOL
    protocol.write_text(_marked(protocol.read_text(encoding="utf-8")), encoding="utf-8")


def _marked(text: str) -> str:
    marked, n = re.subn(r"(?m)^simulated\s*=\s*\w+", "simulated = true", text, count=1)
    if n:
        return marked
    # A key of the whole file stands before the first table, and editors read the schema's line
    # first.
    head = LINE if text.startswith(LINE) else ""
    return f"{head}simulated = true\n{text.removeprefix(head)}"


def demo(target: Path) -> Path:
    """Make the demo study in a new folder, simulate its panel, write its report.

    Gives the report's path.
    """
    pages: list[Path] = []

    def fill(draft: Path) -> None:
        with as_file(files("konsil.demo")) as source:
            _copy_data(source, draft)
        folder = open_folder(draft)
        simulate(folder, truth_of(folder))
        pages.append(report(folder).relative_to(draft))

    copy_new(target, fill)
    return target / pages[0]


def report(folder: Folder, output: Path | None = None) -> Path:
    """Write the report; a simulated study with stated parameters also shows what became of them."""
    return write_report(folder, output)[0]


def write_report(
    folder: Folder,
    output: Path | None = None,
    request: ReportRequest | None = None,
    *,
    compute: str = "",
) -> tuple[Path, Results]:
    """The same, with the results that the page tells.

    `request` names further files, `compute` where the analyses are computed.
    """
    if folder.study.simulated and (folder.path / TRUTH).is_file():
        return folder.write_report(
            lambda results: (*about_the_model(folder), recovered(folder, results)),
            output,
            request,
            compute=compute,
        )
    return folder.write_report(lambda _: about_the_model(folder), output, request, compute=compute)


def recovered(folder: Folder, results: Results) -> Section:
    """The report's section on the true parameters and what the analyses made of them."""
    from konsil.errors.message import message
    from konsil.report import Recovered, Section

    with folder.store() as store:
        seeds = [e.data["seed"] for e in store.events() if e.kind == SIMULATION]
        items = in_study(store.items(), store.events())
        item_ids = {i.id for i in items}
        lengths = lengths_of(a for a in store.answers() if a.item in item_ids)
    truth, sets = truth_of(folder), sets_of(folder.study, items)
    seed = seeds[0] if seeds and isinstance(seeds[0], int) else None
    cases = cases_of(items, truth)
    rows = recovery(
        folder.study, truth, results, seed=seed, sets=sets, cases=cases, lengths=lengths
    )
    inside = sum(r.covered is True for r in rows)
    judged = sum(r.covered is not None for r in rows)
    return Section(
        title=message("Parameter recovery"),
        paragraphs=(
            message(
                "The ratings are simulated from stated parameters, so the true value of"
                " most estimates is known: the value in the population of new items with"
                " these raters, computed by large-sample simulation."
            ),
            message(
                (
                    "{inside} of {judged} CIs contain the true value. One study shows single"
                    " hits and misses; coverage is measured over many simulated studies."
                ),
                inside=inside,
                judged=judged,
            ),
        ),
        recovered=tuple(
            Recovered(
                r.parameter,
                r.truth,
                Estimate(r.estimate, r.low, r.high, folder.study.resampling.level),
                r.analysis,
            )
            for r in rows
        ),
    )


def _copy_data(source: Path, draft: Path) -> None:
    for file in sorted(source.iterdir()):
        if file.is_file() and file.suffix in {".toml", ".md", ".csv"}:
            shutil.copyfile(file, draft / file.name)


def about_the_model(folder: Folder) -> tuple[Section, ...]:
    """What a report must say of the small model, wherever it answered or judged."""
    from konsil.report import Section

    study = folder.study
    name = f"{LOCAL}:{SHIPPED.id}"
    judges = [j.rater for j in study.judges if j.model == name]
    if not judges and all(s.model != name for s in study.systems):
        return ()
    if any(e.id == LOCAL for e in study.endpoints):
        return ()
    paragraphs = [
        "SmolLM2-135M-Instruct is a real but very small language model (135 million parameters,"
        " English only). It demonstrates calls of models and the evaluation of an LLM judge. It"
        " answers few questions correctly, and its ratings are not a valid assessment of the"
        " answers."
    ]
    with folder.store() as store:
        ratings = store.ratings()
    for rater in judges:
        label_counts = Counter(
            r.label or "abstained" for r in ratings if r.rater == rater and r.answers
        )
        if not label_counts:
            continue
        label, n = label_counts.most_common(1)[0]
        counts = ", ".join(
            f"{label_name!r} {times}" for label_name, times in label_counts.most_common()
        )
        paragraphs.append(
            f"As the judge {rater} it gave {n} of {label_counts.total()} answers the same label,"
            f" {label!r}"
            f" ({counts}). A judge that labels nearly everything alike agrees with a panel as often"
            " as that label is common, which is why agreement beyond chance is what counts."
        )
    return (Section(title="About the small model", paragraphs=tuple(paragraphs)),)
