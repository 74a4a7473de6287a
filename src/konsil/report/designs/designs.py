"""Comparison of designs: whole answers or their sentences, and the number of sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import AGREEMENT, COSTS, PARTS, TIMED
from konsil.report.designs.design_figures import Curve, Panel, curves
from konsil.report.designs.recommendations import (
    advice_table,
    budget_table,
    hours_table,
    ranking_table,
)
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.small_multiples import Column, Point, columns
from konsil.report.figures.svg_primitives import About, Dot
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import column_title
from konsil.report.material.tables import MINUS, Table

DESIGN = ("instrument", "design")
"""The columns that tell designs apart."""
MOST_ROWS = 24
"""Rows of one figure of designs side by side."""


@dataclass(frozen=True)
class Designs:
    """The section, ready for the page."""

    tables: tuple[Table, ...]
    """The recommendation and what a budget buys."""
    figures: tuple[Drawing, ...]
    """Designs side by side, curves by sentences."""


def designs(material: Material) -> Designs | None:
    """The section; None where no analysis compares designs or follows the number of sentences."""
    rows = [r for r in material.results.estimable_rows if not r.detail]
    of: dict[str, list[Row]] = {}
    for r in rows:
        of.setdefault(r.analysis, []).append(r)
    analyses = [a for a in material.study.analyses if a.name in of]
    compared = [a for a in analyses if a.compare in DESIGN]
    if not compared and not any(a.statistic in {*PARTS, *COSTS} for a in analyses):
        return None
    figures: list[Drawing] = []
    for kind, members in _kinds(material, compared).items():
        figures += _side_by_side(material, kind, members, of)
    figures += [
        *_systems(material, analyses, of),
        *_parts(material, analyses, of),
        *_costs(material, analyses, of),
    ]
    tables = (
        make(material, analyses, of)
        for make in (advice_table, ranking_table, hours_table, budget_table)
    )
    return Designs(tuple(t for t in tables if t is not None), tuple(figures))


def is_told_by_design(spec: Analysis) -> bool:
    """Whether an analysis is in a figure of the section and has none of its own."""
    return spec.statistic in {*PARTS, *COSTS} or spec.compare in DESIGN


def _kinds(material: Material, compared: Sequence[Analysis]) -> dict[str, list[Analysis]]:
    """Analyses that compare designs, by what they measure.

    Means of systems have a figure of another form.
    """
    _ = material.language.gettext
    by_kind: dict[str, list[Analysis]] = {}
    for a in compared:
        if a.against is not None:
            kind = _("LLM judges compared with the panel, by design")
        elif a.statistic in AGREEMENT:
            kind = _("Agreement by design")
        elif a.statistic == "self_agreement":
            kind = _("Intra-rater agreement by design")
        elif a.statistic in TIMED:
            kind = _("Seconds by design")
        elif a.statistic == "length_correlation":
            kind = _("Rating and length by design")
        elif "system" in a.by:
            continue
        else:
            kind = _("Ratings of the designs themselves")
        by_kind.setdefault(kind, []).append(a)
    return by_kind


def _side_by_side(
    material: Material, kind: str, members: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """Each design in a column, and the paired difference beside them."""
    _, numbers = material.language.gettext, material.numbers
    names: list[str] = []
    values: dict[str, dict[str, Dot]] = {}
    for a in members:
        for r in of[a.name]:
            if r.kind == "companion":
                continue
            rest = [v for c, v in r.group.items() if c != a.compare]
            name = ", ".join([a.name, *rest])
            column = r.group.get(a.compare, "")
            if r.kind == "difference":
                column = f"{column} {MINUS} {r.versus.get(a.compare, '')}"
            if name not in names:
                names.append(name)
            e = r.estimate
            values.setdefault(column, {})[name] = Dot(name, e.value, e.low, e.high, "")
    if not names or len(values) > 4:
        return
    # What all rows begin with says the figure's title.
    heads = {name.partition(": ")[0] for name in names if ": " in name}
    drop = (
        len(next(iter(heads))) + 2 if len(heads) == 1 and all(": " in name for name in names) else 0
    )
    nothing = Dot("", math.nan, math.nan, math.nan, "")
    for n in range(0, len(names), MOST_ROWS):
        part = names[n : n + MOST_ROWS]
        shown = [
            Column(
                column, [dots.get(name, nothing) for name in part], 0.0 if MINUS in column else None
            )
            for column, dots in values.items()
        ]
        caption = _("%(what)s. Dots: estimates; lines: CI. Differences use the same resamples.")
        about = _about(
            material,
            "designs",
            kind,
            caption % {"what": kind},
            n,
            [
                f"{c.title}: "
                + ", ".join(
                    f"{x} {numbers.plain(d.value)}" for x, d in zip(part, c.dots, strict=True)
                )
                for c in shown
            ],
        )
        yield columns(about, [name[drop:] for name in part], shown, numbers)


def _systems(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """Systems along the axis, a line for each design, a panel for each criterion."""
    _ = material.language.gettext
    chosen: dict[str, Analysis] = {}
    for a in analyses:
        column = next((c for c in DESIGN if c in a.by), "")
        if a.statistic in {"share", "mean"} and column and set(a.by) == {column, "system"}:
            chosen.setdefault(f"{a.criterion}, {a.collapse}, {a.spans}", a)
    if not chosen:
        return
    panels, order = [], [s.id for s in material.study.systems]
    rated = {
        r.group["system"]
        for a in chosen.values()
        for r in of[a.name]
        if r.kind == "estimate" and r.group
    }
    systems = [s for s in order if s in rated] + sorted(rated - set(order), key=natural)
    for a in chosen.values():
        column = next(c for c in DESIGN if c in a.by)
        points = {
            (r.group[column], r.group["system"]): _point(r)
            for r in of[a.name]
            if r.kind == "estimate" and r.group
        }
        designs = list(dict.fromkeys(d for d, _s in points))[:2]
        lines = [
            Curve(d, [points.get((d, s), _NOTHING) for s in systems], n)
            for n, d in enumerate(designs)
        ]
        panels.append(Panel(a.criterion, lines))
    if not systems:
        return  # nothing but the pilot was rated so far
    word = _("Systems by design")
    caption = _("%(what)s: estimates with CIs.") % {"what": word}
    first = next(iter(chosen.values()))
    limits = (-0.02, 1.02) if first.statistic == "share" else None
    yield curves(
        _about(material, "designs", word, caption, 0, _described(material, systems, panels)),
        systems,
        panels,
        material.numbers,
        axis=title(first.statistic, material.language),
        along="",
        joined=False,
        limits=limits,
    )


def _parts(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """How well a part tells the whole, and how far raters lie apart, by the number of sentences."""
    _ = material.language.gettext
    whole_answer = _("whole answer")
    for statistic in PARTS:
        panels, sizes = [], list[str]()
        for a in (a for a in analyses if a.statistic == statistic):
            for group, rows in _groups(of[a.name]).items():
                sizes = max(
                    sizes,
                    [r.group["sentences"] for r in rows if _is_size(r, whole_answer)],
                    key=len,
                )
                lines = [
                    Curve(
                        (
                            _("part–whole correlation")
                            if statistic == "part_whole"
                            else _("this number of sentences")
                        ),
                        _along(rows, whole_answer),
                        0,
                    )
                ]
                if statistic == "part_whole":
                    lines.append(
                        Curve(
                            _("against the other sentences"),
                            _along(rows, whole_answer, _("against the other sentences")),
                            1,
                        )
                    )
                    lines.append(
                        Curve(_("overlap alone"), _along(rows, whole_answer, _("overlap alone")), 2)
                    )
                panels.append(Panel(_named(a, group), lines, _level(rows, whole_answer)))
        if not panels or not sizes:
            continue
        word = title(statistic, material.language)
        caption = _("%(what)s by number of rated sentences, with CIs.") % {"what": word}
        caption += " " + (
            _(
                "Dashed: correlation expected from part–whole overlap, with its range over"
                " permutations."
            )
            if statistic == "part_whole"
            else _("Dotted: whole answers.")
        )
        yield curves(
            _about(material, "parts", word, caption, 0, _described(material, sizes, panels)),
            sizes,
            panels,
            material.numbers,
            axis=word,
            along=column_title(material, "sentences"),
            level=whole_answer if any(p.level for p in panels) else "",
        )


def _costs(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """Reliability and hours by the number of sentences.

    Reliability by budget, for few, half and all sentences.
    """
    _ = material.language.gettext
    whole_answer = _("whole answer")
    for statistic in COSTS:
        panels, categories = [], list[str]()
        along = column_title(material, "sentences")
        for a in (a for a in analyses if a.statistic == statistic):
            if statistic == "budget_reliability":
                lines, categories = _by_budget(material, of[a.name], whole_answer)
                panels.append(Panel(a.criterion, lines))
                along = column_title(material, "minutes")
                continue
            for group, rows in _groups(of[a.name]).items():
                categories = max(
                    categories,
                    [r.group["sentences"] for r in rows if _is_size(r, whole_answer)],
                    key=len,
                )
                panels.append(
                    Panel(
                        _named(a, group),
                        [Curve(_("this number of sentences"), _along(rows, whole_answer), 0)],
                        _level(rows, whole_answer),
                    )
                )
        if not panels or not categories:
            continue
        word = title(statistic, material.language)
        caption = _("%(what)s, with CIs.") % {"what": word}
        caption += " " + _("Dotted: whole answers.") if any(p.level for p in panels) else ""
        yield curves(
            _about(material, "costs", word, caption, 0, _described(material, categories, panels)),
            categories,
            panels,
            material.numbers,
            axis=word,
            along=along,
            level=whole_answer if any(p.level for p in panels) else "",
            one_scale=statistic != "rater_hours",
        )


def _by_budget(
    material: Material, every: Sequence[Row], whole_answer: str
) -> tuple[list[Curve], list[str]]:
    """Reliability by minutes, for whole answers and for one, half and all of the sentences."""
    _ = material.language.gettext
    rows = [r for r in every if r.kind == "estimate" and "minutes" in r.group]
    minutes = list(dict.fromkeys(r.group["minutes"] for r in rows))
    at = {(r.group["sentences"], r.group["minutes"]): _point(r) for r in rows}
    sizes = sorted({s for s, _m in at if s != whole_answer}, key=natural)
    half = (len(sizes) - 1) // 2
    picked = list(dict.fromkeys([*sizes[:1], *sizes[half : half + 1], *sizes[-1:]]))
    looks = {**{s: n for n, s in zip((0, 1, 4), picked, strict=False)}, whole_answer: 3}
    names = {
        s: _("1 sentence") if s == "1" else _("%(n)s sentences") % {"n": s} for s in picked
    } | {whole_answer: whole_answer}
    shown = [*picked, *([whole_answer] if any(s == whole_answer for s, _m in at) else [])]
    return [
        Curve(names[s], [at.get((s, m), _NOTHING) for m in minutes], looks[s]) for s in shown
    ], minutes


_NOTHING = Point(math.nan, math.nan, math.nan)


def _groups(rows: Sequence[Row]) -> dict[tuple[str, ...], list[Row]]:
    """An analysis' rows by its own groups; differences are left out."""
    by_group: dict[tuple[str, ...], list[Row]] = {}
    for r in rows:
        if r.kind != "difference" and "sentences" in r.group:
            key = tuple(v for c, v in r.group.items() if c not in {"sentences", "version"})
            by_group.setdefault(key, []).append(r)
    return by_group


