"""Figures of masked cases: accuracy and scores by level, criteria side by side, and maps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from konsil.analysis import Analysis, Row
from konsil.analysis.model.composite.definition import ends_of
from konsil.report.figures.drawing import ACCENT, INK, MUTED, PAPER, RULE, Drawing, finish, style
from konsil.report.figures.figures import forest
from konsil.report.figures.small_multiples import Point, Series, legend, panels_across
from konsil.report.figures.svg_primitives import (
    SEQUENTIAL,
    WIDTH,
    About,
    Dot,
    draw_scale,
    short,
    stamp,
    widest,
)
from konsil.report.figures.value_axes import value_axis, with_colours
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import Joined, levels_of, value_head

MOST_CASES = 60
"""Cases on one figure; of more, the rows would be too low to be read."""
_ROW = 0.155
_SIZE = 6.5


COLOURS = (ACCENT, "#b4532a", "#6a7f2e", MUTED)
"""One for each curve of a panel; their marks differ as well."""
MARKS = ("o", "s", "^", "D")
"""The curves' marks, so that they are told apart without colour."""
_WITH_ACCURACY = 2
"""With more curves than accuracy and one mean, the means stand alone."""
LEAST_CRITERIA = 3
"""From so many criteria on their means make a profile."""


def case_figures(material: Material) -> list[Drawing]:
    """Figures for a study of cases in several versions; none for others."""
    if not levels_of(material):
        return []
    return [*_falls(material), *_profiles(material), *fingerprints(material)]


def _rows_of(material: Material, spec: Analysis, columns: set[str]) -> list[Row]:
    rows = [
        r
        for r in material.results.estimable_rows
        if r.analysis == spec.name and r.kind == "estimate"
    ]
    is_complete = all(set(r.group) == columns for r in rows) and any(
        math.isfinite(r.estimate.value) for r in rows
    )
    return rows if is_complete else []


def _falls(material: Material) -> list[Drawing]:
    """Accuracy and mean scores of people by level, a panel for each system."""
    levels = levels_of(material)
    curves: dict[str, dict[str, dict[str, Point]]] = {}
    for spec in material.study.analyses:
        rows = (
            _rows_of(material, spec, {"system", "level"})
            if spec.statistic in {"accuracy", "mean"}
            else []
        )
        if not rows or spec.where or spec.mode == "paper" or not _by_people(material, spec):
            continue
        accuracy = spec.statistic == "accuracy"
        word = (
            title("accuracy", material.language) if accuracy else material.criterion(spec.criterion)
        )
        if word in curves or len(curves) == len(COLOURS):
            continue
        by_system = curves.setdefault(word, {})
        for row in rows:
            e = row.estimate
            by_system.setdefault(row.group["system"], {})[row.group["level"]] = Point(
                e.value, e.low, e.high
            )
    accuracy_word = title("accuracy", material.language)
    if len(curves) > _WITH_ACCURACY and accuracy_word in curves:
        # A share and means are two kinds of numbers; accuracy has a figure with its analysis.
        del curves[accuracy_word]
    if len(curves) < 2:
        return []  # one alone has a figure with its analysis
    _, numbers = material.language.gettext, material.numbers
    nothing = Point(math.nan, math.nan, math.nan)
    panels = []
    for system in material.ordered_systems([s for by in curves.values() for s in by]):
        by_system = {word: by[system] for word, by in curves.items() if system in by}
        panels.append(
            (
                system,
                [
                    Series(word, [at.get(k, nothing) for k in levels])
                    for word, at in by_system.items()
                ],
            )
        )
    about = About(
        key=anchor("falls", "levels"),
        title=_("Accuracy and scores by information level"),
        description="; ".join(
            f"{system}, {series.name}: "
            + ", ".join(
                f"{k} {numbers.plain(p.value)}" for k, p in zip(levels, series.points, strict=True)
            )
            for system, several in panels
            for series in several
        ),
        caption=material.caption(
            _(
                "%(what)s of each system by information level (full information on the"
                " left): estimates with CIs."
            )
            % {"what": ", ".join(curves)}
        ),
        stamp=material.stamp,
    )
    return [_overlay(material, about, levels, panels, list(curves))]


def _by_people(material: Material, spec: Analysis) -> bool:
    kinds = {r.kind for r in material.raters if r.panel == spec.raters}
    return kinds <= {"human"}


