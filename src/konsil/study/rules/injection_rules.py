"""Problems of the control tasks that a protocol requests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from konsil.analysis import Analysis
from konsil.errors import nearest
from konsil.instrument import Criterion, Instrument
from konsil.instrument.screens.injections import KINDS
from konsil.locale import complete_languages
from konsil.plan import Allocation
from konsil.plan.draw.injections import Injections

SHIFT = "injection_shift"
"""The statistic of control tasks."""


def injection_problems(
    spec: Injections | None,
    instruments: Sequence[Instrument],
    judges: Collection[str],
    plan: Sequence[Allocation],
    where: str,
) -> Iterator[str]:
    """Every problem as one sentence; `judges` are the raters for whom a model speaks."""
    if spec is None:
        return
    where = f"{where}: injections"
    if not 0 < spec.share <= 1:
        yield f"{where}.share: expected a share above 0 and at most 1, got {spec.share:g}"
    criteria = {c.id: c for i in instruments for c in i.criteria}
    if spec.criterion not in criteria:
        yield (
            f"{where}.criterion: there is no criterion {spec.criterion!r};"
            f" {nearest(spec.criterion, criteria)}"
        )
    else:
        yield from _demanded(spec, criteria[spec.criterion], where)
    yield from _kinds(spec, where)
    if not judges:
        yield f"{where}: there are no [[judges]]; only judges get control tasks, people never do"
    for n, judge in enumerate(spec.judges):
        if judge not in judges:
            yield f"{where}.judges[{n}]: there is no judge {judge!r}; {nearest(judge, judges)}"
    if spec.language and spec.language not in complete_languages():
        yield (
            f"{where}.language: there is no {spec.language!r};"
            f" {nearest(spec.language, complete_languages())}"
        )
    if not plan:
        yield f"{where}: there is no [[plan]]; control tasks repeat tasks of a plan"


def _kinds(spec: Injections, where: str) -> Iterator[str]:
    if not spec.kinds:
        yield f"{where}.kinds: is empty; expected some of {', '.join(KINDS)}"
    for n, kind in enumerate(spec.kinds):
        if kind not in KINDS:
            yield f"{where}.kinds[{n}]: there is no kind {kind!r}; {nearest(kind, KINDS)}"
        elif kind in spec.kinds[:n]:
            yield f"{where}.kinds[{n}]: {kind!r} occurs twice"


def _demanded(spec: Injections, criterion: Criterion, where: str) -> Iterator[str]:
    if criterion.scope != "answer":
        yield (
            f"{where}.criterion: {criterion.id!r} is about the {criterion.scope}; expected a"
            " criterion about single answers"
        )
    if criterion.scale.kind != "choice":
        yield (
            f"{where}.criterion: {criterion.id!r} has no labels; expected a criterion with a choice"
            " of labels"
        )
    elif spec.label not in criterion.scale.labels:
        yield (
            f"{where}.label: there is no label {spec.label!r};"
            f" {nearest(spec.label, criterion.scale.labels)}"
        )


def shift_problems(spec: Injections | None, analysis: Analysis, where: str) -> Iterator[str]:
    """Problems of an analysis of control tasks.

    There are no control tasks, or they request labels of another criterion.
    """
    if analysis.statistic != SHIFT:
        return
    if spec is None:
        yield (
            f"{where}.statistic: {SHIFT!r} compares control tasks; the table [injections] plants"
            " them"
        )
    elif spec.criterion != analysis.criterion:
        yield (
            f"{where}.criterion: the control tasks demand labels of {spec.criterion!r}, got"
            f" {analysis.criterion!r}"
        )
