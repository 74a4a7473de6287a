"""A study's folder: its protocol, its database, its numbers, its report.

The module is long because it is a list of doors: a method for each thing that can be done, whose
work is in the modules that it calls.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.api.folder.computing import IN_THIS_PROCESS, Analysing
from konsil.api.folder.noting import (
    PRELIMINARY,
    has_own_ratings,
    note_last_analysis,
    preliminary_analyses,
)
from konsil.api.folder.opened import PROTOCOL, OpenedStudy, folder_of, now, read_text
from konsil.api.progress import progress
from konsil.errors import StudyError
from konsil.errors.message import as_lines, lines_of, message, placed
from konsil.progress import stage
from konsil.records import Source
from konsil.store import Added
from konsil.store.engine.private import write_private
from konsil.study import check, parse, study_digest
from konsil.study.definition.adjudication import closing_sentences
from konsil.study.sections.line_numbers import located

if TYPE_CHECKING:
    import polars as pl

    from konsil.analysis import Results
    from konsil.analysis.table.frame import Data
    from konsil.api.folder.blinded import BlindedData
    from konsil.report import Section, StudyRecords
    from konsil.report.figures.drawing import Drawing
    from konsil.report.files.further import FurtherFiles
    from konsil.report.manuscript.request import Checklist, Form, ReportRequest
    from konsil.store.release.export import Format
    from konsil.store.release.released import Released

_KEY_BYTES = 32
DATABASE = "KONSIL_DATABASE"
"""Environment variable with the URL of a database that is used instead of the folder's own."""


