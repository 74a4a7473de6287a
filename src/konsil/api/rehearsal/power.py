"""A study drawn again and again from its folder, here, in several processes, or on Dask workers."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from konsil.analysis.model.terms import words_of
from konsil.api.curation.decision_tables import write_cells
from konsil.api.curation.masking import pretended_versions
from konsil.api.folder.computing import read_compute
from konsil.api.folder.folder import DATABASE, Folder, open_folder
from konsil.api.folder.importing import incoming
from konsil.api.folder.opened import PROTOCOL
from konsil.api.rehearsal.rehearsal import MATERIAL, drawn_items, truth_of
from konsil.api.rehearsal.requests import PowerRequest
from konsil.api.running.planning import implied_answers
from konsil.compute.clusters import check_cluster, open_runner
from konsil.compute.runners import Cores, Work
from konsil.errors import StoreError, StudyError, option
from konsil.prepare import in_study
from konsil.records import Answer, Event, Item
from konsil.records.digits import written
from konsil.simulate import Truth, without_effects
from konsil.simulate.power import Power, StudyOutcome, one_study, power
from konsil.simulate.pretended import pretended_items
from konsil.store.engine.private import write_private
from konsil.study import Study
from konsil.study.data.cutting import pretended, with_sentences

_STUDIES = Work("simulated study", "use fewer workers, so that each has more")


@dataclasses.dataclass(frozen=True)
class Design:
    """What is drawn, and of which study."""

    path: Path
    """The study's folder."""
    request: PowerRequest = dataclasses.field(default_factory=PowerRequest)
    """How often, and of which parameters."""
    database: str = ""
    """Its database, if not the folder's own."""
    run: str = ""
    """Which run of the simulation: workers outlive one, and the study's files may change between
    two."""


def studies(design: Design) -> Iterator[list[StudyOutcome]]:
    """Draw the studies; which processes draw them plays no part."""
    design = replace(design, run=uuid.uuid4().hex)
    request, study = design.request, _prepared(design)[0]  # what is wrong is said here, once
    first_seed = study.seed if request.seed is None else request.seed
    seeds = range(first_seed, first_seed + request.studies)
    workers = request.compute or read_compute(design.path).workers
    check_cluster(workers)
    simulated = functools.partial(_simulated_study, _anywhere(design))
    if workers:
        with open_runner(workers, len(seeds), is_small=False, work=_STUDIES) as runner:
            yield from runner.map(simulated, seeds)
    elif request.processes is not None and request.processes > 1:
        yield from Cores(request.processes, _STUDIES, memory=0).map(simulated, seeds)
    else:
        yield from (_simulated_study(design, seed) for seed in seeds)


def _anywhere(design: Design) -> Design:
    """The design with paths and database that processes with another folder understand."""
    request = design.request
    truth = None if request.truth is None else request.truth.resolve()
    return replace(
        design,
        path=design.path.resolve(),
        request=replace(request, truth=truth),
        database=design.database or os.environ.get(DATABASE, ""),
    )


def expected(design: Design) -> tuple[Power, ...]:
    """The widths and the power of the study's analyses over the drawn studies."""
    return power(studies(design))


def _simulated_study(design: Design, seed: int) -> list[StudyOutcome]:
    study, items, answers, truth = _prepared(design)
    return one_study(study, items, answers, truth, seed)


# Once in each process and run: every simulated study begins with the same records.
@functools.lru_cache(maxsize=1)
def _prepared(design: Design) -> tuple[Study, tuple[Item, ...], tuple[Answer, ...], Truth]:
    folder = open_folder(design.path, database=design.database)
    where = folder.path / PROTOCOL
    study = folder.study
    if not study.plan:
        raise StudyError(f"{where}: there is no [[plan]]; power needs an assignment plan")
    analyses = tuple(a for a in study.analyses if a.prespecified or design.request.exploratory)
    if not analyses:
        raise StudyError(
            f"{where}: there are no [[analyses]]; expected at least one to estimate its power"
        )
    if not study.systems:
        raise StudyError(
            f"{where}: there are no [[systems]]; list the systems whose answers are rated"
        )
    truth = truth_of(folder, design.request.truth)
    if design.request.null:
        truth = without_effects(truth)
    items, answers = _material(folder, design.request.items, truth)
    study = replace(
        study,
        analyses=analyses,
        resampling=replace(study.resampling, draws=design.request.resamples),
    )
    study_answers = answers or pretended(
        study, implied_answers(items, [s.id for s in study.systems])
    )
    return study, items, with_sentences(study, study_answers, {}), truth


