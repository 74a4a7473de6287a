"""A study's folder: its protocol, its database, its numbers, its report."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from konsil.analysis.model.options import DesignOptions
from konsil.api.folder.opened import PROTOCOL, OpenedStudy, now, read_text
from konsil.errors import StudyError
from konsil.prepare import in_study
from konsil.records import Callee, Event, Source
from konsil.store import Added
from konsil.store.engine.private import write_private
from konsil.study import check, parse, study_digest
from konsil.study.definition.adjudication import closing_sentences
from konsil.study.sections.enrolment import excluded_by_withdrawal, with_profiles
from konsil.study.sections.line_numbers import with_lines

if TYPE_CHECKING:
    import polars as pl

    from konsil.analysis import Results
    from konsil.analysis.table.frame import Data
    from konsil.api.folder.blinded import BlindedData
    from konsil.records.worked import Worked
    from konsil.report import Section
    from konsil.sources.labelstudio.labelstudio_slots import Find
    from konsil.store.release.export import Format
    from konsil.store.release.released import Released
    from konsil.study.data.plan_status import Timing

_KEY_BYTES = 32
DATABASE = "KONSIL_DATABASE"
"""Environment variable with the URL of a database that is used instead of the folder's own."""


@dataclass(frozen=True)
class Folder(OpenedStudy):
    """An opened study with everything that can be done with it."""

    def import_sources(self, sources: Sequence[Source] = ()) -> Added:
        """Read files, the protocol's or those given, all or nothing.

        The same files again change nothing.
        """
        # With Polars, which who only calls models need not hold in memory.
        from konsil.api.folder.importing import import_files

        return import_files(self, tuple(sources) or self.study.sources)

    def finder(self) -> Find:
        """What knows the tasks of the plan by their names, for annotations of them."""
        from konsil.api.folder.labelstudio import Finder

        return Finder(self)

    def preparations(self, files: Collection[str]) -> tuple[str, ...]:
        """For each of these files that is a deck, a log or a whole study: its counts.

        The counts are of what was read, kept and left out, with the reasons.
        """
        from konsil.api.folder.decks import PREPARATION, READING, preparation_line, reconciled

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
        from konsil.api.folder.blinded import show
        from konsil.store.release.blinding import key, veiling
        from konsil.store.release.export import export

        with self.store() as store:
            veil = veiling(self.study, key(store)) if show(self, store) else None
            store.cover_log(now())
            study = study_digest(self.study)
            return export(store, output, format_, overwrite=overwrite, veil=veil, study=study)

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
                f"{place}: is not the whole key of the raters' pseudonyms, which has {_KEY_BYTES}"
                " bytes; bring back a copy of it, or take it away: the next release then has other"
                " pseudonyms"
            )
        return place.read_bytes()

    def data(self) -> Data:
        """Everything collected, as records; in letters while the study is blinded."""
        return self._blinded_data().data

    def _blinded_data(self) -> BlindedData:
        from konsil.analysis.judges.injections import part_injections
        from konsil.api.folder.blinded import blinded_view, show
        from konsil.api.folder.conforming import conforming
        from konsil.store.release.blinding import key as veil_key

        data, events = self.stored()
        data, methods = conforming(str(self.path / PROTOCOL), self.study, data, events)
        data = part_injections(data, self.study.injections, self.study.exclusions)
        with self.store() as store:
            key = veil_key(store) if show(self, store) else b""
        return blinded_view(self.study, data, events, methods, self._timings(events), key=key)

    def _timings(self, events: Sequence[Event]) -> tuple[Timing, ...]:
        from konsil.store.tasks.timing import timings
        from konsil.study.data.freezing import frozen

        freeze = frozen(events)
        if freeze is None:
            return ()
        with self.store() as store:
            return timings(store, freeze.id, freeze.at)

    def stored(self) -> tuple[Data, tuple[Event, ...]]:
        """Everything collected under its stored names, and what happened.

        Nobody has looked whether it conforms.
        """
        from konsil.analysis.table.frame import Data
        from konsil.api.folder.pocqi import lengths_of
        from konsil.store.calls.call_settings import callees
        from konsil.store.calls.usages import usages

        with self.store() as store, store.view() as view:
            items, answers, stored_raters = (
                tuple(view.each(name)) for name in ("items", "answers", "raters")
            )
            attempts, events = tuple(view.each("attempts")), tuple(view.each("events"))
            tasks, ratings = view.columns("tasks"), view.columns("ratings")
            called, used = callees(store), usages(store)
        declared = {r.id: r for r in self.study.raters}
        # The protocol is the word on panels and strata: a corrected study.toml needs no new import.
        raters = with_profiles(
            [declared.get(r.id, r) for r in stored_raters], self.study.enrolment, events
        )
        rated = set(ratings.frame.get_column("item").drop_nulls().unique())
        studied = in_study(items, events, also=rated)
        if len(studied) < len(items):
            item_ids = {item.id for item in studied}
            answers = tuple(a for a in answers if a.item in item_ids)
        more = (
            self._callees(called),
            excluded_by_withdrawal(self.study.enrolment, events),
            lengths_of(events),
        )
        needs_pages = any(
            a.display == "complete"
            or (isinstance(a.options, DesignOptions) and a.options.clock == "open")
            for a in self.study.analyses
        )
        opened = self._times() if needs_pages else ()
        data = Data(studied, answers, raters, tasks, ratings, attempts, *more, opened, used)
        return data, events

    def _callees(self, called: Sequence[Callee]) -> tuple[Callee, ...]:
        """How models were called, with what the protocol says about judges' votes and orders."""
        judges = {j.rater: j for j in self.study.judges}
        return tuple(
            (
                replace(
                    c,
                    votes=j.votes,
                    both_orders=j.orders == "both",
                    tie=j.inconsistent == "tie",
                    combine=j.combine,
                )
                if c.kind == "judge" and (j := judges.get(c.who)) is not None
                else c
            )
            for c in called
        )

    def ratings(self) -> pl.DataFrame:
        """All ratings that the protocol does not exclude, as one long Polars frame."""
        from konsil.analysis.table.frame import rating_table

        return rating_table(self.data(), self.study.exclusions, self.study.instruments).frame

    def results(self) -> Results:
        """Run the protocol's analyses on what was collected."""
        return self._run(self._blinded_data())

    def run(self, data: Data) -> Results:
        """Run the protocol's analyses on these records, as `data` gives them."""
        from konsil.api.folder.blinded import blinded_view, show
        from konsil.api.folder.conforming import conforming

        with self.store() as store:
            hidden, events = show(self, store), store.events()
        data, methods = conforming(
            str(self.path / PROTOCOL), self.study, data, events, in_letters=hidden
        )
        view = (
            self._blinded_data()
            if hidden
            else blinded_view(self.study, data, events, methods, self._timings(events), key=b"")
        )
        return self._run(replace(view, data=data))

    def _run(self, view: BlindedData) -> Results:
        from konsil.analysis.running.run import run
        from konsil.analysis.running.run_settings import RunSettings
        from konsil.prepare.cases.marking import cases
        from konsil.prepare.identifiers.duplicates import last_duplicates, same_texts

        if not view.data.ratings:
            raise StudyError(f"{self.path}: there are no ratings yet; run 'konsil import' first")
        study = view.study
        # Where nobody has searched for duplicates, at least equal texts are not taken for
        # independent in silence.
        searched = last_duplicates(view.events)[1]
        results = run(
            study.analyses,
            view.data,
            RunSettings(
                instruments=study.instruments,
                seed=study.seed,
                resampling=study.resampling,
                inference=study.inference,
                exclusions=study.exclusions,
                planned=bool(study.plan),
                systems=study.systems,
                derived=study.derived,
                flag_families=study.judges_of_same_family == "flag",
                together=study.together,
                strict=False,
                duplicates=(
                    searched.groups if searched is not None else same_texts(cases(view.data.items))
                ),
            ),
        )
        from konsil.api.folder.curation_sentences import curation_sentences
        from konsil.api.folder.erasing import privacy_sentences
        from konsil.api.folder.log_check import log_sentence

        with self.store() as store:
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
            plan=view.plan,
            log=log,
        )

    def _times(self) -> tuple[Worked, ...]:
        from konsil.store.release.page_telemetry import worked

        with self.store() as store, store.view() as view:
            return worked(view.connection)

    def report(
        self,
        *,
        extras: Callable[[Results], Sequence[Section]] = lambda _: (),
        output: Path | None = None,
    ) -> Path:
        """Compute everything and write the report; gives the page's path.

        `extras` makes further sections; `output` is a folder other than the study's own `report`.
        """
        return self.write_report(extras, output)[0]

    def write_report(
        self,
        extras: Callable[[Results], Sequence[Section]] = lambda _: (),
        output: Path | None = None,
    ) -> tuple[Path, Results]:
        """Write the report, and return its path and the results on the page.

        `refused` in the results names the analyses that cannot be made.
        """
        from konsil import report

        view = self._blinded_data()
        data, results = view.data, self._run(view)
        page = report.write(
            self.path / "report" if output is None else output,
            view.study,
            results,
            report.StudyRecords(
                data.items,
                data.answers,
                data.raters,
                data.ratings,
                events=view.events,
                times=self._times(),
                lengths=data.lengths,
                usage=data.usage,
            ),
            # What models were called would tell whose answers they are.
            extras=() if view.is_blinded else extras(results),
            digest=study_digest(self.study),
            is_blinded=view.is_blinded,
        )
        return page, results


def open_folder(folder: str | Path, *, database: str = "") -> Folder:
    """Open a study's folder; its protocol is read and checked.

    `database` is the URL of a database to use instead of the folder's own; the environment variable
    KONSIL_DATABASE does the same.
    """
    path = Path(folder)
    protocol = path / PROTOCOL
    if not path.is_dir():
        raise StudyError(f"{path}: there is no such folder")
    if not protocol.is_file():
        raise StudyError(
            f"{path}: there is no {PROTOCOL} in this folder; 'konsil new {path}' makes one"
        )
    text = read_text(protocol)
    try:
        study = parse(text, lambda name: read_text(path / name), str(protocol))
        check(study, str(protocol))
    except StudyError as error:
        raise StudyError(
            "\n".join(with_lines(str(error).split("\n"), text, str(protocol)))
        ) from None
    return Folder(path, study, database or os.environ.get(DATABASE, ""))
