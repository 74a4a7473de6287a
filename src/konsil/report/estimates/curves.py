"""Curves of risk against coverage, a panel of the figure for each judge."""

from __future__ import annotations

import math

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from konsil.analysis.model.results import Curve
from konsil.report.figures.drawing import ACCENT, INK, MUTED, RULE, Drawing, finish, style
from konsil.report.figures.small_multiples import ACROSS, legend
from konsil.report.figures.svg_primitives import WIDTH, About, short, stamp
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor

SETTLED = 0.05
"""Share of the labels before which a curve jumps with every single one; it does not decide the
scale."""


def curves(material: Material, name: str, statistic: str) -> list[Drawing]:
    """The curves of an analysis; none where no label has a confidence."""
    shown = [c for c in material.results.curves if c.analysis == name]
    if not shown:
        return []
    _, numbers = material.language.gettext, material.numbers
    rows = [
        r for r in material.results.estimable_rows if r.analysis == name and r.kind == "estimate"
    ]
    judges = {", ".join(c.group.values()) for c in shown}
    panel = next(
        (r for r in rows if ", ".join(r.group.values()) not in judges and r.n_raters > 1), None
    )
    caption = _(
        "Risk–coverage curve: disagreement with the panel majority by proportion of"
        " ratings retained, most confident first, analysis “%(name)s”. Dashed:"
        " disagreement over all ratings."
    ) % {"name": name}
    about = About(
        key=anchor("curves", name),
        title=f"{title(statistic, material.language)}: {name}",
        description="; ".join(
            f"{', '.join(r.group.values())}: {numbers.with_interval(r.estimate)}" for r in rows
        ),
        caption=material.caption(caption),
        stamp=material.stamp,
    )
    panel_risk = (
        (", ".join(panel.group.values()), panel.estimate.value) if panel is not None else None
    )
    return [_draw(material, about, shown, panel_risk)]


def _draw(
    material: Material, about: About, shown: list[Curve], panel_risk: tuple[str, float] | None
) -> Drawing:
    _, numbers = material.language.gettext, material.numbers
    with style():
        across = min(ACROSS, len(shown))
        down = math.ceil(len(shown) / across)
        left_margin, gap, tall, top = 0.66, 0.22, 1.35, 0.3
        below = 0.5 + (0.18 if about.stamp else 0.0)
        height = top + down * (tall + 0.3) + below
        wide = min((WIDTH - left_margin - 0.08 + gap) / across - gap, 3.4)
        figure = Figure(figsize=(WIDTH, height))
        settled = [
            r for c in shown for x, r in zip(c.coverage, c.risk, strict=True) if x >= SETTLED
        ]
        highest = max([*settled, panel_risk[1] if panel_risk else 0.0, 0.05]) * 1.1
        for n, curve in enumerate(shown):
            row, place = divmod(n, across)
            bottom = height - top - (row + 1) * (tall + 0.3) + 0.06
            axes = figure.add_axes(
                (
                    (left_margin + place * (wide + gap)) / WIDTH,
                    bottom / height,
                    wide / WIDTH,
                    tall / height,
                )
            )
            axes.set(xlim=(0, 1), ylim=(0, highest))
            axes.spines[["right", "top"]].set_visible(False)
            last = n + across >= len(shown)
            axes.xaxis.set_major_formatter(
                FuncFormatter(lambda x, _n, last=last: numbers.tick(100 * x) if last else "")
            )
            axes.yaxis.set_major_formatter(
                FuncFormatter(lambda y, _n, place=place: "" if place else numbers.tick(100 * y))
            )
            axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            axes.tick_params(length=3, width=0.7, labelsize=7.5)
            axes.grid(axis="y", color=RULE, linewidth=0.6, zorder=0)
            axes.set_title(
                short(", ".join(curve.group.values()), 36),
                fontsize=8.5,
                loc="left",
                pad=3,
                color=INK,
            )
            axes.axhline(curve.risk[-1], color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
            if panel_risk is not None and math.isfinite(panel_risk[1]):
                axes.axhline(
                    panel_risk[1], color=MUTED, linewidth=1.2, linestyle=(0, (1, 1.2)), zorder=1
                )
            axes.plot(
                [0, *curve.coverage],
                [curve.risk[0], *curve.risk],
                color=ACCENT,
                linewidth=1.3,
                zorder=3,
            )
        figure.text(
            0.12 / WIDTH,
            (below + (height - below - top) / 2) / height,
            _("Disagreement") + " (%)",
            rotation=90,
            ha="center",
            va="center",
            fontsize=8.5,
        )
        middle = (left_margin + (across * (wide + gap) - gap) / 2) / WIDTH
        axis_title = _("Proportion of ratings retained, most confident first") + " (%)"
        figure.text(
            middle, (below - 0.3) / height, axis_title, ha="center", va="center", fontsize=8.5
        )
        keys = [
            Line2D([], [], color=ACCENT, linewidth=1.3, label=_("most confident first")),
            Line2D([], [], color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label=_("any order")),
        ]
        if panel_risk is not None:
            keys.append(
                Line2D(
                    [], [], color=MUTED, linewidth=1.2, linestyle=(0, (1, 1.2)), label=panel_risk[0]
                )
            )
        legend(figure, left_margin, keys)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)
