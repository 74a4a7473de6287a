"""Checks of a study before its results are due: its files, their columns, and every analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.analysis.estimation.raters.consensus_rules import (
    PAIR,
    averaged,
    of_two,
)
from konsil.analysis.judges.injections import KIND
from konsil.analysis.model.catalogue.known import COLUMNS, LENGTH, RATER_PAIR, statistic_of
from konsil.analysis.running.sensitivity.omission_rules import majority_problems
from konsil.api.folder.folder import Folder
from konsil.api.folder.opened import PROTOCOL
from konsil.errors import AnalysisError, KonsilError, Problem, SourceError, StoreError, nearest
from konsil.errors.message import below, in_file, lines_of, message, place_of, placed
from konsil.prepare import in_study, last_drawn
from konsil.records import Event, Item, Source
from konsil.sources.files.patterns import exist
from konsil.store.engine.engine import reading
from konsil.store.engine.read import count, has_answer_text
from konsil.study import Study
from konsil.study.data.admit import admit
from konsil.study.data.cutting import with_sentences
from konsil.study.data.freezing import frozen
from konsil.study.data.incoming import Incoming, StoredRecords
from konsil.study.data.numbered import with_spans
from konsil.study.data.planned import on_plan
from konsil.study.rules.design_rules import design_notes, design_problems
from konsil.study.sections.line_numbers import located

if TYPE_CHECKING:
    from konsil.analysis.table.frame import Data

DRAWS = 100
"""Resamples with which analyses are tried: whether they can be made does not depend on their
number."""


@dataclass(frozen=True)
class Findings:
    """What was found wrong in a study beyond its protocol."""

    problems: tuple[Problem, ...] = ()
    """What has to be put right, with its place in study.toml."""
    absent: tuple[str, ...] = ()
    """Files of [[sources]] that are not there yet."""
    notes: tuple[str, ...] = ()
    """What is worth a look, a sentence each."""


def findings(folder: Folder) -> Findings:
    """Open the protocol's files, compare their records with the forms, and try every analysis.

    Nothing is written, and nothing of the results is shown. Analyses are tried on the stored
    ratings, or else on those of the files; where there are none, only what the protocol itself says
    of them is checked.
    """
    protocol = folder.path / PROTOCOL
    files, problems = _read_files(folder)
    of_columns = list(column_problems(folder, tuple(item for file in files for item in file.items)))
    problems += [in_file(str(protocol), problem) for problem in of_columns]
    at_fault = {problem.partition(".")[0] for problem in of_columns}
    try:
        data = _data(folder, files)
    except KonsilError as error:  # the ratings do not conform to the forms
        data = None
        problems += lines_of(error.sentence)
    if data is not None:
        problems += [
            in_file(str(protocol), p)
            for p in _refusals(folder, data)
            if p.partition(": ")[0] not in at_fault
        ]
    absent = tuple(dict.fromkeys(s.file for s in folder.study.sources if not _exist(folder, s)))
    text = protocol.read_text(encoding="utf-8-sig")
    note = None if absent or problems else unanswered_note(folder, files)
    notes = () if note is None else (note,)
    if data is None and not is_frozen(folder):
        problems += [in_file(str(protocol), problem) for problem in design_problems(folder.study)]
    else:
        notes = (*notes, *design_notes(folder.study))
    if data is None:
        notes = (*notes, *small_panel_notes(folder.study))
    return Findings(tuple(located(problems, text, str(protocol))), absent, notes)


def is_frozen(folder: Folder) -> bool:
    """Whether the plan of analyses is frozen."""
    try:
        with folder.store() as store:
            return frozen(store.events()) is not None
    except StoreError:  # there is no database yet
        return False


def small_panel_notes(study: Study) -> Iterator[str]:
    """A sentence for each analysis of judges against a panel of two raters.

    Once there are ratings, the analysis states the same in its notes. A panel without raters may
    still get them.
    """
    for analysis in study.analyses:
        n = len(study.members(analysis.against)) if analysis.against else 0
        of_majority = statistic_of(analysis.statistic).is_of_two_raters and not averaged(analysis)
        if n == PAIR and of_majority and analysis.mode == "valid":
            yield message(
                "analysis {name!r}: {note}",
                message_id="check.of_analysis",
                name=analysis.name,
                note=of_two(str(analysis.against)),
            )


def unanswered_note(folder: Folder, files: Sequence[Incoming] = ()) -> str | None:
    """A sentence where people are to rate answers of which none has a text; None elsewhere.

    Studies that were rated elsewhere need no texts, and answers of models come by 'konsil answer'.
    `files`: what is to be imported.
    """
    study = folder.study
    is_for_people = any(rater.kind == "human" for rater in study.everybody())
    awaits_models = any(system.model is not None for system in study.systems)
    if not study.plan or not study.systems or not is_for_people or awaits_models:
        return None
    try:
        with folder.store() as store, reading(store.engine) as connection:
            n_items, n_ratings = (count(connection, "items"), count(connection, "ratings"))
            has_text = has_answer_text(connection)
    except StoreError:  # there is no database yet
        n_items, n_ratings, has_text = 0, 0, False
    n_items = n_items or sum(len(file.items) for file in files)
    if (
        not n_items
        or n_ratings
        or has_text
        or any(file.ratings for file in files)
        or any(answer.text for file in files for answer in file.answers)
    ):
        return None
    return message(
        "{n:,} {n|item has|items have} no answer with a text: raters see empty boxes; import the"
        " answers before raters start",
        message_id="check.no_texts",
        n=n_items,
    )


def _read_files(folder: Folder) -> tuple[list[Incoming], list[str]]:
    """The records of all files that are there, and what is wrong; no records where anything is."""
    from konsil.api.folder.importing import incoming, stored_records
    from konsil.api.folder.labelstudio import Finder
    from konsil.api.folder.sources.source_names import StudyNames

    protocol, study = folder.path / PROTOCOL, folder.study
    read: list[Incoming] = []
    problems: list[str] = []
    names = StudyNames(study.instruments, study.everybody(), study.systems)
    for n, source in enumerate(study.sources):
        if not _exist(folder, source):
            problems += [
                placed(f"{protocol}: sources[{n}].file", hint)
                for hint in _misspelt(folder, source.file)
            ]
            continue
        try:
            read += incoming(folder.path, [source], Finder(folder), names)
        except (SourceError, StoreError) as error:
            problems.append(placed(f"{protocol}: sources[{n}]", error.sentence))
    if problems:
        return [], problems
    try:
        with folder.store() as store:
            existing, tasks = stored_records(store), store.tasks()
            answers = store.answers() if any(file.numbers for file in read) else ()
    except StoreError:  # there is no database yet
        existing, tasks, answers = StoredRecords(), (), ()
    # The ratings of a study whose items are not there yet name items that nobody knows.
    if not all(_exist(folder, source) for source in study.sources):
        # Nor are the sentences known that numbers refer to.
        return [file for file in read if not file.numbers], []
    try:
        files = with_spans(study, read, {answer.id: answer for answer in answers})
        admit(study, on_plan(files, tasks, study.instruments), existing)
    except SourceError as error:
        return [], [placed(f"{protocol}: sources", error.sentence)]
    return list(files), []


def _exist(folder: Folder, source: Source) -> bool:
    """Whether the source's files are there; what is wrong with its pattern is told on reading."""
    try:
        return exist(folder.path, source)
    except SourceError:
        return True


