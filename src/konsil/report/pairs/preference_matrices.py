"""Comparisons as matrices: who won against whom, who prefers whom, and values by system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from konsil.analysis import Row
from konsil.analysis.model.catalogue.known import LENGTH
from konsil.report.figures.drawing import Drawing
from konsil.report.figures.matrices import Grid, MatrixAxes, grids
from konsil.report.figures.units import Unit
from konsil.report.material.glossary import title
from konsil.report.material.overview import Material
from konsil.report.material.shared_figures import Family, kinship
from konsil.report.material.table_rows import column_title
from konsil.report.pairs.family_rows import about_family, family_rows, systems_of

MOST_CELLS = 40
"""Rows of a matrix."""


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
