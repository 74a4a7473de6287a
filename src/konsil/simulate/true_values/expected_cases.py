"""True values of the analyses of cases at progressively masked levels.

Their formulas are written a second time, apart from those of the analyses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np

from konsil.analysis import Analysis
from konsil.analysis.model.options import CaseOptions
from konsil.analysis.table.labels import Labels, labels_of
from konsil.instrument import Criterion
from konsil.simulate.population import Array, Matrix
from konsil.simulate.true_values.batches import Batches, Cases

Rule = Callable[[int], float]
"""The true value of one row in one batch."""
ENOUGH = 1e-9
"""A mean of raters is a fraction; what reaches a threshold must not miss it by its last bit."""


class Expected(Protocol):
    """What the formulas need of a study's expected values."""

    @property
    def cases(self) -> Cases:
        """The study's cases."""

    @property
    def batches(self) -> Batches:
        """The batches of new items."""

    def criterion(
        self, analysis: Analysis, group: Mapping[str, str], name: str = ""
    ) -> Criterion | None:
        """The analysis' criterion, or another, in the group's design."""

    def selected(
        self,
        analysis: Analysis,
        criterion: Criterion,
        panel: str,
        group: Mapping[str, str],
        batch: int,
        labels: Labels,
    ) -> Matrix:
        """Codes after collapsing, of the group's systems, raters and items."""


def case_rule(
    model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
) -> Rule | None:
    """The rule of one group of an analysis of cases; None where there is no formula here."""
    if analysis.statistic in ANSWERS:
        return ANSWERS[analysis.statistic](model, analysis, criterion, group)
    formula = LADDERS.get(analysis.statistic)
    if formula is None or not model.cases or "system" not in group or analysis.against is not None:
        return None

    def rule(batch: int) -> float:
        marks = ladder(model, analysis, criterion, group, batch)
        return formula(marks, marks >= analysis.options_as(CaseOptions).correct - ENOUGH, analysis)

    return rule


def marks_of(
    model: Expected,
    analysis: Analysis,
    criterion: Criterion,
    panel: str,
    group: Mapping[str, str],
    batch: int,
    *,
    highest: bool = False,
) -> Array:
    """The panel's mean number on every answer of the group, (n_units,).

    With `highest` it is the highest number.
    """
    labels = labels_of(analysis, criterion)
    codes = model.selected(analysis, criterion, panel, group, batch, labels)
    rated = codes >= 0
    numbers = np.where(
        rated, np.asarray(labels.values, dtype=np.float64)[np.maximum(codes, 0)], 0.0
    )
    if highest:
        return np.where(rated.any(axis=1), np.where(rated, numbers, -np.inf).max(axis=1), np.nan)
    return np.asarray(numbers.sum(axis=1) / np.where(rated.any(axis=1), rated.sum(axis=1), np.nan))


def ladder(
    model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], batch: int
) -> Array:
    """The marks of one system by case and level, (n_cases, n_levels)."""
    marks = marks_of(model, analysis, criterion, analysis.raters, group, batch)
    world = model.batches.world(batch)
    item_of = model.batches.item_of(criterion, batch)[
        model.batches.units(analysis, criterion, group, batch)
    ]
    levels_in_order = analysis.options_as(CaseOptions).levels
    grid = np.full((int(world.case_of.max()) + 1, len(levels_in_order)), np.nan)
    levels = model.batches.strata["level"][item_of]
    for place, level in enumerate(levels_in_order):
        at_level = levels == level
        grid[world.case_of[item_of[at_level]], place] = marks[at_level]
    is_complete = np.isfinite(grid).all(axis=1)
    return np.asarray(grid[is_complete], dtype=np.float64)


Bools = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def _rises(right: Bools) -> Bools:
    """Whether some level is right after a fuller one was wrong."""
    rises = [
        (~right[:, full] & right[:, less])
        for full in range(right.shape[1])
        for less in range(full + 1, right.shape[1])
    ]
    return np.asarray(np.any(rises, axis=0))


def _sensitivity(_: Array, right: Bools, __: Analysis) -> float:
    return float(right[:, 0].mean() - right[:, -1].mean())


def _violation(_: Array, right: Bools, analysis: Analysis) -> float:
    is_of_recovered = analysis.options_as(CaseOptions).denominator == "recovered"
    in_denominator = right[:, -1] if is_of_recovered else np.ones(len(right), dtype=np.bool_)
    return float(_rises(right)[in_denominator].mean())


def _potential(_: Array, right: Bools, __: Analysis) -> float:
    return 1 - float((~right).all(axis=1).mean())


