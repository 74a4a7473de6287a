"""The design of comparisons as one figure.

From items and raters by way of arms and pairs to what was compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from konsil.analysis.table.columns import rating_columns
from konsil.errors.message import TranslatableMessage, message
from konsil.plan import Allocation
from konsil.report.figures.drawing import ACCENT, INK, MUTED, RULE, Drawing, finish, style
from konsil.report.figures.svg_primitives import WIDTH, About, stamp
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor

Step = tuple[tuple[str, str], ...]
"""Boxes side by side: a heading and a line below it."""

_BOX, _GAP = 0.52, 0.2
"""Inches: a box's height and the way to the next one."""


def schemes(material: Material) -> Iterator[Drawing]:
    """One figure for each line of the plan by which people compare two answers."""
    for n, line in enumerate(material.study.plan):
        if line.show == "pair" and not line.like and line.purpose == "main":
            steps = tuple(s for s in _steps(material, line) if s)
            yield _drawn(material, n, steps)


def _steps(material: Material, line: Allocation) -> Iterator[Step]:
    """The steps of the draw, in their order."""
    _, count, translated = (
        material.language.gettext,
        material.numbers.count,
        material.numbers.translated,
    )
    # A questionnaire is about no item and no comparison.
    ratings = (
        rating_columns(material.ratings).select("task", "rater", "item").drop_nulls("item").unique()
    )
    members = {r.id for r in material.panels().get(line.panel, [])}
    rated = ratings.filter(ratings.get_column("rater").is_in(sorted(members)))
    items, raters = (rated.get_column(c).n_unique() for c in ("item", "rater"))
    values = {i.strata.get(line.match or "", "") for i in material.items} - {""}
    of = (
        _("%(n)s values of %(column)s") % {"n": count(len(values)), "column": line.match}
        if values
        else ""
    )
    yield (
        (
            translated(
                message("{n:,} {n|item|items} rated", message_id="design.items_rated", n=items)
            ),
            of,
        ),
        (
            translated(
                message(
                    "{n:,} {n|rater|raters} of {panel}",
                    message_id="design.raters_of",
                    n=raters,
                    panel=line.panel,
                )
            ),
            _max_items(material, line),
        ),
    )
    if line.match:
        yield ((_("Raters rate items of their own %(column)s") % {"column": line.match}, ""),)
    if line.arms:
        total = sum(line.arms.values())
        yield tuple(
            (
                _("Arm %(arm)s") % {"arm": arm},
                material.numbers.translated(_planned(_share(ratio, total))),
            )
            for arm, ratio in line.arms.items()
        )
    k = (
        len(line.systems)
        or len(material.study.systems)
        or len({a.system for a in material.answers})
    )
    yield (
        (
            _("For each item, two of %(k)s systems at random") % {"k": count(k)},
            _weights(material, line),
        ),
    )
    form = material.study.instrument(line.instrument)
    criteria = [c for c in form.criteria if c.scope == "pair"] if form is not None else []
    sides = translated(
        message(
            "The answer shown as A is randomly assigned; {n:,} {n|criterion|criteria}",
            message_id="design.sides",
            n=len(criteria),
        )
    )
    yield ((sides, ", ".join(material.criterion(c.id) for c in criteria)),)
    n_compared = rated.get_column("task").n_unique()
    compared = translated(
        message("{n:,} {n|comparison|comparisons}", message_id="design.comparisons", n=n_compared)
    )
    yield ((compared, ""), *_again(material, line))


def _planned(share: str) -> TranslatableMessage:
    """An arm's share as the plan has it; who came may differ."""
    return message("planned: {share} of the raters", message_id="design.planned_arm", share=share)


def _max_items(material: Material, line: Allocation) -> str:
    if not line.per_rater:
        return ""
    return material.numbers.translated(
        message(
            "at most {n:,} {n|item|items} each", message_id="design.items_each", n=line.per_rater
        )
    )


def _weights(material: Material, line: Allocation) -> str:
    """The weights without names.

    While systems are letters, a name beside its weight would identify it.
    """
    _ = material.language.gettext
    if not line.weights:
        return ""
    k = len(line.systems) or len(material.study.systems)
    weights = sorted([*line.weights.values(), *[1.0] * (k - len(line.weights))], reverse=True)
    return _("with weights %(weights)s") % {
        "weights": " : ".join(material.numbers.tick(w) for w in weights)
    }


def _again(material: Material, line: Allocation) -> Iterator[tuple[str, str]]:
    """Panels that make the same comparisons once more."""
    _, count = material.language.gettext, material.numbers.count
    for other in material.study.plan:
        if other.like and other.like == line.phase:
            arms = ", ".join(other.arms)
            where = (
                _("those of the arm %(arm)s, sides randomised again") % {"arm": arms}
                if arms
                else _("sides randomised again")
            )
            n_raters = len(material.panels().get(other.panel, []))
            yield (
                _("%(panel)s: each of %(n)s compares the same")
                % {
                    "panel": other.panel,
                    "n": count(n_raters),
                },
                where,
            )


def _share(ratio: float, total: float) -> str:
    """2 of 3 as 2/3.

    >>> _share(2, 3), _share(1, 1)
    ('2/3', '1')
    """
    return str(Fraction(ratio / total).limit_denominator(100))


def _drawn(material: Material, n: int, steps: Sequence[Step]) -> Drawing:
    _ = material.language.gettext
    about = About(
        key=anchor("scheme", str(n + 1)),
        title=_("Randomisation of comparisons"),
        description="; ".join(
            ", ".join(" – ".join(p for p in box if p) for box in step) for step in steps
        ),
        caption=material.caption(_("Randomisation, from items and raters to comparisons.")),
        stamp=material.stamp,
    )
    with style():
        height = len(steps) * (_BOX + _GAP) - _GAP + (0.32 if about.stamp else 0.1)
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(height, 0)
        axes.axis("off")
        top = 0.05
        for at, step in enumerate(steps):
            for box, (left_edge, right) in zip(step, _places(len(step)), strict=True):
                _box(axes, left_edge, right, top, *box)
            if at + 1 < len(steps):
                axes.annotate(
                    "",
                    (WIDTH / 2, top + _BOX + _GAP),
                    (WIDTH / 2, top + _BOX),
                    arrowprops={"arrowstyle": "-|>", "color": MUTED, "linewidth": 0.9},
                )
            top += _BOX + _GAP
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _places(n: int) -> list[tuple[float, float]]:
    """Where the boxes of a step begin and end."""
    width = (WIDTH - 0.3 - 0.15 * (n - 1)) / n
    return [(0.15 + k * (width + 0.15), 0.15 + k * (width + 0.15) + width) for k in range(n)]


def _box(axes: Axes, left_edge: float, right: float, top: float, heading: str, line: str) -> None:
    axes.add_patch(
        Rectangle(
            (left_edge, top),
            right - left_edge,
            _BOX,
            facecolor="none",
            edgecolor=RULE,
            linewidth=1.0,
        )
    )
    axes.add_patch(Rectangle((left_edge, top), 0.05, _BOX, facecolor=ACCENT, linewidth=0))
    middle = (left_edge + right) / 2
    room = int((right - left_edge) * 17)
    axes.text(
        middle,
        top + (0.18 if line else _BOX / 2),
        _cut(heading, room),
        ha="center",
        va="center",
        color=INK,
        fontsize=8.5,
        fontweight="bold",
    )
    if line:
        axes.text(
            middle,
            top + 0.37,
            _cut(line, room + 4),
            ha="center",
            va="center",
            color=MUTED,
            fontsize=8,
        )


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(room - 1, 1)].rstrip(" ,") + "…"