def _is_size(row: Row, whole_answer: str) -> bool:
    return row.kind == "estimate" and row.group["sentences"] != whole_answer


def _along(rows: Sequence[Row], whole_answer: str, version: str = "") -> list[Point]:
    """The points by the number of sentences.

    Those of a version beside the estimate, or the estimate's own.
    """
    sizes = [r.group["sentences"] for r in rows if _is_size(r, whole_answer)]
    points = {
        r.group["sentences"]: _point(r)
        for r in rows
        if (r.group.get("version") == version if version else r.kind == "estimate")
    }
    return [points.get(size, _NOTHING) for size in sizes]


def _level(rows: Sequence[Row], whole_answer: str) -> Point | None:
    return next(
        (_point(r) for r in rows if r.kind == "estimate" and r.group["sentences"] == whole_answer),
        None,
    )


def _named(a: Analysis, group: tuple[str, ...]) -> str:
    return ", ".join((a.criterion, *group))


def _point(row: Row) -> Point:
    return Point(row.estimate.value, row.estimate.low, row.estimate.high)


def _about(
    material: Material, kind: str, name: str, caption: str, part: int, described: Sequence[str]
) -> About:
    key = anchor(kind, name) + (f"-{part + 1}" if part else "")
    return About(key, name, "; ".join(described), material.caption(caption), material.stamp)


def _described(material: Material, categories: Sequence[str], panels: Sequence[Panel]) -> list[str]:
    plain = material.numbers.plain
    return [
        f"{p.title}, {c.name}: "
        + ", ".join(f"{x} {plain(y.value)}" for x, y in zip(categories, c.points, strict=False))
        for p in panels
        for c in p.curves
    ]
