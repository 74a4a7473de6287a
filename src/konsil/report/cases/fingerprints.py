"""Fingerprints: a system's score on every case at every level, as a map of cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from konsil.analysis import Analysis
from konsil.analysis.model.composite.definition import ends_of
from konsil.report.figures.drawing import INK, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.svg_primitives import (
    SEQUENTIAL,
    WIDTH,
    About,
    draw_scale,
    short,
    stamp,
    widest,
)
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import levels_of

MOST_CASES = 60
"""Cases on one figure; of more, the rows would be too low to be read."""
_ROW = 0.155
_SIZE = 6.5


@dataclass(frozen=True)
class _Map:
    """Everything that the panels of one figure share."""

    cases: Sequence[str]
    levels: Sequence[str]
    values: Mapping[tuple[str, str, str], float]
    """(system, case, level) -> score."""
    ends: tuple[float, float]

    def colour(self, system: str, case: str, level: str) -> str:
        """The fill of a cell; none where there is no score."""
        value = self.values.get((system, case, level), math.nan)
        low, high = self.ends
        return "none" if math.isnan(value) else to_hex(SEQUENTIAL((value - low) / (high - low)))


def fingerprints(material: Material) -> list[Drawing]:
    """A map for each composite score whose fall over the levels is analysed; none for others."""
    scores = {score.id for score in material.study.scores}
    drawn: list[Drawing] = []
    for spec in material.study.analyses:
        if spec.statistic == "reasoning_gap" and spec.criterion in scores and not spec.by:
            drawn += _fingerprint(material, spec)
    return drawn


def _fingerprint(material: Material, spec: Analysis) -> list[Drawing]:
    cells = [c for c in material.results.case_scores if c.analysis == spec.name]
    values = {(c.system, c.case, c.level): c.value for c in cells}
    means: dict[str, list[float]] = {}
    for cell in cells:
        means.setdefault(cell.case, []).append(cell.value)
    # The cases that all systems find easy come first, so that what a system alone fails stands out.
    cases = sorted(means, key=lambda c: (-sum(means[c]) / len(means[c]), natural(c)))
    levels = [k for k in levels_of(material) if any(c.level == k for c in cells)]
    if not 1 < len(cases) <= MOST_CASES or not levels:
        return []
    low, high = ends_of(material.criteria()[spec.criterion].scale)
    ends = (
        min(values.values()) if low is None else low,
        max(values.values()) if high is None else high,
    )
    systems = material.ordered_systems(s for s, _, _ in values)
    name = material.criterion(spec.criterion)
    _, numbers = material.language.gettext, material.numbers
    caption = _(
        "%(score)s of each case at each information level, panel “%(panel)s”; the cases with the"
        " highest mean first. Empty cells: no score. Numbers: case_scores.csv."
    )
    about = About(
        key=anchor("fingerprints", spec.name),
        title=_("Fingerprints: %(score)s") % {"score": name},
        description="; ".join(
            f"{system}: "
            + ", ".join(
                f"{level} {numbers.plain(sum(at) / len(at))}"
                for level in levels
                if (at := [v for (s, _c, k), v in values.items() if (s, k) == (system, level)])
            )
            for system in systems
        ),
        caption=material.caption(caption % {"score": name, "panel": spec.raters}),
        stamp=material.stamp,
    )
    return [_draw(material, about, systems, _Map(cases, levels, values, ends), name)]


def _draw(
    material: Material, about: About, systems: Sequence[str], cells: _Map, axis: str
) -> Drawing:
    with style():
        names = [short(case, 14) for case in cells.cases]
        left_margin = widest(names, _SIZE) + 0.15
        right, gap, top = 0.95, 0.2, 0.3
        bottom = widest([short(k, 12) for k in cells.levels], 7.5) * 0.75 + 0.25
        bottom += 0.18 if about.stamp else 0.0
        wide = min(
            (WIDTH - left_margin - right + gap) / len(systems) - gap, 0.5 * len(cells.levels)
        )
        tall = _ROW * len(cells.cases)
        height = top + tall + bottom
        figure = Figure(figsize=(WIDTH, height))
        for n, system in enumerate(systems):
            place = ((left_margin + n * (wide + gap)) / WIDTH, bottom / height)
            axes = figure.add_axes((*place, wide / WIDTH, tall / height))
            _fill(axes, system, cells)
            axes.set_title(short(system, 30), fontsize=8.5, loc="left", pad=3, color=INK)
            axes.set_yticks(
                [row + 0.5 for row in range(len(names))], names if n == 0 else [], fontsize=_SIZE
            )
        side = left_margin + len(systems) * (wide + gap) - gap + 0.2
        draw_scale(
            figure,
            (side / WIDTH, bottom / height),
            min(tall, 2.0) / height,
            cells.ends,
            axis,
            material.numbers,
        )
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _fill(axes: Axes, system: str, cells: _Map) -> None:
    axes.set(xlim=(0, len(cells.levels)), ylim=(len(cells.cases), 0))
    for row, case in enumerate(cells.cases):
        for column, level in enumerate(cells.levels):
            colour = cells.colour(system, case, level)
            axes.add_artist(
                Rectangle(
                    (column, row),
                    1,
                    1,
                    facecolor=colour,
                    edgecolor=RULE if colour == "none" else PAPER,
                    linewidth=0.5,
                )
            )
    axes.set_xticks(
        [column + 0.5 for column in range(len(cells.levels))],
        [short(level, 12) for level in cells.levels],
        rotation=40,
        ha="right",
        rotation_mode="anchor",
        fontsize=7.5,
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
