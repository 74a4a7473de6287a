"""Comparisons in figures and matrices: one figure for analyses that differ in the criterion.

The choice among the figures, and those with dots.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from konsil.analysis import Analysis, Row
from konsil.analysis.model.catalogue.known import LENGTH
from konsil.errors.message import message
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.figures import forest
from konsil.report.figures.matrices import Grid, MatrixAxes, grids
from konsil.report.figures.svg_primitives import Dot
from konsil.report.figures.units import Unit
from konsil.report.figures.value_axes import (
    figure_numbers,
    value_axis,
    with_colours,
    with_unit,
)
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material, natural
from konsil.report.material.shared_figures import Family, families, kinship
from konsil.report.material.table_rows import Joined, column_title
from konsil.report.pairs.family_rows import RATIO, about_family, family_rows, systems_of
from konsil.report.pairs.pair_figures import strata, wins

MOST_CELLS = 40
"""Rows of a matrix."""


MOST_STRATA = 3
"""Values of a column that stand side by side as dots; more of them become a matrix."""
MOST_DOTS = 40
"""Rows of one figure."""


def pair_figures(material: Material) -> list[Drawing]:
    """One figure for each family, and one that sets judges beside people."""
    all_families = families(material)
    return [d for family in all_families for d in _drawn(material, family, all_families)]


def _drawn(material: Material, family: Family, all_of: Sequence[Family]) -> Iterator[Drawing]:
    statistic, by = family.first.statistic, family.first.by
    if not any(math.isfinite(r.estimate.value) for r in family_rows(material, family)):
        return
    if statistic.startswith("win_rate"):
        yield from win_matrices(material, family) if not by else ()
    elif by == ("rater",) and statistic.startswith("win_difference"):
        yield rater_matrix(material, family, all_of)
    elif by and "system" in family_rows(material, family)[0].group:
        values = list(dict.fromkeys(r.group[by[0]] for r in family_rows(material, family)))
        yield from (_strata if len(values) <= MOST_STRATA else value_matrix)(
            material, family, values
        )
    else:
        yield from _dot_charts(material, family)


def _dot(material: Material, row: Row, label: str, numbers: str = "") -> Dot:
    e = row.estimate
    return Dot(label, e.value, e.low, e.high, numbers, material.criterion(row.criterion))


def _dot_charts(material: Material, family: Family) -> Iterator[Drawing]:
    """Dots by criterion.

    Win differences with what they are made of, where the protocol asks for the win rates too.
    """
    _, numbers = material.language.gettext, material.numbers
    statistic = family.first.statistic
    is_worth = statistic in {"davidson", "bradley_terry"}
    rows = (
        family_rows(material, family, "companion", ratio=True)
        if is_worth
        else family_rows(material, family)
    )
    raters = {r.id: n for n, r in enumerate(material.raters)}
    others = dict.fromkeys(v for r in rows for c, v in r.group.items() if c != "system")
    order = [*systems_of(material, rows), *sorted(others, key=lambda v: raters.get(v, len(raters)))]
    idle = _idle(rows) if statistic == "self_preference" else []
    rows = sorted(
        rows, key=lambda r: [order.index(v) if v in order else -1 for v in r.group.values()][:1]
    )
    rows = [
        r
        for a in family.members
        for r in rows
        if r.analysis == a.name and r.group.get("rater") not in idle
    ]
    if len(rows) > MOST_DOTS or len(rows) < 2:
        return
    lines = [Joined(r) for r in rows]
    text_of, heading = figure_numbers(material, statistic, lines)
    dots = [_dot(material, r, _named(r), text_of(r.estimate)) for r in rows]
    dots = with_colours(material, dots, [_only_system(r) for r in rows])
    # One row a criterion needs no line for the criterion's name.
    dots = [d if d.label else replace(d, label=d.group, group="") for d in dots]
    described = [(f"{d.group}, {d.label}" if d.group else d.label, d.value) for d in dots]
    axis = replace(
        value_axis(material, statistic, lines, dots=dots),
        title=_("Ratio to the best")
        if is_worth
        else with_unit(material, title(statistic, material.language), statistic),
    )
    if is_worth:
        best = numbers.translated(message("the best system", message_id="axis.line_best"))
        axis = replace(axis, limits=None, reference=1.0, reference_name=best, origin=None)
    shares = [_shares(material, family, r) for r in rows] if statistic == "win_difference" else []
    if shares and all(shares):
        more = _(
            "Right: their components, as proportions of comparisons averaged over the"
            " comparator systems."
        )
        words = [_("much better"), _("somewhat"), _("equal"), _("somewhat worse"), _("much worse")]
        about = about_family(material, family, "wins", described, more)
        yield wins(
            about,
            dots,
            [s or () for s in shares],
            words,
            numbers,
            axis=axis,
            shares_axis=_("Comparisons (%)"),
        )
        return
    more = (
        _("Ratios to the strength of the best system, which is the reference.") if is_worth else ""
    )
    if idle:
        more = _("Not shown, because they have no answers of their own: %(who)s.") % {
            "who": ", ".join(sorted(idle, key=natural))
        }
    about = about_family(material, family, "worths" if is_worth else "criteria", described, more)
    yield forest(
        about,
        dots,
        numbers,
        axis=axis,
        heading=heading,
    )


def _idle(rows: Sequence[Row]) -> list[str]:
    """Judges that rated no answers of their own, on no criterion."""
    judges = {
        r.group["rater"]
        for r in rows
        if "rater" in r.group and (r.n_units or r.is_withheld or math.isfinite(r.estimate.value))
    }
    return [
        v for v in dict.fromkeys(r.group.get("rater", "") for r in rows) if v and v not in judges
    ]


def _only_system(row: Row) -> str:
    """The system that a row is about, and about no rater or other group of it."""
    return row.group.get("system", "") if "rater" not in row.group else ""


def _named(row: Row) -> str:
    return ", ".join(v for c, v in row.group.items() if c != RATIO and v)


def _shares(material: Material, family: Family, row: Row) -> tuple[float, ...] | None:
    """Proportions of much better, somewhat better, equal, somewhat worse and much worse.

    Each comparator has the same weight.
    """
    plain, strict = (
        _matrix(material, row, family.first, s) for s in ("win_rate", "win_rate_strict")
    )
    me = row.group.get("system", "")
    rivals = [b for a, b in plain if a == me]
    if not rivals or plain.keys() != strict.keys():
        return None

    def mean(of: Mapping[tuple[str, str], float], turned: bool) -> float:
        values = [of[(b, me) if turned else (me, b)] for b in rivals]
        return sum(values) / len(values)

    wins_, much = mean(plain, False), mean(strict, False)
    losses, worse = mean(plain, True), mean(strict, True)
    return (much, wins_ - much, max(0.0, 1 - wins_ - losses), losses - worse, worse)


def _matrix(
    material: Material, row: Row, spec: Analysis, statistic: str
) -> dict[tuple[str, str], float]:
    """The win rates of the same ratings on the same criterion, where an analysis asks for them."""
    alike = ("raters", "arm", "where", "items", "consensus", "mode")
    for other in material.study.analyses:
        same = all(getattr(other, key) == getattr(spec, key) for key in alike)
        if (
            other.statistic == statistic
            and other.criterion == row.criterion
            and same
            and not other.by
        ):
            return {
                (r.group["system"], r.group["rival"]): r.estimate.value
                for r in material.results.estimable_rows
                if r.analysis == other.name
                and r.kind == "estimate"
                and math.isfinite(r.estimate.value)
            }
    return {}


def _strata(material: Material, family: Family, values: Sequence[str]) -> Iterator[Drawing]:
    column, rows = family.first.by[0], family_rows(material, family)
    systems = systems_of(material, rows)
    by = {(r.analysis, r.group["system"], r.group[column]): r for r in rows}
    dots: dict[str, list[Dot]] = {value: [] for value in values}
    for a in family.members:
        for system in systems:
            for value in values:
                row = by.get((a.name, system, value))
                nothing = Dot(
                    system, math.nan, math.nan, math.nan, "", material.criterion(a.criterion)
                )
                dots[value].append(_dot(material, row, system) if row else nothing)
    if len(dots[values[0]]) > MOST_DOTS:
        return
    described = [
        (f"{d.group}, {d.label}, {value}", d.value) for value, part in dots.items() for d in part
    ]
    about = about_family(material, family, "strata", described)
    statistic = family.first.statistic
    axis = value_axis(
        material,
        statistic,
        [Joined(r) for r in rows],
        dots=[d for part in dots.values() for d in part],
    )
    yield strata(about, dots, material.numbers, axis=axis)


def win_matrices(material: Material, family: Family) -> Iterator[Drawing]:
    """Win rates: systems by systems, a matrix for each criterion."""
    _ = material.language.gettext
    rows = family_rows(material, family)
    systems = tuple(systems_of(material, rows))
    if len(systems) > MOST_CELLS:
        return
    panels = []
    for a in family.members:
        cells = {(r.group["system"], r.group["rival"]): r for r in rows if r.analysis == a.name}
        panels.append(_grid(material.criterion(a.criterion), systems, systems, cells))
    described = [(f"{p.title}, {a} > {b}", v) for p in panels for (a, b), v in p.values.items()]
    more = _(
        "Each cell: proportion of comparisons that the row system won against the column"
        " system; ties do not count as wins."
    )
    top = max((v for p in panels for v in p.values.values() if math.isfinite(v)), default=1.0)
    about = about_family(material, family, "matrices", described, more)
    yield grids(
        about,
        panels,
        material.numbers,
        axes=MatrixAxes(
            _("Winner"),
            _("Against"),
            (0.0, max(top, 0.01)),
            *_scale(material, family.first.statistic),
        ),
    )


def _grid(
    panel_title: str,
    down: Sequence[str],
    along: Sequence[str],
    cells: Mapping[tuple[str, str], Row],
    framed: frozenset[tuple[str, str]] = frozenset(),
) -> Grid:
    return Grid(
        panel_title,
        tuple(down),
        tuple(along),
        {key: r.estimate.value for key, r in cells.items()},
        framed,
        {key: (r.estimate.low, r.estimate.high) for key, r in cells.items()},
    )


def _scale(material: Material, statistic: str) -> tuple[str, float]:
    """The title of the bar of colours, and the factor of its numbers."""
    words = title(statistic, material.language)
    factor = Unit(statistic, material.numbers).factor
    return f"{words} (%)" if factor > 1 else words, factor


def rater_matrix(material: Material, family: Family, all_of: Sequence[Family]) -> Drawing:
    """A figure of who prefers whom, own answers framed.

    People, judges and their jury are rows, systems are columns.
    """
    _ = material.language.gettext
    rows = family_rows(material, family)
    systems = tuple(systems_of(material, rows))
    judges = list(dict.fromkeys(r.group["rater"] for r in rows))
    cells: dict[str, dict[tuple[str, str], Row]] = {a.criterion: {} for a in family.members}
    for r in rows:
        cells[r.criterion][r.group["rater"], r.group["system"]] = r
    others: list[str] = []
    for other in all_of:
        first = other.first
        alike = (
            kinship(first, *_LIKE) == kinship(family.first, *_LIKE)
            and not first.by
            and first.mode == "valid"
        )
        is_jury = first.consensus == "mean"
        if (
            not alike
            or (first.raters == family.first.raters) != is_jury
            or first.cluster != family.first.cluster
        ):
            continue
        name = _("jury") if is_jury else first.raters
        if name not in others:
            others.append(name)
            for r in family_rows(material, other):
                cells.setdefault(r.criterion, {})[name, r.group["system"]] = r
    own_system = {r.id: r.strata.get("system", "") for r in material.raters}
    framed = frozenset((j, own_system[j]) for j in judges if own_system.get(j))
    panels = [
        _grid(material.criterion(c), (*others, *judges), systems, cells[c], framed) for c in cells
    ]
    described = [(f"{p.title}, {g}: {s}", v) for p in panels for (g, s), v in p.values.items()]
    more = _("Rows: raters; columns: systems; framed: LLM judges on their own answers.")
    about = about_family(material, family, "graders", described, more)
    return grids(
        about,
        panels,
        material.numbers,
        axes=MatrixAxes(
            _("Rater"),
            _("System rated"),
            (-1.0, 1.0),
            *_scale(material, family.first.statistic),
        ),
    )


_LIKE = ("raters", "by", "consensus", "prespecified", "test")
"""What may differ between the analyses that a figure sets side by side: who compared, and how it is
tested."""


def value_matrix(material: Material, family: Family, values: Sequence[str]) -> Iterator[Drawing]:
    """Values of a column as rows, systems as columns, criteria as panels."""
    _ = material.language.gettext
    column, rows = family.first.by[0], family_rows(material, family)
    systems = tuple(systems_of(material, rows))
    if len(values) > MOST_CELLS or column == LENGTH:
        return
    by_criterion: dict[str, dict[tuple[str, str], Row]] = {a.criterion: {} for a in family.members}
    for r in rows:
        by_criterion[r.criterion][r.group[column], r.group["system"]] = r
    panels = [
        _grid(material.criterion(c), values, systems, cells) for c, cells in by_criterion.items()
    ]
    described = [(f"{p.title}, {v}: {s}", x) for p in panels for (v, s), x in p.values.items()]
    about = about_family(material, family, "parts", described)
    yield grids(
        about,
        panels,
        material.numbers,
        axes=MatrixAxes(
            column_title(material, column),
            _("System"),
            (-1.0, 1.0),
            *_scale(material, family.first.statistic),
        ),
    )
