"""The stages of a study that was set up, from its import to its report, and what each needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from konsil.study import Study

StageName = Literal[
    "import", "answer", "plan", "rehearse", "judge", "invite", "office", "report", "table"
]
"""What is done with a study, in the order in which it is done."""
Need = Literal[
    "title",
    "problems",
    "questions",
    "raters",
    "models",
    "lines",
    "sources",
    "files",
    "analyses",
    "import",
    "answers",
    "plan",
    "ratings",
]
"""What a stage can lack: of the set-up, of files, or of an earlier stage."""
STEPS: dict[Need, str] = {
    "title": "data",
    "sources": "data",
    "files": "data",
    "questions": "questions",
    "raters": "people",
    "models": "people",
    "lines": "plan",
    "analyses": "analyses",
}
"""What the set-up lacks -> the step in which it is stated."""

_SECTIONS = {
    "sources": "data",
    "systems": "data",
    "instruments": "questions",
    "raters": "people",
    "judges": "people",
    "endpoints": "people",
    "plan": "plan",
}
"""Sections of study.toml -> the step that states them; all others are of the analyses."""
_HEADER = re.compile(r"\[+([a-z_]+)")


def step_of_line(text: str, line: int | None) -> str:
    r"""The step of the set-up that states what is in this line of study.toml.

    >>> step_of_line("title = 'x'\n[[instruments]]\nid = 'a'\n", 3)
    'questions'
    """
    if line is None:
        return "data"
    headers = [_HEADER.match(each) for each in text.splitlines()[:line]]
    names = [header[1] for header in headers if header is not None]
    return _SECTIONS.get(names[-1], "analyses") if names else "data"


@dataclass(frozen=True)
class Collected:
    """What was collected until now."""

    items: int = 0
    answers: int = 0
    ratings: int = 0
    tasks: int = 0
    """Tasks of the plan."""
    silent: int = 0
    """Systems whose model has not answered yet."""
    can_replace: bool = False
    """Whether nothing but imports is recorded, so that they can be replaced."""


@dataclass(frozen=True)
class Stage:
    """One stage of a study."""

    name: StageName
    needs: tuple[Need, ...] = ()
    """What it lacks; empty: it can be done."""
    is_done: bool = False


def has_existing_ratings(study: Study) -> bool:
    """Whether a source of the study has ratings."""
    return any(source.records not in ("items", "answers", "anki") for source in study.sources)


def compared_column(study: Study) -> str:
    """What Table 2 compares: systems, else the first group of the items; empty: nothing."""
    if len(study.systems) > 1:
        return "system"
    return next((name for source in study.sources for name in source.strata), "")


def needs_of(study: Study) -> Iterator[Need]:
    """What a protocol lacks before anything can be rated or analysed.

    Judges whose ratings are imported need no model.
    """
    is_rated = has_existing_ratings(study)
    if not study.instruments:
        yield "questions"
    if not study.raters and not study.places and not is_rated:
        yield "raters"
    panels = {line.panel for line in study.plan}
    called = {judge.rater for judge in study.judges}
    if any(r.kind == "llm" and r.panel in panels and r.id not in called for r in study.raters):
        yield "models"
    if not study.plan and not is_rated:
        yield "lines"


def stages_of(
    study: Study, collected: Collected, *, absent: Collection[str] = (), n_problems: int = 0
) -> tuple[Stage, ...]:
    """The stages of a study, each with what it lacks.

    `absent`: files of its sources that are not there; `n_problems`: of its check.
    """
    wrong: tuple[Need, ...] = ("problems",) if n_problems else ()
    basic: tuple[Need, ...] = (*wrong, *needs_of(study))
    is_imported = bool(collected.items or collected.ratings)
    imported: tuple[Need, ...] = () if is_imported else ("import",)
    files: tuple[Need, ...] = ("sources",) if not study.sources else ("files",) if absent else ()
    stages = [Stage("import", (*wrong, *files), is_imported)]
    is_rated = has_existing_ratings(study)
    if any(system.model is not None for system in study.systems):
        is_answered = is_imported and not collected.silent
        stages.append(Stage("answer", (*basic, *imported), is_answered))
    if study.plan or not is_rated:
        silent: tuple[Need, ...] = ("answers",) if collected.silent else ()
        planned: tuple[Need, ...] = () if collected.tasks else ("plan",)
        kinds = {rater.kind for rater in study.everybody()}
        stages += [
            Stage("plan", (*basic, *imported, *silent), bool(collected.tasks)),
            Stage("rehearse", (*basic, *imported, *silent)),
            *(Stage("judge", (*basic, *planned)) for _ in kinds & {"llm"}),
            *(Stage("invite", (*basic, *planned)) for _ in kinds & {"human"}),
            Stage("office", (*basic, *planned)),
        ]
    analysing: tuple[Need, ...] = () if study.analyses else ("analyses",)
    rated: tuple[Need, ...] = () if collected.ratings else imported or ("ratings",)
    stages.append(Stage("report", (*basic, *analysing, *rated)))
    if is_rated and compared_column(study):
        stages.append(Stage("table", (*basic, *rated)))
    return tuple(stages)