def _dependence(_: Array, right: Bools, __: Analysis) -> float:
    return float((right[:, 0] != right[:, 1]).mean())


def _stability(_: Array, right: Bools, __: Analysis) -> float:
    return float(sum(right[:, : k + 1].all(axis=1).mean() for k in range(right.shape[1])))


def _gap(marks: Array, _: Bools, __: Analysis) -> float:
    return float(marks[:, 0].mean() - marks[:, -1].mean())


LADDERS: Mapping[str, Callable[[Array, Bools, Analysis], float]] = {
    "information_sensitivity": _sensitivity,
    "monotonicity_violation": _violation,
    "diagnostic_potential": _potential,
    "label_dependence": _dependence,
    "stability": _stability,
    "reasoning_gap": _gap,
}


def _accuracy(
    model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
) -> Rule:
    def rule(batch: int) -> float:
        marks = marks_of(model, analysis, criterion, analysis.raters, group, batch)
        correct = analysis.options_as(CaseOptions).correct
        return float((marks[np.isfinite(marks)] >= correct - ENOUGH).mean())

    return rule


def _illusion(
    model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
) -> Rule | None:
    fluent = model.criterion(analysis, group, analysis.criteria[0]) if analysis.criteria else None
    if fluent is None:
        return None

    def rule(batch: int) -> float:
        reads, is_worth = (
            marks_of(model, analysis, aspect, analysis.raters, group, batch)
            for aspect in (fluent, criterion)
        )
        return float(np.nanmean(reads - is_worth))

    return rule


def _mismatch(
    model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
) -> Rule | None:
    """Of the answers that failed, the share whose reasoning names what the answer does not."""
    aspects = [model.criterion(analysis, group, name) for name in analysis.criteria or NAMING]
    thought, stated = aspects if len(aspects) == 2 else (None, None)
    if thought is None or stated is None or analysis.against is None:
        return None

    def rule(batch: int) -> float:
        marks = marks_of(model, analysis, criterion, analysis.raters, group, batch)
        names = [_yes(model, analysis, aspect, group, batch) for aspect in (thought, stated)]
        clear = [np.isfinite(share) & (share != _HALF) for share in names]
        failed = (marks < analysis.options_as(CaseOptions).correct - ENOUGH) & clear[0] & clear[1]
        return float(((names[0] > _HALF) & (names[1] < _HALF))[failed].mean())

    return rule


_HALF = 0.5


def _yes(
    model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str], batch: int
) -> Array:
    """The share of the naming panel's labels that are the scale's last, (n_units,)."""
    codes = model.batches.retained_labels(
        analysis, criterion, str(analysis.against), group, batch, ""
    )
    rated = codes >= 0
    last = (codes == len(criterion.scale.labels) - 1).sum(axis=1)
    return np.asarray(last / np.where(rated.any(axis=1), rated.sum(axis=1), np.nan))


def _approval(
    model: Expected, analysis: Analysis, criterion: Criterion, group: Mapping[str, str]
) -> Rule | None:
    """The proportion of failures that a judge approves.

    An answer is a failure where the experts call it a failure on any of the criteria.
    """
    names = [group["criterion"]] if "criterion" in group else [criterion.id, *analysis.criteria]
    aspects = [model.criterion(analysis, group, name) for name in names]
    criteria = [aspect for aspect in aspects if aspect is not None]
    if len(criteria) < len(aspects) or analysis.against is None or "rater" not in group:
        return None
    options = analysis.options_as(CaseOptions)
    others = {
        column: value for column, value in group.items() if column not in ("rater", "criterion")
    }

    def rule(batch: int) -> float:
        passed = failed = 0
        for aspect in criteria:
            every = options.failure_by == "every"
            experts = marks_of(
                model, analysis, aspect, str(analysis.against), others, batch, highest=every
            )
            judge = marks_of(
                model, analysis, aspect, analysis.raters, {**others, "rater": group["rater"]}, batch
            )
            fails = (experts <= options.failure + ENOUGH) & np.isfinite(judge)
            failed += int(fails.sum())
            passed += int((judge[fails] >= options.approve - ENOUGH).sum())
        return passed / failed if failed else float("nan")

    return rule


NAMING = ("reasoning_names", "answer_names")
ANSWERS: Mapping[str, Callable[[Expected, Analysis, Criterion, Mapping[str, str]], Rule | None]] = {
    "accuracy": _accuracy,
    "illusion_gap": _illusion,
    "mismatch": _mismatch,
    "approval": _approval,
}
CASES: Sequence[str] = (*LADDERS, *ANSWERS)
