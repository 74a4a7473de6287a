"""Outcomes of the judges' calls, and how hard the items are: what stands before the numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis.model.results import OutcomeRow
from konsil.analysis.table.calls.outcomes import NO_CALL, NOT_RECORDED, OUTCOMES, READABLE
from konsil.errors.message import message
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.ranking import failures, histogram
from konsil.report.figures.svg_primitives import About, Bar
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import column_title
from konsil.report.material.tables import Cell, Table, table

CELLS = 20
"""Steps from the least to the greatest mean of an item."""
GIVEN = (*READABLE, NOT_RECORDED)
"""Outcomes with labels."""


@dataclass(frozen=True)
class Calls:
    """The section on the judges' calls."""

    sentence: str
    """How many tasks gave labels."""
    tables: tuple[Table, ...]
    """By judge, then by stratum."""
    figures: tuple[Drawing, ...]
    """How many gave none, by why."""


def calls(material: Material) -> Calls | None:
    """What became of the judges' tasks; None where no judge has any."""
    rows = material.results.outcomes
    judge_rows = [row for row in rows if not row.column]
    if not judge_rows:
        return None
    _, count = material.language.gettext, material.numbers.count
    n = sum(sum(row.counts.values()) for row in judge_rows)
    without = sum(_lost(row.counts) for row in judge_rows)
    text = _(
        "The LLM judges had %(n)s tasks; %(given)s have a rating and %(without)s have"
        " none. Missing ratings were not imputed. Affected estimates are given with"
        " worst-case bounds where these can be computed."
    )
    sentence = text % {"n": count(n), "given": count(n - without), "without": count(without)}
    tables = [_by_judge(material, judge_rows), *both_orders(material)]
    if without:
        tables.append(_without(material, judge_rows))
        tables.append(_by_stratum(material, [row for row in rows if row.column]))
    return Calls(
        sentence, tuple(t for t in tables if t.rows), tuple(_failures(material, judge_rows))
    )


def _lost(counts: Mapping[str, int]) -> int:
    return sum(n for outcome, n in counts.items() if outcome not in GIVEN)


def _by_judge(material: Material, rows: Sequence[OutcomeRow]) -> Table:
    _, numbers = material.language.gettext, material.numbers
    outcomes = [o for o in GIVEN if any(row.counts.get(o) for row in rows)]
    head = (
        _("Judge"),
        _("Tasks"),
        *(numbers.translated(message(o)) for o in outcomes),
        _("Without a rating"),
        _("Proportion without a rating"),
    )
    body = []
    for row in rows:
        n, lost = sum(row.counts.values()), _lost(row.counts)
        counts = (n, *(row.counts.get(o, 0) for o in outcomes), lost)
        body.append(
            (
                Cell(row.rater),
                *(Cell(numbers.count(c), number=True) for c in counts),
                Cell(numbers.plain(lost / n if n else math.nan), number=True),
            )
        )
    general = [_("A task counts once, with its last call.")]
    return table(
        material.caption(_("Completeness of LLM judge ratings, by judge.")),
        head,
        body,
        general=general,
    )


def _without(material: Material, rows: Sequence[OutcomeRow]) -> Table:
    _, numbers = material.language.gettext, material.numbers
    outcomes = [o for o in OUTCOMES if o not in GIVEN and any(row.counts.get(o) for row in rows)]
    head = (_("Judge"), *(numbers.translated(message(o)) for o in outcomes))
    body = [
        (
            Cell(row.rater),
            *(Cell(numbers.count(row.counts.get(o, 0)), number=True) for o in outcomes),
        )
        for row in rows
        if _lost(row.counts)
    ]
    general = []
    if NO_CALL in outcomes:
        general.append(_("No call: planned tasks with neither a call nor a rating."))
    return table(
        material.caption(_("Tasks without a rating, by outcome of the call.")),
        head,
        body,
        general=general,
    )


