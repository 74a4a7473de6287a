"""konsil check: is the protocol sound, and what does it ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from konsil.cli.folder import on_folder
from konsil.cli.printout import Printout, asks_json, with_json
from konsil.locale import SOURCE, catalogue_language, is_draft

if TYPE_CHECKING:
    from konsil.design.stages import Stage
    from konsil.errors import StudyError
    from konsil.instrument import Instrument
    from konsil.study import Study


@click.command(short_help="Check a study's protocol and summarise it.")
@on_folder
@click.option("--next", "of_stages", is_flag=True, help="List the next steps and what each lacks.")
@click.option("--statistics", is_flag=True, help="List all statistics that an analysis can use.")
@with_json
def command(folder: Path, database: str, of_stages: bool, statistics: bool) -> Printout:
    """Check FOLDER/study.toml and the files it names; list each problem with its line.

    Columns and labels of the files are compared with the forms, and all analyses are validated.
    Nothing is written. With --next, every step from the import to the report is listed with what it
    still lacks.
    """
    from konsil.api import open_folder
    from konsil.api.running.checking import findings
    from konsil.errors import StudyError

    if statistics:
        return _statistics()
    try:
        opened = open_folder(folder, database=database)
    except StudyError as error:
        if not asks_json():
            raise
        return Printout({"is_sound": False, "problems": _problems(error)}, error=error)
    checked = findings(opened)
    refusal = StudyError("\n".join(map(str, checked.problems)), checked.problems)
    record = {
        **_summary(opened.study),
        "missing_files": checked.absent,
        "sentences": [*(line.strip() for line in _sentences(opened.study)), *checked.notes],
        "is_sound": not checked.problems,
        "problems": _problems(refusal) if checked.problems else [],
    }
    lines = [*_lines(opened.study, checked.absent), *(f"  {note}" for note in checked.notes)]
    if of_stages:
        from konsil.api.design.stages import stages

        listed = stages(opened, checked)
        record["stages"] = listed
        lines += _stage_lines(listed)
    return Printout(record, lines, refusal if checked.problems else None)


def _stage_lines(stages: Sequence[Stage]) -> Iterator[str]:
    """What each stage of the study lacks, one a line, as the set-up's pages state it."""
    from konsil.web.design.words import need_words, stage_words

    titles, needs = stage_words(str), need_words(str)
    for stage in stages:
        state = "done" if stage.is_done else " ".join(needs[need] for need in stage.needs)
        yield f"  {titles[stage.name]}: {state or 'ready'}"


def _statistics() -> Printout:
    """All statistics, one a line."""
    from konsil.analysis import known_statistics
    from konsil.report.material.glossary import title
    from konsil.report.material.language import ENGLISH

    rows = [{"id": name, "title": title(name, ENGLISH)} for name in known_statistics()]
    width = max(len(row["id"]) for row in rows) + 2
    return Printout({"statistics": rows}, [f"{row['id']:{width}}{row['title']}" for row in rows])


def _problems(error: StudyError) -> list[dict[str, object]]:
    """The problems with their places; of an error without places its sentences."""
    from konsil.errors import Problem

    problems = error.problems or [Problem(line) for line in str(error).split("\n") if line]
    return [
        {
            "file": problem.file or None,
            "line": problem.line,
            "column": problem.column,
            "analysis": problem.analysis,
            "sentence": problem.sentence,
        }
        for problem in problems
    ]


def _summary(study: Study) -> dict[str, object]:
    """What the protocol asks for."""
    from konsil.study import study_digest

    return {
        "title": study.title,
        "instruments": [i.id for i in study.instruments],
        "systems": [s.id for s in study.systems],
        "panels": {name: len(raters) for name, raters in study.panels().items()},
        "scores": [score.id for score in study.scores],
        "sources": len(study.sources),
        "plan": len(study.plan),
        "analyses": [analysis.name for analysis in study.analyses],
        "digest": study_digest(study),
    }


