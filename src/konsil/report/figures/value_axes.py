"""How a statistic looks in every figure: unit, ends and title of its axis, named lines, direction.

Also the order of its rows and the colour of each system.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.entry import Statistic
from konsil.analysis.model.catalogue.known import OF_ZERO
from konsil.analysis.model.catalogue.zeros import NO_DIFFERENCE
from konsil.analysis.model.options import CriterionRef, JudgeOptions, ShareOptions
from konsil.errors.message import message
from konsil.report.figures.drawing import SYSTEM_COLOURS
from konsil.report.figures.svg_primitives import Benchmark, Direction, Dot, ValueAxis, short, span
from konsil.report.figures.units import Unit, head_unit, unit_words
from konsil.report.material.glossary import entry, title
from konsil.report.material.overview import Material, natural
from konsil.report.material.table_rows import Joined, column_title, value_head, with_level
from konsil.stats.engine.contract import Estimate

COMPARED = {"crossover": "accuracy", "tukey": "mean"}
"""What is compared, where a statistic is a comparison itself and no number of a group."""
ALIKE = 0.005
"""Benchmarks of the rows that differ by no more than this are one line: that on most units."""
MOST_RAW = 15
"""Items whose single means are drawn below an estimate; more of them would be a smear."""
_AIR = 0.02
"""Of the whole scale of a proportion or of labels, what is shown beyond its ends."""
_ON_LABELS = ("mean", "median")
"""The statistics whose values lie on the scale of the labels."""


def pass_line(spec: Analysis) -> float | None:
    """The value to reach that an analysis states; None: none."""
    return spec.options.pass_line if isinstance(spec.options, ShareOptions) else None


def has_order(rows: Sequence[Row]) -> bool:
    """Whether the rows have several columns or ordered values, so that they stay in order."""
    return any(len([v for v in r.group.values() if v]) > 1 for r in rows) or any(
        not set(r.group) & {"system", "rater"} for r in rows
    )


def by_estimate(lines: Sequence[Joined]) -> list[Joined]:
    """The highest first, where the rows have no order of their own."""
    return list(lines) if has_order([line.row for line in lines]) else ranked(lines)


def ranked(lines: Sequence[Joined]) -> list[Joined]:
    """The highest first, undefined ones last."""

    def rank(line: Joined) -> tuple[bool, float]:
        value = line.row.estimate.value
        return math.isnan(value), 0.0 if math.isnan(value) else -value

    return sorted(lines, key=rank)


def system_colours(material: Material) -> dict[str, str]:
    """System -> its colour throughout the report; by blinding code while systems are blinded.

    Systems that answered come before those that the protocol merely lists; the colours repeat after
    eight systems.
    """
    answering = {a.system for a in material.answers}
    declared = [s.id for s in material.study.systems]
    if material.is_blinded:
        # The order of the protocol would tell which code is which system.
        declared = sorted(declared, key=natural)
    systems = [s for s in declared if s in answering or not answering]
    systems += sorted(answering - {*systems}, key=natural)
    systems += [s for s in declared if s not in systems]
    return {s: SYSTEM_COLOURS[n % len(SYSTEM_COLOURS)] for n, s in enumerate(systems)}


def value_axis(
    material: Material,
    statistic: str,
    rows: Sequence[Joined],
    *,
    spec: Analysis | None = None,
    dots: Sequence[Dot] = (),
) -> ValueAxis:
    """The axis of estimates or differences; `dots` are all that is drawn on it, on any page."""
    is_difference = bool(rows) and rows[0].row.kind == "difference"
    described, unit = entry(statistic), Unit(statistic, material.numbers)
    line, line_name = _reference(material, described, spec, is_difference)
    margin = spec.margin if spec is not None else None
    band = None if margin is None or not (is_difference or statistic in OF_ZERO) else margin
    benchmark = _benchmark(material, rows)
    ends = [] if band is None else [-band, band]
    ends += [] if benchmark is None else [benchmark.value, benchmark.low, benchmark.high]
    values = [*ends, *(x for d in dots for x in (d.value, d.low, d.high, d.mark))]
    titled = spec
    if spec is not None and any("criterion" in line.row.group for line in rows):
        titled = replace(spec, criterion=CriterionRef(""))  # each row has its own
    return ValueAxis(
        axis_title(material, statistic, titled, is_difference=is_difference),
        reference=line,
        band=None if band is None else (-band, band),
        limits=scale_limits(
            described, values, line, is_difference=is_difference, ends=label_ends(material, spec)
        ),
        factor=unit.factor,
        reference_name=line_name,
        band_name=""
        if band is None
        else material.numbers.translated(
            message(
                "equivalence margin ±{margin}",
                message_id="axis.margin",
                margin=material.numbers.tick(band * unit.factor),
            )
        ),
        benchmark=benchmark,
        direction=_direction(material, described, rows, is_difference=is_difference),
        origin=None if is_difference or line == 0 else (label_ends(material, spec) or (0.0,))[0],
    )


def axis_title(
    material: Material, statistic: str, spec: Analysis | None, *, is_difference: bool = False
) -> str:
    """What the values are: the labels counted or the statistic, the criterion, and the unit."""
    name = COMPARED.get(statistic, statistic) if is_difference else statistic
    text = title(name, material.language)
    labels = spec.options.labels_counted if spec is not None else ()
    criterion = "" if spec is None or not spec.criterion else material.outcome(spec)
    if statistic == "share" and labels and criterion:
        text = material.numbers.translated(
            message(
                "Rated “{labels}”: {criterion}",
                message_id="axis.rated",
                criterion=criterion,
                labels=", ".join(labels),
            )
        )
    elif criterion:
        text = f"{text}: {criterion}"
    if is_difference and statistic != "mann_whitney":
        text = material.language.gettext("Difference in %(statistic)s") % {"statistic": text}
    per = spec.options.covariate if spec and isinstance(spec.options, JudgeOptions) else ""
    return with_unit(material, text, statistic, is_difference=is_difference, per=per)


def with_unit(
    material: Material, text: str, statistic: str, *, is_difference: bool = False, per: str = ""
) -> str:
    """A title with the unit of a statistic in brackets; without where its numbers have none.

    The unit of a slope is `per` unit of its covariate.
    """
    unit = unit_words(material.numbers, head_unit(statistic, is_difference=is_difference))
    if unit and per:
        unit = material.numbers.translated(
            message(
                "{unit} per unit of {covariate}",
                message_id="axis.per_unit",
                unit=unit,
                covariate=column_title(material, per),
            )
        )
    return f"{text} ({unit})" if unit else text


def scale_limits(
    described: Statistic,
    values: Sequence[float],
    reference: float | None,
    *,
    is_difference: bool = False,
    ends: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """The whole scale of a proportion, and of a coefficient from 0 to 1 or the lowest limit.

    `ends` are those of the labels of which the numbers are means.
    """
    low, high = span(values, reference)
    if is_difference:
        return low, high
    if ends is not None:
        air = _AIR * (ends[1] - ends[0])
        return min(low, ends[0] - air), max(high, ends[1] + air)
    if described.unit == "percent" and not described.is_difference:
        return -_AIR, 1 + _AIR
    if described.is_among_raters:
        return min(low, -_AIR), 1 + _AIR
    return low, high


def figure_numbers(
    material: Material, statistic: str, rows: Sequence[Joined]
) -> tuple[Callable[[Estimate], str], str]:
    """How a figure writes an estimate with its interval, and the heading above."""
    unit, numbers = Unit(statistic, material.numbers), material.numbers
    if unit.factor == 1:
        return numbers.with_interval, value_head(material, rows)

    def in_unit(e: Estimate) -> str:
        if math.isnan(e.value):
            return numbers.plain(e.value)
        limits = [numbers.plain(x * unit.factor, unit.digits) for x in (e.low, e.high)]
        interval = f" [{material.language.between.join(limits)}]" if math.isfinite(e.low) else ""
        return numbers.plain(e.value * unit.factor, unit.digits) + interval

    is_difference = rows[0].row.kind == "difference"
    word = "%"
    if head_unit(statistic, is_difference=is_difference) == "points":
        word = numbers.translated(message("pp", message_id="axis.points"))
    return in_unit, with_level(material, word, rows)


def with_colours(material: Material, dots: Sequence[Dot], systems: Sequence[str]) -> list[Dot]:
    """The dots in the colours of their systems; others have none of their own."""
    colours = system_colours(material)
    return [
        replace(dot, colour=colours.get(system, ""))
        for dot, system in zip(dots, systems, strict=True)
    ]


def with_raw(
    material: Material, spec: Analysis | None, dots: Sequence[Dot], rows: Sequence[Row]
) -> list[Dot]:
    """The dots with the means of their single items, where several raters rated few items.

    Left out where the items do not make up the estimate, as where some ratings are excluded.
    """
    drawn = list(dots)
    if spec is None or spec.statistic not in ("mean", "share"):
        return drawn
    for n, row in enumerate(rows):
        is_small = 2 <= row.estimate.n_clusters <= MOST_RAW and row.n_raters > 1
        if is_small and set(row.group) == {"system"}:
            drawn[n] = replace(drawn[n], raw=_item_means(material, spec, row))
    return drawn


def _item_means(material: Material, spec: Analysis, row: Row) -> tuple[float, ...]:
    criterion = material.criteria().get(spec.criterion)
    if criterion is None:
        return ()
    counted = set(spec.options.labels_counted)
    values = {
        label: float(label in counted) if spec.statistic == "share" else number
        for label, number in zip(
            criterion.scale.labels,
            criterion.scale.numbers(),
            strict=False,
        )
    }
    answers = {a.id for a in material.answers if a.system == row.group["system"]}
    panel = {r.id for r in material.raters if r.panel == row.raters}
    by_item: dict[str, list[float]] = {}
    for rating in material.ratings:
        if (
            rating.criterion == spec.criterion
            and rating.rater in panel
            and rating.label in values
            and len(rating.answers) == 1
            and rating.answers[0] in answers
        ):
            by_item.setdefault(rating.item or "", []).append(values[rating.label])
    every = [value for several in by_item.values() for value in several]
    if len(by_item) > MOST_RAW or not every:
        return ()
    mean = sum(every) / len(every)
    if not math.isclose(mean, row.estimate.value, abs_tol=1e-9):
        return ()
    return tuple(sum(several) / len(several) for several in by_item.values())


def label_ends(material: Material, spec: Analysis | None) -> tuple[float, float] | None:
    """The ends of the scale of a mean or median: of its labels, or of a score; None: it has none.

    The limits of a number that raters type are those of typing errors, no scale.
    """
    if spec is None or spec.statistic not in _ON_LABELS:
        return None
    criterion = material.criteria().get(spec.criterion)
    if criterion is None:
        return None
    numbers = criterion.scale.numbers()
    low, high = criterion.scale.low, criterion.scale.high
    is_score = spec.criterion in {score.id for score in material.study.scores}
    if is_score and low is not None and high is not None:
        return low, high
    return (min(numbers), max(numbers)) if numbers else None


def _reference(
    material: Material, described: Statistic, spec: Analysis | None, is_difference: bool
) -> tuple[float | None, str]:
    """The line to compare with, and its name."""
    translate = material.numbers.translated
    if is_difference:
        return 0.0, translate(NO_DIFFERENCE)
    line = None if spec is None else pass_line(spec)
    if line is not None:
        return line, material.language.gettext("pass line")
    if described.zero is None:
        return None, ""
    # The slope of a judge minus that of a panel is a difference, the slope alone an association.
    is_of_slopes = described.group == "caution" and spec is not None and spec.against is not None
    return 0.0, translate(NO_DIFFERENCE if is_of_slopes else described.zero)


def _benchmark(material: Material, rows: Sequence[Joined]) -> Benchmark | None:
    """The ceiling that all rows share, as one line; None where each has its own or none has any."""
    benchmarks = [line.benchmark for line in rows if line.benchmark is not None]
    values = [b.estimate.value for b in benchmarks]
    names = {line.benchmark_name for line in rows}
    if len(benchmarks) < len(rows) or len(names) != 1 or not all(map(math.isfinite, values)):
        return None
    if max(values, default=math.inf) - min(values, default=0.0) > ALIKE + 1e-9:
        return None
    chosen = max(benchmarks, key=lambda b: b.n_units).estimate
    is_exact = max(values) == min(values)
    name = names.pop()
    label = message("{name} (band: CI)", message_id="axis.benchmark_band", name=name)
    return Benchmark(
        name,
        chosen.value,
        chosen.low,
        chosen.high,
        material.numbers.translated(label) if math.isfinite(chosen.low) else name,
        is_exact=is_exact,
    )


def _sides(rows: Sequence[Joined]) -> tuple[str, str]:
    """The two groups of a difference by what they differ in; empty where the rows do not agree."""
    sides: tuple[set[str], set[str]] = (set(), set())
    for line in rows:
        group, versus = line.row.group, line.row.versus
        differing = [c for c in {**group, **versus} if group.get(c) != versus.get(c)]
        for names, side in zip(sides, (group, versus), strict=True):
            names.add(", ".join(side.get(c, "") for c in differing))
    first, second = (names.pop() if len(names) == 1 else "" for names in sides)
    return first, second


def _direction(
    material: Material, described: Statistic, rows: Sequence[Joined], *, is_difference: bool
) -> Direction | None:
    """Which way is better, or which group each side of a difference is about."""
    translate = material.numbers.translated
    if is_difference:
        first, second = _sides(rows)
        first = short(first, 22) or translate(message("the first group", message_id="axis.first"))
        second = short(second, 22) or translate(
            message("the second group", message_id="axis.second")
        )
        if described.better:
            first, second = (first, second) if described.better == "higher" else (second, first)
            lower, higher = (
                translate(message("favours {group}", message_id="axis.favours", group=group))
                for group in (second, first)
            )
        else:
            lower, higher = (
                translate(message("higher for {group}", message_id="axis.higher_for", group=group))
                for group in (second, first)
            )
        return Direction(lower, higher)
    if described.group == "wins" and described.id in OF_ZERO:
        return Direction(
            translate(message("loses more", message_id="axis.loses")),
            translate(message("wins more", message_id="axis.wins")),
        )
    if described.better == "higher":
        return Direction(
            "", translate(message("higher is better", message_id="axis.higher_is_better"))
        )
    if described.better == "lower":
        return Direction(
            translate(message("lower is better", message_id="axis.lower_is_better")), ""
        )
    return None