@dataclass(frozen=True)
class Folder(OpenedStudy):
    """An opened study with everything that can be done with it."""

    def import_sources(self, sources: Sequence[Source] = (), *, replace_all: bool = False) -> Added:
        """Read files, the protocol's or those given, all or nothing.

        The same files again change nothing. With `replace_all` they replace everything that was
        imported before, while nothing else is recorded.
        """
        # With Polars, which who only calls models need not hold in memory.
        from konsil.api.folder.importing import import_files

        with progress():
            return import_files(self, tuple(sources) or self.study.sources, replace_all=replace_all)

    def preparations(self, sources: Sequence[Source] = ()) -> tuple[str, ...]:
        """For each file of the sources that is a deck, a log or a whole study: its counts.

        The counts are of what was read, kept and left out, with the reasons. Without `sources`,
        they are the protocol's.
        """
        from konsil.api.folder.decks import PREPARATION, READING, preparation_line, reconciled
        from konsil.sources.files.patterns import expanded

        files = {
            Path(source.file).name
            for source in expanded(self.path, tuple(sources) or self.study.sources)
        }
        with self.store() as store:
            events = [
                e for e in store.events() if e.kind in (PREPARATION, READING) and e.subject in files
            ]
        lines = sorted(
            (e.at, preparation_line(e.subject, e.data), reconciled(e.data)) for e in events
        )
        return tuple(line for _, first, further in lines for line in (first, *further))

    def import_export(self, folder: Path) -> Added:
        """Read back the files of `konsil export`, all or nothing.

        They must conform to the protocol.
        """
        from konsil.api.folder.reading_back import import_export

        with progress():
            return import_export(self, folder)

    def import_if_empty(self) -> Added | None:
        """Import the protocol's sources where nothing was imported yet.

        A report on a fresh folder then needs no import before.
        """
        if not self.study.sources:
            return None
        if not self.has_store():
            return self.import_sources()
        with self.store(create=True) as store:
            empty = not store.counts()["ratings"]
        return self.import_sources() if empty else None

    def export(self, output: Path, format_: Format, *, overwrite: bool = False) -> Path:
        """Write all records as files that `import_export` reads back equal.

        While the study is blinded, systems have blinding codes in them.
        """
        from konsil.api.folder.blinded import log_disclosure
        from konsil.store.release.blinding import key, veiling
        from konsil.store.release.export import export

        with progress(), self.store() as store:
            veil = veiling(self.study, key(store)) if log_disclosure(self, store) else None
            store.cover_log(now())
            study = study_digest(self.study)
            return export(
                store,
                output,
                format_,
                overwrite=overwrite,
                veil=veil,
                study=study,
                instruments=self.study.instruments,
            )

    def release(
        self,
        output: Path,
        *,
        k: int = 3,
        notes: bool = False,
        order: bool = False,
        unlink: bool = False,
        linked: bool = False,
        overwrite: bool = False,
    ) -> Released:
        """Write a folder fit for publication.

        Raters have pseudonyms made with the folder's own secret key.
        `konsil.store.release.release.Disclosure` states what each option discloses.
        """
        from konsil.api.folder.blinded import hides
        from konsil.store.release.release import Disclosure, release

        with self.store() as store:
            if hides(self, store):
                raise StudyError(
                    f"{self.path}: is blinded; a release names the systems: run 'konsil unblind'"
                    " first"
                )
            disclosure = Disclosure(k, texts=notes, order=order, unlink=unlink, linked=linked)
            return release(
                store,
                self.study,
                output,
                key=self._key(),
                disclosure=disclosure,
                overwrite=overwrite,
            )

    def _key(self) -> bytes:
        """The secret of the raters' pseudonyms, made once.

        Its owner alone can read it, and it is never in a release.
        """
        place = self.path / ".konsil-key"
        if not place.exists():
            write_private(place, secrets.token_bytes(_KEY_BYTES))
        # What was cut short or emptied would make pseudonyms that anybody can make.
        if not place.is_file() or place.stat().st_size != _KEY_BYTES:
            raise StudyError(
                f"{place}: is not a complete key of the raters' pseudonyms (expected"
                f" {_KEY_BYTES} bytes); restore a copy, or remove the file: the next release"
                " then has other pseudonyms"
            )
        return place.read_bytes()

    def data(self) -> Data:
        """Everything collected, as records; in letters while the study is blinded."""
        return self._blinded_data().data

    def _blinded_data(self) -> BlindedData:
        from konsil.analysis.judges.injections import part_injections
        from konsil.api.folder.blinded import blinded_view, log_disclosure, plan_timings
        from konsil.api.folder.conforming import conforming
        from konsil.store.release.blinding import key as veil_key

        with stage("records"):
            data, events = self.stored()
            data, methods = conforming(str(self.path / PROTOCOL), self.study, data, events)
        data = part_injections(data, self.study.injections, self.study.exclusions)
        with self.store() as store:
            key = veil_key(store) if log_disclosure(self, store) else b""
        return blinded_view(self.study, data, events, methods, plan_timings(self, events), key=key)

    def items(self) -> pl.DataFrame:
        """The items as a Polars frame, with a column for each stratum."""
        from konsil.api.frames import item_frame

        return item_frame(self.data().items)

    def answers(self) -> pl.DataFrame:
        """The answers as a Polars frame; systems have blinding codes while they are blinded."""
        from konsil.api.frames import answer_frame

        return answer_frame(self.data().answers)

    def tasks(self) -> pl.DataFrame:
        """The plan as a Polars frame: one row a task, with its rater, item and answers."""
        from konsil.api.frames import task_frame

        return task_frame(self.data().tasks)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from konsil.api.frames import study_html

        stored: dict[str, int] = {}
        if self.has_store():
            with self.store() as store:
                counts = store.counts()
            names = ("items", "answers", "raters", "tasks", "ratings")
            stored = {name: counts[name] for name in names}
        return study_html(
            self.study.title, str(self.path), {**stored, "analyses": len(self.study.analyses)}
        )

    def ratings(self) -> pl.DataFrame:
        """All ratings that the protocol does not exclude, as one long Polars frame."""
        import polars as pl

        from konsil.analysis.table.frame import rating_table

        table = rating_table(self.data(), self.study.exclusions, self.study.instruments)
        return table.frame.with_columns(pl.col(pl.Categorical).cast(pl.String))

    def results(self, *, compute: str = "") -> Results:
        """Run the protocol's analyses on what was collected.

        `compute` is where: local:N or tcp://HOST:PORT for Dask workers. The results are the same.
        """
        analysing = Analysing.of(self.path, compute)
        with progress():
            return self._run(self._blinded_data(), analysing)

    def run(self, data: Data) -> Results:
        """Run the protocol's analyses on these records, as `data` gives them.

        The last analysis of a study with comparative looks is noted in the log where the ratings
        are those of the study, and not of others, such as simulated ones.
        """
        from konsil.api.folder.blinded import blinded_view, log_disclosure, plan_timings
        from konsil.api.folder.conforming import conforming

        with self.store() as store:
            hidden, events = log_disclosure(self, store), store.events()
        data, methods = conforming(
            str(self.path / PROTOCOL), self.study, data, events, in_letters=hidden
        )
        view = (
            self._blinded_data()
            if hidden
            else blinded_view(
                self.study, data, events, methods, plan_timings(self, events), key=b""
            )
        )
        return self._run(
            replace(view, data=data), is_own=has_own_ratings(self.study, self.data, data)
        )

    def _run(
        self,
        view: BlindedData,
        analysing: Analysing = IN_THIS_PROCESS,
        *,
        is_own: bool = True,
        only: frozenset[str] | None = None,
    ) -> Results:
        from konsil.analysis.running.run import run
        from konsil.study.data.run_settings import settings_of_results

        if not view.data.ratings:
            raise StudyError(
                placed(
                    str(self.path),
                    message(
                        "there are no ratings yet; run 'konsil import' first",
                        message_id="check.no_ratings",
                    ),
                )
            )
        study = view.study
        settings = settings_of_results(study, view.data, view.events, is_blinded=view.is_blinded)
        settings = replace(settings, only=only)
        with analysing.open(study, view.data) as compute:
            results = run(study.analyses, view.data, settings, compute)
        if only is not None:
            return replace(
                results,
                plan=view.plan,
                warnings=(*view.warnings, *results.warnings),
                played=view.played,
            )
        from konsil.api.folder.erasing import privacy_sentences
        from konsil.api.folder.sentences.curation_sentences import curation_sentences, log_sentence
        from konsil.study.interim.results import with_looks

        results = with_looks(results, study, view.data, view.events, is_blinded=view.is_blinded)
        results = replace(results, plan={**view.plan, **results.plan})
        with self.store() as store:
            note_last_analysis(store, view, results, now(), is_own=is_own)
            is_whole, log = log_sentence(store)
        return replace(
            results,
            warnings=(*(() if is_whole else (log,)), *view.warnings, *results.warnings),
            methods=(
                *view.methods,
                *closing_sentences(view.events),
                *curation_sentences(self.study, view.events),
                *privacy_sentences(self.study, view.events),
                log,
                *results.methods,
            ),
            played=view.played,
            log=log,
        )

    def report(
        self,
        *,
        extras: Callable[[Results], Sequence[Section]] = lambda _: (),
        output: Path | None = None,
        to: Sequence[Form] = (),
        checklist: Sequence[Checklist] = (),
        figures: Sequence[str] = (),
        dpi: int = 300,
        width: str = "",
        compute: str = "",
    ) -> Path:
        """Compute everything and write the report; gives the page's path.

        `extras` makes further sections; `output` is a folder other than the study's own `report`.
        `to` are formats of the manuscript in the report's folder, `checklist` its reporting
        checklists; `figures` are formats of figure files for print, `dpi` their dots per inch,
        `width` is 'single', 'double' or millimetres. `compute` is where the analyses are computed,
        as in `results`.
        """
        from konsil.records.request import several
        from konsil.report.manuscript.request import ReportRequest

        request = ReportRequest(
            to=several(to),
            checklist=several(checklist),
            figures=several(figures),
            dpi=dpi,
            width=width,
        )
        return self.write_report(extras, output, request, compute=compute)[0]

    def write_report(
        self,
        extras: Callable[[Results], Sequence[Section]] = lambda _: (),
        output: Path | None = None,
        request: ReportRequest | None = None,
        *,
        compute: str = "",
    ) -> tuple[Path, Results]:
        """Write the report, and return its path and the results on the page.

        `request` names further files, `compute` where the analyses are computed. `refused` in the
        results names the analyses that cannot be made.
        """
        with progress():
            return self._written(extras, output, request, Analysing.of(self.path, compute))

    def _written(
        self,
        extras: Callable[[Results], Sequence[Section]],
        output: Path | None,
        request: ReportRequest | None,
        analysing: Analysing,
    ) -> tuple[Path, Results]:
        from konsil import report

        view = self._blinded_data()
        if request is not None and request.quick:
            results = self._run(view, analysing, only=preliminary_analyses(view, str(self.path)))
            page = report.write_preliminary(
                self.path / PRELIMINARY if output is None else output,
                view.study,
                results,
                self._records(view),
                is_blinded=view.is_blinded,
            )
            return page, results
        results = self._run(view, analysing)
        page = report.write(
            self.path / "report" if output is None else output,
            view.study,
            results,
            self._records(view),
            # What models were called would tell whose answers they are.
            extras=() if view.is_blinded else extras(results),
            digest=study_digest(self.study),
            is_blinded=view.is_blinded,
            further=_further_files(request),
        )
        return page, results

    def figures(self) -> dict[str, Drawing]:
        """The report's figures by their keys, in the order of its page.

        Each is shown by a notebook; `figure` is matplotlib's, to be changed, `svg` is the file of
        the report, and `pdf` is drawn on demand.
        """
        from konsil import report

        with progress():
            view = self._blinded_data()
            drawn = report.draw(
                view.study,
                self._run(view),
                self._records(view),
                digest=study_digest(self.study),
                is_blinded=view.is_blinded,
            )
        return {drawing.key: drawing for drawing in drawn}

    def _records(self, view: BlindedData) -> StudyRecords:
        from konsil.report import StudyRecords

        data = view.data
        return StudyRecords(
            data.items,
            data.answers,
            data.raters,
            data.ratings,
            events=view.events,
            times=self.times(),
            lengths=data.lengths,
            usage=data.usage,
        )


