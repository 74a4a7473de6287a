"""The prespecified analyses.

An analysis is prespecified if it was frozen before the first rating that it uses was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis
from konsil.analysis.model.rows import PlanStatus
from konsil.errors.message import TranslatableMessage, message
from konsil.records import Event
from konsil.study.definition.protocol import Study


@dataclass(frozen=True, slots=True)
class Timing:
    """How many of a rater's ratings on a criterion were there when."""

    criterion: str
    """The criterion, by its name when it was rated."""
    rater: str
    """The rater."""
    before: int
    """Before the freeze."""
    unknown: int
    """Imported after it, without the time at which they were given."""
    after: int
    """After it."""


def plan_statuses(
    study: Study,
    analyses: Sequence[Analysis],
    freeze: Event | None,
    timings: Sequence[Timing],
    panels: Mapping[str, str],
) -> dict[str, PlanStatus]:
    """Analysis -> its status; `panels`: rater -> panel.

    What was added or changed after the freeze is exploratory.
    """
    return {a.name: _status(study, a, freeze, timings, panels) for a in analyses}


def _status(
    study: Study,
    analysis: Analysis,
    freeze: Event | None,
    timings: Sequence[Timing],
    panels: Mapping[str, str],
) -> PlanStatus:
    if not analysis.prespecified:
        return "exploratory"
    if study.retrospective:
        return "retrospective"
    if freeze is None:
        return "not frozen"
    uses = _uses(study, analysis)
    relevant = [
        t for t in timings if any(t.criterion in c and panels.get(t.rater) in p for c, p in uses)
    ]
    if any(t.before for t in relevant):
        return "frozen late"
    return "frozen before import" if any(t.unknown for t in relevant) else "prespecified"


def _uses(study: Study, analysis: Analysis) -> list[tuple[set[str], set[str]]]:
    """The criteria and the panels that an analysis and its derived columns read.

    Criteria include their former names.
    """
    parts = {score.id: score.of for score in study.scores}
    uses: list[tuple[set[str], set[str]]] = [
        (
            {
                part
                for name in (analysis.criterion, *analysis.criteria)
                for part in parts.get(name, (name,))
            },
            {analysis.raters, analysis.against or "", *analysis.options.panels},
        )
    ]
    columns = {*analysis.by, *analysis.where, *analysis.options.columns}
    uses += [({d.criterion}, {d.raters}) for d in study.derived if d.name in columns]
    former = {c.id: c.formerly for i in study.instruments for c in i.criteria if c.formerly}
    return [
        (criteria | {old for c in criteria for old in former.get(c, ())}, _panels(study, raters))
        for criteria, raters in uses
    ]


def _panels(study: Study, names: Iterable[str]) -> set[str]:
    return {panel for name in names for panel in study.together.get(name, (name,))}


def plan_sentences(
    study: Study, freeze: Event | None, timings: Sequence[Timing]
) -> tuple[tuple[TranslatableMessage, ...], tuple[TranslatableMessage, ...]]:
    """Sentences of the report on the time of the freeze: warnings, and methods."""
    declared = sum(a.prespecified for a in study.analyses)
    if study.retrospective:
        after_ratings = message(
            "The ratings existed when the {n:,} declared {n|analysis was|analyses were} specified;"
            " no analysis is prespecified.",
            message_id="freezing.retrospective",
            n=declared,
        )
        return (), (after_ratings,) if declared else ()
    if freeze is None:
        not_frozen = message(
            (
                "The analysis plan was not frozen: {n:,} {n|analysis is|analyses are} declared"
                " in the protocol, which may have been written after data collection began."
            ),
            message_id="freezing.not_frozen",
            n=declared,
        )
        return (), (not_frozen,) if declared else ()
    before, unknown = sum(t.before for t in timings), sum(t.unknown for t in timings)
    every = before + unknown + sum(t.after for t in timings)
    about = {"at": freeze.at, "digest": str(freeze.data.get("plan", ""))[:16]}
    if before:
        late = message(
            (
                "The analysis plan was frozen at {at} (checksum {digest}), after {n:,} of"
                " {all:,} ratings."
            ),
            message_id="freezing.frozen_late",
            n=before,
            all=every,
            **about,
        )
        return (late,), (late,)
    if unknown:
        return (), (
            message(
                (
                    "The analysis plan was frozen at {at} (checksum {digest}), before the"
                    " import of {n:,} of {all:,} ratings, which have no recorded time."
                ),
                message_id="freezing.frozen_before_import",
                n=unknown,
                all=every,
                **about,
            ),
        )
    return (), (
        message(
            (
                "The analysis plan was frozen at {at} (checksum {digest}), before the first of"
                " {all:,} ratings."
            ),
            message_id="freezing.frozen_before",
            all=every,
            **about,
        ),
    )
