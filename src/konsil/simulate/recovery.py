"""recovery: the true values of what the analyses estimate, beside the estimates.

The true value of an analysis is that of its population: infinitely many new items whose difficulty
and answers follow the model, answered by the study's systems. It is found by large-sample
simulation, twenty batches of new items, with formulas of our own (population.py); the batches also
give the truth's own standard error.

With `seed` the raters are those that `draw` made from this seed: what an interval over resampled
items speaks about. Without it they are drawn anew from the panel's model in each batch: what holds
for raters like these.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from konsil.analysis import Results, Row
from konsil.analysis.model.terms import words_of
from konsil.errors.message import COMMA, listed, message
from konsil.records import Answer, Item
from konsil.simulate.true_values.batches import Cases, Lengths
from konsil.simulate.true_values.expected import Expected
from konsil.simulate.true_values.selection import main_lines
from konsil.simulate.truth import Truth
from konsil.study import Study


@dataclass(frozen=True, slots=True)
class Recovered:
    """One number of the report beside its true value."""

    parameter: str
    """What is estimated, in words."""
    analysis: str
    """The analysis' name."""
    group: Mapping[str, str]
    """The row's group."""
    versus: Mapping[str, str]
    """For a difference, the group subtracted."""
    truth: float
    """The population's value."""
    truth_error: float
    """Its Monte Carlo standard error."""
    estimate: float
    """The study's estimate."""
    low: float
    """The interval's lower end."""
    high: float
    """The interval's upper end."""
    covered: bool | None
    """Whether the interval contains the true value; None where there is no interval."""


def recovery(
    study: Study,
    truth: Truth,
    results: Results,
    *,
    seed: int | None = None,
    sets: Mapping[str, int] | None = None,
    cases: Cases = (),
    lengths: Lengths | None = None,
) -> tuple[Recovered, ...]:
    """Every estimate and difference whose true value the model gives.

    `sets` says how many items each set has; `cases` are the study's own, where items are versions
    of one (`cases_of`); `lengths` says how many sentences its answers have (`lengths_of`).

    Left out are statistics without a formula in population.py (ICC, W, rank correlations), pairs
    and sentences. One study shows single intervals that hold or miss; coverage is judged over many
    simulated studies. Where the simulation names the wrong answers, their shares are not random and
    the intervals hold more often than stated.
    """
    model = Expected(study, truth, seed, sets or {}, cases, lengths or {})
    analyses = {a.name: a for a in study.analyses}
    recovered = []
    for row in results.estimable_rows:
        analysis = analyses.get(row.analysis)
        if analysis is None or row.kind == "companion":
            continue
        values = model.values(analysis, row)
        if values is None or not np.isfinite(values).any():
            continue
        low, high = row.estimate.low, row.estimate.high
        interval = math.isfinite(low) and math.isfinite(high)
        true = float(np.nanmean(values))
        recovered.append(
            Recovered(
                parameter=_words(row),
                analysis=row.analysis,
                group=row.group,
                versus=row.versus,
                truth=true,
                truth_error=float(np.nanstd(values, ddof=1) / math.sqrt(len(values))),
                estimate=row.estimate.value,
                low=low,
                high=high,
                covered=low <= true <= high if interval else None,
            )
        )
    return tuple(recovered)


def sets_of(study: Study, items: Iterable[Item]) -> dict[str, int]:
    """How many items are in each set that the plan names, or in none.

    Nothing where that does not settle who sees what.

    It does not where an item is in two of these sets, or where a line of the plan has limits or
    matches strata and an analysis is about its panel.
    """
    panel_names = {
        name for a in study.analyses for name in (a.raters, a.against or "", *a.options.panels)
    }
    panels = {panel for name in panel_names for panel in study.together.get(name, (name,))}
    lines = [a for a in main_lines(study) if a.panel in panels or not panels]
    if any(a.per_rater is not None or a.match is not None for a in lines):
        return {}
    named = {a.items for a in study.plan if a.items and a.purpose in ("main", "tiebreak")}
    counts: Counter[str] = Counter()
    for item in items:
        item_sets = named & set(item.sets)
        if len(item_sets) > 1:
            return {}
        counts[next(iter(item_sets), "")] += 1
    return dict(counts)


def cases_of(items: Iterable[Item], truth: Truth) -> Cases:
    """The items by case, where some are versions of a case or the truth names their columns.

    Otherwise there are none.

    >>> items = [Item("a", "?", case="one"), Item("b", "?", case="one")]
    >>> [[i.id for i in c] for c in cases_of(items, Truth())]
    [['a', 'b']]
    """
    versions_by_case: dict[tuple[bool, str], list[Item]] = {}
    for item in items:
        versions_by_case.setdefault((item.case is None, item.case or item.id), []).append(item)
    is_stated = any(system.quality_by for system in truth.systems.values())
    if not is_stated and all(alone for alone, _ in versions_by_case):
        return ()
    return tuple(tuple(versions) for versions in versions_by_case.values())


def lengths_of(answers: Iterable[Answer]) -> Lengths:
    """System -> the number of sentences of each of its answers, where any has some.

    >>> from konsil.records import Span
    >>> one = Answer("1", "i", "a", "No. Never.", sentences=(Span(0, 3), Span(4, 10)))
    >>> lengths_of([one, Answer("2", "j", "a", "")])
    {'a': [2, 0]}
    """
    lengths: dict[str, list[int]] = {}
    for answer in answers:
        lengths.setdefault(answer.system, []).append(len(answer.sentences))
    return lengths if any(any(numbers) for numbers in lengths.values()) else {}


def _words(row: Row) -> str:
    where = listed([words_of(v) for v in row.group.values()], end=COMMA)
    minus = listed([words_of(v) for k, v in row.versus.items() if row.group.get(k) != v], end=COMMA)
    name = (
        message("{analysis}: {where}", analysis=row.analysis, where=where)
        if row.group
        else row.analysis
    )
    return message("{what} minus {other}", what=name, other=minus) if minus.parts else name