def _lines(study: Study, absent: Sequence[str]) -> Iterator[str]:
    from konsil.study import study_digest

    panels = (
        ", ".join(f"{name} ({len(raters)})" for name, raters in study.panels().items())
        or "as in the ratings"
    )
    yield f"{study.title}"
    yield f"  instruments: {', '.join(i.id for i in study.instruments) or 'none'}"
    yield f"  systems:     {', '.join(s.id for s in study.systems) or 'as in the ratings'}"
    yield f"  panels:      {panels}"
    yield (
        f"  sources:     {len(study.sources)}, plan: {len(study.plan)}, analyses:"
        f" {len(study.analyses)}"
    )
    yield from (f"  missing: {file}" for file in absent)
    yield from (f"  {line}" for line in _sentences(study))
    yield f"  checksum (SHA-256): {study_digest(study)}"
    for instrument in _judged(study):
        yield from _parity(instrument)


def _sentences(study: Study) -> Iterator[str]:
    """What is worth a look in a protocol without problems."""
    from konsil.api.folder.erasing import retention_line

    if any(e.vendor for e in study.endpoints):
        from konsil.collect.providers.opening import unknown_vendors

        yield from unknown_vendors(study.endpoints)
    from konsil.study.data.label_numbering import numbering_sentences

    yield from (*_scores(study), *_addresses(study), *map(str, numbering_sentences(study)))
    for name, system in _unmasked(study):
        yield (
            f"analysis {name!r} concerns {system!r} only: anyone with study.toml and the"
            " blinded report can infer its blinding code"
        )
    yield from filter(None, (*_drafts(study), retention_line(study, date.today())))


def _scores(study: Study) -> Iterator[str]:
    """The composite scores, where there are any."""
    scores = [f"{score.id} ({score.combine} of {len(score.of)})" for score in study.scores]
    if scores:
        yield f"scores:      {', '.join(scores)}"


def _addresses(study: Study) -> Iterator[str]:
    """Raters whose identifier is an e-mail address."""
    for name in (r.id for r in study.raters if r.kind == "human" and "@" in r.id):
        yield (
            f"raters: {name} is an e-mail address; identifiers are in every table and in the log:"
            " invent others"
        )


def _drafts(study: Study) -> Iterator[str]:
    """What a language has not yet that the study is to be in."""
    code = catalogue_language(study.language)
    if code not in ("", SOURCE) and is_draft(code):
        yield (
            f"language:    {study.language!r} is a draft for the pages; the report and the codebook"
            " are in English"
        )


def _unmasked(study: Study) -> Iterator[tuple[str, str]]:
    """Analyses of a blinded study whose protocol names their one system, and that system."""
    from konsil.analysis.model.catalogue.known import NAME_COLUMNS

    for analysis in study.analyses if study.blinded else ():
        for column in (c for c, kind in NAME_COLUMNS.items() if kind == "system"):
            named = set(analysis.where.get(column, ()))
            if len(named) == 1:
                yield analysis.name, named.pop()


def _judged(study: Study) -> tuple[Instrument, ...]:
    """The instruments that judges rate on: those of the plan.

    Without a plan these are all instruments, where models are called as judges. Judges whose
    ratings come from files read no prompt of konsil's.
    """
    judges = {r.panel for r in study.raters if r.kind == "llm"}
    planned = {a.instrument for a in study.plan if a.panel in judges}
    return tuple(
        i
        for i in study.instruments
        if judges and (i.id in planned or (study.judges and not study.plan))
    )


def _parity(instrument: Instrument) -> Iterator[str]:
    """The parts of the judges' prompt that people do not read, for a screen with one answer."""
    from konsil.instrument.screens.parity import parity_of

    parity = parity_of(instrument)
    yield f"{instrument.id}: LLM judges read the same texts as people and, in addition"
    for line in parity.role:
        yield f"  role:  {line}"
    for line in parity.reply:
        yield f"  reply: {line}"
    for text in parity.missing:
        yield f"  only people read: {text}"
