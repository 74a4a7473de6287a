"""The numbers that the summary names: one for each question that the protocol asks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from konsil.analysis import Analysis, Row
from konsil.report.material.glossary import entry, title
from konsil.report.material.overview import Material
from konsil.report.material.slugs import anchor

MOST = 12
"""How many numbers the summary names."""


def key_numbers(material: Material) -> list[tuple[str, str, str, str]]:
    """Anchor, analysis, statistic and number of each question's first analysis.

    The first prespecified analysis that has a number.
    """
    by_question: dict[tuple[str, ...], tuple[str, str, str, str]] = {}
    for analysis in material.study.analyses:
        rows = [
            r
            for r in material.results.estimable_rows
            if r.analysis == analysis.name and r.kind == "estimate"
        ]
        if not analysis.prespecified or analysis.mode == "paper" or not rows:
            continue
        titles = (
            anchor("analysis", analysis.name),
            analysis.name,
            title(analysis.statistic, material.language),
        )
        by_question.setdefault(_question(analysis), (*titles, _number(material, rows)))
    return list(by_question.values())[:MOST]


def _question(analysis: Analysis) -> tuple[str, ...]:
    """The question of an analysis, whatever its statistic.

    Agreement of two panels, or the statistic itself.
    """
    if analysis.statistic.startswith("ensembles_"):
        return ("ensembles", analysis.criterion)
    kind = "agreement" if entry(analysis.statistic).is_among_raters else analysis.statistic
    return (kind, analysis.criterion, analysis.raters, analysis.against or "")


def _number(material: Material, rows: Sequence[Row]) -> str:
    """The whole where there is one, else the least and the greatest of the groups."""
    _, format_estimate = material.language.gettext, material.numbers.with_interval
    defined = sorted(
        (r for r in rows if math.isfinite(r.estimate.value)), key=lambda r: r.estimate.value
    )
    overall = [r for r in rows if not r.group]
    if overall:
        return format_estimate(overall[0].estimate)
    if not defined:
        return _("not estimable in any group")
    if rows[0].statistic.startswith("ensembles_"):
        out_of_bag = [r for r in rows if not r.group.get("size")]
        return (
            f"{_name(out_of_bag[0])}: {format_estimate(out_of_bag[0].estimate)}"
            if out_of_bag
            else f"{_name(rows[0])}: {format_estimate(rows[0].estimate)}"
        )
    if len(defined) == 1:
        return f"{_name(defined[0])}: {format_estimate(defined[0].estimate)}"
    return _("from %(low)s (%(lowest)s) to %(high)s (%(highest)s)") % {
        "low": format_estimate(defined[0].estimate),
        "lowest": _name(defined[0]),
        "high": format_estimate(defined[-1].estimate),
        "highest": _name(defined[-1]),
    }


def _name(row: Row) -> str:
    return ", ".join(value for value in row.group.values() if value)
