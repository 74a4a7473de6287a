"""What analyses select of a batch, and plain formulas of its true values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from konsil.analysis import Analysis, Bin
from konsil.analysis.model.catalogue.known import COLUMNS
from konsil.analysis.model.options import AgreementOptions
from konsil.analysis.table.labels import Labels
from konsil.instrument import Criterion
from konsil.plan import Allocation
from konsil.records import Rater
from konsil.simulate import population
from konsil.simulate.panel import OF_TASKS
from konsil.simulate.population import Array, Matrix
from konsil.simulate.truth import Truth
from konsil.study import Study

_SURVEYS = ("batch", "phase", "rater")

Bools = NDArray[np.bool_]


def is_modelled(study: Study, truth: Truth, analysis: Analysis, sets: Collection[str]) -> bool:
    """Whether an analysis is of ratings whose true value the model gives."""
    columns = {*analysis.where, *analysis.by, *analysis.options.columns}
    derived = [d for d in study.derived if d.name in columns]
    # Which ratings are of an arm or a phase is a matter of the plan.
    by_task = any(
        d.criterion in ("", analysis.criterion) and {*OF_TASKS} & {*d.where}
        for d in truth.exceptions
    )
    is_weighted = isinstance(
        analysis.options, AgreementOptions
    ) and analysis.options.weights not in {"", "unweighted"}
    # Of groups, such as of systems, there are no true values.
    has_units = not derived or (bool(sets) and not any(d.groups for d in derived))
    return has_units and not is_weighted and not by_task


def main_lines(study: Study) -> list[Allocation]:
    """The lines whose ratings main analyses take, tie-breaks and questionnaires aside."""
    screens = {i.id for i in study.instruments if any(c.scope not in _SURVEYS for c in i.criteria)}
    return [
        a
        for a in study.plan
        if a.when == "always" and a.purpose == "main" and a.instrument in screens
    ]


def visible_lines(study: Study, panel: str) -> Iterator[tuple[str, int | None]]:
    """The set and the number of raters of every main line of a panel.

    A line like others has their sets.
    """
    lines = main_lines(study)
    for line in lines:
        if line.panel == panel:
            same = [a for a in lines if line.like and a.phase == line.like]
            for shown_line in [a for a in same if a.panel == panel] or same or [line]:
                # Who comes back to items of her own sees those that she saw.
                yield (
                    shown_line.items,
                    shown_line.raters_per_item
                    if shown_line.panel == panel
                    else line.raters_per_item,
                )


def selected_values(analysis: Analysis, group: Mapping[str, str]) -> dict[str, set[str]]:
    """The values that a group and an analysis select: column -> values."""
    values_by_column = {c: {v} for c, v in group.items()}
    for column, allowed in analysis.where.items():
        values_by_column[column] = values_by_column.get(column, set(allowed)) & set(allowed)
    return values_by_column


def in_bin(values: Array, part: Bin) -> Bools:
    """Which values lie in a bin."""
    above = values >= part.low if part.closed in ("both", "left") else values > part.low
    below = values <= part.high if part.closed in ("both", "right") else values < part.high
    return np.asarray(above & below, dtype=np.bool_)


def attribute(rater: Rater, column: str) -> str | None:
    """A column's value for a rater; None for columns that are not about raters.

    A judge's own system is no value of the answers' column `system`.

    >>> attribute(Rater("j", "judges", "llm", strata={"system": "a", "ward": "b"}), "ward")
    'b'
    >>> attribute(Rater("j", "judges", "llm", strata={"system": "a"}), "system") is None
    True
    """
    attributes = {
        "rater": rater.id,
        "family": rater.family,
        "kind": rater.kind,
        "panel": rater.panel,
    }
    return attributes.get(column, None if column in COLUMNS else rater.strata.get(column))


def code_table(analysis: Analysis, criterion: Criterion, labels: Labels) -> Matrix:
    """From the scale's label numbers to the analysis' codes.

    The last two places are missing and abstained.
    """
    numbers = labels.codes()
    abstained = numbers.get(labels.abstain, -1) if labels.abstain is not None else -1
    codes = [
        numbers.get(analysis.collapse.get(label, label), -1) for label in criterion.scale.labels
    ]
    return np.array([*codes, -1, abstained], dtype=np.int64)


def steps_of(labels: Labels) -> Array:
    """The distances of labels: those of an ordinal scale are steps apart, whatever their numbers.

    Weighted kappa uses them in this way.
    """
    if labels.level in {"nominal", "ordinal"}:
        return np.arange(len(labels.names), dtype=np.float64)
    return np.asarray(labels.values, dtype=np.float64)


def proportion(
    name: str, codes: Matrix, consensus: str, k: int, values: Array, successes: Sequence[int]
) -> float:
    """The proportion of successes, or the mean of numbers, by label or by the raters of an item."""
    if consensus == "majority":
        codes = population.majority(codes, k)[:, None]
    rated = codes >= 0
    numbers = (
        np.isin(codes, successes).astype(np.float64)
        if name == "share"
        else values[np.maximum(codes, 0)]
    )
    if consensus == "mean":
        some = rated.any(axis=1)
        return float(
            (np.where(rated, numbers, 0.0).sum(axis=1)[some] / rated.sum(axis=1)[some]).mean()
        )
    return float(numbers[rated].mean())


def systems_of_family(rater: Rater, families: Mapping[str, str]) -> set[str]:
    """The systems of a judge's own family, and the system that it is itself."""
    kin = {s for s, f in families.items() if f and f == rater.family}
    return (kin | {rater.strata.get("system", "")}) - {""}
