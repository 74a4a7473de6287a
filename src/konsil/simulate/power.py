"""power: the CI widths of a study and its power, before raters are invited.

The whole study is drawn many times from stated parameters: its plan with its repeated items and
raters, its ratings and its analyses as they stand in the protocol. Where two systems are stated as
equal, the share of rejections is the test's error of the first kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from konsil.analysis.model.results import Results
from konsil.analysis.model.rows import Row
from konsil.analysis.running.run import run
from konsil.analysis.table.frame import Data
from konsil.records import Answer, Item
from konsil.simulate.draw import draw, lengthened
from konsil.simulate.truth import Truth
from konsil.stats.shares.shares import wilson
from konsil.study import Study
from konsil.study.data.run_settings import run_settings

ALPHA = 0.05
Key = tuple[str, str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    """What one drawn study found for one row of its results."""

    key: Key
    """Analysis, kind, group, the group subtracted."""
    prespecified: bool
    """Whether its analysis was."""
    value: float
    """The estimate; nan where undefined."""
    low: float
    """The interval's lower end."""
    high: float
    """The interval's upper end."""
    p: float
    """The test's p value; nan where nothing is tested."""
    p_adjusted: float
    """The same, adjusted within the prespecified family."""


@dataclass(frozen=True, slots=True)
class Power:
    """One row of the results over all drawn studies."""

    analysis: str
    """The analysis' name."""
    kind: str
    """An estimate or a difference."""
    group: Mapping[str, str]
    """The row's group."""
    versus: Mapping[str, str]
    """For a difference, the group subtracted."""
    prespecified: bool
    """Whether the analysis was."""
    studies: int
    """Drawn studies with an estimate."""
    undefined: int
    """Drawn studies without: nothing could be computed there, or nobody rated."""
    mean: float
    """The mean estimate."""
    spread: float
    """The standard deviation of the estimates; nan with fewer than two."""
    width: float
    """The mean width of the intervals; nan where there is none."""
    width_90: float
    """The width that nine in ten intervals do not pass."""
    without_interval: int
    """Drawn studies with an estimate that has no interval."""
    tested: int
    """Drawn studies with a test."""
    power: float
    """The share of these with p at or below 0.05; nan where nothing is tested."""
    power_low: float
    """The lower end of its 95 % interval (Wilson): what so few drawn studies leave open."""
    power_high: float
    """The upper end."""
    power_adjusted: float
    """The share after adjustment within the prespecified family; nan where there is none."""


def one_study(
    study: Study, items: Sequence[Item], answers: Sequence[Answer], truth: Truth, seed: int
) -> list[StudyOutcome]:
    """Draw one study with new raters and new answers to the items, and analyse it."""
    empty = [a for a in answers if not a.text]
    texts = [a for a in answers if a.text]
    answers = (*texts, *lengthened(study, items, texts, empty, truth, seed))
    drawn = draw(study, items, answers, truth, seed)
    data = Data(items, answers, study.everybody(), drawn.tasks, drawn.ratings)
    results = run(
        # Ranges over omissions are no part of power, and take most of the time.
        [replace(analysis, leave_out=()) for analysis in study.analyses],
        data,
        replace(
            run_settings(study),
            seed=seed,
            # Simulated raters take no time.
            exclusions=replace(study.exclusions, min_seconds=0.0, require_seconds=False),
            planned=True,
        ),
    )
    return list(_outcomes(results))


def _outcomes(results: Results) -> Iterator[StudyOutcome]:
    for row in results.rows:
        if row.kind != "companion":
            e = row.estimate
            yield StudyOutcome(
                _key(row), row.prespecified, e.value, e.low, e.high, e.p, row.p_adjusted
            )


def _key(row: Row) -> Key:
    return (
        row.analysis,
        row.kind,
        tuple(sorted(row.group.items())),
        tuple(sorted(row.versus.items())),
    )


def power(studies: Iterable[Sequence[StudyOutcome]]) -> tuple[Power, ...]:
    """Sum up drawn studies, row by row, in the order in which rows first occur."""
    rows: dict[Key, list[StudyOutcome]] = {}
    n = 0
    for outcomes in studies:
        n += 1
        for outcome in outcomes:
            rows.setdefault(outcome.key, []).append(outcome)
    return tuple(_summed(key, outcomes, n) for key, outcomes in rows.items())


def _summed(key: Key, outcomes: Sequence[StudyOutcome], n: int) -> Power:
    columns = np.array(
        [(f.value, f.low, f.high, f.p, f.p_adjusted) for f in outcomes], dtype=np.float64
    )
    values = columns[~np.isnan(columns[:, 0]), 0]
    widths = columns[:, 2] - columns[:, 1]
    widths = widths[np.isfinite(widths)]
    p = columns[~np.isnan(columns[:, 3]), 3]
    adjusted = columns[~np.isnan(columns[:, 4]), 4]
    rejected = int((p <= ALPHA).sum())
    low, high = wilson(rejected, len(p)) if len(p) else (math.nan, math.nan)
    return Power(
        analysis=key[0],
        kind=key[1],
        group=dict(key[2]),
        versus=dict(key[3]),
        prespecified=outcomes[0].prespecified,
        studies=len(values),
        undefined=n - len(values),
        mean=float(values.mean()) if len(values) else math.nan,
        spread=float(values.std(ddof=1)) if len(values) > 1 else math.nan,
        width=float(widths.mean()) if len(widths) else math.nan,
        width_90=float(np.quantile(widths, 0.9)) if len(widths) else math.nan,
        without_interval=len(values) - len(widths),
        tested=len(p),
        power=rejected / len(p) if len(p) else math.nan,
        power_low=float(low),
        power_high=float(high),
        power_adjusted=float((adjusted <= ALPHA).mean()) if len(adjusted) else math.nan,
    )