def _overlay(
    material: Material,
    about: About,
    levels: Sequence[str],
    panels: Sequence[tuple[str, Sequence[Series]]],
    names: Sequence[str],
) -> Drawing:
    _, numbers = material.language.gettext, material.numbers
    with style():
        across = panels_across(len(panels))
        down = math.ceil(len(panels) / across)
        left_margin, gap, tall, top = 0.66, 0.22, 1.9, 0.3
        below = 0.5 + (0.18 if about.stamp else 0.0)
        wide = min((WIDTH - left_margin + gap) / across - gap, 3.4)
        height = top + down * (tall + 0.3) + below
        figure = Figure(figsize=(WIDTH, height))
        for n, (system, several) in enumerate(panels):
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
            axes.set(xlim=(-0.4, len(levels) - 0.6), ylim=(-0.02, 1.03))
            axes.spines[["right", "top"]].set_visible(False)
            axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
            axes.yaxis.set_major_formatter(
                FuncFormatter(lambda y, _n, place=place: "" if place else numbers.tick(y))
            )
            axes.set_xticks(range(len(levels)), [short(k, 12) for k in levels])
            axes.tick_params(length=3, width=0.7, labelsize=7.5)
            axes.grid(axis="y", color=RULE, linewidth=0.6, zorder=0)
            axes.set_title(short(system, 36), fontsize=8.5, loc="left", pad=3, color=INK)
            for series in several:
                k = names.index(series.name)
                x = [m + 0.06 * (k - (len(names) - 1) / 2) for m in range(len(levels))]
                axes.vlines(
                    x,
                    [p.low for p in series.points],
                    [p.high for p in series.points],
                    color=COLOURS[k],
                    linewidth=1.2,
                    zorder=2,
                )
                axes.plot(
                    x,
                    [p.value for p in series.points],
                    color=COLOURS[k],
                    marker=MARKS[k],
                    markersize=4.2,
                    linewidth=1.0,
                    markeredgecolor=PAPER,
                    markeredgewidth=0.5,
                    zorder=3,
                )
        middle = (left_margin + (across * (wide + gap) - gap) / 2) / WIDTH
        figure.text(
            middle,
            (below - 0.3) / height,
            _("Information level"),
            ha="center",
            va="center",
            fontsize=8.5,
        )
        keys = [
            Line2D(
                [], [], color=COLOURS[k], marker=MARKS[k], markersize=4.2, linewidth=1.0, label=name
            )
            for k, name in enumerate(names)
        ]
        legend(figure, left_margin, keys)
        stamp(figure, about)
        return finish(figure, about.key, about.title, about.description, about.caption)


def _profiles(material: Material) -> list[Drawing]:
    """The criteria's means by system, one figure a panel of raters."""
    _, numbers = material.language.gettext, material.numbers
    by_panel: dict[str, dict[str, list[Row]]] = {}
    for spec in material.study.analyses:
        rows = (
            _rows_of(material, spec, {"system"})
            if spec.statistic == "mean" and not spec.where
            else []
        )
        if rows and not spec.items and spec.mode == "valid":
            by_panel.setdefault(spec.raters, {}).setdefault(spec.criterion, rows)
    drawn = []
    for panel, criteria in by_panel.items():
        if len(criteria) < LEAST_CRITERIA:
            continue
        shown = [r for rows in criteria.values() for r in rows]
        dots = [
            Dot(system, e.value, e.low, e.high, numbers.with_interval(e), material.criterion(name))
            for name, rows in criteria.items()
            for system in material.ordered_systems([r.group["system"] for r in rows])
            for e in [r.estimate for r in rows if r.group["system"] == system]
        ]
        dots = with_colours(material, dots, [d.label for d in dots])
        caption = _(
            "Means of the criteria by system, panel “%(panel)s”. Dots: estimates; lines: CI."
        )
        about = About(
            key=anchor("profile", panel),
            title=_("Profile of the criteria: %(panel)s") % {"panel": panel},
            description="; ".join(f"{d.group}, {d.label}: {d.text}" for d in dots),
            caption=material.caption(caption % {"panel": panel}),
            stamp=material.stamp,
        )
        heading = value_head(material, [Joined(r) for r in shown])
        drawn.append(
            forest(
                about,
                dots,
                numbers,
                axis=value_axis(material, "mean", [Joined(r) for r in shown], dots=dots),
                heading=heading,
            )
        )
    return drawn


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
