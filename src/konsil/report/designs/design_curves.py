"""Curves by the number of sentences: a part beside the whole, reliability and hours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import COSTS, PARTS
from konsil.analysis.model.terms import (
    OTHER_SENTENCES,
    OVERLAP_ALONE,
    WHOLE_ANSWER,
    Term,
    is_term,
    key_of,
)
from konsil.report.designs.design_figures import Curve, Panel, curves
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.small_multiples import Point
from konsil.report.figures.svg_primitives import About, ValueAxis
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material, natural
from konsil.report.material.slugs import anchor
from konsil.report.material.table_rows import column_title


def part_curves(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """How well a part tells the whole, and how far raters lie apart, by the number of sentences."""
    _ = material.language.gettext
    for statistic in PARTS:
        panels, sizes = [], list[str]()
        for a in (a for a in analyses if a.statistic == statistic):
            for group, rows in _groups(of[a.name]).items():
                sizes = max(
                    sizes,
                    [r.group["sentences"] for r in rows if _is_size(r)],
                    key=len,
                )
                lines = [
                    Curve(
                        (
                            _("part–whole correlation")
                            if statistic == "part_whole"
                            else _("this number of sentences")
                        ),
                        _along(rows),
                        0,
                    )
                ]
                if statistic == "part_whole":
                    lines.append(
                        Curve(
                            material.word(OTHER_SENTENCES),
                            _along(rows, OTHER_SENTENCES),
                            1,
                        )
                    )
                    lines.append(
                        Curve(material.word(OVERLAP_ALONE), _along(rows, OVERLAP_ALONE), 2)
                    )
                panels.append(Panel(_named(a, group), lines, _level(rows)))
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
            about_design(
                material,
                "parts",
                word,
                caption,
                0,
                described_points(material, sizes, panels),
                identifier=statistic,
            ),
            sizes,
            panels,
            material.numbers,
            axis=ValueAxis(word),
            along=column_title(material, "sentences"),
            level=material.word(WHOLE_ANSWER) if any(p.level for p in panels) else "",
        )


def cost_curves(
    material: Material, analyses: Sequence[Analysis], of: Mapping[str, Sequence[Row]]
) -> Iterator[Drawing]:
    """Reliability and hours by the number of sentences.

    Reliability by budget, for few, half and all sentences.
    """
    _ = material.language.gettext
    for statistic in COSTS:
        panels, categories = [], list[str]()
        along = column_title(material, "sentences")
        for a in (a for a in analyses if a.statistic == statistic):
            if statistic == "budget_reliability":
                lines, categories = _by_budget(material, of[a.name])
                panels.append(Panel(a.criterion, lines))
                along = column_title(material, "minutes")
                continue
            for group, rows in _groups(of[a.name]).items():
                categories = max(
                    categories,
                    [r.group["sentences"] for r in rows if _is_size(r)],
                    key=len,
                )
                panels.append(
                    Panel(
                        _named(a, group),
                        [Curve(_("this number of sentences"), _along(rows), 0)],
                        _level(rows),
                    )
                )
        if not panels or not categories:
            continue
        word = title(statistic, material.language)
        caption = _("%(what)s, with CIs.") % {"what": word}
        caption += " " + _("Dotted: whole answers.") if any(p.level for p in panels) else ""
        yield curves(
            about_design(
                material,
                "costs",
                word,
                caption,
                0,
                described_points(material, categories, panels),
                identifier=statistic,
            ),
            categories,
            panels,
            material.numbers,
            axis=ValueAxis(word, one_scale=statistic != "rater_hours"),
            along=along,
            level=material.word(WHOLE_ANSWER) if any(p.level for p in panels) else "",
        )


def _by_budget(material: Material, every: Sequence[Row]) -> tuple[list[Curve], list[str]]:
    """Reliability by minutes, for whole answers and for one, half and all of the sentences."""
    _ = material.language.gettext
    rows = [r for r in every if r.kind == "estimate" and "minutes" in r.group]
    minutes = list(dict.fromkeys(r.group["minutes"] for r in rows))
    at = {(key_of(r.group["sentences"]), r.group["minutes"]): point_of(r) for r in rows}
    sizes = sorted({s for s, _m in at if s != WHOLE_ANSWER}, key=natural)
    half = (len(sizes) - 1) // 2
    picked = list(dict.fromkeys([*sizes[:1], *sizes[half : half + 1], *sizes[-1:]]))
    looks = {**{s: n for n, s in zip((0, 1, 4), picked, strict=False)}, WHOLE_ANSWER: 3}
    names = {
        s: _("1 sentence") if s == "1" else _("%(n)s sentences") % {"n": s} for s in picked
    } | {WHOLE_ANSWER: material.word(WHOLE_ANSWER)}
    shown = [*picked, *([WHOLE_ANSWER] if any(s == WHOLE_ANSWER for s, _m in at) else [])]
    return [
        Curve(names[s], [at.get((s, m), NOTHING) for m in minutes], looks[s]) for s in shown
    ], minutes


NOTHING = Point(math.nan, math.nan, math.nan)


def _groups(rows: Sequence[Row]) -> dict[tuple[str, ...], list[Row]]:
    """An analysis' rows by its own groups; differences are left out."""
    by_group: dict[tuple[str, ...], list[Row]] = {}
    for r in rows:
        if r.kind != "difference" and "sentences" in r.group:
            key = tuple(v for c, v in r.group.items() if c not in {"sentences", "version"})
            by_group.setdefault(key, []).append(r)
    return by_group


def _is_size(row: Row) -> bool:
    return row.kind == "estimate" and not is_term(row.group["sentences"], WHOLE_ANSWER)


def _along(rows: Sequence[Row], version: Term | None = None) -> list[Point]:
    """The points by the number of sentences.

    Those of a version beside the estimate, or the estimate's own.
    """
    sizes = [r.group["sentences"] for r in rows if _is_size(r)]
    points = {
        r.group["sentences"]: point_of(r)
        for r in rows
        if (is_term(r.group.get("version"), version) if version else r.kind == "estimate")
    }
    return [points.get(size, NOTHING) for size in sizes]


def _level(rows: Sequence[Row]) -> Point | None:
    return next(
        (
            point_of(r)
            for r in rows
            if r.kind == "estimate" and is_term(r.group["sentences"], WHOLE_ANSWER)
        ),
        None,
    )


def _named(a: Analysis, group: tuple[str, ...]) -> str:
    return ", ".join((a.criterion, *group))


def point_of(row: Row) -> Point:
    """A row's estimate as a point of a curve."""
    return Point(row.estimate.value, row.estimate.low, row.estimate.high)


def about_design(
    material: Material,
    kind: str,
    name: str,
    caption: str,
    part: int,
    described: Sequence[str],
    *,
    identifier: str = "",
) -> About:
    """What a figure of designs states about itself; of a statistic its id names the file."""
    key = anchor(kind, identifier or name) + (f"-{part + 1}" if part else "")
    return About(key, name, "; ".join(described), material.caption(caption), material.stamp)


def described_points(
    material: Material, categories: Sequence[str], panels: Sequence[Panel]
) -> list[str]:
    """The points of a figure in words, for those who cannot see it."""
    plain = material.numbers.plain
    return [
        f"{p.title}, {c.name}: "
        + ", ".join(f"{x} {plain(y.value)}" for x, y in zip(categories, c.points, strict=False))
        for p in panels
        for c in p.curves
    ]
