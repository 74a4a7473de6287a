"""False approvals against false rejections by threshold, a panel for each judge."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from konsil.analysis.model.results import TradeOff
from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.small_multiples import legend, panels_across
from konsil.report.figures.svg_primitives import WIDTH, About, short, stamp
from konsil.report.figures.units import Unit
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor


def trade_offs(material: Material, name: str, statistic: str) -> list[Drawing]:
    """The figure of an analysis of strictness; none where no judge saw failures and successes."""
    shown = [t for t in material.results.trade_offs if t.analysis == name]
    if not shown:
        return []
    _, numbers = material.language.gettext, material.numbers
    caption = _(
        "Proportion of expert-rated failures that a judge approves, against the proportion"
        " of expert-rated successes that it rejects, at every threshold, analysis"
        " “%(name)s”. Dot: approval threshold %(value)s. Dashed: no discrimination."
    ) % {"name": name, "value": numbers.tick(shown[0].approve)}
    about = About(
        key=anchor("strictness", name),
        title=f"{title(statistic, material.language)}: {name}",
        description="; ".join(_described(material, trade_off) for trade_off in shown),
        caption=material.caption(caption),
        stamp=material.stamp,
    )
    return [_draw(material, about, shown)]


def _name(trade_off: TradeOff) -> str:
    return ", ".join(trade_off.group.values())


def _described(material: Material, trade_off: TradeOff) -> str:
    _, unit = material.language.gettext, Unit("share", material.numbers)
    approved, rejected = (unit.value(share) for share in _at(trade_off))
    values = {"judge": _name(trade_off), "approved": approved, "rejected": rejected}
    return (
        _(
            "%(judge)s: %(approved)s of the failures approved, %(rejected)s of the successes"
            " rejected"
        )
        % values
    )


def _at(trade_off: TradeOff) -> tuple[float, float]:
    """What the judge approves and rejects at the analysis' own threshold."""
    place = sum(value < trade_off.approve - 1e-9 for value in trade_off.values)
    return trade_off.approved[place], trade_off.rejected[place]


def _draw(material: Material, about: About, shown: Sequence[TradeOff]) -> Drawing:
    _, numbers = material.language.gettext, material.numbers
    with style():
        across = panels_across(len(shown))
        down = math.ceil(len(shown) / across)
        left_margin, gap, top = 0.66, 0.22, 0.3
        below = 0.5 + (0.18 if about.stamp else 0.0)
        side = min((WIDTH - left_margin - 0.08 + gap) / across - gap, 1.9)
        height = top + down * (side + 0.3) + below
        figure = Figure(figsize=(WIDTH, height))
        for n, trade_off in enumerate(shown):
            row, place = divmod(n, across)
            bottom = height - top - (row + 1) * (side + 0.3) + 0.06
            axes = figure.add_axes(
                (
                    (left_margin + place * (side + gap)) / WIDTH,
                    bottom / height,
                    side / WIDTH,
                    side / height,
                )
            )
            axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
            axes.spines[["right", "top"]].set_visible(False)
            last = n + across >= len(shown)
            axes.xaxis.set_major_formatter(
                FuncFormatter(lambda x, _n, last=last: numbers.tick(100 * x) if last else "")
            )
            axes.yaxis.set_major_formatter(
                FuncFormatter(lambda y, _n, place=place: "" if place else numbers.tick(100 * y))
            )
            for each in (axes.xaxis, axes.yaxis):
                each.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            axes.tick_params(length=3, width=0.7, labelsize=7.5)
            axes.grid(color=RULE, linewidth=0.6, zorder=0)
            axes.set_title(short(_name(trade_off), 36), fontsize=8.5, loc="left", pad=3, color=INK)
            axes.plot([0, 1], [1, 0], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
            axes.plot(
                trade_off.rejected,
                trade_off.approved,
                color=ACCENT,
                linewidth=1.3,
                marker="o",
                markersize=2.4,
                zorder=3,
            )
            approved, rejected = _at(trade_off)
            axes.plot(
                [rejected],
                [approved],
                color=ACCENT,
                marker="o",
                markersize=6.5,
                markeredgecolor=PAPER,
                zorder=4,
            )
        figure.text(
            0.12 / WIDTH,
            (below + (height - below - top) / 2) / height,
            _("Failures approved") + " (%)",
            rotation=90,
            ha="center",
            va="center",
            fontsize=8.5,
        )
        middle = (left_margin + (across * (side + gap) - gap) / 2) / WIDTH
        figure.text(
            middle,
            (below - 0.3) / height,
            _("Successes rejected") + " (%)",
            ha="center",
            va="center",
            fontsize=8.5,
        )
        keys = [
            Line2D(
                [],
                [],
                color=ACCENT,
                linewidth=1.3,
                marker="o",
                markersize=2.4,
                label=_("every threshold"),
            ),
            Line2D(
                [],
                [],
                color=ACCENT,
                linewidth=0,
                marker="o",
                markersize=6,
                label=_("the analysis' threshold"),
            ),
            Line2D([], [], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)), label=_("chance")),
        ]
        legend(figure, left_margin, keys)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)