def _misspelt(folder: Folder, file: str) -> Iterator[str]:
    """A hint where a missing file has nearly the name of a file that no source names."""
    place = folder.path / file
    if not place.parent.is_dir():
        yield message(
            "{file!r}: there is no folder {folder!r}",
            message_id="check.no_folder",
            file=file,
            folder=str(Path(file).parent),
        )
        return
    named = {(folder.path / source.file).resolve() for source in folder.study.sources}
    free = [
        p.name
        for p in place.parent.iterdir()
        if p.resolve() not in named and p.suffix == place.suffix
    ]
    hint = nearest(place.name, free)
    if hint.startswith("did you mean"):
        yield message(
            "there is no file {file!r}; {hint}", message_id="check.no_file", file=file, hint=hint
        )


def _data(folder: Folder, files: Sequence[Incoming]) -> Data | None:
    """The stored records, or those of the files; None where nobody has rated yet."""
    from konsil.analysis.table.frame import Data
    from konsil.api.folder.conforming import conforming

    study = folder.study
    try:
        with folder.store() as store:
            is_rated = bool(store.counts()["ratings"])
    except StoreError:
        is_rated = False
    if is_rated:
        data, events = folder.stored()
        return conforming(str(folder.path / PROTOCOL), study, data, events)[0]
    if not any(file.ratings for file in files):
        return None
    admitted = admit(study, files, StoredRecords())
    answers = with_sentences(study, admitted.answers, {})
    raters = {r.id: r for r in (*admitted.raters, *study.raters)}
    return Data(admitted.items, answers, tuple(raters.values()), admitted.tasks, admitted.ratings)


