"""Blinded data quality of a running study: the pooled numbers of its panel, by criterion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from konsil.records import Event
from konsil.study.data.run_settings import run_settings
from konsil.study.definition.protocol import Study
from konsil.study.interim.looks import (
    LookState,
    Progress,
    look_states,
    progress_of,
)
from konsil.study.interim.rules import AppliedRule, applied_rules
from konsil.study.sections.enrolment import excluded_by_withdrawal

if TYPE_CHECKING:
    from konsil.analysis.running.interim.pooled import CriterionQuality
    from konsil.analysis.table.frame import Data


@dataclass(frozen=True, slots=True)
class PanelQuality:
    """What the page shows of one panel."""

    panel: str
    """The panel."""
    progress: Progress | None
    """Of the panel of the interim looks: how much is rated."""
    criteria: Sequence[CriterionQuality]
    """Its criteria."""
    rules: Sequence[AppliedRule]
    """The rules of the protocol with their numbers."""
    looks: Sequence[LookState] = ()
    """The looks of the protocol and how they stand."""


def qualities(study: Study, data: Data, panel: str) -> tuple[CriterionQuality, ...]:
    """Agreement, abstentions and drift of a panel by criterion, over all systems.

    Of every criterion of the forms that the panel is asked by the plan. `data` are records as
    analyses see them while the study is blinded: comparisons of two answers are then in the order
    of the blinding codes.
    """
    # With Polars, which who only serves pages need not load before somebody looks.
    from konsil.analysis.running.interim.pooled import pooled_quality

    panels = set(study.together.get(panel, (panel,)))
    forms = {a.instrument for a in study.plan if a.panel in panels}
    criteria = {
        c.id: c for i in study.instruments if not study.plan or i.id in forms for c in i.criteria
    }
    settings = run_settings(study)
    return pooled_quality(data, settings, panel, tuple(criteria.values()), periods_of(data))


def records_of(study: Study, records: Mapping[Any, Iterable[Any]], events: Sequence[Event]) -> Data:
    """The records of a database, by their kinds, as the analyses take them.

    Panels are those of the protocol; raters who withdrew their consent stay out.
    """
    from konsil.analysis.table.frame import Data

    declared = {r.id: r for r in study.raters}
    return Data(
        items=tuple(records["items"]),
        answers=tuple(records["answers"]),
        raters=tuple(declared.get(r.id, r) for r in records["raters"]),
        tasks=tuple(records["tasks"]),
        ratings=tuple(records["ratings"]),
        withdrawn=excluded_by_withdrawal(study.enrolment, events),
    )


def panel_qualities(study: Study, data: Data, events: Sequence[Event]) -> list[PanelQuality]:
    """The quality of the panel of the interim looks, or of every panel with people.

    The numbers are those of a pooled look at the same records.
    """
    interim = study.interim
    people = {
        panel for panel, raters in study.panels().items() if any(r.kind == "human" for r in raters)
    }
    out = []
    for name in [interim.panel] if interim is not None else sorted(people):
        criteria = qualities(study, data, name)
        if interim is None:
            out.append(PanelQuality(name, None, criteria, ()))
            continue
        progress = progress_of(study, interim, data)
        rules = applied_rules(interim, criteria, progress, events)
        looks = look_states(interim, events, progress)
        out.append(PanelQuality(name, progress, criteria, rules, looks))
    return out


def periods_of(data: Data) -> dict[str, str]:
    """Task -> its batch, or the week of its first rating where there are no batches.

    Empty where the systems are not spread evenly over the periods: a difference between periods
    would then be one between systems, which nobody may see while the study is blinded.
    """
    periods = _named_periods(data)
    return periods if _is_spread_evenly(data, periods) else {}


def _is_spread_evenly(data: Data, periods: Mapping[str, str]) -> bool:
    """Whether each system has between half and double its share of answers in every period."""
    system_by_answer = {answer.id: answer.system for answer in data.answers}
    by_period: dict[str, Counter[str]] = {}
    for task in data.tasks:
        if (period := periods.get(task.id)) is not None and task.purpose == "main":
            systems = (system_by_answer[a] for a in task.answers if a in system_by_answer)
            by_period.setdefault(period, Counter()).update(systems)
    total = sum(by_period.values(), Counter())
    n_answers = total.total()
    return all(
        0.5 <= counts[system] * n_answers / (n * counts.total()) <= 2
        for counts in by_period.values()
        if counts
        for system, n in total.items()
    )


def _named_periods(data: Data) -> dict[str, str]:
    from datetime import datetime

    from konsil.analysis.running.interim.pooled import task_times

    batches = {t.id: f"{t.phase} {t.batch}".strip() for t in data.tasks if t.purpose == "main"}
    if len({name for name in batches.values() if name}) > 1:
        return batches
    weeks = {}
    for task, at in task_times(data.ratings).items():
        if batches and task not in batches:
            continue
        year, week, _ = datetime.fromisoformat(at).isocalendar()
        weeks[task] = f"{year}-W{week:02d}"
    return weeks