def _by_stratum(material: Material, rows: Sequence[OutcomeRow]) -> Table:
    """All judges together, by the values of each stratum."""
    _, numbers = material.language.gettext, material.numbers
    summed: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        summed.setdefault((row.column, row.value), Counter()).update(row.counts)
    order = {d.name: d.labels for d in material.study.derived}
    body = []
    for column, value in sorted(
        summed, key=lambda k: (k[0], _rank_in(order.get(k[0], []), k[1]), natural(k[1]))
    ):
        counts = summed[column, value]
        n, lost = counts.total(), _lost(counts)
        body.append(
            (
                Cell(column_title(material, column)),
                Cell(value),
                Cell(numbers.count(n), number=True),
                Cell(numbers.count(lost), number=True),
                Cell(numbers.plain(lost / n if n else math.nan), number=True),
            )
        )
    head = ("", _("Value"), _("Tasks"), _("Without a rating"), _("Proportion without a rating"))
    return table(
        material.caption(_("Tasks without a rating, all LLM judges together.")),
        head,
        body,
        row_heads=2,
    )


def _rank_in(order: Sequence[str], value: str) -> int:
    return order.index(value) if value in order else len(order)


def _failures(material: Material, rows: Sequence[OutcomeRow]) -> list[Drawing]:
    _, numbers = material.language.gettext, material.numbers
    outcomes = [o for o in OUTCOMES if o not in GIVEN and any(row.counts.get(o) for row in rows)]
    if not outcomes:
        return []
    labels = [numbers.translated(message(o)) for o in outcomes]
    bars = [Bar(row.rater, tuple(row.counts.get(o, 0) for o in outcomes)) for row in rows]
    about = About(
        key="calls",
        title=_("Tasks without a rating"),
        description="; ".join(
            f"{bar.label}: "
            + ", ".join(
                f"{label} {numbers.count(n)}" for label, n in zip(labels, bar.counts, strict=True)
            )
            for bar in bars
        ),
        caption=material.caption(
            _("Proportion of each LLM judge's tasks without a rating, by outcome of the call.")
        ),
        stamp=material.stamp,
    )
    return [
        failures(
            about,
            labels,
            bars,
            [sum(row.counts.values()) for row in rows],
            numbers,
            axis=_("Proportion of tasks"),
        )
    ]


def derived_figures(material: Material) -> list[Drawing]:
    """For each derived column: how many items have which mean, and the ranges they fall into."""
    _, numbers = material.language.gettext, material.numbers
    drawings = []
    for derived in material.study.derived:
        values = [(v.value, v.label) for v in material.results.derived if v.name == derived.name]
        if len({v for v, _label in values}) < 2:
            continue
        names = derived.labels or ("",)
        low = min([*(v for v, _label in values), *(b.low for b in derived.bins)])
        high = max([*(v for v, _label in values), *(b.high for b in derived.bins)])
        step = (high - low) / CELLS
        cells = [(low + n * step, [0] * len(names)) for n in range(CELLS + 1)]
        for value, label in values:
            if label in names:
                cells[round((value - low) / step)][1][names.index(label)] += 1
        inside = Counter(label for _value, label in values)
        text = _("Mean of “%(criterion)s” by item, panel “%(panel)s”: %(n)s items.")
        caption = text % {
            "criterion": derived.criterion,
            "panel": derived.raters,
            "n": numbers.count(len(values)),
        }
        about = About(
            key=anchor("derived", derived.name),
            title=column_title(material, derived.name),
            description="; ".join(f"{name}: {numbers.count(inside[name])}" for name in names),
            caption=material.caption(caption),
            stamp=material.stamp,
        )
        axis = _("Mean of “%(criterion)s”") % {"criterion": derived.criterion}
        drawings.append(histogram(about, cells, names, numbers, axis=axis, items=_("Items")))
    return drawings


def both_orders(material: Material) -> list[Table]:
    """One row a judge and comparison; no table where nobody saw both orders."""
    rows, numbers = material.results.orders, material.numbers
    if not rows:
        return []
    titles = (
        message("Judge"),
        message("Criterion compared"),
        message("Pairs compared"),
        message("Inconsistent"),
        message("Proportion inconsistent"),
    )
    body = [
        (
            Cell(row.rater),
            Cell(row.criterion),
            Cell(numbers.count(row.compared), number=True),
            Cell(numbers.count(row.inconsistent), number=True),
            Cell(numbers.plain(row.inconsistent / row.compared), number=True),
        )
        for row in rows
    ]
    caption = material.caption(
        numbers.translated(message("Pairs shown to LLM judges in both orders."))
    )
    general = [numbers.translated(message("Only pairs with a label in both orders are compared."))]
    return [
        table(caption, [numbers.translated(t) for t in titles], body, row_heads=2, general=general)
    ]