def _further_files(request: ReportRequest | None) -> FurtherFiles | None:
    """The files besides the page and its data; None where none are asked for."""
    if request is None or not (request.to or request.figures or request.checklist):
        return None
    from konsil.report.manuscript.files import further_files

    return further_files(request)


def open_folder(folder: str | Path, *, database: str = "") -> Folder:
    """Open a study's folder, or that of its study.toml; its protocol is read and checked.

    `database` is the URL of a database to use instead of the folder's own; the environment variable
    KONSIL_DATABASE does the same.
    """
    path = folder_of(Path(folder))
    protocol = path / PROTOCOL
    if not path.is_dir():
        raise StudyError(f"{path}: there is no such folder")
    if not protocol.is_file():
        raise StudyError(
            f"{path}: there is no {PROTOCOL} in this folder; 'konsil new {path}' makes one"
        )
    text, database = read_text(protocol), database or os.environ.get(DATABASE, "")
    try:
        study = parse(text, lambda name: read_text(path / name), str(protocol))
        study = OpenedStudy(path, study, database).as_frozen()
        check(study, str(protocol))
    except StudyError as error:
        problems = error.problems or located(lines_of(error.sentence), text, str(protocol))
        raise StudyError(as_lines(map(str, problems)), problems) from None
    return Folder(path, study, database)