def _refusals(folder: Folder, data: Data) -> Iterator[str]:
    """Each analysis that the ratings cannot give, as 'analyses[n]: why'."""
    from konsil.analysis.running.run import run
    from konsil.study.data.run_settings import run_settings

    study = folder.study
    places = {analysis.name: f"analyses[{n}]" for n, analysis in enumerate(study.analyses)}
    try:
        results = run(
            study.analyses,
            data,
            replace(run_settings(study), resampling=replace(study.resampling, draws=DRAWS)),
        )
    except AnalysisError as error:
        yield placed("analyses", error.sentence)
        return
    for sentence in results.refused:
        name = next((name for name in places if sentence.startswith(f"{name}: ")), None)
        yield (
            placed("analyses", sentence)
            if name is None
            else placed(places[name], _without_name(sentence, name))
        )


def _without_name(refusal: str, name: str) -> str:
    """Why an analysis is refused, without its name before it."""
    placed_at = place_of(refusal)
    return refusal.removeprefix(f"{name}: ") if placed_at is None else placed_at[1]


def column_problems(folder: Folder, of_files: Sequence[Item] = ()) -> Iterator[str]:
    """Every column that an analysis names and no rating will have.

    Each problem is one sentence, with its place before it. Before an import the items are those
    `of_files`. Nothing is said where columns may still come: without items, before a draw that
    sorts them, and where people who sign up bring columns of their own.
    """
    study = folder.study
    items, events = _stored(folder)
    items = items or tuple(of_files)
    drawn = study.prepare is None or last_drawn(events)[1] is not None
    if not items or not drawn or study.places:
        return
    of_items = {column for item in in_study(items, events) for column in item.strata}
    of_raters = {column for rater in study.everybody() for column in rater.strata}
    columns = {*COLUMNS, *of_items, *of_raters, *(f"rater_{column}" for column in of_raters)}
    for n, derived in enumerate(study.derived):
        if derived.name in columns:
            fact = message(
                "ratings have a column {name!r} already; choose another name",
                message_id="check.column_there",
                name=derived.name,
            )
            yield placed(f"derived[{n}].name", fact)
    columns |= {d.name for d in study.derived}
    for n, analysis in enumerate(study.analyses):
        column_by_key = {
            f"by[{k}]": column
            for k, column in enumerate(analysis.by)
            if column not in {RATER_PAIR, LENGTH, KIND}
        }
        column_by_key |= {f"where.{column}": column for column in analysis.where}
        column_by_key |= {f"leave_out[{k}]": column for k, column in enumerate(analysis.leave_out)}
        for key, column in column_by_key.items():
            if column not in columns:
                hint = nearest(column, sorted(columns))
                fact = message(
                    "ratings will have no column {column!r}; {hint}",
                    message_id="check.no_column",
                    column=column,
                    hint=hint,
                )
                yield placed(f"analyses[{n}].{key}", fact)
        own = {f"rater_{c}" if c in {*COLUMNS, *of_items} else c for c in of_raters}
        yield from (
            below(f"analyses[{n}]", problem) for problem in majority_problems(analysis, own)
        )


def _stored(folder: Folder) -> tuple[tuple[Item, ...], tuple[Event, ...]]:
    try:
        with folder.store() as store:
            return tuple(store.items()), tuple(store.events())
    except StoreError:  # there is no database yet
        return (), ()
