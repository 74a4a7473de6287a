"""The compared material: lengths of answers, rated items by theme, ages of patients."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import quantiles

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from konsil.analysis.table.columns import rating_columns
from konsil.report.figures.drawing import ACCENT, INK, PAPER, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    EDGE,
    ROW,
    WIDTH,
    About,
    frame,
    label_width,
    legend_shape,
    letters_on,
    palette,
    row_label,
    short,
    stamp,
)
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.tables import Numbers
from konsil.report.people.design_diagram import schemes

AGE, SEX = "age", "sex"
"""The strata that tell them."""
_AGE = re.compile(r"\s*(\d{1,3})(?:[.,]\d+)?\s*(.*)", re.DOTALL)
_YOUNGER = re.compile(
    r"^-?\s*(?:months?|mo\b|weeks?|days?|hours?|monate?n?|wochen?|tagen?|stunden?)", re.IGNORECASE
)
MOST_SEXES = 5


SHOWN = ("specialty", "theme")
"""Strata of the items that have a figure."""
MOST = 40
"""Values of one stratum that are shown."""


def composition(material: Material) -> list[Drawing]:
    """Figures of the material of a study of comparisons.

    For all other studies only the patients of the cases, where the items state them.
    """
    if not any(c.scope == "pair" for c in material.criteria().values()):
        return [*patients(material)]
    return [*schemes(material), *_lengths(material), *_items(material), *patients(material)]


def _lengths(material: Material) -> Iterator[Drawing]:
    _, numbers = material.language.gettext, material.numbers
    text_lengths = material.answer_lengths()
    by: dict[str, list[int]] = {}
    for answer in material.answers:
        if answer.id in text_lengths:
            by.setdefault(answer.system, []).append(text_lengths[answer.id])
    order = material.ordered_systems(by)
    if not by:
        return
    rows = [(s, (*_five(by[s]), sum(by[s]) / len(by[s]))) for s in order]
    about = About(
        key=anchor("lengths", "answers"),
        title=_("Lengths of the answers"),
        description="; ".join(f"{s} {numbers.count(round(ends[2]))}" for s, ends in rows),
        caption=material.caption(
            _(
                "Lengths of the answers in characters: median, middle half (box), 5th to 95th"
                " percentile (line), mean (diamond)."
            )
        ),
        stamp=material.stamp,
    )
    yield boxes(about, rows, numbers, axis=_("Characters"))


def _five(values: Sequence[int]) -> tuple[float, ...]:
    """The 5th, 25th, 50th, 75th and 95th percentile."""
    twentieths = (
        quantiles(values, n=20, method="inclusive") if len(values) > 1 else [float(values[0])] * 19
    )
    return tuple(twentieths[n] for n in (0, 4, 9, 14, 18))


def _items(material: Material) -> Iterator[Drawing]:
    _, numbers = material.language.gettext, material.numbers
    rated = set(rating_columns(material.ratings).get_column("item").drop_nulls().unique())
    for name in SHOWN:
        values = Counter(
            i.strata[name] for i in material.items if i.id in rated and i.strata.get(name)
        )
        if not 2 <= len(values) <= MOST:
            continue
        bars = sorted(values.items(), key=lambda pair: (-pair[1], natural(pair[0])))
        word = name.replace("_", " ")
        about = About(
            key=anchor("items", name),
            title=_("Rated items by %(stratum)s") % {"stratum": word},
            description="; ".join(f"{value} {numbers.count(n)}" for value, n in bars),
            caption=material.caption(
                _("Items with at least one rating, by %(stratum)s.") % {"stratum": word}
            ),
            stamp=material.stamp,
        )
        yield counts(about, bars, numbers, axis=_("Items"))


def patients(material: Material) -> Iterator[Drawing]:
    """The ages of the cases that were rated, each case once whatever versions it has.

    Nothing where none is told.
    """
    _, numbers = material.language.gettext, material.numbers
    rated = set(rating_columns(material.ratings).get_column("item").drop_nulls().unique())
    people = {
        i.case or i.id: (i.strata.get(AGE, ""), i.strata.get(SEX, ""))
        for i in material.items
        if i.id in rated
    }
    ages_and_sexes = [
        (decade, sex)
        for age, sex in people.values()
        if sex and (decade := decade_of(age)) is not None
    ]
    sexes = sorted({sex for _, sex in ages_and_sexes}, key=natural)
    if len(ages_and_sexes) < 2 or len(sexes) > MOST_SEXES:
        return
    by = Counter(ages_and_sexes)
    decades = range(min(d for d, _ in ages_and_sexes), max(d for d, _ in ages_and_sexes) + 1)
    rows = [(f"{10 * d}–{10 * d + 9}", tuple(by[d, sex] for sex in sexes)) for d in decades]
    description = "; ".join(
        f"{name}: " + ", ".join(f"{sex} {n}" for sex, n in zip(sexes, counts, strict=True) if n)
        for name, counts in rows
        if sum(counts)
    )
    missing = len(people) - len(ages_and_sexes)
    caption = _("The %(n)s cases by age in years and sex, each case once.") % {
        "n": numbers.count(len(ages_and_sexes))
    }
    if missing:
        caption += " " + _("Age or sex is not reported for %(n)s.") % {"n": numbers.count(missing)}
    about = About(
        key=anchor("patients", AGE),
        title=_("Age and sex"),
        description=description,
        caption=material.caption(caption),
        stamp=material.stamp,
    )
    yield stacked(about, rows, sexes, numbers, axis=_("Cases"))


def decade_of(age: str) -> int | None:
    """The decade of an age as case reports write it; None where it is none.

    >>> [decade_of(age) for age in ("34", "67-year-old", "6 months", "3 Jahre", "neugeboren", "")]
    [3, 6, 0, 0, None, None]
    """
    match = _AGE.fullmatch(age)
    if match is None:
        return None
    years = 0 if _YOUNGER.match(match[2]) else int(match[1])
    return years // 10 if years < 130 else None


def stacked(
    about: About,
    rows: Sequence[tuple[str, tuple[int, ...]]],
    parts: Sequence[str],
    numbers: Numbers,
    *,
    axis: str,
) -> Drawing:
    """Horizontal bars of counts, each made of the same parts, with the counts written on them."""
    with style():
        colours, hatches = palette(parts, ordered=False, abstain=None)
        legend_rows, columns = legend_shape(parts)
        top = 0.14 + 0.185 * legend_rows
        height = ROW * len(rows) + 0.46 + top
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([name for name, _ in rows])
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - 0.2) / WIDTH,
                (height - 0.46 - top) / height,
            )
        )
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, max(sum(counts) for _, counts in rows))
        frame(axes, axis, numbers)
        for y, (name, counts) in enumerate(rows):
            row_label(axes, y, name)
            start = 0
            for n, colour, hatch in zip(counts, colours, hatches, strict=True):
                if n:
                    bar = Rectangle(
                        (start, y - 0.34),
                        n,
                        0.68,
                        facecolor=colour,
                        hatch=hatch,
                        edgecolor=EDGE,
                        linewidth=0.5,
                    )
                    axes.add_patch(bar)
                    ground = {
                        "boxstyle": "square,pad=0.12",
                        "facecolor": colour,
                        "edgecolor": "none",
                    }
                    axes.text(
                        start + n / 2,
                        y,
                        numbers.count(n),
                        ha="center",
                        va="center_baseline",
                        fontsize=7.5,
                        color=letters_on(colour),
                        bbox=ground if hatch else None,
                    )
                start += n
        keys = [
            Patch(facecolor=c, hatch=h, edgecolor=EDGE, linewidth=0.5, label=short(name))
            for c, h, name in zip(colours, hatches, parts, strict=True)
        ]
        figure.legend(
            handles=keys,
            loc="upper left",
            bbox_to_anchor=(left_margin / WIDTH, 1 - 0.03 / height),
            ncols=columns,
            frameon=False,
            fontsize=8,
            borderpad=0.1,
            borderaxespad=0,
            handlelength=1.1,
            columnspacing=1.3,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def boxes(
    about: About, rows: Sequence[tuple[str, tuple[float, ...]]], numbers: Numbers, *, axis: str
) -> Drawing:
    """Boxes of the 5th, 25th, 50th, 75th and 95th percentile of each row.

    A box on a line with a mark at the median. A sixth number is the mean, an open diamond.
    """
    with style():
        height = ROW * 1.3 * len(rows) + 0.56
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([name for name, _ in rows])
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - 0.1) / WIDTH,
                (height - 0.52) / height,
            )
        )
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, max(ends[4] for _, ends in rows) * 1.05)
        frame(axes, axis, numbers)
        for y, (name, (low, first, middle, third, high, *mean)) in enumerate(rows):
            row_label(axes, y, short(name))
            axes.plot([low, high], [y, y], color=ACCENT, linewidth=1.3, zorder=2)
            axes.add_patch(
                Rectangle(
                    (first, y - 0.28),
                    third - first,
                    0.56,
                    facecolor="#a9cfe8",
                    edgecolor=ACCENT,
                    linewidth=1,
                    zorder=3,
                )
            )
            axes.plot([middle, middle], [y - 0.28, y + 0.28], color=INK, linewidth=2, zorder=4)
            axes.plot(
                mean,
                [y] * len(mean),
                marker="D",
                linestyle="none",
                markersize=4.2,
                color=INK,
                markerfacecolor=PAPER,
                zorder=5,
            )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def counts(
    about: About, bars: Sequence[tuple[str, int]], numbers: Numbers, *, axis: str
) -> Drawing:
    """Horizontal bars of counts with their numbers."""
    with style():
        height = ROW * len(bars) + 0.56
        figure = Figure(figsize=(WIDTH, height))
        left_margin = label_width([name for name, _ in bars])
        axes = figure.add_axes(
            (
                left_margin / WIDTH,
                0.46 / height,
                (WIDTH - left_margin - 0.6) / WIDTH,
                (height - 0.52) / height,
            )
        )
        axes.set_ylim(len(bars) - 0.5, -0.5)
        axes.set_xlim(0, max(n for _, n in bars))
        frame(axes, axis, numbers)
        for y, (name, n) in enumerate(bars):
            row_label(axes, y, short(name))
            axes.add_patch(
                Rectangle((0, y - 0.34), n, 0.68, facecolor=ACCENT, linewidth=0, zorder=2)
            )
            axes.annotate(
                numbers.count(n),
                (n, y),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)