def _material(
    folder: Folder, n: int | None, truth: Truth
) -> tuple[tuple[Item, ...], tuple[Answer, ...]]:
    """The study's items and answers, or placeholders.

    They are read from its files where nothing is imported yet.
    """
    if n is not None:
        return pretended_items(folder.study, n, truth.items), ()
    items, answers, events = _stored(folder)
    if not items:
        items, answers = _from_files(folder)
    if not items:
        raise StudyError(
            f"{folder.path / PROTOCOL}: there are no items yet; state their number with"
            f" {option('items', 'N')}"
        )
    events = (*events, *drawn_items(folder, events, items, answers))
    items = in_study((*items, *pretended_versions(folder, items, events)), events)
    item_ids = {item.id for item in items}
    return items, tuple(a for a in answers if a.item in item_ids)


def _stored(folder: Folder) -> tuple[tuple[Item, ...], tuple[Answer, ...], tuple[Event, ...]]:
    try:
        with folder.store() as store:
            return store.items(), store.answers(), store.events()
    except StoreError:  # there is no database yet
        return (), (), ()


def _from_files(folder: Folder) -> tuple[tuple[Item, ...], tuple[Answer, ...]]:
    material = [
        s
        for s in folder.study.sources
        if s.records in MATERIAL and (folder.path / s.file).is_file()
    ]
    if not material:
        return (), ()
    files = incoming(folder.path, material)
    return tuple(i for file in files for i in file.items), tuple(
        a for file in files for a in file.answers
    )


def power_table(rows: Sequence[Power]) -> list[tuple[str, ...]]:
    """The rows as a table: analysis, group, mean, width, 90th percentile of the width, power."""
    return [COLUMNS, *(_power_cells(row) for row in rows)]


COLUMNS = ("analysis", "of", "mean", "width", "90 %", "power", "Holm")


def interval_lines(rows: Sequence[Power]) -> list[str]:
    """A line for each row whose estimate has no CI in some studies, though it has a value there."""
    return [
        f"no CI in {row.without_interval} of {row.studies} studies with an estimate:"
        f" {', '.join(part for part in (row.analysis, _of(row)) if part)}"
        for row in rows
        if row.without_interval
    ]


def _of(row: Power) -> str:
    of, minus = (
        ", ".join(words_of(value) for value in group.values()) for group in (row.group, row.versus)
    )
    return f"{of} minus {minus}" if minus else of


def _power_cells(row: Power) -> tuple[str, ...]:
    cells = (_format_number(row.mean), _format_number(row.width), _format_number(row.width_90))
    tested = f"{row.power:.2f} ({row.power_low:.2f}-{row.power_high:.2f})" if row.tested else ""
    return (
        row.analysis,
        _of(row),
        *cells,
        tested,
        _format_number(row.power_adjusted, 2),
    )


def _format_number(value: float, digits: int = 3) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def write(rows: Sequence[Power], path: Path) -> None:
    """Write every number: .json, or else CSV; what is not defined is null, or an empty cell."""
    flat = written([dataclasses.asdict(row) for row in rows])
    if path.suffix == ".json":
        write_private(path, (json.dumps(flat, indent=2, ensure_ascii=False) + "\n").encode())
        return
    names = [f.name for f in dataclasses.fields(Power)]
    write_cells(path, names, [[_text(record[name]) for name in names] for record in flat])


def _text(value: object) -> str | float:
    if isinstance(value, dict):
        return ", ".join(value.values())
    return "" if value is None else value if isinstance(value, (int, float)) else str(value)
