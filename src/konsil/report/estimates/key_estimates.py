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
    """Anchor, analysis, statistic, number: of each question's first prespecified analysis that has one."""
    found: dict[tuple[str, ...], tuple[str, str, str, str]] = {}
    for analysis in material.study.analyses:
        rows = [
            r
            for r in material.results.estimable_rows
            if r.analysis == analysis.name and r.kind == "estimate"
        ]
        if not analysis.prespecified or analysis.mode == "paper" or not rows:
            continue
        said = (
            anchor("analysis", analysis.name),
            analysis.name,
            title(analysis.statistic, material.language),
        )
        found.setdefault(_question(analysis), (*said, _number(material, rows)))
    return list(found.values())[:MOST]


def _question(analysis: Analysis) -> tuple[str, ...]:
    """What is asked, whichever statistic answers it: agreement of whom with whom, or the statistic itself."""
    if analysis.statistic.startswith("ensembles_"):
        return ("ensembles", analysis.criterion)
    kind = "agreement" if entry(analysis.statistic).is_among_raters else analysis.statistic
    return (kind, analysis.criterion, analysis.raters, analysis.against or "")


def _number(material: Material, rows: Sequence[Row]) -> str:
    """The whole where there is one, else the least and the greatest of the groups."""
    _, told = material.language.gettext, material.numbers.with_interval
    defined = sorted(
        (r for r in rows if math.isfinite(r.estimate.value)), key=lambda r: r.estimate.value
    )
    overall = [r for r in rows if not r.group]
    if overall:
        return told(overall[0].estimate)
    if not defined:
        return _("undefined in every group")
    if rows[0].statistic.startswith("ensembles_"):
        left = [r for r in rows if not r.group.get("size")]
        return (
            f"{_name(left[0])}: {told(left[0].estimate)}"
            if left
            else f"{_name(rows[0])}: {told(rows[0].estimate)}"
        )
    if len(defined) == 1:
        return f"{_name(defined[0])}: {told(defined[0].estimate)}"
    return _("from %(low)s (%(lowest)s) to %(high)s (%(highest)s)") % {
        "low": told(defined[0].estimate),
        "lowest": _name(defined[0]),
        "high": told(defined[-1].estimate),
        "highest": _name(defined[-1]),
    }


def _name(row: Row) -> str:
    return ", ".join(value for value in row.group.values() if value)
